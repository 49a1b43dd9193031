#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: every table that is accepted prints back (show_keys=1), what it
# prints loads again and prints the same, in whatever order the options were
# given, all ten at once included; the text is dm-crypt's.
# How it could break: an option that is parsed and not printed, a count that
# does not match what follows, another order than dm-crypt's, a number cut at 32
# bits, a key printed in another form than it can be read, a limit of nine.
#
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
need_target crypt
show_keys 1

tap_of "round trip" "$python" "$here/table-round-trip.py" "$TARGET" $ram
finish
