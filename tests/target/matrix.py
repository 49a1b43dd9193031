#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Table lines that dm-crypt and dm-fdecrypt must agree on, byte for byte.

usage: matrix.py [--every N] [--asynchronous] [--count]

One line each:  UNIT <tab> TABLE [<tab> TABLE...]
A TABLE is a line for dmsetup with @TARGET@ and @DEV@ left to fill in; several
are the segments of one mapping.

--every N        only every Nth line, an even choice
--asynchronous   lines over cryptd() instead: the drivers are read in
                 /proc/crypto, which must show what dm-crypt has allocated

To add lines, add a call of line() below; everything else has a default.
"""
import argparse
import hashlib
import sys

BIG = 16384                 # 8 MiB
SECTORS = 4096              # time is what ciphers in C take in the guest
SLOW = 2048
lines = []
seen = set()


def key_of(cipher, nbytes):
    if nbytes == 0:
        return "-"
    return hashlib.shake_256(f"{cipher} {nbytes}".encode()).hexdigest(nbytes)


def table(cipher, key, unit, large, iv_offset, dev, opts, start, sectors):
    words = []
    if unit != 512:
        words.append(f"sector_size:{unit}")
    if large:
        words.append("iv_large_sectors")
    words += opts
    tail = f" {len(words)} {' '.join(words)}" if words else ""
    return (f"{start} {sectors} @TARGET@ {cipher} {key_of(cipher, key)} "
            f"{iv_offset} @DEV@ {dev}{tail}")


def line(cipher, key, unit=512, large=False, iv=0, dev=0, opts=(),
         sectors=SECTORS):
    """One mapping of one segment. key is in bytes; iv and dev in sectors."""
    sectors -= sectors % (unit // 512)
    step = unit // 512
    assert iv % step == 0, (cipher, unit, iv)
    assert iv + sectors <= 2 ** 64, (cipher, iv)
    add(unit, table(cipher, key, unit, large, iv, dev, list(opts), 0, sectors))


def add(unit, *tables):
    text = f"{unit}\t" + "\t".join(tables)
    if text in seen:
        sys.exit(f"matrix.py: the same line twice: {text}")
    seen.add(text)
    lines.append(text)


TOP = 2 ** 64
WRAP32 = 2 ** 32 - 1024         # `plain` wraps in the middle of the mapping
UNITS = [(512, False), (1024, False), (1024, True), (2048, False),
         (2048, True), (4096, False), (4096, True)]


def all_lines():
    # Every IV mode over AES, in every unit and both ways of counting.
    for mode, key in (("xts", 64), ("cbc", 32)):
        for iv in ("null", "plain", "plain64", "plain64be", "essiv:sha256",
                   "benbi", "eboiv"):
            for unit, large in UNITS:
                if mode == "xts" and iv not in ("plain", "plain64") \
                        and (unit, large) not in ((512, False), (4096, True)):
                    continue
                if mode == "cbc" and unit == 1024 and not large:
                    continue
                line(f"aes-{mode}-{iv}", key, unit, large)

    # Where the sector number is near an edge.
    for iv in ("plain", "plain64", "plain64be", "essiv:sha256", "benbi",
               "eboiv"):
        mode, key = ("xts", 32) if iv in ("plain", "plain64") else ("cbc", 16)
        for off, unit, large in (
                (WRAP32, 512, False), (2 ** 40, 4096, True),
                (2 ** 63 - 1024, 1024, False), (TOP - SECTORS, 512, False)):
            line(f"aes-{mode}-{iv}", key, unit, large, iv=off)
    # plain counts large sectors: its wrap comes later
    line("aes-cbc-plain", 32, 4096, False, iv=WRAP32)
    line("aes-cbc-plain", 32, 4096, True, iv=8 * 2 ** 32 - 1024)
    line("aes-xts-plain", 64, 2048, True, iv=4 * 2 ** 32 - 1024)
    line("aes-xts-plain", 64, 1024, False, iv=2 * 2 ** 32 - 1024)
    line("aes-xts-plain64", 64, 4096, False, iv=TOP - SECTORS)
    line("aes-xts-plain64", 64, 4096, True, iv=TOP - SECTORS)
    line("aes-cbc-benbi", 32, 4096, True, iv=TOP - SECTORS)
    line("aes-cbc-eboiv", 32, 4096, True, iv=2 ** 52)
    line("aes-cbc-eboiv", 32, 4096, False, iv=2 ** 52 - 1024)
    line("aes-cbc-plain64be", 32, 4096, True, iv=TOP - SECTORS)

    # Where the data lies: the device offset is not in the sector number.
    for dev in (8, 2048, 2056, 99999):
        line("aes-xts-plain64", 64, iv=8, dev=dev, sectors=BIG)
        line("aes-cbc-essiv:sha256", 32, iv=0, dev=dev)
    line("aes-xts-plain64", 64, 4096, iv=256, dev=32768, sectors=BIG)
    line("aes-xts-plain64", 64, 4096, iv=256, dev=32760)
    line("aes-cbc-benbi", 32, 2048, True, iv=4, dev=8)
    # lengths that are no whole pages
    line("aes-xts-plain64", 64, sectors=8191)
    line("aes-cbc-plain64", 32, sectors=1)
    line("aes-cbc-plain64", 32, sectors=7, dev=3)
    line("aes-cbc-eboiv", 32, 1024, sectors=8190)
    line("aes-cbc-essiv:sha256", 32, 2048, sectors=BIG)
    line("aes:4-cbc-plain64", 64, 1024, True, sectors=BIG)
    line("xchacha12,aes-adiantum-plain64", 32, 4096, iv=16, sectors=BIG)
    line("aes-lrw-benbi", 32, sectors=BIG)
    line("aes-xts-plain64", 64, 4096, sectors=8)

    # Key sizes.
    for key in (16, 24, 32):
        line("aes-cbc-plain64", key, 2048, iv=4)
        line("aes-cbc-essiv:sha256", key, 1024, iv=2)
    for key in (32, 48, 64):
        line("aes-xts-plain64", key, 2048, True, iv=12)
    line("aes", 32)                              # the oldest spelling
    line("aes-plain", 16)

    # Key counts: the key goes by the 512-byte sector number, large or not.
    for count in (1, 2, 4, 64):
        line(f"aes:{count}-cbc-plain64", 16 * count)
        line(f"aes:{count}-xts-plain64", 64 * count, iv=8)
        line(f"aes:{count}-cbc-plain64", 32 * count, 1024, True)
    for count in (2, 4, 64):
        line(f"aes:{count}-cbc-essiv:sha256", 32 * count)
        line(f"aes:{count}-cbc-plain", 32 * count, 2048, True, iv=4)
        line(f"aes:{count}-cbc-null", 32 * count)
        line(f"aes:{count}-cbc-benbi", 16 * count, iv=2 ** 40)
    line("aes:64-cbc-plain64be", 16 * 64, iv=TOP - SECTORS)
    line("aes:64-cbc-plain64", 32 * 64, 4096, False, iv=8)
    line("aes:64-cbc-plain64", 32 * 64, 4096, True, iv=8)
    line("aes:16-xts-plain64", 64 * 16, 2048, False, iv=4)
    line("aes:2-ecb", 32)
    line("aes:2-lrw-benbi", 64, sectors=SLOW)
    line("blowfish:4-cbc-plain64", 64, sectors=SLOW)

    # Other ciphers of 16-byte blocks.
    for cipher in ("serpent", "twofish", "camellia", "cast6"):
        line(f"{cipher}-cbc-plain", 32, iv=WRAP32, sectors=SLOW)
        line(f"{cipher}-xts-plain64", 64, 4096, sectors=SLOW)
        line(f"{cipher}-xts-plain64", 32, iv=2 ** 40, sectors=SLOW)
        line(f"{cipher}-cbc-essiv:sha256", 16, 1024, sectors=SLOW)
        line(f"{cipher}-cbc-eboiv", 32, 4096, True, sectors=SLOW)
        line(f"{cipher}-lrw-benbi", 32, sectors=SLOW)
    line("serpent-cbc-plain64be", 32, 512, iv=2 ** 63 - 1024, sectors=SLOW)
    line("twofish-ctr-plain64", 32, 2048, sectors=SLOW)
    line("camellia-cbc-benbi", 16, 1024, True, iv=2, sectors=SLOW)

    # 8-byte blocks: short IVs, other benbi shift.
    for cipher, key in (("des3_ede", 24), ("blowfish", 16), ("blowfish", 56),
                        ("cast5", 16)):
        for iv, unit, large, off in (
                ("null", 512, False, 0), ("plain", 512, False, WRAP32),
                ("plain64", 4096, False, 2 ** 63 - 1024),
                ("plain64be", 1024, True, TOP - SECTORS),
                ("benbi", 512, False, 2 ** 40), ("benbi", 4096, True, 0),
                ("eboiv", 2048, True, 8)):
            if key == 56 and iv != "plain64":
                continue
            line(f"{cipher}-cbc-{iv}", key, unit, large, off, sectors=1024 if cipher == "des3_ede" else SLOW)
    line("blowfish-cbc-essiv:sha256", 32, sectors=SLOW)
    line("cast5-cbc-essiv:md5", 16, 4096, True, iv=8, sectors=SLOW)
    line("cast5-ctr-plain64", 16, sectors=SLOW)

    # Modes: stream, wide block, counters, none.
    for unit, large in ((512, False), (4096, False), (4096, True)):
        line("aes-ctr-plain64", 32, unit, large, iv=2 ** 40)
        line("aes-ctr-plain64be", 16, unit, large, iv=8)
        line("aes-lrw-benbi", 48, unit, large, iv=8)
        line("aes-lrw-plain64", 32, unit, large)
        line("aes-ecb", 32, unit, large)
        line("xchacha12,aes-adiantum-plain64", 32, unit, large, iv=8)
        line("cipher_null-ecb", 0, unit, large)
    line("aes-ctr-benbi", 32)
    line("aes-ctr-null", 32)
    line("aes-ecb-plain64", 32)                  # the mode is not needed
    line("aes-lrw-benbi", 48, iv=TOP - SECTORS)
    line("xchacha20,aes-adiantum-plain64", 32, iv=TOP - SECTORS)
    line("xchacha12,aes-adiantum-plain", 32, iv=WRAP32)
    line("xchacha12,aes-adiantum-plain64be", 32, 2048, True)
    line("xchacha12,aes-adiantum-null", 32)

    # The crypto API's own spelling.
    for cipher, key in (
            ("capi:xts(aes)-plain64", 64), ("capi:xts(camellia)-plain64", 64),
            ("capi:cbc(aes)-plain", 32), ("capi:cbc(aes)-essiv:sha256", 32),
            ("capi:essiv(cbc(aes),sha256)-plain64", 32),
            ("capi:cbc(aes)-eboiv", 16), ("capi:cbc(aes)-benbi", 24),
            ("capi:cbc(aes)-plain64be", 32), ("capi:cbc(aes)-null", 32),
            ("capi:adiantum(xchacha12,aes)-plain64", 32),
            ("capi:lrw(aes)-benbi", 48), ("capi:ctr(aes)-plain64", 32),
            ("capi:cbc(serpent)-plain64", 32), ("capi:xts(twofish)-plain64", 64)):
        slow = any(c in cipher for c in ("serpent", "twofish", "camellia"))
        line(cipher, key, 512, iv=8, sectors=SLOW if slow else SECTORS)
        if "aes" in cipher:
            line(cipher, key, 4096, True, iv=8)
    line("capi:ecb(aes)", 32, 1024)
    line("capi:ecb(cipher_null)", 0)

    # Options that choose who does the work must not change what it yields.
    for opts in (["same_cpu_crypt"], ["submit_from_crypt_cpus"],
                 ["no_read_workqueue"], ["no_write_workqueue"],
                 ["high_priority"], ["allow_discards"],
                 ["no_read_workqueue", "no_write_workqueue"],
                 ["same_cpu_crypt", "submit_from_crypt_cpus", "high_priority"]):
        line("aes-xts-plain64", 64, opts=opts)
        if "queue" in opts[0]:
            line("aes-cbc-essiv:sha256", 32, 4096, opts=opts)

    # Several segments: each counts from its own start, plus its iv_offset.
    add(512,
        table("aes-xts-plain64", 64, 512, False, 0, 0, [], 0, 8192),
        table("aes-xts-plain64", 64, 512, False, 8192, 8192, [], 8192, 8192))
    add(512,
        table("aes-xts-plain64", 32, 512, False, 0, 40000, [], 0, 8192),
        table("aes-cbc-essiv:sha256", 32, 512, False, 0, 3, [], 8192, 4097),
        table("aes:4-cbc-plain", 64, 512, False, WRAP32 + 3000, 9000, [],
              12289, 8191))
    add(4096,
        table("aes-xts-plain64", 64, 4096, True, 8, 8192, [], 0, 8192),
        table("aes-xts-plain64", 64, 512, False, 1, 65536, [], 8192, 8192))


def asynchronous_lines():
    best = {}
    entry = {}
    with open("/proc/crypto", encoding="ascii") as f:
        for text in f.read().split("\n\n"):
            entry = dict(w.split(":", 1) for w in text.split("\n") if ":" in w)
            entry = {k.strip(): v.strip() for k, v in entry.items()}
            if entry.get("type") not in ("skcipher", "lskcipher", "shash"):
                continue
            driver, name = entry["driver"], entry["name"]
            if any(w in driver for w in ("cryptd", "fdiv", "essiv")):
                continue
            if name not in best or int(entry["priority"]) > best[name][0]:
                best[name] = (int(entry["priority"]), driver)
    for name in ("xts(aes)", "cbc(aes)", "ecb(aes)", "sha256"):
        if name not in best:
            sys.exit(f"matrix.py: no driver for {name} in /proc/crypto")
    for name, key in (("xts(aes)", 64), ("cbc(aes)", 32), ("ecb(aes)", 32)):
        driver = best[name][1]
        if name == "ecb(aes)":
            line(f"capi:cryptd({driver})-null", key)
            continue
        for mode in ("plain64", "plain", "plain64be", "benbi", "eboiv", "null"):
            for unit, large in ((512, False), (1024, True), (4096, False),
                                (4096, True)):
                line(f"capi:cryptd({driver})-{mode}", key, unit, large, iv=8)
        line(f"capi:cryptd({driver})-plain64", key, iv=TOP - SECTORS, dev=9)
        for opts in (["no_read_workqueue", "no_write_workqueue"],
                     ["same_cpu_crypt"]):
            line(f"capi:cryptd({driver})-plain64", key, 1024, opts=opts)
    # a driver's name inside wants drivers' names throughout
    line(f"capi:essiv(cryptd({best['cbc(aes)'][1]}),{best['sha256'][1]})-plain64",
         32)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--asynchronous", action="store_true")
    p.add_argument("--count", action="store_true")
    args = p.parse_args()
    if args.asynchronous:
        asynchronous_lines()
    else:
        all_lines()
    chosen = lines[::args.every]
    if args.count:
        print(len(chosen))
    else:
        print("\n".join(chosen))


main()
