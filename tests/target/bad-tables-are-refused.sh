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
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
need_target crypt

tap_of "bad tables" "$python" "$here/bad-tables-are-refused.py" "$TARGET" $ram

# the device-mapper core refuses these when the table is taken into use
refused_by_core() {
	local why=$1 table=$2 ours
	dm_create core "${table//@T@/$TARGET}" && dm_remove core
	ours=$(errno_of "$dm_err")
	dm_create core "${table//@T@/crypt}" && dm_remove core
	is "$why: as dm-crypt" "$ours" "$(errno_of "$dm_err")"
	refute "$why: refused" test -z "$ours"
	refute "$why: no mapping is left" dm_exists core
}
k=$(hexkey 64) size=$(blockdev --getsz $ram)
refused_by_core "past the end of the device" \
	"0 8 @T@ aes-xts-plain64 $k 0 $ram $((size - 7))"
refused_by_core "far past the end of the device" \
	"0 8 @T@ aes-xts-plain64 $k 0 $ram 1000000000000"
refused_by_core "longer than the device" \
	"0 $((size + 1)) @T@ aes-xts-plain64 $k 0 $ram 0"

# a device that is still held could not be opened for itself
check "the device below is free again" "$python" -c '
import os, sys
os.close(os.open(sys.argv[1], os.O_RDWR | os.O_EXCL))' $ram
finish
