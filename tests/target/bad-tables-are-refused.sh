#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: a table line that is wrong is refused with dm-crypt's errno and
# exactly one line in the kernel's log that says why; nothing is left. Lines that
# dm-crypt takes though they cannot mean what they say (numbers that wrap, half
# bytes of a key, an option twice, words that are ignored) are refused too.
# How it could break: an error path that forgets its text or says two, another
# errno than cryptsetup reacts to, a number believed that overflowed, a device or
# a key kept on the way out, the key in the log.
#
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt,dm-integrity" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
need_target crypt

integrity=()
if has_target integrity && [ -b /dev/ram1 ]; then
	dd if=/dev/zero of=/dev/ram1 bs=4096 count=1 conv=notrunc status=none
	new_dm tags "0 8 integrity /dev/ram1 0 16 D 1 block_size:4096"
	integrity=(/dev/mapper/tags)
fi
tap_of "bad tables" "$python" "$here/bad-tables-are-refused.py" "$TARGET" $ram "${integrity[@]}"
# a device that is still held could not be opened for itself
check "the device below is free again" "$python" -c '
import os, sys
os.close(os.open(sys.argv[1], os.O_RDWR | os.O_EXCL))' $ram
finish
