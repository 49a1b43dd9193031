#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Load tables, print them, load what was printed, print again.

usage: table-round-trip.py TARGET DEVICE

Prints TAP. Where dm-crypt takes the same table its text must be the same.
"""
import hashlib
import os
import random
import sys

import dm

TARGET, DEVICE = sys.argv[1:3]
tap = dm.Tap()
r = random.Random(7)
name, crypt_name = "round-trip", "round-trip-crypt"

PLAIN = ["allow_discards", "same_cpu_crypt", "high_priority",
         "submit_from_crypt_cpus", "no_read_workqueue", "no_write_workqueue"]
ORDER = PLAIN + ["integrity:", "sector_size:", "iv_large_sectors",
                 "integrity_key_size:"]


def key(n):
    return hashlib.shake_256(b"round trip").hexdigest(n) if n else "-"


def number_of(dev):
    if not dev.startswith("/"):
        return dev
    st = os.stat(dev)
    return f"{os.major(st.st_rdev)}:{os.minor(st.st_rdev)}"


def rank(opt):
    return next(i for i, o in enumerate(ORDER) if opt == o
                or o.endswith(":") and opt.startswith(o))


def expected(sectors, target, cipher, k, iv, dev, start, opts):
    """What the manual promises: dm-crypt's order, its own spelling."""
    opts = [o.lower() if o.lower() in PLAIN + ["iv_large_sectors"] else o
            for o in opts]
    opts = sorted((o for o in opts if o != "sector_size:512"), key=rank)
    tail = f" {len(opts)} {' '.join(opts)}" if opts else ""
    if not k.startswith(":"):
        k = k.lower()
    return f"0 {sectors} {target} {cipher} {k} {iv} {number_of(dev)} {start}{tail}"


def trip(cipher, k, opts=(), iv=0, dev=DEVICE, start=0, sectors=8,
         counted=True, crypt=True):
    opts = list(opts)
    tail = f" {len(opts)} {' '.join(opts)}" if counted else ""
    line = f"0 {sectors} {TARGET} {cipher} {k} {iv} {dev} {start}{tail}".rstrip()
    short = line if len(line) < 200 else line.replace(k, f"<{len(k)} digits>")
    short = short.replace(k, "<key>") if len(k) > 31 and k[0] != ":" else short
    try:
        dm.load(name, line)
    except OSError as e:
        tap.result(False, short, f"load: {dm.errname(e)}", *log.lines()[-4:])
        return
    log.skip()
    first = dm.table(name)
    want = expected(sectors, TARGET, cipher, k, iv, dev, start, opts)
    trouble = []
    if first != want:
        trouble += [f"printed:  {first}", f"expected: {want}"]
    if crypt and TARGET != "crypt" and len(opts) <= 9:
        try:
            dm.load(crypt_name, line.replace(f" {TARGET} ", " crypt ", 1))
            theirs = dm.table(crypt_name)
            dm.clear(crypt_name)
            if theirs != first.replace(f" {TARGET} ", " crypt ", 1):
                trouble += [f"fdecrypt: {first}", f"dm-crypt: {theirs}"]
        except OSError as e:
            trouble.append(f"dm-crypt does not take it: {dm.errname(e)}")
    try:
        dm.load(name, first)
        again = dm.table(name)
        if again != first:
            trouble += [f"first:  {first}", f"second: {again}"]
    except OSError as e:
        trouble += [f"what it printed does not load: {dm.errname(e)}", first,
                    *log.lines()[-4:]]
    dm.clear(name)
    tap.result(not trouble, short, *trouble)


