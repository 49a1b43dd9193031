#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge what dm-log-writes recorded below the mapping of
flush-discard-split-limits.sh, between its marks.

usage: read-log-writes.py LOGDEVICE
"""
import struct
import sys

import dm

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
OFFSET = 4096                   # of the mapping on its device, in sectors
tap = dm.Tap()


def entries(f):
    magic, version, count, size = struct.unpack("<QQQI", f.read(28))
    if magic != 0x6a736677736872:
        sys.exit("no log")
    pos = size
    for _ in range(count):
        f.seek(pos)
        sector, n, flags, length = struct.unpack("<QQQQ", f.read(32))
        data = b""
        if flags & MARK:
            data = f.read(length)
            pos += size
        elif flags & DISCARD:
            pos += size
        else:
            pos += size + n * size
        yield sector * size // 512, n * size // 512, flags, data


def main():
    sections, name = {}, "before"
    with open(sys.argv[1], "rb") as f:
        for sector, n, flags, data in entries(f):
            if flags & MARK:
                name = data.rstrip(b"\0").decode()
                continue
            sections.setdefault(name, []).append((sector, n, flags))
    # A section is named after the mark before it. Writes that no flush has made
    # safe are not logged yet: they stand just before the flush that does.
    start, written, synced, dsynced, large = (
        sections.get(n, []) for n in ("start", "written", "synced", "dsynced",
                                      "large"))
    tap.result(not any(f & (FLUSH | FUA) for _, _, f in start + dsynced),
               "a plain write is neither flush nor FUA", start, dsynced)
    tap.result(any(f & FLUSH for _, _, f in written), "fsync arrives as a flush",
               written)
    tap.result(covers(written, OFFSET, 128) and flush_last(written),
               "after the write it makes safe, which arrives once", written)
    tap.result(covers(synced, OFFSET + 128, 16), "a DSYNC write arrives, once",
               synced)
    tap.result(all(f & FUA for _, n, f in synced if n) or flush_last(synced),
               "as FUA, or a flush follows it", synced)
    four = [e for e in large if OFFSET + 2048 <= e[0] < OFFSET + 2048 + 8192]
    tap.result(covers(four, OFFSET + 2048, 8192),
               "4 MiB arrive, each sector once", four)
    tap.result(all(n <= 2048 for _, n, _ in large), "in pieces of 1 MiB at most",
               [n for _, n, _ in large])
    tap.result(covers([e for e in large if e not in four], OFFSET + 16000, 32),
               "a buffered write arrives", large)
    tap.result(flush_last(large), "and the flush comes after it", large)


def flush_last(section):
    data = [i for i, e in enumerate(section) if e[1]]
    flush = [i for i, e in enumerate(section) if e[2] & FLUSH]
    return bool(data) and bool(flush) and max(flush) >= max(data)


def covers(section, start, length):
    """The writes of a section are exactly start..start+length, no overlap."""
    pos = start
    for s, n, _ in sorted(e for e in section if e[1]):
        if s != pos:
            return False
        pos += n
    return pos == start + length


main()
sys.exit(tap.done())
