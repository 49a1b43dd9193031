#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""One direct request, and the errno it ended with.

usage: dio.py read|write|sync|dsync DEVICE [OFFSET LENGTH [SEED]]

read   prints the SHA-256 of what was read
write  writes the pattern of SEED; dsync the same with RWF_DSYNC
sync   fsync alone
pattern prints the SHA-256 of what write would write (DEVICE is not opened)
A short transfer or an error prints its name and ends with status 1.
"""
import errno
import hashlib
import mmap
import os
import sys

RWF_DSYNC = 2


def pattern(seed, n):
    return hashlib.shake_256(f"dio {seed}".encode()).digest(n)


def main():
    what, dev = sys.argv[1:3]
    off, n = (int(a) for a in sys.argv[3:5]) if len(sys.argv) > 4 else (0, 0)
    seed = sys.argv[5] if len(sys.argv) > 5 else "0"
    if what == "pattern":
        print(hashlib.sha256(pattern(seed, n)).hexdigest())
        return 0
    fd = os.open(dev, (os.O_RDONLY if what == "read" else os.O_RDWR)
                 | os.O_DIRECT)
    if what == "sync":
        os.fsync(fd)
        print("ok")
        return 0
    buf = mmap.mmap(-1, n)
    if what == "read":
        done = os.preadv(fd, [buf], off)
    else:
        buf[:] = pattern(seed, n)
        done = os.pwritev(fd, [buf], off, RWF_DSYNC if what == "dsync" else 0)
    if done != n:
        print(f"short: {done}")
        return 1
    print(hashlib.sha256(buf).hexdigest())
    return 0


try:
    sys.exit(main())
except OSError as e:
    print(errno.errorcode.get(e.errno, e.errno))
    sys.exit(1)
