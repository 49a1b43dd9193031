#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: once a mapping is there all I/O succeeds with right data, however many of the module's allocations fail.
# How it could break: an allocation on the data path that has no pool behind it, or an error of one that is passed on
# as an I/O error; two writes that wait for each other's pages.
#
# Only allocations with our module in their stack fail; the device below has all of its memory before.
#
# guest: cpus=2 mem=1024M timeout=300 kernel-args="brd.rd_size=4096" modules="dm-crypt" kernels=memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 8192
need_target crypt
need_tool iocheck
[ "$TARGET" = fdecrypt ] || skip_all "this is about our module"
faults=/sys/kernel/debug
[ -e $faults/failslab/require-start ] || skip_all "this kernel cannot let allocations fail (CONFIG_FAULT_INJECTION)"
k=$(hexkey 64)

start=$(</sys/module/dm_fdecrypt/sections/.text)
# the last function of the module's text, and room for its code
end=$(awk '$NF == "[dm_fdecrypt]" && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms | sort | tail -n 1)
end=0x$(printf '%x' $((0x$end + 2048)))
max=1000000000
# fail PERCENT
fail() {
	local kind kv
	for kind in failslab fail_page_alloc; do
		for kv in ignore-gfp-wait=N ignore-gfp-highmem=N min-order=0 verbose=0 stacktrace-depth=32 "times=$max" \
			"require-start=$start" "require-end=$end" "probability=$1"; do
			[ ! -e "$faults/$kind/${kv%%=*}" ] || echo "${kv#*=}" >"$faults/$kind/${kv%%=*}" || bail "no $kind: $kv"
		done
	done
}
# failed KIND: how many of them did
failed() { echo $((max - $(<"$faults/$1/times"))); }
more_cleanup() {
	echo 0 >"$faults/failslab/probability"
	echo 0 >"$faults/fail_page_alloc/probability"
}

dd if=/dev/zero of=$ram bs=1M count=4 status=none
for bytes in 0 16384; do
	echo $bytes >"$params/inline_bytes"
	for opts in "" "1 sector_size:4096"; do
		new_dm ours "0 8192 $TARGET aes-xts-plain64 $k 0 $ram 0 $opts"
		new_dm theirs "0 8192 crypt aes-xts-plain64 $k 0 $ram 0 $opts"
		for percent in 100 50 10; do
			name="inline_bytes $bytes, ${opts:-units of 512}, $percent of 100 fail"
			fail $percent
			check "$name: right data" timeout 250 "$tools/iocheck" both -u 4096 -n 20 /dev/mapper/ours /dev/mapper/theirs \
				$percent
			for kind in failslab fail_page_alloc; do
				n=$(failed $kind)
				diag "$kind: $n failed"
				check "$name: some of $kind did" test "$n" -gt 0
			done
			fail 0
		done
		dm_remove theirs
		dm_remove ours
	done
done
echo 16384 >"$params/inline_bytes"
finish