def main():
    dm.create(name)
    dm.create(crypt_name)
    k = key(64)

    for cipher, n in (
            ("aes-xts-plain64", 64), ("aes-xts-plain64", 32), ("aes", 32),
            ("aes-plain", 16), ("aes-ecb", 16), ("aes-cbc-null", 16),
            ("aes-cbc-plain", 24), ("aes-cbc-plain64be", 32),
            ("aes-cbc-essiv:sha256", 32), ("aes-cbc-eboiv", 32),
            ("aes-lrw-benbi", 48), ("aes:1-cbc-plain64", 32),
            ("aes:4-cbc-plain64", 64), ("aes:64-xts-plain64", 64 * 64),
            ("serpent-xts-plain64", 64), ("twofish-cbc-essiv:sha256", 32),
            ("camellia-ctr-plain64", 32), ("des3_ede-cbc-plain64", 24),
            ("blowfish-cbc-essiv:sha256", 32), ("cipher_null-ecb", 0),
            ("xchacha12,aes-adiantum-plain64", 32),
            ("capi:xts(aes)-plain64", 64), ("capi:cbc(aes)-essiv:sha256", 32),
            ("capi:essiv(cbc(aes),sha256)-plain64", 32),
            ("capi:ecb(aes)", 32), ("capi:adiantum(xchacha12,aes)-plain64", 32)):
        trip(cipher, key(n))
        trip(cipher, key(n), ["sector_size:4096"], iv=8, start=8)
    # keys and numbers
    trip("aes-xts-plain64", k.upper())
    trip("aes-xts-plain64", k, counted=False)
    for iv in (1, 2 ** 32 - 1, 2 ** 32, 2 ** 63, 2 ** 64 - 8):
        trip("aes-xts-plain64", k, iv=iv, start=iv % 1000)
    trip("aes-xts-plain64", k, dev=number_of(DEVICE), start=12345)
    trip("aes-xts-plain64", k, sectors=131072)
    # every option alone, in both spellings where there are two
    for o in PLAIN + ["iv_large_sectors"]:
        trip("aes-xts-plain64", k, [o])
        trip("aes-xts-plain64", k, [o.upper()])
    for n in (512, 1024, 2048, 4096):
        trip("aes-xts-plain64", k, [f"sector_size:{n}"])
        trip("aes-xts-plain64", k, ["iv_large_sectors", f"sector_size:{n}"])
    trip("aes-xts-plain64", k, ["integrity_key_size:32"])
    # many together, in any order
    full = PLAIN + ["sector_size:4096", "iv_large_sectors",
                    "integrity_key_size:16"]
    for n in (2, 3, 5, 8):
        for _ in range(8):
            trip("aes-xts-plain64", k, r.sample(full, n))
    for _ in range(16):
        trip("aes-xts-plain64", k, r.sample(full, len(full)))
    trip("aes-xts-plain64", k, full)
    trip("aes-xts-plain64", k, full[::-1])
    # keyrings
    if dm.new_session_keyring():
        for kind in ("logon", "user"):
            dm.add_key(kind, "trip:key", bytes(range(1, 65)))
            trip("aes-xts-plain64", f":64:{kind}:trip:key")
            trip("aes-xts-plain64", f":64:{kind}:trip:key",
                 r.sample(full, len(full)), iv=8)
    else:
        tap.skip("keyring keys", "this kernel has no keyrings")
    # all ten at once: more than dm-crypt allows (its limit is nine)
    ten = full + ["integrity:16:none"]
    trip("aes-xts-plain64", k, ["integrity:16:none"])
    trip("aes-xts-plain64", k, ["integrity:480:none", "sector_size:4096"])
    for i in range(8):
        trip("aes-xts-plain64", k, r.sample(ten, 9))
    for i in range(16):
        trip("aes-xts-plain64", k, r.sample(ten, 10) if i else ten)
    several()


def several():
    """A table of segments."""
    k = key(32)
    line = "\n".join(
        f"{s} 64 {TARGET} aes-cbc-plain64 {k} {s} {DEVICE} {s} {t}"
        for s, t in ((0, "1 allow_discards"), (64, ""), (128,
                     "2 sector_size:1024 iv_large_sectors")))
    line = "\n".join(x.rstrip() for x in line.split("\n"))
    try:
        dm.load(name, line)
        first = dm.table(name)
        dm.load(name, first)
        again = dm.table(name)
    except OSError as e:
        tap.result(False, "three segments", dm.errname(e), *log.lines()[-4:])
        return
    want = line.replace(DEVICE, number_of(DEVICE))
    tap.result(first == want and again == first, "three segments",
               first, again, want)


log = dm.Log()
try:
    main()
finally:
    dm.remove_all()
sys.exit(tap.done())
