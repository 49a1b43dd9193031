# SPDX-License-Identifier: GPL-2.0-only
"""Device-mapper ioctls, TAP and the kernel's log, for tests of many tables.

A hundred times faster in the guest than a dmsetup per step, and it sees the
errno that the kernel returned.
"""
import ctypes
import errno
import fcntl
import os
import struct
import subprocess
import sys

HEADER = struct.Struct("=3I3IiIIIQ128s129s7x")
assert HEADER.size == 312
SPEC = struct.Struct("=QQiI16s")
BUFFER = 65536
CREATE, REMOVE, SUSPEND, STATUS, LOAD, CLEAR, TABLE, MESSAGE = \
    3, 4, 6, 7, 9, 10, 12, 14
F_SUSPEND, F_TABLE, F_ACTIVE, F_INACTIVE = 2, 16, 32, 64
F_BUFFER_FULL, F_UUID, F_QUERY_INACTIVE, F_SECURE = 256, 512, 4096, 1 << 15
F_IMA = 1 << 19

_control = None
made = []


def _ioctl(nr, name, flags=0, targets=b"", count=0):
    global _control
    if _control is None:
        subprocess.run(["dmsetup", "version"], check=False,
                       stdout=subprocess.DEVNULL)
        _control = os.open("/dev/mapper/control", os.O_RDWR)
    size = max(BUFFER, HEADER.size + len(targets))
    buf = bytearray(size)
    buf[:HEADER.size] = HEADER.pack(4, 0, 0, size, HEADER.size, count, 0,
                                    flags, 0, 0, 0, name.encode(), b"")
    buf[HEADER.size:HEADER.size + len(targets)] = targets
    fcntl.ioctl(_control, 0xc138fd00 | nr, buf, True)
    head = HEADER.unpack(bytes(buf[:HEADER.size]))
    return {"start": head[4], "count": head[5], "flags": head[7],
            "dev": head[10], "buf": bytes(buf)}


def create(name):
    """An empty mapping; returns (major, minor)."""
    r = _ioctl(CREATE, name)
    made.append(name)
    return os.major(r["dev"]), os.minor(r["dev"])


def remove(name):
    _ioctl(REMOVE, name)
    if name in made:
        made.remove(name)


def remove_all():
    for name in reversed(list(made)):
        try:
            remove(name)
        except OSError:
            pass


def load(name, text):
    """Load "start length target args" lines into the inactive slot."""
    out = b""
    rows = text.split("\n")
    for row in rows:
        words = row.split(" ", 3)
        args = (words[3] if len(words) > 3 else "").encode() + b"\0"
        args += bytes(-(SPEC.size + len(args)) % 8)
        out += SPEC.pack(int(words[0]), int(words[1]), 0,
                         SPEC.size + len(args), words[2].encode()) + args
    _ioctl(LOAD, name, F_SECURE, out, len(rows))


def clear(name):
    _ioctl(CLEAR, name)


def resume(name):
    _ioctl(SUSPEND, name, 0)


def suspend(name):
    _ioctl(SUSPEND, name, F_SUSPEND)


def has_inactive(name):
    return bool(_ioctl(STATUS, name)["flags"] & F_INACTIVE)


def query(name, flags):
    """[(start, length, target, text)] by flags F_TABLE, F_IMA ..."""
    r = _ioctl(TABLE, name, flags)
    buf, base = r["buf"], r["start"]
    pos, out = base, []
    if r["flags"] & F_BUFFER_FULL:
        raise OSError(errno.ENOBUFS, "the table is longer than the buffer")
    for _ in range(r["count"]):
        start, length, _s, nxt, target = SPEC.unpack_from(buf, pos)
        end = buf.index(b"\0", pos + SPEC.size)
        out.append((start, length, target.rstrip(b"\0").decode(),
                    buf[pos + SPEC.size:end].decode()))
        pos = base + nxt
    return out


def table(name, inactive=True):
    flags = F_TABLE | (F_QUERY_INACTIVE if inactive else 0)
    return "\n".join(f"{s} {n} {t} {x}".rstrip()
                     for s, n, t, x in query(name, flags))


def message(name, text):
    data = struct.pack("=Q", 0) + text.encode() + b"\0"
    _ioctl(MESSAGE, name, F_SECURE, data)


def errname(e):
    return errno.errorcode.get(e.errno, str(e.errno))


class Log:
    """The kernel's messages from now on."""

    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        self.skip()

    def skip(self):
        os.lseek(self.fd, 0, os.SEEK_END)

    def lines(self):
        out = []
        while True:
            try:
                rec = os.read(self.fd, 8192)
            except BlockingIOError:
                return out
            except BrokenPipeError:
                continue
            text = rec.split(b";", 1)[1].split(b"\n", 1)[0]
            out.append(text.decode("utf-8", "replace"))


_libc = ctypes.CDLL(None, use_errno=True)
_NR_ADD_KEY, _NR_KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(
    os.uname().machine, (248, 250))


def new_session_keyring():
    """Keys of this process only; False if the kernel has no keyrings."""
    return _libc.syscall(_NR_KEYCTL, 1, None, 0, 0, 0) >= 0


def add_key(kind, desc, payload):
    if _libc.syscall(_NR_ADD_KEY, kind.encode(), desc.encode(), payload,
                     ctypes.c_size_t(len(payload)), -3) < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def result(self, good, name, *diagnostics):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for d in diagnostics:
                for row in str(d).split("\n"):
                    print(f"# {row}")
        sys.stdout.flush()
        return good

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}")

    def done(self):
        print(f"1..{self.count}")
        return 1 if self.failed or not self.count else 0
