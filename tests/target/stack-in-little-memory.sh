#!/bin/bash
# Guarantee: parallel writers through ext4 on a stack of two fdecrypt mappings, in a machine of 128 MB, never wait for
# ever, and what they wrote is right.
# It breaks when the upper mapping holds pages that the lower one waits for, or both share one pool, queue or limit.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=128M timeout=900 scratch=640 kernels=normal
#
# LOAD=N: seconds of load (default 20; in check-all 120).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
seconds=$(load_seconds 20 120)
disk=${FDECRYPT_SCRATCH-} mnt=/mnt/volume
[ -b "$disk" ] || skip_all "no scratch disk (--scratch 640)"
sectors=$(blockdev --getsz "$disk")
more_cleanup() { ! mountpoint -q "$mnt" || umount "$mnt"; }

new_dm lower "0 $sectors $TARGET aes-xts-plain64 $(hexkey 64 lower) 0 $disk 0"
new_dm upper "0 $sectors $TARGET aes-cbc-essiv:sha256 $(hexkey 32 upper) 0 /dev/mapper/lower 0 1 sector_size:4096"
mkfs.ext4 -q /dev/mapper/upper || bail "no file system"
mkdir -p $mnt
mount /dev/mapper/upper $mnt || bail "cannot be mounted"
# Or fio's libraries, which map more than they use, are refused.
echo 1 >/proc/sys/vm/overcommit_memory
# Buffered, so that memory fills with dirty pages and the flusher has to write in want of memory.
writers() {
	fio --name=w --directory=$mnt --rw=write --bsrange=4k-1M --size=24M --numjobs=4 --ioengine=psync --fallocate=none \
		--verify=crc32c --verify_fatal=1 --end_fsync=1 --group_reporting --output="$work/fio"
}
end=$((SECONDS + seconds)) rounds=0
while [ $SECONDS -lt $end ] && writers >"$work/out" 2>&1; do rounds=$((rounds + 1)); done
check "four buffered writers end without error, again and again" test $SECONDS -ge $end
diag "$rounds rounds"
diag < <(cat "$work/out"; grep -E '^ *(READ|WRITE): ' "$work/fio")
like "and what they wrote was verified" "$(<"$work/fio")" "READ: bw=[1-9]"
umount $mnt
check "the file system is clean" e2fsck -fn /dev/mapper/upper
is "no error of the engines" "$(dmsetup status | grep -c ' errors=0 ')" 2
dm_remove upper
dm_remove lower
finish
