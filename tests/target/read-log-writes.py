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
    # a section is named after the mark before it
    tap.result("start" in sections, "the log has the writes", sections.keys())
    wrote = sections.get("start", [])
    tap.result([(s, n) for s, n, _ in wrote if n] and
               covers(wrote, OFFSET, 128), "a plain write arrives, once", wrote)
    tap.result(not any(f & (FLUSH | FUA) for _, _, f in wrote),
               "a plain write is neither flush nor FUA", wrote)
    synced = sections.get("written", [])
    tap.result(any(f & FLUSH for _, _, f in synced), "fsync arrives as a flush",
               synced)
    tap.result(not any(n for _, n, _ in synced), "and writes nothing", synced)
    dsynced = sections.get("synced", [])
    data = [i for i, e in enumerate(dsynced) if e[1]]
    flush = [i for i, e in enumerate(dsynced) if e[2] & FLUSH]
    fua = all(dsynced[i][2] & FUA for i in data)
    tap.result(bool(data) and (fua or bool(flush) and max(flush) > max(data)),
               "a DSYNC write is FUA, or a flush follows it", dsynced)
    tap.result(covers(dsynced, OFFSET + 128, 16), "and arrives, once", dsynced)
    large = sections.get("dsynced", [])
    tap.result(covers(large, OFFSET + 2048, 8192), "4 MiB arrive, each sector once",
               large)
    tap.result(all(n <= 2048 for _, n, _ in large), "in pieces of 1 MiB at most",
               [n for _, n, _ in large])
    buffered = sections.get("large", [])
    data = [i for i, e in enumerate(buffered) if e[1]]
    flush = [i for i, e in enumerate(buffered) if e[2] & FLUSH]
    tap.result(bool(data) and bool(flush) and max(flush) > max(data),
               "buffered: the flush comes after the data", buffered)


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
