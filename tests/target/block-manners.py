#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""See whether what a caller says about its I/O reaches the device below: witness over TARGET over witness.

usage: block-manners.py TARGET DEVICE DIRECTORY CGROUP
"""
import collections
import errno
import fcntl
import hashlib
import mmap
import os
import struct
import subprocess
import sys

import dm

TARGET, DEVICE, WORK, CGROUP = sys.argv[1:5]
PARAMETER = "/sys/module/dm_fdecrypt/parameters/inline_bytes"
SIZE = 16384
RWF_DSYNC, RWF_NOWAIT, F_SET_RW_HINT = 2, 8, 1036
NR_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}.get(os.uname().machine, 251)
BE3, IDLE = 2 << 13 | 3, 3 << 13
KEY = hashlib.shake_256(b"manners").hexdigest(64)
Seen = collections.namedtuple("Seen", "op flags prio hint stream cgroup sector bytes")
tap = dm.Tap()


def is_(name, got, want):
    return tap.result(got == want, name, f"got:      {got}", f"expected: {want}")


# ---- witness over TARGET over witness ------------------------------------------------------------

def make(name, target):
    major, minor = dm.create(name)
    dm.load(name, f"0 {SIZE} {target}")
    dm.resume(name)
    return f"{major}:{minor}", f"/dev/dm-{minor}"


class Stack:
    def __init__(self, target):
        self.target = target

    def __enter__(self):
        below, _ = make("below", f"witness {DEVICE} 0")
        mid, self.mid = make("mid", f"{self.target} aes-xts-plain64 {KEY} 0 {below} 0")
        _, self.top = make("top", f"witness {mid} 0 stream:3")
        return self

    def __exit__(self, *_):
        for name in "top", "mid", "below":
            dm.remove(name)

    def forget(self):
        dm.message("top", "reset")
        dm.message("below", "reset")

    def seen(self, name):
        words = dm.query(name, 0)[0][3].split()
        assert int(words[0]) == len(words) - 2, "more than the witness remembers"
        out = []
        for word in words[2:]:
            op, flags, *numbers = word.split(",")
            out.append(Seen(op, flags.rstrip("|"), *(int(n) for n in numbers)))
        return sorted(out)

    def passes(self, name, expected=lambda s: True):
        """As it is above it has to be below, and that must be as expected."""
        above, below = self.seen("top"), self.seen("below")
        tap.result(any(expected(s) for s in above), f"{name}: is so above", *above[:3])
        if self.target == "crypt":  # loses hint and stream; here to show that the rest is common
            below = [s._replace(hint=a.hint, stream=a.stream) for s, a in zip(below, above)]
        wrong = [f"above {a}\nbelow {b}" for a, b in zip(above, below) if a != b]
        tap.result(len(above) == len(below) and not wrong, f"{name}: and below",
                   f"{len(above)} above, {len(below)} below", *wrong[:3])


# ---- one request ---------------------------------------------------------------------------------

def request(dev, what, size=4096, flags=0, hint=0, prio=0, cgroup=None):
    """In a process of its own, as priority and cgroup belong to that; returns the name of the error or "ok"."""
    pid = os.fork()
    if pid:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return errno.errorcode[code] if code else "ok"
    code = 0
    try:
        if cgroup:
            with open(f"{cgroup}/cgroup.procs", "w", encoding="ascii") as f:
                f.write("0")
        if prio:
            assert dm._libc.syscall(NR_IOPRIO_SET, 1, 0, prio) == 0
        fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
        if hint:
            fcntl.fcntl(fd, F_SET_RW_HINT, struct.pack("=Q", hint))
        buf = mmap.mmap(-1, size)
        if what == "write":
            os.pwritev(fd, [buf], 0, flags)
        elif what == "read":
            os.preadv(fd, [buf], 0, flags)
        else:
            os.fsync(fd)
    except OSError as e:
        code = e.errno
    except BaseException:  # pylint: disable=broad-except
        code = 255
    os._exit(code)


def manners(name, target):
    with Stack(target) as stack:
        for what, how, expected in (
                ("write", {"prio": BE3}, lambda s: s.prio == BE3),
                ("write", {"prio": BE3, "size": 65536}, lambda s: s.prio == BE3 and s.bytes == 65536),
                ("read", {"prio": IDLE}, lambda s: s.prio == IDLE and s.op == "READ"),
                ("write", {"hint": 4}, lambda s: s.hint == 4 and s.stream == 3),
                ("write", {"cgroup": CGROUP}, lambda s: s.cgroup > 1),
                ("write", {"flags": RWF_DSYNC}, lambda s: "FUA" in s.flags),
                ("fsync", {}, lambda s: "PREFLUSH" in s.flags and not s.bytes)):
            stack.forget()
            title = f"{name}: {what} {how or ''}".rstrip()
            is_(title, request(stack.top, what, **how), "ok")
            stack.passes(title, expected)


def run(*command):
    r = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    return r.returncode == 0 or f"{command[0]}: status {r.returncode}\n{r.stdout}{r.stderr}"


def file_system():
    """Data of a cgroup, journal and superblock."""
    mnt = f"{WORK}/mnt"
    with Stack(TARGET) as stack:
        os.mkdir(mnt)
        is_("ext4: made", run("mkfs.ext4", "-q", "-b", "4096", stack.top), True)
        is_("ext4: mounted", run("mount", stack.top, mnt), True)
        stack.forget()
        is_("ext4: written", run("sh", "-c", f"echo 0 >{CGROUP}/cgroup.procs; head -c 20000 /dev/urandom >{mnt}/f; "
                                 f"sync {mnt}/f; echo a >{mnt}/g; sync -f {mnt}"), True)
        flags = " ".join(s.flags for s in stack.seen("top"))
        for flag in "META", "PRIO", "FUA", "PREFLUSH":
            tap.result(flag in flags, f"ext4: says {flag}", flags)
        stack.passes("ext4")
        tap.result(any(s.cgroup > 1 for s in stack.seen("below")), "ext4: some of a cgroup")
        is_("ext4: unmounted", run("umount", mnt), True)


def no_waiting():
    got = {}
    for target in TARGET, "crypt":
        with Stack(target) as stack:
            got[target] = [request(stack.mid, what, flags=RWF_NOWAIT) for what in ("read", "write")]
            is_(f"{target}: without RWF_NOWAIT", [request(stack.mid, what) for what in ("read", "write")], ["ok"] * 2)
            if target == TARGET:
                tap.result(not any("NOWAIT" in s.flags for s in stack.seen("below")), "no NOWAIT below")
    is_("RWF_NOWAIT: as dm-crypt", got[TARGET], got["crypt"])
    tap.result(set(got[TARGET]) <= {"EOPNOTSUPP", "ENOTSUP"}, "RWF_NOWAIT: refused as by devices that cannot", got)
    _, dev = make("below", f"witness {DEVICE} 0")
    is_("RWF_NOWAIT: the device below can", request(dev, "read", flags=RWF_NOWAIT), "ok")
    dm.remove("below")


def polled():
    with Stack(TARGET) as stack:
        for rw in "randwrite", "randread":
            stack.forget()
            is_(f"polled {rw}: ends", run(
                "fio", "--name=polled", f"--filename={stack.top}", "--ioengine=io_uring", "--hipri=1", "--direct=1",
                f"--rw={rw}", "--bsrange=4k-64k", "--size=8m", "--io_size=512k", "--iodepth=4", "--thread",
                "--invalidate=0"), True)
            above, below = stack.seen("top"), stack.seen("below")
            tap.result(any("POLLED" in s.flags for s in above), f"polled {rw}: is above", *above[:3])
            tap.result(not any("POLLED" in s.flags or "NOWAIT" in s.flags for s in below),
                       f"polled {rw}: is not below", *below[:3])
            is_(f"polled {rw}: as many below", len(below), len(above))


def main():
    if TARGET == "fdecrypt":
        with open(PARAMETER, encoding="ascii") as f:
            usual = f.read()
        for size in usual.strip(), "0":
            with open(PARAMETER, "w", encoding="ascii") as f:
                f.write(size)
            manners(f"{TARGET}, inline_bytes {size}", TARGET)
        with open(PARAMETER, "w", encoding="ascii") as f:
            f.write(usual)
    manners("dm-crypt", "crypt")
    file_system()
    no_waiting()
    polled()


try:
    main()
finally:
    dm.remove_all()
sys.exit(tap.done())
