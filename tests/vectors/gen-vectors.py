#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print known answers for the fdiv template, made from a seed.

usage: gen-vectors.py [--seed N] [--digests]

One JSON object a line: name, key, first, unit, step, data (the seed the
plaintext is made from), bytes, and the ciphertext in base64. With --digests a
short text form, whose output for seed 1 is kept in known-answers.txt: so the
reference itself cannot drift.
"""
import argparse
import base64
import hashlib
import json
import random

import reference

KEYS = {                        # bytes of one key
    "aes": (16, 24, 32), "camellia": (16, 24, 32), "des3_ede": (24,),
    "blowfish": (16, 56), "cast5": (16,), "seed": (16,),
}


def plaintext(seed, n):
    return hashlib.shake_256(f"plain {seed}".encode()).digest(n)


def key_sizes(child):
    mode, name = child.replace("essiv(", "").split(")")[0].split("(")
    sizes = KEYS[name]
    if mode == "xts":
        return tuple(2 * n for n in sizes)
    if mode == "lrw":
        return tuple(n + 16 for n in sizes)
    return sizes


def spellings():
    for ivmode in ("null", "plain", "plain64", "plain64be", "benbi", "eboiv"):
        for child in ("xts(aes)", "cbc(aes)", "cbc(camellia)", "cbc(des3_ede)",
                      "cbc(blowfish)", "cbc(cast5)", "lrw(aes)"):
            yield ivmode, child, 1
        for count in (2, 4, 64):
            yield ivmode, "cbc(aes)", count
        if ivmode != "eboiv":
            yield ivmode, "ctr(aes)", 1
    yield "plain64", "xts(camellia)", 1
    yield "null", "ecb(aes)", 1
    yield "null", "ecb(aes)", 4
    for count in (1, 2, 64):
        yield "plain64", "essiv(cbc(aes),sha256)", count
        yield "plain64", "xts(aes)", count
    yield "plain64", "essiv(cbc(camellia),sha256)", 1
    yield "plain64", "essiv(cbc(blowfish),sha256)", 1
    yield "plain64", "essiv(xts(aes),sha256)", 1


def vectors(seed):
    r = random.Random(seed)
    for nr, (ivmode, child, count) in enumerate(spellings()):
        # small and large, both ways of counting, and the edges of the number
        for variant in range(4):
            unit = r.choice((512, 1024, 2048, 4096)) if variant else 512
            step = r.choice((1, unit // 512))
            units = (1, r.randint(2, 9), r.randint(2, 16), 16)[variant]
            span = units * step
            first = r.choice((
                r.getrandbits(64), r.getrandbits(31), 2 ** 32 - 1 - span // 2,
                (2 ** 64 - 1 - span // 2), 2 ** 63 - 1 - span // 2, 0))
            if count > 1 and step == unit // 512 and step > 1:
                first -= first % step
            size = r.choice(key_sizes(child))
            key = r.randbytes(size * count)
            data = f"{seed}.{nr}.{variant}"
            plain = plaintext(data, units * unit)
            f = reference.Fdiv(ivmode, child, count, key)
            cipher = f.crypt(True, plain, first, unit, step)
            if f.crypt(False, cipher, first, unit, step) != plain:
                raise SystemExit(f"the reference contradicts itself: {child}")
            tail = f",{count}" if count > 1 else ""
            yield {
                "name": f"fdiv({ivmode},{child}{tail})", "child": child,
                "ivmode": ivmode, "count": count, "key": key.hex(),
                "first": first, "unit": unit, "step": step, "data": data,
                "bytes": len(plain),
                "cipher": base64.b64encode(cipher).decode(),
            }


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--digests", action="store_true")
    args = p.parse_args()
    for v in vectors(args.seed):
        if args.digests:
            d = hashlib.sha256(base64.b64decode(v["cipher"])).hexdigest()
            print(v["name"], v["first"], v["unit"], v["step"], v["bytes"],
                  d[:32])
        else:
            print(json.dumps(v))


if __name__ == "__main__":
    main()
