#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Let each allocation of a table load, resume, message and status fail once; see that nothing of it stays.

usage: failed-load-leaves-nothing.py DEVICE

/proc/self/fail-nth holds which of this task's next allocations is to fail, and 0 when one has. Where hundreds in a row
fail in the same few ways (pools being filled) not each is tried, but each beginning and end of such a row; FULL=1 tries
all.
"""
import collections
import errno
import hashlib
import mmap
import os
import sys

import dm

DEVICE = sys.argv[1]
FAULTS = "/sys/kernel/debug"
NAME = "fails"
SIZE = 2048
LIMIT = 5000
FULL = os.environ.get("FULL") == "1"
tap = dm.Tap()


def key(n, seed):
    return hashlib.shake_256(seed.encode()).hexdigest(n)


# name, cipher, the key that is there, another one; a key of a keyring that has been given to the cipher is not kept, so
# what fails may leave a mapping without key, which does not resume
TABLES = [
    ("xts", "aes-xts-plain64", key(64, "a"), key(64, "b")),
    ("essiv", "aes-cbc-essiv:sha256", key(32, "a"), key(32, "b")),
    ("four keys", "aes:4-cbc-plain64", key(128, "a"), key(128, "b")),
    ("keyring", "aes-xts-plain64", ":64:logon:fails:a", ":64:logon:fails:b"),
]


class Device:
    def __init__(self):
        self.node = f"/dev/dm-{dm.create(NAME)[1]}"
        self.fd = -1
        self.buf = mmap.mmap(-1, 4096)

    def read(self):
        fd = os.open(self.node, os.O_RDONLY | os.O_DIRECT)
        try:
            os.preadv(fd, [self.buf], 0)
            return bytes(self.buf)
        finally:
            os.close(fd)


def module_refs():
    with open("/sys/module/dm_fdecrypt/refcnt", encoding="ascii") as f:
        return int(f.read())


class Walk:
    """Do something again and again, with another allocation failing each time, until none is left."""

    def __init__(self, name, least):
        self.name, self.least = name, least
        self.failed = self.survived = 0
        self.errors = collections.Counter()
        self.trouble = []
        self.log = dm.Log()
        self.nth = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def once(self, n, what):
        """True if an allocation was failed; the error is in self.error."""
        self.error = None
        number = str(n).encode()
        os.pwrite(self.nth, number, 0)
        try:
            what()
        except OSError as e:
            self.error = e
        left = os.pread(self.nth, 16, 0)
        os.pwrite(self.nth, b"0", 0)
        return int(left) == 0

    def run(self, what, after, before=lambda: None):
        """before() undoes what succeeded; after(error) returns what is wrong, or nothing."""
        n, step, rounds, alike, ways = 1, 1, 0, 0, collections.deque(maxlen=8)
        while n < LIMIT:
            before()
            self.log.skip()
            hit = self.once(n, what)
            way = (hit, str(self.error), [line for line in self.log.lines() if "fdecrypt: " in line])
            alike = alike + 1 if way in ways else 0
            ways.append(way)
            rounds += 1
            self.failed += hit and self.error is not None
            self.survived += hit and self.error is None
            if self.error is not None:
                self.errors[dm.errname(self.error)] += 1
            wrong = after(self.error)
            if wrong:
                self.trouble.append(f"allocation {n}, {self.error}: {wrong}")
            if self.error is not None and not hit:
                self.trouble.append(f"allocation {n}: {self.error} without a failure")
            if len(self.trouble) > 5:
                break
            if step > 1 and not alike:
                # something else: go back to where it begins
                n, step = n - step + 1, 1
                continue
            if not hit:
                break
            if alike > 8 and not FULL:
                step = min(step * 2, 64)
            n += step
        else:
            self.trouble.append("no end")
        os.close(self.nth)
        print(f"# {self.name}: {n} allocations, {rounds} rounds, {self.failed} failed with {dict(self.errors)}, {self.survived} did without")
        tap.result(not self.trouble, f"{self.name}: fails cleanly or not at all", *self.trouble[:6])
        tap.result(set(self.errors) <= {"ENOMEM"}, f"{self.name}: with ENOMEM", dict(self.errors))
        tap.result(self.failed + self.survived >= self.least, f"{self.name}: at least {self.least} allocations failed",
                   self.failed + self.survived)


def loads(device, name, table):
    refs = module_refs()

    def after(error):
        there = dm.has_inactive(NAME)
        if there:
            dm.clear(NAME)
        if there == (error is not None):
            return "an inactive table" if there else "no inactive table"
        if module_refs() != refs:
            return f"{module_refs()} references to the module, not {refs}"
        return ""

    Walk(f"{name}: load", 100).run(lambda: dm.load(NAME, table), after)


def resumes(device, name, table, data):
    def before():
        if not dm.has_inactive(NAME):
            dm.load(NAME, table)

    def after(_):
        dm.resume(NAME)
        return "" if device.read() == data else "wrong data"

    Walk(f"{name}: resume", 2).run(lambda: dm.resume(NAME), after, before)


def resumes_or_gets(old, may_lack):
    """What is wrong, and whether the mapping resumed with the key it has; one that lacks it gets the old one."""
    try:
        dm.resume(NAME)
        return "", True
    except OSError as e:
        if not may_lack or e.errno != errno.EAGAIN:
            return f"does not resume: {e}", False
    dm.message(NAME, f"key set {old}")
    dm.resume(NAME)
    return "", False


def keys(device, name, old, new, data):
    """The key is that of before, after a failure, or the new one; a key of a keyring may be gone."""
    state = {"data": None}
    kept = not old.startswith(":")

    def before():
        dm.suspend(NAME)

    def after(error):
        wrong, had_key = resumes_or_gets(old, may_lack=not kept and error is not None)
        if wrong:
            return wrong
        now = device.read()
        if not had_key:
            return "" if now == data else "wrong data after the key was set again"
        if error is not None:
            return "" if now == data else "not the old key"
        if now == data:
            return "the old key still"
        state["data"] = state["data"] or now
        wrong = "" if now == state["data"] else "neither key"
        dm.suspend(NAME)
        dm.message(NAME, f"key set {old}")
        dm.resume(NAME)
        return wrong or ("" if device.read() == data else "the old key does not come back")

    Walk(f"{name}: key set", 3).run(lambda: dm.message(NAME, f"key set {new}"), after, before)


def wipes(device, name, old, data):
    def before():
        dm.suspend(NAME)

    def after(error):
        wrong, had_key = resumes_or_gets(old, may_lack=error is None)
        if wrong:
            return wrong
        if had_key and error is None:
            return "resumes without key"
        return "" if device.read() == data else "wrong data"

    Walk(f"{name}: key wipe", 2).run(lambda: dm.message(NAME, "key wipe"), after, before)


def cpus(name):
    def now():
        return dm.query(NAME, 0)[0][3].rsplit("cpus=", 1)[1], "cpus:" in dm.table(NAME, False)

    def before():
        dm.message(NAME, "cpus all")
        state["old"] = now()

    def after(error):
        got = now()
        if error is None:
            return "" if got[0] == "0" else f"{got} after success"
        return "" if got == state["old"] else f"{got}, was {state['old']}"

    state = {}
    Walk(f"{name}: cpus", 2).run(lambda: dm.message(NAME, "cpus 0"), after, before)
    dm.message(NAME, "cpus all")


def statuses(name):
    for what, ask in (("INFO", lambda: dm.query(NAME, 0)), ("TABLE", lambda: dm.table(NAME, False))):
        good = ask()

        def asked():
            got.append(ask())

        def after(error):
            answer = got.pop() if got else None
            if (answer is None) != (error is not None):
                return "no answer and no error"
            if what == "INFO" and answer:
                return "" if answer[0][:3] == good[0][:3] else f"{answer}"
            return "" if answer in (None, good) else f"{answer}"

        got = []
        Walk(f"{name}: {what}", 1).run(asked, after)


def main():
    for kind in "failslab", "fail_page_alloc":
        for name, value in (("ignore-gfp-wait", "N"), ("verbose", "0"), ("probability", "0"), ("times", "-1"),
                            ("min-order", "0"), ("ignore-gfp-highmem", "N")):
            if os.path.exists(f"{FAULTS}/{kind}/{name}"):
                with open(f"{FAULTS}/{kind}/{name}", "w", encoding="ascii") as f:
                    f.write(value)
    tables = TABLES
    if dm.new_session_keyring():
        dm.add_key("logon", "fails:a", bytes(range(64)))
        dm.add_key("logon", "fails:b", bytes(range(64, 128)))
    else:
        tables = TABLES[:-1]
    for name, cipher, old, new in tables:
        device = Device()
        table = f"0 {SIZE} fdecrypt {cipher} {old} 0 {DEVICE} 0"
        # once without a failure, so that modules and instances are there, and to see the data
        dm.load(NAME, table)
        dm.resume(NAME)
        data = device.read()
        loads(device, name, table)
        tap.result(device.read() == data, f"{name}: the live table still works")
        resumes(device, name, table, data)
        keys(device, name, old, new, data)
        wipes(device, name, old, data)
        cpus(name)
        statuses(name)
        dm.remove(NAME)
        tap.result(module_refs() == 0, f"{name}: no reference to the module is left", module_refs())


try:
    main()
finally:
    dm.remove_all()
sys.exit(tap.done())
