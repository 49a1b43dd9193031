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
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt,dm-integrity" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
need_target crypt
show_keys 1

# dm-integrity supplies the metadata that integrity:n needs.  A table of one
# sector makes it write its superblock, which says what size it has.
integrity=()
if has_target integrity; then
	lower=/dev/ram1
	[ -b $lower ] || lower=
	if [ -n "$lower" ]; then
		dd if=/dev/zero of=$lower bs=4096 count=1 conv=notrunc status=none
		new_dm format "0 8 integrity $lower 0 16 D 1 block_size:4096"
		dm_remove format
		size=$(od -An -tu8 -j16 -N8 $lower | tr -d ' ')
		new_dm tags "0 $size integrity $lower 0 16 D 1 block_size:4096"
		integrity=(/dev/mapper/tags)
	fi
fi
tap_of "round trip" "$python" "$here/table-round-trip.py" "$TARGET" $ram "${integrity[@]}"
finish
