# SPDX-License-Identifier: GPL-2.0-only
"""What fdiv(ivmode,cipher[,keycount]) must yield, worked out from the formulas.

Nothing of the kernel and nothing of the module is used: python3-cryptography
supplies block ciphers in ECB mode and hashes, everything else is written out
here, slowly and plainly.
"""
import hashlib
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from cryptography.hazmat.primitives.ciphers import Cipher as _Cipher
    from cryptography.hazmat.primitives.ciphers import algorithms as _alg
    from cryptography.hazmat.primitives.ciphers import modes as _modes

    BLOCK_CIPHERS = {           # kernel name: class, block size
        "aes": (_alg.AES, 16),
        "camellia": (_alg.Camellia, 16),
        "des3_ede": (_alg.TripleDES, 8),
        "blowfish": (_alg.Blowfish, 8),
        "cast5": (_alg.CAST5, 8),
        "seed": (_alg.SEED, 16),
    }

M64 = 2 ** 64 - 1
M128 = 2 ** 128 - 1


class Block:
    """A block cipher in ECB mode."""

    def __init__(self, name, key):
        cls, self.bs = BLOCK_CIPHERS[name]
        self.cipher = _Cipher(cls(key), _modes.ECB())

    def enc(self, data):
        c = self.cipher.encryptor()
        return c.update(data) + c.finalize()

    def dec(self, data):
        c = self.cipher.decryptor()
        return c.update(data) + c.finalize()


def xor(a, b):
    return (int.from_bytes(a, "little") ^ int.from_bytes(b, "little")).to_bytes(
        len(a), "little")


# ---- modes of operation: data is one unit ---------------------------------

class Ecb:
    def __init__(self, name, key):
        self.b = Block(name, key)
        self.blocksize, self.ivsize = self.b.bs, 0

    def encrypt(self, data, _iv):
        return self.b.enc(data)

    def decrypt(self, data, _iv):
        return self.b.dec(data)


class Cbc:
    def __init__(self, name, key):
        self.b = Block(name, key)
        self.blocksize = self.ivsize = self.b.bs

    def encrypt(self, data, iv):
        out = []
        bs = self.blocksize
        for i in range(0, len(data), bs):
            iv = self.b.enc(xor(data[i:i + bs], iv))
            out.append(iv)
        return b"".join(out)

    def decrypt(self, data, iv):
        return xor(self.b.dec(data), iv + data[:-self.blocksize])


class Tweaked:
    """A mode that XORs each block with a tweak before and after."""

    def encrypt(self, data, iv):
        t = self.tweaks(len(data) // 16, iv)
        return xor(self.b.enc(xor(data, t)), t)

    def decrypt(self, data, iv):
        t = self.tweaks(len(data) // 16, iv)
        return xor(self.b.dec(xor(data, t)), t)


class Xts(Tweaked):
    def __init__(self, name, key):
        half = len(key) // 2
        self.b, self.t = Block(name, key[:half]), Block(name, key[half:])
        self.blocksize, self.ivsize = self.b.bs, 16

    def tweaks(self, n, iv):
        t = int.from_bytes(self.t.enc(iv), "little")
        out = []
        for _ in range(n):
            out.append(t.to_bytes(16, "little"))
            t = (t << 1) & M128 ^ (0x87 if t >> 127 else 0)
        return b"".join(out)


class Ctr:
    def __init__(self, name, key):
        self.b = Block(name, key)
        self.blocksize, self.ivsize = 1, self.b.bs

    def encrypt(self, data, iv):
        bs = self.b.bs
        c = int.from_bytes(iv, "big")
        n = (len(data) + bs - 1) // bs
        stream = self.b.enc(b"".join(
            ((c + i) % 256 ** bs).to_bytes(bs, "big") for i in range(n)))
        return xor(data, stream[:len(data)])

    decrypt = encrypt


class Lrw(Tweaked):
    """The last 16 bytes of the key are the tweak key."""

    def __init__(self, name, key):
        self.b = Block(name, key[:-16])
        self.k2 = int.from_bytes(key[-16:], "big")
        self.blocksize = self.ivsize = 16

    def mul(self, a):
        r, b = 0, self.k2
        while a:
            if a & 1:
                r ^= b
            a >>= 1
            b = (b << 1) & M128 ^ (0x87 if b >> 127 else 0)
        return r

    def tweaks(self, n, iv):
        i = int.from_bytes(iv, "big")
        return b"".join(self.mul((i + k) & M128).to_bytes(16, "big")
                        for k in range(n))


class Essiv:
    """essiv(mode(cipher),hash): the IV is encrypted with the key's hash."""

    def __init__(self, mode, name, hashname, key):
        self.m = mode(name, key)
        self.b = Block(name, hashlib.new(hashname, key).digest())
        self.blocksize, self.ivsize = self.m.blocksize, self.m.ivsize

    def encrypt(self, data, iv):
        return self.m.encrypt(data, self.b.enc(iv))

    def decrypt(self, data, iv):
        return self.m.decrypt(data, self.b.enc(iv))


MODES = {"ecb": Ecb, "cbc": Cbc, "xts": Xts, "ctr": Ctr, "lrw": Lrw}


def parse(child, key):
    """essiv(cbc(aes),sha256), xts(aes) ... with a key set."""
    if child.startswith("essiv("):
        inner, hashname = child[6:-1].rsplit(",", 1)
        mode, name = inner[:-1].split("(")
        return Essiv(MODES[mode], name, hashname, key)
    mode, name = child[:-1].split("(")
    return MODES[mode](name, key)


# ---- the IV of one unit ---------------------------------------------------

def iv_of(ivmode, s, unit, cipher):
    """s: the IV sector. cipher: for eboiv the one with the first key."""
    n = cipher.ivsize
    if n == 0:
        return b""
    if ivmode == "null":
        return bytes(n)
    if ivmode == "plain":
        return (s % 2 ** 32).to_bytes(4, "little").ljust(n, b"\0")
    if ivmode == "plain64":
        return s.to_bytes(8, "little").ljust(n, b"\0")
    if ivmode == "plain64be":
        return s.to_bytes(8, "big").rjust(n, b"\0")
    if ivmode == "benbi":
        shift = 9 - (cipher.blocksize.bit_length() - 1)
        return (((s << shift) + 1) & M64).to_bytes(8, "big").rjust(n, b"\0")
    if ivmode == "eboiv":
        e = ((s * unit) & M64).to_bytes(8, "little").ljust(n, b"\0")
        return cipher.encrypt(bytes(n), e)
    raise ValueError(ivmode)


class Fdiv:
    """fdiv(ivmode,child,keycount) with its key set."""

    def __init__(self, ivmode, child, keycount, key):
        n = len(key) // keycount
        self.ivmode = ivmode
        self.keys = [parse(child, key[i * n:(i + 1) * n])
                     for i in range(keycount)]

    def crypt(self, encrypt, data, first, unit, step):
        out = []
        for i in range(len(data) // unit):
            s = (first + i * step) & M64
            # the number of the unit's first 512-byte sector
            sector = s if step == unit // 512 else s * (unit // 512)
            c = self.keys[sector % len(self.keys)]
            iv = iv_of(self.ivmode, s, unit, self.keys[0])
            part = data[i * unit:(i + 1) * unit]
            out.append(c.encrypt(part, iv) if encrypt else c.decrypt(part, iv))
        return b"".join(out)


def header(first, unit, step):
    """The IV of an fdiv request."""
    return (first.to_bytes(8, "little") + unit.to_bytes(4, "little")
            + step.to_bytes(4, "little"))
