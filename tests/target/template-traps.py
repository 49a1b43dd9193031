#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The fdiv template among other algorithms, seen over AF_ALG.

usage: template-traps.py names|capture|backlog|unload VECTORS-FOLDER
"""
import errno
import os
import subprocess
import sys
import threading

import dm

sys.path.insert(0, sys.argv[2])
import afalg                    # noqa: E402
import reference                # noqa: E402

tap = dm.Tap()


def instances():
    return [a for a in afalg.algorithms() if a["name"].startswith("fdiv(")]


def names():
    for good in ("fdiv(plain64,xts(aes))", "fdiv(plain64,cbc(aes),4)",
                 "fdiv(plain64,cbc(aes),1)", "fdiv(benbi,lrw(aes))",
                 "fdiv(plain64,essiv(cbc(aes),sha256),2)",
                 "fdiv(null,ecb(aes))"):
        try:
            afalg.Cipher(good, None).close()
        except OSError as e:
            tap.result(False, f"{good}", dm.errname(e))
            continue
        found = [a for a in instances() if a["name"] == good]
        tap.result(len(found) == 1, f"{good} registers under that spelling, once",
                   [a["name"] for a in instances()])
        count = len(instances())
        for _ in range(5):
            afalg.Cipher(good, None).close()
        tap.result(len(instances()) == count, f"{good} again makes none",
                   [a["name"] for a in instances()])
    count = len(instances())
    long = "x" * 130
    for bad in ("fdiv", "fdiv()", "fdiv(plain64)", "fdiv(plain64,)",
                "fdiv(,xts(aes))", "fdiv(plain64,xts(aes)", "fdiv(plain64,xts(aes),)",
                "fdiv(plain64,xts(aes),0)", "fdiv(plain64,xts(aes),3)",
                "fdiv(plain64,xts(aes),x)", "fdiv(plain64,xts(aes),-1)",
                "fdiv(plain64,xts(aes),01)", "fdiv(plain64,xts(aes),4x)",
                "fdiv(plain64,xts(aes),4294967297)",
                "fdiv(plain64,xts(aes),2147483648)",
                "fdiv(plain64,xts(aes),1099511627776)",
                "fdiv(plain64,xts(aes),2,2)", "fdiv(bogus,xts(aes))",
                "fdiv(PLAIN64,xts(aes))", "fdiv(plain6,xts(aes))",
                "fdiv(plain644,xts(aes))", "fdiv(plain64,bogus(aes))",
                "fdiv(plain64,xts(bogus))", "fdiv(plain64,sha256)",
                "fdiv(plain64,gcm(aes))", "fdiv(plain64,aes)",
                "fdiv(plain64,hmac(sha256))", "fdiv(eboiv,ctr(aes))",
                "fdiv(eboiv,adiantum(xchacha12,aes))",
                "fdiv( plain64,xts(aes))", "fdiv(plain64, xts(aes))",
                "fdiv(plain64,xts(aes) )", "fdiv(plain64:x,xts(aes))",
                "fdiv(essiv:sha256,cbc(aes))", "fdiv(plain64,xts(aes):2)",
                "fdiv(xts(aes),plain64)", "fdiv(4,xts(aes))",
                f"fdiv(plain64,{long})", f"fdiv({long},xts(aes))"):
        try:
            afalg.Cipher(bad, None).close()
        except OSError as e:
            tap.result(e.errno in (errno.ENOENT, errno.EINVAL,
                                   errno.ENAMETOOLONG),
                       f"refused: {bad[:60]}", dm.errname(e))
        else:
            tap.result(False, f"refused: {bad[:60]}", "accepted")
    tap.result(len(instances()) == count, "bad names leave no instance",
               [a["name"] for a in instances()])


def capture():
    """Somebody allocates every slow way there is, and the composite name."""
    with afalg.Cipher("xts(aes)", None):
        pass
    drivers = [a["driver"] for a in afalg.algorithms()
               if a["name"] == "xts(aes)" and "fdiv" not in a["driver"]]
    slow = drivers + [f"cryptd({d})" for d in drivers if "cryptd" not in d]
    slow += ["xts(ecb(aes-lib))", "xts(ecb(aes-generic))", "xts(ecb-aes-lib)"]
    made = 0
    for d in slow:
        for name in (f"fdiv(plain64,{d})", d):
            try:
                afalg.Cipher(name, bytes(range(64))).close()
                made += 1
                print(f"# allocated {name}")
            except OSError:
                pass
    tap.result(made >= 2, "slow instances were made first", slow)
    try:
        afalg.Cipher("fdiv(plain64,xts(aes))", bytes(range(64))).close()
        tap.result(True, "the composite name can be had as well")
    except OSError as e:
        tap.result(False, "the composite name can be had as well", e)


def backlog():
    """More requests in flight than the child's queue takes."""
    with afalg.Cipher("xts(aes)", None):
        pass
    name = f"fdiv(plain64,cryptd({afalg.best_driver('xts(aes)')}))"
    try:
        afalg.Cipher(name, None).close()
    except OSError:
        tap.skip("a full queue", "AF_ALG of this kernel gives out nothing asynchronous")
        return
    key = bytes(range(64))
    data = bytes(64 * 512)
    want = reference.Fdiv("plain64", "xts(aes)", 1, key).crypt(
        True, data, 5, 512, 1)
    wrong = []

    def work(c):
        try:
            for _ in range(20):
                if c.encrypt(data, reference.header(5, 512, 1)) != want:
                    wrong.append("wrong bytes")
        except OSError as e:
            wrong.append(f"{type(e).__name__} {e}")

    ciphers = [afalg.Cipher(name, key) for _ in range(16)]
    threads = [threading.Thread(target=work, args=(c,), daemon=True)
               for c in ciphers]
    for t in threads:
        t.start()
    for t in threads:
        t.join(90)
    hang = sum(t.is_alive() for t in threads)
    tap.result(not hang, "16 submitters end", f"{hang} hang")
    tap.result(not wrong, "with the right bytes", *wrong[:5])
    if hang:
        tap.done()
        os._exit(1)
    for c in ciphers:
        c.close()


def rmmod():
    return subprocess.run(["rmmod", "dm_fdecrypt"], capture_output=True,
                          text=True, check=False)


def unload():
    c = afalg.Cipher("fdiv(plain64,xts(aes))", bytes(range(64)))
    r = rmmod()
    tap.result(r.returncode != 0, "rmmod is refused while a transform is held",
               r.stdout, r.stderr)
    head = reference.header(1, 512, 1)
    tap.result(c.decrypt(c.encrypt(bytes(512), head), head) == bytes(512),
               "and that one works on")
    c.close()
    log = dm.Log()
    r = rmmod()
    tap.result(r.returncode == 0, "rmmod when it is not", r.stdout, r.stderr)
    tap.result(not instances(), "no instance is left",
               [a["name"] for a in instances()])
    lines = log.lines()
    tap.result(not any("WARN" in x or "BUG" in x or "Call Trace" in x
                       for x in lines), "without a warning", *lines[:10])
    try:
        afalg.Cipher("fdiv(plain64,xts(aes))", None).close()
        with open("/proc/modules", encoding="ascii") as f:
            tap.result("dm_fdecrypt" in f.read(),
                       "the name is gone, or loads the module again")
    except OSError as e:
        tap.result(e.errno == errno.ENOENT,
                   "the name is gone, or loads the module again", e)


{"names": names, "capture": capture, "backlog": backlog,
 "unload": unload}[sys.argv[1]]()
sys.exit(tap.done())
