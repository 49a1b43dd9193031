#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write by dm-crypt and read by another target, and the reverse, for each line
that matrix.py prints on standard input.

usage: matrix.py | same-bytes-as-dm-crypt.py TARGET DEVICE IOCHECK

Prints TAP, a point for each line. One process for all of it, and ioctls instead
of dmsetup: starting programs is what takes time in a guest.
"""
import os
import re
import subprocess
import sys
import time

import dm

TARGET, DEVICE, IOCHECK = sys.argv[1:4]
NODES = "/dev/mapper"
tap = dm.Tap()


def make(name, target, tables):
    text = tables.replace("@TARGET@", target).replace("@DEV@", DEVICE)
    numbers = dm.create(name)
    node = f"{NODES}/{name}"
    if os.path.lexists(node):
        os.unlink(node)
    os.mknod(node, 0o600 | 0o060000, os.makedev(*numbers))
    dm.load(name, text.replace("\t", "\n"))
    dm.resume(name)
    return node


def drop(name):
    if name not in dm.made:
        return []
    for _ in range(100):
        try:
            dm.remove(name)
            break
        except OSError as e:
            trouble = [f"{name} cannot be removed: {dm.errname(e)}"]
            time.sleep(0.02)
    else:
        return trouble
    try:
        os.unlink(f"{NODES}/{name}")
    except OSError:
        pass
    return []


def one(unit, tables, seed):
    """What is wrong, in words."""
    log.skip()
    try:
        theirs = make("theirs", "crypt", tables)
    except OSError as e:
        return [f"dm-crypt refuses this line ({dm.errname(e)}): the matrix is wrong",
                *log.lines()[-3:]]
    try:
        ours = make("ours", TARGET, tables)
    except OSError as e:
        return [f"{TARGET} refuses this line: {dm.errname(e)}",
                *log.lines()[-3:]]
    try:
        r = subprocess.run([IOCHECK, "both", "-u", unit, theirs, ours, str(seed)],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return ["iocheck hangs"]
    return [] if r.returncode == 0 else [
        f"iocheck both -u {unit} THEIRS OURS {seed}: status {r.returncode}",
        r.stdout.rstrip()]


def name_of(tables):
    text = re.sub(r" [0-9a-f]{17,} ", " <key> ", tables.replace("@TARGET@ ", ""))
    return text.replace("\t", " + ").replace(" @DEV@", "")


seed = 1000
log = dm.Log()
try:
    for row in sys.stdin:
        unit, tables = row.rstrip("\n").split("\t", 1)
        seed += 2
        trouble = one(unit, tables, seed)
        trouble += drop("ours") + drop("theirs")
        tap.result(not trouble, name_of(tables), *trouble)
finally:
    drop("ours")
    drop("theirs")
sys.exit(tap.done())
