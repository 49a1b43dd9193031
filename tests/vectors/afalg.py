# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's ciphers from user space, over AF_ALG."""
import ctypes
import os
import socket
import struct

SOL_ALG = 279
AF_ALG = 38
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33

libc = ctypes.CDLL(None, use_errno=True)


class Cipher:
    """One transform of the kernel with its key set.

    A name the kernel does not have raises FileNotFoundError, a key it does not
    like OSError (EINVAL).
    """

    def __init__(self, name, key, kind="skcipher"):
        self.name = name
        self.alg = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0)
        try:
            if len(name) < 64:
                self.alg.bind((kind, name))
            else:
                self._bind_long(kind, name)
            if key is not None:
                self.set_key(key)
        except OSError:
            self.alg.close()
            raise

    def _bind_long(self, kind, name):
        # struct sockaddr_alg_new: the name ends the address
        addr = struct.pack("=H14sII", AF_ALG, kind.encode(), 0, 0)
        addr += name.encode() + b"\0"
        if libc.bind(self.alg.fileno(), addr, len(addr)):
            err = ctypes.get_errno()
            raise OSError(err, os.strerror(err))

    def set_key(self, key):
        if key:
            self.alg.setsockopt(SOL_ALG, socket.ALG_SET_KEY, key)
        elif libc.setsockopt(self.alg.fileno(), SOL_ALG, socket.ALG_SET_KEY,
                             None, 0):
            err = ctypes.get_errno()
            raise OSError(err, os.strerror(err))

    def close(self):
        self.alg.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def crypt(self, encrypt, data, iv, pieces=None, reads=None, sndbuf=None,
              rcvbuf=None):
        """One request. pieces: lengths to send the data in (an iovec each);
        reads: lengths to ask for, one recv each, the last one repeated."""
        op, _ = self.alg.accept()
        with op:
            op.settimeout(60)
            if sndbuf:
                op.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, sndbuf)
            if rcvbuf:
                op.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, rcvbuf)
            parts = []
            pos = 0
            for n in pieces or []:
                parts.append(data[pos:pos + n])
                pos += n
            if pos < len(data) or not parts:
                parts.append(data[pos:])
            kw = {"op": socket.ALG_OP_ENCRYPT if encrypt
                  else socket.ALG_OP_DECRYPT}
            if iv is not None:
                kw["iv"] = iv
            sent = op.sendmsg_afalg(parts, **kw)
            if sent != len(data):
                raise OSError(f"sent only {sent} of {len(data)} bytes")
            out = bytearray()
            reads = list(reads or [len(data)])
            while len(out) < len(data):
                want = reads.pop(0) if len(reads) > 1 else reads[0]
                got = op.recv(min(want, len(data) - len(out)))
                if not got:
                    raise OSError("the kernel ended early")
                out += got
            return bytes(out)

    def encrypt(self, data, iv=None, **kw):
        return self.crypt(True, data, iv, **kw)

    def decrypt(self, data, iv=None, **kw):
        return self.crypt(False, data, iv, **kw)


def algorithms():
    """/proc/crypto as a list of dicts."""
    out = []
    with open("/proc/crypto", encoding="ascii") as f:
        for text in f.read().split("\n\n"):
            entry = {}
            for row in text.split("\n"):
                if ":" in row:
                    k, v = row.split(":", 1)
                    entry[k.strip()] = v.strip()
            if entry:
                out.append(entry)
    return out


def best_driver(name, exclude=("cryptd", "fdiv")):
    """The driver name with the highest priority for an algorithm."""
    found = [(int(a.get("priority", 0)), a["driver"]) for a in algorithms()
             if a.get("name") == name
             and not any(w in a["driver"] for w in exclude)]
    return max(found)[1] if found else None
