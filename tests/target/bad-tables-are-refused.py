#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables that must be refused: errno, one line that says why, nothing left.

usage: bad-tables-are-refused.py TARGET DEVICE

Each line of BAD is: words of the table, errno, pattern of the text, and whether
dm-crypt is asked as well (and must return the same errno):
  SAME    dm-crypt refuses it too
  STRICT  dm-crypt takes it, wraps, saturates or crashes: not asked
Prints TAP.
"""
import hashlib
import re
import sys

import dm

TARGET, DEVICE = sys.argv[1:3]
SAME, STRICT = True, False
tap = dm.Tap()


def key(n):
    return hashlib.shake_256(b"bad tables").hexdigest(n)


K64, K32, K16 = key(64), key(32), key(16)
X = f"aes-xts-plain64 {K64}"
XD = f"{X} 0 {DEVICE} 0"
NOKEY = r"[Ee]rror decoding and setting key|[Kk]ey"
FEATURE = r"[Ff]eature arg|[Oo]ption|argument"
NOT_YET = r"not (yet )?supported"
T64 = 2 ** 64

BAD = [
    # ---- words
    ("", "EINVAL", "Not enough arguments", SAME),
    ("aes-xts-plain64", "EINVAL", "Not enough arguments", SAME),
    (f"{X}", "EINVAL", "Not enough arguments", SAME),
    (f"{X} 0", "EINVAL", "Not enough arguments", SAME),
    (f"{X} 0 {DEVICE}", "EINVAL", "Not enough arguments", SAME),
    # ---- key: form
    (f"aes-xts-plain64 :64 0 {DEVICE} 0", "EINVAL", "Cannot parse key size", SAME),
    (f"aes-xts-plain64 : 0 {DEVICE} 0", "EINVAL", "Cannot parse key size", SAME),
    (f"aes-xts-plain64 :x:logon:d 0 {DEVICE} 0", "EINVAL", "Cannot parse key size", SAME),
    (f"aes-xts-plain64 :-1:logon:d 0 {DEVICE} 0", "EINVAL", "Cannot parse key size", SAME),
    (f"aes-xts-plain64 ::logon:d 0 {DEVICE} 0", "EINVAL", "Cannot parse key size", SAME),
    (f"aes-xts-plain64 :3000000000:logon:d 0 {DEVICE} 0", "EINVAL", "[Kk]ey", SAME),
    (f"aes-xts-plain64 :4294967360:logon:d 0 {DEVICE} 0", "EINVAL", "[Kk]ey", STRICT),
    (f"aes-xts-plain64 :18446744073709551680:logon:d 0 {DEVICE} 0", "EINVAL", "[Kk]ey", STRICT),
    (f"aes-xts-plain64 :64:logon 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 :64:bogus:d 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 :64:logon:not:there 0 {DEVICE} 0", "ENOKEY", NOKEY, SAME),
    (f"aes-xts-plain64 :64:user:not_there 0 {DEVICE} 0", "ENOKEY", NOKEY, SAME),
    (f"aes-xts-plain64 :32:logon:bad:key 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 :65:logon:bad:key 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 :64:logon:a\\ b 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    # ---- key: content
    (f"aes-xts-plain64 - 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 a 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 -- 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 {K64[:-1]}g 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 0x{K64[2:]} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 {key(63)} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 {key(65)} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 {key(16)} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-xts-plain64 {key(128)} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-cbc-plain64 {key(17)} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-cbc-plain64 {key(4096)} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"cipher_null-ecb {K16} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    (f"aes-cbc-essiv:sha1 {K16} 0 {DEVICE} 0", "EINVAL", ".", SAME),
    (f"aes-xts-plain64 {K64}0 0 {DEVICE} 0", "EINVAL", NOKEY, STRICT),
    (f"aes-cbc-plain64 {K32}a 0 {DEVICE} 0", "EINVAL", NOKEY, STRICT),
    (f"aes:2-cbc-plain64 {key(33)} 0 {DEVICE} 0", "EINVAL", NOKEY, STRICT),
    (f"aes:4-cbc-plain64 {key(66)} 0 {DEVICE} 0", "EINVAL", NOKEY, STRICT),
    (f"aes:2-cbc-plain64 {K16} 0 {DEVICE} 0", "EINVAL", NOKEY, SAME),
    # ---- cipher
    (f"aes(cbc)-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Bad cipher specification", SAME),
    (f"cbc(aes)-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Bad cipher specification", SAME),
    (f"aes:x-cbc-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Bad cipher key count specification", SAME),
    (f"aes:0-cbc-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Bad cipher key count specification", SAME),
    (f"aes:3-cbc-plain64 {key(48)} 0 {DEVICE} 0", "EINVAL", "Bad cipher key count specification", SAME),
    (f"aes:-2-cbc-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Bad cipher key count specification|IV", SAME),
    (f"aes:4294967298-cbc-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Bad cipher key count specification", STRICT),
    (f"aes:2147483648-cbc-plain64 {K32} 0 {DEVICE} 0", "EINVAL", ".", STRICT),
    (f"aes:2x-cbc-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Bad cipher key count specification", SAME),
    (f"aes-cbc {K32} 0 {DEVICE} 0", "EINVAL", "IV mechanism required", SAME),
    (f"aes-xts {K64} 0 {DEVICE} 0", "EINVAL", "IV mechanism required", SAME),
    (f"aes-cbc-essiv {K32} 0 {DEVICE} 0", "EINVAL", "Digest algorithm missing for ESSIV mode", SAME),
    (f"capi:cbc(aes)-essiv {K32} 0 {DEVICE} 0", "EINVAL", "Digest algorithm missing for ESSIV mode", SAME),
    (f"{'a' * 127}-cbc-plain64 {K32} 0 {DEVICE} 0", "ENOMEM", "Cannot allocate cipher string|too long", SAME),
    (f"capi:xts({'a' * 140})-plain64 {K32} 0 {DEVICE} 0", "ENOENT", "Error allocating crypto tfm|Cannot allocate cipher string|too long", SAME),
    (f"aes-cbc-essiv:{'s' * 120} {K32} 0 {DEVICE} 0", "ENOMEM", "Cannot allocate cipher string|too long", SAME),
    (f"bogus-cbc-plain64 {K32} 0 {DEVICE} 0", "ENOENT", "Error allocating crypto tfm", SAME),
    (f"aes-bogus-plain64 {K32} 0 {DEVICE} 0", "ENOENT", "Error allocating crypto tfm", SAME),
    (f"aes-cbc-essiv:bogus {K32} 0 {DEVICE} 0", "ENOENT", "Error allocating crypto tfm", SAME),
    (f"capi:bogus(aes)-plain64 {K32} 0 {DEVICE} 0", "ENOENT", "Error allocating crypto tfm", SAME),
    (f"capi:cbc(bogus)-plain64 {K32} 0 {DEVICE} 0", "ENOENT", "Error allocating crypto tfm", SAME),
    (f"capi:cbc(aes-plain64 {K32} 0 {DEVICE} 0", None, ".", SAME),
    (f"capi:cbc()-plain64 {K32} 0 {DEVICE} 0", None, ".", SAME),
    (f"capi:-plain64 {K32} 0 {DEVICE} 0", None, ".", SAME),
    (f"capi: {K32} 0 {DEVICE} 0", None, ".", SAME),
    (f"capi:sha256-plain64 {K32} 0 {DEVICE} 0", "ENOENT", "Error allocating crypto tfm", SAME),
    (f"capi:gcm(aes)-plain64 {K32} 0 {DEVICE} 0", "EINVAL", "Error allocating crypto tfm", SAME),
    (f"capi:cbc(aes) {K32} 0 {DEVICE} 0", "EINVAL", "IV", STRICT),
    (f"capi:xts(aes) {K64} 0 {DEVICE} 0", "EINVAL", "IV", STRICT),
    # ---- IV mode
    (f"aes-xts-bogus {K64} 0 {DEVICE} 0", "EINVAL", "Invalid IV mode", SAME),
    (f"aes-xts-PLAIN64 {K64} 0 {DEVICE} 0", "EINVAL", "Invalid IV mode", SAME),
    (f"aes-xts-plain6 {K64} 0 {DEVICE} 0", "EINVAL", "Invalid IV mode", SAME),
    (f"aes-xts-plain644 {K64} 0 {DEVICE} 0", "EINVAL", "Invalid IV mode", SAME),
    (f"capi:xts(aes)-bogus {K64} 0 {DEVICE} 0", "EINVAL", "Invalid IV mode", SAME),
    (f"aes-ctr-eboiv {K32} 0 {DEVICE} 0", "EINVAL", "Block size of EBOIV|EBOIV|Error creating IV", SAME),
    (f"xchacha12,aes-adiantum-eboiv {K32} 0 {DEVICE} 0", "EINVAL", "Block size of EBOIV|EBOIV|Error creating IV", SAME),
    # ---- not here yet
    (f"aes:64-cbc-lmk {key(64 * 16)} 0 {DEVICE} 0", "EINVAL", NOT_YET, STRICT),
    (f"aes-cbc-tcw {key(32 + 16 + 16)} 0 {DEVICE} 0", "EINVAL", NOT_YET, STRICT),
    (f"aes-cbc-elephant {K32} 0 {DEVICE} 0", "EINVAL", NOT_YET, STRICT),
    (f"aes-xts-random {K64} 0 {DEVICE} 0", "EINVAL", NOT_YET, SAME),
    (f"capi:gcm(aes)-random {K32} 0 {DEVICE} 0 1 integrity:28:aead", "EINVAL", NOT_YET, SAME),
    (f"capi:authenc(hmac(sha256),xts(aes))-plain64 {key(96)} 0 {DEVICE} 0 1 integrity:32:aead", "EINVAL", NOT_YET, SAME),
    # ---- options
    (f"{XD} x", "EINVAL", FEATURE, SAME),
    (f"{XD} -1", "EINVAL", FEATURE, SAME),
    (f"{XD} 100", "EINVAL", FEATURE, SAME),
    (f"{XD} 99999999999999999999", "EINVAL", FEATURE, SAME),
    (f"{XD} 4294967297 allow_discards", "EINVAL", FEATURE, STRICT),
    (f"{XD} 1", "EINVAL", FEATURE, SAME),
    (f"{XD} 2 allow_discards", "EINVAL", FEATURE, SAME),
    (f"{XD} 9 allow_discards", "EINVAL", FEATURE, SAME),
    (f"{XD} allow_discards", "EINVAL", FEATURE, SAME),
    (f"{XD} 1x allow_discards", "EINVAL", FEATURE, SAME),
    (f"{XD} 1 bogus", "EINVAL", "Invalid feature arguments|bogus", SAME),
    (f"{XD} 1 allow_discard", "EINVAL", FEATURE, SAME),
    (f"{XD} 1 allow_discardss", "EINVAL", FEATURE, SAME),
    (f"{XD} 1 allow_discards:1", "EINVAL", FEATURE, SAME),
    (f"{XD} 2 allow_discards bogus", "EINVAL", FEATURE, SAME),
    (f"{XD} 1 allow_discards same_cpu_crypt", "EINVAL", ".", STRICT),
    (f"{XD} 0 allow_discards", "EINVAL", ".", STRICT),
    (f"{XD} 2 allow_discards allow_discards", "EINVAL", ".", STRICT),
    (f"{XD} 2 allow_discards ALLOW_DISCARDS", "EINVAL", ".", STRICT),
    (f"{XD} 2 sector_size:1024 sector_size:1024", "EINVAL", ".", STRICT),
    (f"{XD} 2 sector_size:1024 sector_size:512", "EINVAL", ".", STRICT),
    (f"{XD} 2 iv_large_sectors iv_large_sectors", "EINVAL", ".", STRICT),
    (f"{XD} 2 integrity:16:none integrity:16:none", "EINVAL", ".", STRICT),
    (f"{XD} 11 allow_discards same_cpu_crypt high_priority submit_from_crypt_cpus "
     "no_read_workqueue no_write_workqueue sector_size:512 iv_large_sectors "
     "integrity_key_size:1 integrity:16:none bogus", "EINVAL", ".", SAME),
    *[(f"{XD} 1 sector_size:{n}", "EINVAL", "sector_size|[Ff]eature", SAME)
      for n in ("0", "1", "256", "511", "513", "768", "1536", "3072", "8192",
                "65535", "x", "-512", "4096x", "")],
    *[(f"{XD} 1 sector_size:{n}", "EINVAL", "sector_size|[Ff]eature", STRICT)
      for n in ("66048", "69632", "4294967808", "18446744073709555712")],
    (f"{XD} 1 sector_size", "EINVAL", FEATURE, SAME),
    (f"{XD} 1 integrity:0:none", "EINVAL", "Invalid integrity arguments", SAME),
    (f"{XD} 1 integrity:481:none", "EINVAL", "Invalid integrity arguments", SAME),
    (f"{XD} 1 integrity:16:bogus", "EINVAL", "Unknown integrity profile", SAME),
    (f"{XD} 1 integrity:16:", "EINVAL", "Unknown integrity profile", SAME),
    (f"{XD} 1 integrity:x:none", "EINVAL", "[Ff]eature|integrity", SAME),
    (f"{XD} 1 integrity:", "EINVAL", "[Ff]eature|integrity", SAME),
    (f"{XD} 1 integrity:16", "EINVAL", "integrity", STRICT),
    (f"{XD} 1 integrity:16none", "EINVAL", "integrity|[Ff]eature", STRICT),
    (f"{XD} 1 integrity:4294967312:none", "EINVAL", "integrity", STRICT),
    (f"{XD} 1 integrity_key_size:0", "EINVAL", "Invalid integrity_key_size argument", SAME),
    (f"{XD} 1 integrity_key_size:x", "EINVAL", "[Ff]eature|integrity_key_size", SAME),
    (f"{XD} 1 integrity_key_size:4294967297", "EINVAL", "[Ff]eature|integrity_key_size", STRICT),
    # ---- numbers and the device
    *[(f"{X} {n} {DEVICE} 0", "EINVAL", "Invalid iv_offset sector", SAME)
      for n in ("x", "-1", "+1", "1x", "0x10", "1.5")],
    *[(f"{X} {n} {DEVICE} 0", "EINVAL", "iv_offset", STRICT)
      for n in (T64, T64 + 8, 10 * T64, T64 - 1, T64 - 7)],
    (f"{X} 1 {DEVICE} 0 1 sector_size:1024", "EINVAL", "Invalid iv_offset sector|iv_offset", SAME),
    (f"{X} 4 {DEVICE} 0 1 sector_size:4096", "EINVAL", "Invalid iv_offset sector|iv_offset", SAME),
    (f"{X} 4 {DEVICE} 0 2 sector_size:4096 iv_large_sectors", "EINVAL", "Invalid iv_offset sector|iv_offset", SAME),
    *[(f"{X} 0 {d} 0", None, "Device lookup failed", SAME)
      for d in ("/dev/not-there", "not-there", "77:77", "/dev/null", "x:y",
                "/")],
    *[(f"{X} 0 {DEVICE} {n}", "EINVAL", "Invalid device sector", SAME)
      for n in ("x", "-1", "+1", "1x", "0x10")],
    *[(f"{X} 0 {DEVICE} {n}", "EINVAL", "Invalid device sector|device sector", STRICT)
      for n in (T64, T64 + 8)],
]
# wrong lengths: sectors, words, errno, pattern
LENGTHS = [
    (1, f"{XD} 1 sector_size:1024", "EINVAL", "Device size is not (a )?multiple of sector_size|size", SAME),
    (12, f"{XD} 1 sector_size:4096", "EINVAL", "Device size is not (a )?multiple of sector_size|size", SAME),
    (7, f"{XD} 2 iv_large_sectors sector_size:2048", "EINVAL", "Device size is not (a )?multiple of sector_size|size", SAME),
    (16, f"{X} {T64 - 8} {DEVICE} 0", "EINVAL", "iv_offset", STRICT),
]


def attempt(device, target, sectors, words):
    """(errno name or "accepted", the log)"""
    log.skip()
    try:
        dm.load(device, f"0 {sectors} {target} {words}".rstrip())
    except OSError as e:
        return dm.errname(e), log.lines()
    dm.clear(device)
    return "accepted", log.lines()


def short(words):
    words = re.sub(r"[0-9a-f]{120,}", lambda m: f"<{len(m[0])} digits>", words)
    return re.sub(r"([a-z])\1{20,}", r"\1...", words).replace(K64, "<key>") \
        .replace(K32, "<key>").replace("#", "\\#")


def one(sectors, words, err, pattern, same):
    if TARGET == "crypt" and not same:
        return                  # one of them crashes dm-crypt
    name = f"{sectors}: {short(words)}" if sectors != 8 else short(words)
    got, lines = attempt(ours, TARGET, sectors, words)
    trouble = []
    said = [x for x in lines if re.match(r"device-mapper: table: ", x)]
    if err and got != err:
        trouble.append(f"errno {got}, expected {err}")
    if not err and got == "accepted":
        trouble.append("accepted")
    if len(said) != 1:
        trouble.append(f"{len(said)} lines say why instead of one")
    elif TARGET != "crypt":
        m = re.match(r"device-mapper: table: \S+ " + TARGET + r": (.*?)(?: \(-\w+\))?$",
                     said[0])
        if not m:
            trouble.append("the line is not in the usual form")
        elif not re.search(pattern, m[1]):
            trouble.append(f"does not match: {pattern}")
    # what is in the log must not have the key in it
    for word in words.split(" "):
        if len(word) >= 32 and re.fullmatch("[0-9a-fg]+", word) and \
                any(word in x for x in lines):
            trouble.append("the log shows the key")
    if dm.has_inactive(ours):
        trouble.append("a table is left in the inactive slot")
        dm.clear(ours)
    if same:
        theirs, _ = attempt(crypts, "crypt", sectors, words)
        if theirs != got:
            trouble.append(f"dm-crypt: {theirs}, {TARGET}: {got}")
    tap.result(not trouble, name, *trouble, *lines[-4:])


def main():
    dm.create(ours)
    dm.create(crypts)
    if dm.new_session_keyring():
        dm.add_key("logon", "bad:key", bytes(64))
    for words, err, pattern, same in BAD:
        one(8, words, err, pattern, same)
    for sectors, words, err, pattern, same in LENGTHS:
        one(sectors, words, err, pattern, same)
    # and a good one still loads
    got, lines = attempt(ours, TARGET, 8, XD)
    tap.result(got == "accepted", "a good table loads after all that", *lines)


ours, crypts = "bad-tables", "bad-tables-crypt"
log = dm.Log()
try:
    main()
finally:
    dm.remove_all()
sys.exit(tap.done())
