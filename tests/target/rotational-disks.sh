#!/bin/bash
# Guarantee: on a disk that turns, writes that are ready at the same time go down in the order of their sectors, unless
# an option says that they are sent by whoever encrypts them; with the right bytes.
# It breaks when writes are sent as they come although there are more, or when one is lost while they are sorted.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=1 mem=1024M timeout=300 modules="dm-crypt dm-witness" extra="tests/target/witness" kernels=normal
# guest: aesni=no
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_target witness
null_disk fdt rotational=1 || bail "no null_blk that turns"
dev=$null_dev

# All that one system call submits is encrypted before anything else runs: inline, and not preempted (chrt, which a preemptible
# kernel with one CPU does not survive).
echo 1048576 >"$params/inline_bytes"
new_dm below "0 65536 witness $dev 0"
is "the disk turns" "$(cat "$(queue_of below)/rotational")" 1

# order OPTIONS...: how 16 random writes that are submitted at once come down
order() {
	new_dm w "0 65536 $TARGET aes-xts-plain64 $(hexkey 64) 0 /dev/mapper/below 0${1:+ $# $*}"
	dm_message below reset
	# shellcheck disable=SC2086 # a command and its arguments, or nothing
	${first-} fio --name=x --filename=/dev/mapper/w --rw=randwrite --bs=64k --size=32M --direct=1 --ioengine=libaio --iodepth=16 \
		--iodepth_batch=16 --iodepth_batch_complete_min=16 --number_ios=16 --randseed=5 >"$work/fio" 2>&1 || cat "$work/fio"
	dmsetup status below | tr ' ' '\n' | awk -F, '$1 == "WRITE" { print $7 }' >"$work/order"
	dm_remove w
	if [ "$(wc -l <"$work/order")" -ne 16 ]; then echo "$(wc -l <"$work/order") writes"
	elif sort -cn "$work/order" 2>/dev/null; then echo sorted
	else echo "as they came"; fi
}
first="chrt -f 50"
is "by default" "$(order)" sorted
first=
diag "$(paste -sd" " "$work/order")"
is "submit_from_crypt_cpus" "$(order submit_from_crypt_cpus)" "as they came"
is "no_write_workqueue" "$(order no_write_workqueue)" "as they came"
dmsetup message below 0 reset

echo 16384 >"$params/inline_bytes"
new_dm w "0 65536 $TARGET aes-xts-plain64 $(hexkey 64) 0 /dev/mapper/below 0"
check "bytes are right" iocheck both -u 512 /dev/mapper/w /dev/mapper/w 3
dm_remove w
need_target crypt
new_dm w "0 65536 crypt aes-xts-plain64 $(hexkey 64) 0 $dev 0"
check "and dm-crypt's" iocheck verify -u 512 /dev/mapper/w 4
dm_remove w
dm_remove below
finish
