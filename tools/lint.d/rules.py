#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""House rules that no other tool knows: layers, heads of files, words. Prints "file:line: what is wrong".

Reads the names of all tracked files from standard input; exits 1 if it found anything, 2 if it had nothing to read.
"""

import re
import sys
from pathlib import Path

# What each part of the module may include of the others: dependencies go one way. A new part gets a row.
MAY_INCLUDE = {
    "table": (),
    "iv": (),
    "fdiv": ("iv", "table"),
    "engine": ("iv", "table", "fdiv"),
    "key": ("table", "engine"),
    "worker": (),
    "settings": ("table", "worker"),
    "pages": (),
    "io": ("iv", "table", "engine", "worker", "pages"),
    "": ("table", "iv", "fdiv", "engine", "key", "settings", "io", "worker"),  # dm-fdecrypt.c, the target
}

# The pure parts, which user space compiles too: all that they may include of the kernel.
PURE = {
    "table": ("errno", "kernel", "limits", "log2", "string", "types"),
    "iv": ("errno", "kernel", "limits", "log2", "string", "types", "unaligned"),
}

BIO_HEADER = re.compile(r"linux/(bio|blk[-\w]*|bvec)\.h")
DM_HEADER = re.compile(r"linux/(device-mapper|dm-[-\w]+)\.h")
BIO_WORD = re.compile(r"\bstruct (bio|bio_vec|block_device|request_queue)\b|\bbio_\w+\(")
DM_WORD = re.compile(r"\bstruct dm_\w+|\bdm_(table|target|get_device)\w*\(|\bDM(ERR|WARN|INFO|EMIT)\w*\(")
KNOWS_NO_BIO = ("table", "iv", "fdiv", "engine", "key", "settings", "worker")
KNOWS_NO_DM = ("table", "iv", "fdiv", "engine", "settings", "worker", "pages")

LINES_MAX = 1000

# Written so that this file does not contain what it looks for.
UNFINISHED = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(wor[k]/\w|roo[t]/\.?\w|hom[e]/\w)")

INCLUDE = re.compile(r'^\s*#\s*include(?:_next)?\s*([<"])([^>"]+)[>"]')


def part_of(path):
    """The part of the module that a file belongs to: "iv" for dm-fdecrypt-iv.c and its header, else None."""
    match = re.fullmatch(r"(?:include/)?dm-fdecrypt(?:-(\w+))?\.[ch]", path)
    return (match.group(1) or "") if match else None


def is_product(path):
    return path.endswith((".c", ".h")) and not path.startswith(("tests/", "tools/"))


def includes(lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def code_of(lines):
    """The lines without comments, which may name what the code must not know."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), "\n".join(lines), flags=re.S)
    return [re.sub(r"//.*", "", line) for line in text.split("\n")]


def check_layers(path, lines):
    part = part_of(path)
    if part is None:
        return
    if part not in MAY_INCLUDE:
        yield 1, f"new part '{part}': say in tools/lint.d/rules.py what it may include"
        return
    for number, kind, name in includes(lines):
        other = part_of("include/" + name) if kind == '"' else None
        if other == "" or name == "dm-fdecrypt-target.h":
            yield number, "nobody includes anything of the target"
        elif other is not None and other != part and other not in MAY_INCLUDE[part]:
            yield number, f"{part or 'the target'} must not depend on {other}"
        if part in PURE and kind == "<" and name not in ["linux/" + n + ".h" for n in PURE[part]]:
            yield number, f"{part} is pure: it may not include <{name}>"
        if part in KNOWS_NO_BIO and BIO_HEADER.fullmatch(name):
            yield number, f"{part} must not know bios: <{name}>"
        if part in KNOWS_NO_DM and DM_HEADER.fullmatch(name):
            yield number, f"{part} must not know device mapper: <{name}>"
    for number, line in enumerate(code_of(lines), 1):
        if part in KNOWS_NO_BIO and BIO_WORD.search(line):
            yield number, f"{part} must not know bios"
        if part in KNOWS_NO_DM and DM_WORD.search(line):
            yield number, f"{part} must not know device mapper"


