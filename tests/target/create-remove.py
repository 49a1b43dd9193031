#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Create, use and remove mappings many times; see what is left.

usage: create-remove.py TARGET DEVICE CYCLES
"""
import gc
import glob
import hashlib
import mmap
import os
import subprocess
import sys
import time

import dm

TARGET, DEVICE, CYCLES = sys.argv[1], sys.argv[2], int(sys.argv[3])
NAME = "cycle"
tap = dm.Tap()


def key(n):
    return hashlib.shake_256(b"cycles").hexdigest(n)


TABLES = [
    f"aes-xts-plain64 {key(64)} 0 {DEVICE} 0",
    f"aes-cbc-essiv:sha256 {key(32)} 8 {DEVICE} 8 1 sector_size:4096",
    f"aes:64-cbc-plain64 {key(64 * 32)} 0 {DEVICE} 0",
    f"aes-cbc-eboiv {key(32)} 0 {DEVICE} 16 2 sector_size:4096 iv_large_sectors",
    f"capi:xts(aes)-plain64 {key(64)} 0 {DEVICE} 0 2 no_read_workqueue no_write_workqueue",
    f"xchacha12,aes-adiantum-plain64 {key(32)} 0 {DEVICE} 0 1 same_cpu_crypt",
    f"cipher_null-ecb - 0 {DEVICE} 0",
    f"aes-xts-plain64 :64:logon:cycle:key 0 {DEVICE} 0 1 allow_discards",
]
# each fails at another stage of the constructor
REFUSED = [
    f"aes-xts-plain64 {key(64)} 0 {DEVICE} x",
    f"aes-xts-plain64 {key(64)} x {DEVICE} 0",
    f"aes-xts-plain64 {key(64)} 0 /dev/not-there 0",
    f"aes-xts-plain64 {key(63)} 0 {DEVICE} 0",
    f"aes:64-xts-plain64 {key(64)} 0 {DEVICE} 0",
    f"aes-xts-bogus {key(64)} 0 {DEVICE} 0",
    f"aes-bogus-plain64 {key(64)} 0 {DEVICE} 0",
    f"aes-xts-plain64 {key(64)} 0 {DEVICE} 0 2 allow_discards bogus",
    f"aes-cbc-essiv:sha256 {key(17)} 0 {DEVICE} 0",
]


def use(data):
    """Write, read back, and a key wipe now and then."""
    fd = os.open(f"/dev/mapper/{NAME}" if os.path.exists(f"/dev/mapper/{NAME}")
                 else node, os.O_RDWR | os.O_DIRECT)
    try:
        buf = mmap.mmap(-1, len(data))
        buf[:] = data
        os.pwritev(fd, [buf], 0)
        buf[:] = bytes(len(data))
        os.preadv(fd, [buf], 0)
        good = buf[:] == data
        buf.close()
        return good
    finally:
        os.close(fd)


def cycle(i, data):
    global node
    major, minor = dm.create(NAME)
    node = f"/dev/cycle-{minor}"
    if not os.path.exists(node):
        os.mknod(node, 0o600 | 0o060000, os.makedev(major, minor))
    try:
        try:
            dm.load(NAME, f"0 2048 {TARGET} {REFUSED[i % len(REFUSED)]}")
            return f"accepted: {REFUSED[i % len(REFUSED)]}"
        except OSError:
            pass
        table = TABLES[i % len(TABLES)]
        dm.load(NAME, f"0 2048 {TARGET} {table}")
        # a table that is replaced before it was ever used
        if i % 3 == 0:
            dm.load(NAME, f"0 2048 {TARGET} {table}")
        dm.resume(NAME)
        if not use(data):
            return f"wrong data: {table}"
        dm.table(NAME, inactive=False)
        dm.query(NAME, 0)
        if i % 4 == 0:
            dm.suspend(NAME)
            dm.message(NAME, "key wipe")
            if "logon" in table:
                dm.message(NAME, "key set :64:logon:cycle:key")
            else:
                dm.message(NAME, f"key set {table.split()[1]}")
            dm.resume(NAME)
            if not use(data):
                return f"wrong data after the key was set: {table}"
    finally:
        for _ in range(50):
            try:
                dm.remove(NAME)
                break
            except OSError as e:
                last = e
                time.sleep(0.02)
        else:
            raise last
        os.unlink(node)
    return ""


def state():
    """What must not grow."""
    gc.collect()
    time.sleep(1)
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("3")
    time.sleep(0.5)
    with open("/proc/meminfo", encoding="ascii") as f:
        mem = {w[0]: int(w[1]) for w in (r.replace(":", "").split() for r in f)}
    with open("/proc/crypto", encoding="ascii") as f:
        algs = sum(r.startswith("name ") and "fdiv" in r for r in f)
    with open("/proc/modules", encoding="ascii") as f:
        refs = {r.split()[0]: int(r.split()[2]) for r in f}
    threads = 0
    for p in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(p, encoding="ascii", errors="replace") as f:
                c = f.read()
            # a worker names the queue it served last: only rescuers count
            if c.startswith("kworker/") and not c.startswith("kworker/R"):
                continue
            threads += "fdec" in c or "kcrypt" in c or "dmcrypt" in c
        except OSError:
            pass
    return mem, algs, refs, threads


def main():
    if dm.new_session_keyring():
        dm.add_key("logon", "cycle:key", bytes(range(64)))
    else:
        TABLES.pop()
    data = os.urandom(1 << 20)
    warm = max(len(TABLES), len(REFUSED)) * 3
    trouble = []
    for i in range(warm):
        trouble += filter(None, [cycle(i, data)])
    mem0, algs0, refs0, threads0 = state()
    for i in range(CYCLES):
        trouble += filter(None, [cycle(i, data)])
        if trouble:
            break
    mem1, algs1, refs1, threads1 = state()
    tap.result(not trouble, f"{CYCLES} cycles with right data", *trouble[:5])
    # per cycle the smallest mapping has pools of some hundred KiB: a leak of
    # one page in each would show as CYCLES * 4 KiB
    slack = max(CYCLES * 4, 1200)
    for what, grown in (("unreclaimable slab", mem1["SUnreclaim"] - mem0["SUnreclaim"]),
                        ("per-CPU memory", mem1.get("Percpu", 0) - mem0.get("Percpu", 0)),
                        ("vmalloc", mem1["VmallocUsed"] - mem0["VmallocUsed"]),
                        ("memory in use", mem0["MemAvailable"] - mem1["MemAvailable"])):
        room = slack * (4 if what == "memory in use" else 1)
        print(f"# {what}: {grown:+d} KiB")
        tap.result(grown < room, f"{what} has not grown",
                   f"{grown} KiB in {CYCLES} cycles")
    tap.result(algs1 == algs0, "no more algorithms", f"{algs0} to {algs1}")
    tap.result(threads1 == threads0, "no more threads", f"{threads0} to {threads1}")
    more = {m: (refs0.get(m, 0), n) for m, n in refs1.items() if n > refs0.get(m, 0)}
    tap.result(not more, "no more module references", more)
    left = subprocess.run(["dmsetup", "ls"], capture_output=True, text=True,
                          check=False).stdout
    tap.result(NAME not in left, "no mapping is left", left)


node = ""
try:
    main()
finally:
    dm.remove_all()
sys.exit(tap.done())
