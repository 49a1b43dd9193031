#!/usr/bin/python3
# Take the code blocks out of README.md and Documentation/, each with what its mark says of it.
# SPDX-License-Identifier: GPL-2.0-only
"""documented-examples.py TOP OUT: write one file OUT/NNN.<sh|python> for each block to run; print
"<file> <document>:<line>" for it, "skipped <document>:<line> <reason>" for one that is not to be run, and
"unmarked <document>:<line>" for one that says neither."""

import pathlib
import re
import sys
import textwrap

# A block's mark is the last comment before it: <!-- runs -->, <!-- not run: reason -->; .. runs, .. not run: reason
MARK = re.compile(r"^(?:<!-- |\.\. )(runs|not run: .*?)(?: -->)?$")


def markdown_blocks(lines):
    mark, start = None, None
    for nr, line in enumerate(lines, 1):
        found = MARK.match(line.strip())
        if start is None and found:
            mark = found.group(1)
        elif start is None and line.startswith("```"):
            start, language, body = nr, line[3:].strip(), []
        elif start is not None and line.startswith("```"):
            yield start, language or "text", mark, "\n".join(body)
            mark, start = None, None
        elif start is not None:
            body.append(line)


def rst_blocks(lines):
    mark = None
    nr = 0
    while nr < len(lines):
        found = MARK.match(lines[nr])
        if found:
            mark = found.group(1)
        directive = re.match(r"^\.\. code-block:: *(\w+)", lines[nr])
        nr += 1
        if not directive:
            continue
        start, body = nr, []
        while nr < len(lines) and (not lines[nr].strip() or lines[nr][0] in " \t"):
            body.append(lines[nr])
            nr += 1
        yield start, directive.group(1), mark, textwrap.dedent("\n".join(body)).strip("\n")
        mark = None


def main():
    top, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    documents = [top / "README.md", *sorted((top / "Documentation").rglob("*.rst"))]
    count = 0
    for document in documents:
        lines = document.read_text().splitlines()
        blocks = markdown_blocks(lines) if document.suffix == ".md" else rst_blocks(lines)
        for start, language, mark, body in blocks:
            place = f"{document.relative_to(top)}:{start}"
            if mark == "runs":
                count += 1
                path = out / f"{count:03}.{language}"
                path.write_text(body + "\n")
                print(path, place)
            elif mark:
                print("skipped", place, mark)
            elif language != "text":
                print("unmarked", place)


main()
