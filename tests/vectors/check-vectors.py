#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the fdiv template of this kernel with known answers, over AF_ALG.

usage: gen-vectors.py | check-vectors.py known
       check-vectors.py hostile | split | children [--seed N]

known     encrypt and decrypt each vector of standard input, in one piece and
          cut at odd places, also through cryptd() children
hostile   IV headers and lengths that must be refused
split     requests larger than the socket's buffers, and read in pieces
children  ciphers the reference lacks: compared with the child itself, unit by
          unit, with the IVs of the reference

Prints TAP.
"""
import argparse
import base64
import errno
import hashlib
import json
import random
import sys

import afalg
import reference

count = 0
failed = 0


def result(good, name, *diagnostics):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        for d in diagnostics:
            print(f"# {d}")
    sys.stdout.flush()


def skipped(name):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP AF_ALG of this kernel gives out none")


def plaintext(seed, n):
    return hashlib.shake_256(f"plain {seed}".encode()).digest(n)


def where(got, want, unit):
    """Says where two byte strings differ."""
    if len(got) != len(want):
        return f"{len(got)} bytes instead of {len(want)}"
    i = next(i for i in range(len(got)) if got[i] != want[i])
    bad = [k // unit for k in range(0, len(got), unit)
           if got[k:k + unit] != want[k:k + unit]]
    return (f"first difference at byte {i}, wrong units {bad[:8]} of "
            f"{len(got) // unit}: got {got[i:i + 16].hex()} "
            f"expected {want[i:i + 16].hex()}")


def odd_pieces(r, n, most=16):
    """Lengths that add up to n: a scatterlist with cuts anywhere."""
    cuts = sorted(r.randrange(1, n) for _ in range(r.randrange(1, most)))
    out = []
    last = 0
    for c in cuts:
        if c > last:
            out.append(c - last)
            last = c
    out.append(n - last)
    return out


def asynchronous(child):
    """The same child through cryptd: fdiv must wait for each unit."""
    if child.startswith("essiv("):
        inner, hashname = child[6:-1].rsplit(",", 1)
        return f"essiv(cryptd({driver_of(inner)}),{hashname})"
    return f"cryptd({driver_of(child)})"


def async_allowed():
    """Since 7.x AF_ALG gives out no asynchronous algorithm."""
    try:
        afalg.Cipher(asynchronous("cbc(aes)"), None).close()
        return True
    except OSError:
        return False


drivers = {}


def driver_of(child):
    if child not in drivers:
        # once bound, it is in /proc/crypto
        afalg.Cipher(child, None).close()
        drivers[child] = afalg.best_driver(child)
    return drivers[child]


def known(args):
    r = random.Random(args.seed)
    group = {}
    both = async_allowed()
    if not both:
        skipped("asynchronous children")
    for text in sys.stdin:
        v = json.loads(text)
        group.setdefault(v["name"], []).append(v)
    for name, vs in group.items():
        try:
            compare(name, vs, r)
        except OSError as e:
            result(False, name, f"{type(e).__name__}: {e}")
        v = vs[0]
        if not both:
            continue
        try:
            tail = f",{v['count']}" if v["count"] > 1 else ""
            name = f"fdiv({v['ivmode']},{asynchronous(v['child'])}{tail})"
            compare(name, vs, r)
        except OSError as e:
            result(False, name, f"{type(e).__name__}: {e}")


def compare(name, vs, r):
    wrong = []
    for v in vs:
        plain = plaintext(v["data"], v["bytes"])
        cipher = base64.b64decode(v["cipher"])
        unit = v["unit"]
        head = reference.header(v["first"], unit, v["step"])
        about = f"first {v['first']} unit {unit} step {v['step']}"
        with afalg.Cipher(name, bytes.fromhex(v["key"])) as c:
            for pieces in (None, odd_pieces(r, len(plain))):
                how = f"{about}, sent as {pieces}" if pieces else about
                got = c.encrypt(plain, head, pieces=pieces)
                if got != cipher:
                    wrong.append(f"encrypt, {how}: {where(got, cipher, unit)}")
                got = c.decrypt(cipher, head, pieces=pieces)
                if got != plain:
                    wrong.append(f"decrypt, {how}: {where(got, plain, unit)}")
    result(not wrong, f"{name}: {len(vs)} vectors", *wrong[:6])


def refused(c, data, head, name):
    for encrypt in (True, False):
        word = "encrypt" if encrypt else "decrypt"
        try:
            c.crypt(encrypt, data, head)
        except OSError as e:
            result(e.errno == errno.EINVAL, f"{word}: {name}",
                   f"{e} instead of EINVAL")
        else:
            result(False, f"{word}: {name}", "accepted")


def hostile(args):
    r = random.Random(args.seed)
    for name, size in (("fdiv(plain64,xts(aes))", 64),
                       ("fdiv(benbi,cbc(aes),4)", 64),
                       ("fdiv(null,ecb(aes))", 16),
                       ("fdiv(plain64,essiv(cbc(aes),sha256))", 32),
                       ("fdiv(eboiv,cryptd)", 32)):
        if "cryptd" in name:
            if not async_allowed():
                skipped("hostile headers to an asynchronous child")
                continue
            name = f"fdiv(eboiv,{asynchronous('cbc(aes)')})"
        data = plaintext("hostile", 8192)
        with afalg.Cipher(name, r.randbytes(size)) as c:
            for unit in (0, 1, 16, 256, 511, 513, 768, 1536, 3072, 4095, 8192,
                         16384, 65536, 2 ** 31, 2 ** 32 - 512, 2 ** 32 - 1):
                refused(c, data, reference.header(7, unit, 1),
                        f"{name}: unit {unit}")
            for unit in (512, 1024, 2048, 4096):
                for step in (0, 2, 3, 4, 8, 9, 512, 4096, 2 ** 31,
                             2 ** 32 - 1):
                    if step != unit // 512:
                        refused(c, data, reference.header(0, unit, step),
                                f"{name}: unit {unit} step {step}")
            for unit, n in ((512, 16), (512, 256), (512, 511), (512, 513),
                            (512, 528), (1024, 512), (1024, 1536),
                            (2048, 3072), (4096, 512), (4096, 4080),
                            (4096, 4608), (4096, 7680)):
                refused(c, data[:n], reference.header(0, unit, 1),
                        f"{name}: {n} bytes of units of {unit}")
            # and it still works after all of that
            head = reference.header(2 ** 64 - 2, 512, 1)
            good = c.decrypt(c.encrypt(data, head), head) == data
            result(good, f"{name}: works after the bad requests")
    # keys: not one per count, none at all, too few
    for name, sizes in (("fdiv(plain64,cbc(aes),4)", (0, 16, 63, 65, 62, 160)),
                        ("fdiv(plain64,xts(aes))", (0, 16, 31, 33, 65)),
                        ("fdiv(plain64,cbc(aes),64)", (16, 1023, 2049))):
        for size in sizes:
            try:
                afalg.Cipher(name, r.randbytes(size)).close()
            except OSError as e:
                result(e.errno == errno.EINVAL,
                       f"{name}: a key of {size} bytes is refused", str(e))
            else:
                result(False, f"{name}: a key of {size} bytes is refused",
                       "accepted")
    with afalg.Cipher("fdiv(plain64,cbc(aes))", None) as c:
        try:
            c.encrypt(bytes(512), reference.header(0, 512, 1))
        except OSError as e:
            result(e.errno == errno.ENOKEY, "without a key: ENOKEY", str(e))
        else:
            result(False, "without a key: ENOKEY", "accepted")


def split(args):
    r = random.Random(args.seed)
    cases = []
    for unit in (512, 1024, 2048, 4096):
        for step in sorted({1, unit // 512}):
            cases.append((unit, step, r.choice((2 ** 64 - 9, r.getrandbits(64)))))
    for name, ivmode, child, size, n in (
            ("fdiv(plain64,xts(aes))", "plain64", "xts(aes)", 64, 1),
            ("fdiv(plain,cbc(aes),4)", "plain", "cbc(aes)", 16, 4),
            ("fdiv(plain64,cryptd)", "plain64", "xts(aes)", 32, 1)):
        if "cryptd" in name:
            if not async_allowed():
                skipped("split requests to an asynchronous child")
                continue
            name = f"fdiv(plain64,{asynchronous(child)})"
        key = r.randbytes(size * n)
        f = reference.Fdiv(ivmode, child, n, key)
        with afalg.Cipher(name, key) as c:
            for unit, step, first in cases:
                head = reference.header(first, unit, step)
                about = f"{name} unit {unit} step {step} first {first}"
                data = plaintext(about, 32 * unit)
                want = f.crypt(True, data, first, unit, step)
                # a recv of some units each: the next goes on where it ended
                reads = [unit * r.randrange(1, 9) for _ in range(32)]
                got = c.encrypt(data, head, reads=reads)
                result(got == want, f"{about}: read in pieces", f"{reads}",
                       "" if got == want else where(got, want, unit))
                got = c.decrypt(want, head, reads=[unit])
                result(got == data, f"{about}: read unit by unit",
                       "" if got == data else where(got, data, unit))
            # far more than the receive buffer: the kernel itself splits
            unit, step, first = 4096, 8, 2 ** 64 - 1000
            head = reference.header(first, unit, step)
            data = plaintext("large", 1 << 20)
            want = f.crypt(True, data, first, unit, step)
            for what, kw in (("send buffer of 4 MiB", {"sndbuf": 4 << 20}),
                             ("both buffers of 4 MiB",
                              {"sndbuf": 4 << 20, "rcvbuf": 4 << 20})):
                got = c.encrypt(data, head, **kw)
                result(got == want, f"{name}: 1 MiB, {what}",
                       "" if got == want else where(got, want, unit))
                got = c.decrypt(want, head, **kw)
                result(got == data, f"{name}: 1 MiB back, {what}",
                       "" if got == data else where(got, data, unit))


class Child:
    """A cipher of the kernel under the interface of the reference."""

    def __init__(self, name, key, blocksize, ivsize):
        self.c = afalg.Cipher(name, key)
        self.blocksize, self.ivsize = blocksize, ivsize

    def encrypt(self, data, iv):
        return self.c.encrypt(data, iv or None)

    def decrypt(self, data, iv):
        return self.c.decrypt(data, iv or None)


def children(args):
    r = random.Random(args.seed)
    for child, size, bs, ivsize in (
            ("cbc(serpent)", 32, 16, 16), ("xts(twofish)", 64, 16, 16),
            ("cbc(cast6)", 32, 16, 16), ("lrw(serpent)", 32, 16, 16),
            ("adiantum(xchacha12,aes)", 32, 16, 32),
            ("adiantum(xchacha20,aes)", 32, 16, 32),
            ("hctr2(aes)", 32, 16, 32), ("ctr(serpent)", 16, 1, 16)):
        for ivmode in ("null", "plain", "plain64", "plain64be", "benbi"):
            name = f"fdiv({ivmode},{child})"
            try:
                wrong = one_child(r, name, ivmode, child, size, bs, ivsize)
            except OSError as e:
                wrong = [f"{type(e).__name__}: {e}"]
            result(not wrong, name, *wrong)


def one_child(r, name, ivmode, child, size, bs, ivsize):
    wrong = []
    key = r.randbytes(size)
    oracle = Child(child, key, bs, ivsize)
    with afalg.Cipher(name, key) as c:
        for unit in (512, 1024, 2048, 4096):
            for step in sorted({1, unit // 512}):
                first = r.getrandbits(64)
                data = r.randbytes(3 * unit)
                want = b""
                for i in range(3):
                    s = (first + i * step) & reference.M64
                    iv = reference.iv_of(ivmode, s, unit, oracle)
                    want += oracle.encrypt(data[i * unit:(i + 1) * unit], iv)
                head = reference.header(first, unit, step)
                got = c.encrypt(data, head, pieces=odd_pieces(r, len(data)))
                if got != want:
                    wrong.append(f"unit {unit} step {step} first {first}: "
                                 + where(got, want, unit))
                elif c.decrypt(want, head) != data:
                    wrong.append(f"unit {unit} step {step}: decrypt differs")
    return wrong


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("what", choices=("known", "hostile", "split", "children"))
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    {"known": known, "hostile": hostile, "split": split,
     "children": children}[args.what](args)
    print(f"1..{count}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
