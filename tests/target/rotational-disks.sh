#!/bin/bash
# Guarantee: on a disk that turns, writes that are ready at the same time go down in the order of their sectors, unless
# an option says that they are sent by whoever encrypts them; with the right bytes.
# It breaks when writes are sent as they come although there are more, or when one is lost while they are sorted.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=1024M timeout=300 modules="dm-crypt dm-witness" extra="tests/target/witness" kernels=normal,locking
# guest: aesni=no
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_target witness
# One request at a time, each half a second: whoever sends more has to wait, and what is encrypted meanwhile is ready.
null_disk slow rotational=1 irqmode=2 completion_nsec=500000000 hw_queue_depth=1 || bail "no null_blk that turns"
new_dm below "0 65536 witness $null_dev 0"
is "the disk turns" "$(cat "$(queue_of below)/rotational")" 1

# writes SIZE COUNT: at random places, submitted at once (io_uring would leave that to threads)
writes() {
	timeout 100 fio --name=x --filename=/dev/mapper/w --rw=randwrite --bs="$1" --size=32M --direct=1 --ioengine=libaio \
		--iodepth="$2" --iodepth_batch="$2" --iodepth_batch_complete_min="$2" --number_ios="$2" --randseed=5 2>&1
}
# order OPTIONS...: how 16 random writes come down that follow others, for which somebody waits already
order() {
	new_dm w "0 65536 $TARGET aes-xts-plain64 $(hexkey 64) 0 /dev/mapper/below 0${1:+ $# $*}"
	dm_message below reset
	writes 4k 8 >"$work/fio-first" &
	for _ in {1..100}; do [ "$(dmsetup status below | grep -o WRITE | wc -l)" -eq 0 ] || break; sleep 0.05; done
	writes 64k 16 >"$work/fio" || cat "$work/fio"
	wait $! || cat "$work/fio-first"
	dmsetup status below | tr ' ' '\n' | awk -F, '$1 == "WRITE" && $8 == 65536 { print $7 }' >"$work/order"
	dm_remove w
	if [ "$(wc -l <"$work/order")" -ne 16 ]; then echo "$(wc -l <"$work/order") writes"
	elif sort -cn "$work/order" 2>/dev/null; then echo sorted
	else echo "as they came"; fi
}
is "by default" "$(order)" sorted
diag "$(paste -sd" " "$work/order")"
is "submit_from_crypt_cpus" "$(order submit_from_crypt_cpus)" "as they came"
is "no_write_workqueue" "$(order no_write_workqueue)" "as they came"
dm_remove below

null_disk fast rotational=1 || bail "no second null_blk"
new_dm w "0 65536 $TARGET aes-xts-plain64 $(hexkey 64) 0 $null_dev 0"
check "bytes are right" iocheck both -u 512 /dev/mapper/w /dev/mapper/w 3
dm_remove w
need_target crypt
new_dm w "0 65536 crypt aes-xts-plain64 $(hexkey 64) 0 $null_dev 0"
check "and dm-crypt's" iocheck verify -u 512 /dev/mapper/w 4
dm_remove w
finish