def check_versions(path, lines):
    if not path.endswith((".c", ".h")) or path.startswith("include/compat/"):
        return
    for number, line in enumerate(code_of(lines), 1):
        if re.search(r"\b(KERNEL_VERSION|LINUX_VERSION_CODE)\b|<linux/version\.h>", line):
            yield number, "kernel versions are tested in include/compat/ only"


def check_include_paths(path, lines):
    if not path.endswith((".c", ".h")):
        return
    for number, _, name in includes(lines):
        if "compat/" in name:
            yield number, "nobody names include/compat/: its headers have the names of the kernel's"
        if is_product(path) and ("tests/" in name or ".." in name.split("/")):
            yield number, f'the product includes nothing from there: "{name}"'


def check_include_order(path, lines):
    """Own header first, as a header must compile alone; and each header once."""
    part = part_of(path)
    found = [(number, name) for number, _, name in includes(lines)]
    if part and path.endswith(".c") and found and found[0][1] != f"dm-fdecrypt-{part}.h":
        yield found[0][0], f"its own header dm-fdecrypt-{part}.h comes first"
    seen = set()
    for number, name in found:
        if name in seen:
            yield number, f"{name} is included twice"
        seen.add(name)


def check_length(path, lines):
    if is_product(path) and len(lines) > LINES_MAX:
        yield LINES_MAX + 1, f"{len(lines)} lines; a file that has more than {LINES_MAX} wants to be two"


def is_source(path, lines):
    return path.endswith((".c", ".h", ".py", ".sh")) or bool(lines and lines[0].startswith("#!"))


def check_head(path, lines):
    """A licence, and a comment that says what the file is for."""
    if not is_source(path, lines):
        return
    head = lines[:6]
    if not any("SPDX-License-Identifier: GPL-2.0" in line for line in head):
        yield 1, "no SPDX licence line at its head"
    words = [
        line for line in head
        if re.match(r'\s*(/?\*|//|#|""")', line) and not line.startswith("#!") and "SPDX" not in line
        and not line.lstrip().startswith(("#include", "#define", "#ifndef", "#ifdef", "#pragma"))
        and len(line.split()) > 4
    ]
    if not words and len(lines) > 5:
        yield 1, "no comment at its head that says what it is for"


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "unfinished: do it, or file it"
        match = MACHINE_PATH.search(line)
        if match:
            yield number, f"path of one machine: {match.group()}..."


def check_kernel_doc(files):
    """What other files call is described where it is defined, with Context: and Return:."""
    docs = {}
    for path, lines in files.items():
        if not is_product(path):
            continue
        for match in re.finditer(r"/\*\*\n \* (\w+)(?:\(\))? - (.*?)\*/", "\n".join(lines), re.S):
            docs[match.group(1)] = match.group(2)
    for path, lines in files.items():
        if not re.fullmatch(r"include/dm-fdecrypt-\w+\.h", path):
            continue
        for number, line in enumerate(lines, 1):
            match = re.match(r"([a-z][\w ]*[ *])(fdecrypt_\w+)\(", line)
            if not match:
                continue
            returns, name = match.group(1).strip(), match.group(2)
            if name not in docs:
                yield path, number, f"{name}() has no kernel-doc"
            elif "Context:" not in docs[name]:
                yield path, number, f"kernel-doc of {name}() has no Context: line"
            elif not returns.endswith("void") and "Return:" not in docs[name]:
                yield path, number, f"kernel-doc of {name}() has no Return: line"


RULES = (check_layers, check_versions, check_include_paths, check_include_order, check_length, check_head, check_words)


def main():
    files = {}
    for path in sys.stdin.read().split("\n"):
        if path and Path(path).is_file():
            text = Path(path).read_bytes()
            if b"\0" not in text:
                files[path] = text.decode("utf-8", "replace").splitlines()
    if not any(is_product(path) for path in files):
        print("no product file to read")
        return 2
    found = []
    for path, lines in files.items():
        found += [(path, number, text) for rule in RULES for number, text in rule(path, lines)]
    found += check_kernel_doc(files)
    for path, number, text in sorted(set(found)):
        print(f"{path}:{number}: {text}")
    return 1 if found else 0


sys.exit(main())
