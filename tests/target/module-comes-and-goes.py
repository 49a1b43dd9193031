#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Remove a mapping as soon as its last request has ended, unload the module at once, load it again.

usage: module-comes-and-goes.py DEVICE ROUNDS
"""
import ctypes
import errno
import hashlib
import mmap
import os
import re
import subprocess
import sys
import threading
import time

import dm

DEVICE, ROUNDS = sys.argv[1], int(sys.argv[2])
NAME = "goes"
NR_DELETE_MODULE = {"x86_64": 176, "aarch64": 106}.get(os.uname().machine, 176)
KEY = hashlib.shake_256(b"goes").hexdigest(64)
TABLES = [f"aes-xts-plain64 {KEY} 0 {DEVICE} 0{opts}" for opts in (
    "", " 2 no_read_workqueue no_write_workqueue", " 1 sector_size:4096", " 1 high_priority", " 1 same_cpu_crypt")]
tap = dm.Tap()


def load(fd, nr, wrong):
    """Writes and reads back; closes at once, so that nothing but the kernel still has to do with the mapping."""
    size = (4096, 1 << 20, 65536, 512 << 10)[nr % 4]
    buf = mmap.mmap(-1, size)
    data = hashlib.shake_256(bytes([nr])).digest(4096) * (size // 4096)
    for _ in range(2):
        buf[:] = data
        os.pwritev(fd, [buf], nr << 20)
        buf[:] = bytes(size)
        os.preadv(fd, [buf], nr << 20)
        if buf[:] != data:
            wrong.append(f"wrong data of {size} bytes")
    os.close(fd)


def until_it_is_not_busy(what):
    """Without a pause, for 20 seconds."""
    end = time.monotonic() + 20
    while True:
        try:
            return what()
        except OSError as e:
            if e.errno not in (errno.EBUSY, errno.EAGAIN) or time.monotonic() > end:
                raise


def unload():
    if dm._libc.syscall(NR_DELETE_MODULE, b"dm_fdecrypt", os.O_NONBLOCK) < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))


def main():
    wrong = []
    for i in range(ROUNDS):
        minor = dm.create(NAME)[1]
        dm.load(NAME, f"0 16384 fdecrypt {TABLES[i % len(TABLES)]}")
        dm.resume(NAME)
        if not i:
            # an asynchronous cipher, too: it answers from a thread of its own
            driver = re.search(r"driver=fdiv\(plain64,([^ ]*)\)", dm.query(NAME, 0)[0][3]).group(1)
            TABLES.append(f"capi:cryptd({driver})-plain64 {KEY} 0 {DEVICE} 0")
        threads = [threading.Thread(target=load, args=(os.open(f"/dev/dm-{minor}", os.O_RDWR | os.O_DIRECT), nr, wrong))
                   for nr in range(4)]
        for t in threads:
            t.start()
        if i % 2:
            # the last of them is still at work
            until_it_is_not_busy(lambda: dm.remove(NAME))
            for t in threads:
                t.join()
        else:
            for t in threads:
                t.join()
            until_it_is_not_busy(lambda: dm.remove(NAME))
        until_it_is_not_busy(unload)
        with open("/proc/crypto", encoding="ascii") as f:
            if "fdiv(" in f.read():
                wrong.append("an instance of the template survives its module")
        subprocess.run(["modprobe", "dm-fdecrypt"], check=True)
    tap.result(not wrong, f"{ROUNDS} times used, removed, unloaded, loaded", *wrong[:5])


try:
    main()
finally:
    dm.remove_all()
sys.exit(tap.done())
