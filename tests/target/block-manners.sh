#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: what a caller says about its I/O reaches the device below (flags, priority, write hint and stream, cgroup),
# but for what concerns the caller alone (not waiting, polling); limits of a disk with large blocks are dm-crypt's.
# How it could break: a write of our own without the caller's priority or cgroup, so that limits do not hold; a polled
# bio that nobody polls for, which ends after a timeout; a bio that may not wait and fails after it was accepted.
#
# guest: cpus=1 mem=1024M timeout=300 modules="dm-crypt dm-witness" extra="tests/target/witness" kernels=normal
# guest: aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_target crypt
need_target witness
need_tool iocheck
k=$(hexkey 64)
null=/sys/kernel/config/nullb/fdt
cgroup=/sys/fs/cgroup/manners
more_cleanup() {
	[ ! -d "$null" ] || { echo 0 >"$null/power"; rmdir "$null"; }
	[ ! -d "$cgroup" ] || rmdir "$cgroup"
}

# ---- a device with a write cache that can be polled --------------------------
modprobe null_blk nr_devices=0 || skip_all "no null_blk"
mkdir "$null" || bail "null_blk cannot be configured"
for kv in size=32 memory_backed=1 cache_size=4 submit_queues=1 poll_queues=1 power=1; do
	echo "${kv#*=}" >"$null/${kv%%=*}" || bail "null_blk does not take $kv"
done
dev=/dev/fdt
[ -b "$dev" ] || dev=/dev/nullb$(cat "$null/index")
echo +io >/sys/fs/cgroup/cgroup.subtree_control || skip_all "no cgroups of block devices"
mkdir "$cgroup"
tap_of "manners" "$python" "$here/block-manners.py" "$TARGET" "$dev" "$work" "$cgroup"

# ---- the limits of a disk with blocks of 4096 in physical ones of 32768 ------
limits() {
	(cd "/sys/dev/block/$(dmsetup info -c --noheadings -o major,minor --separator : "$1" | tr -d ' ')/queue" &&
		grep -sH . ./* | grep -vE '^./(scheduler|nr_requests|io_timeout|iostats|wbt_|rq_affinity|nomerges)')
}
if modprobe scsi_debug dev_size_mb=8 sector_size=4096 physblk_exp=3 opt_blks=64 opt_xferlen_exp=3 lbpu=1; then
	for d in /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*; do disk=/dev/${d##*/}; done
	new_dm ours "0 8192 $TARGET aes-xts-plain64 $k 0 $disk 8 1 allow_discards"
	new_dm theirs "0 8192 crypt aes-xts-plain64 $k 0 $disk 8 1 allow_discards"
	limits ours >"$work/ours"
	limits theirs >"$work/theirs"
	check "SCSI disk: blocks of 4096" grep -qx './physical_block_size:32768' "$work/theirs"
	check "SCSI disk: limits as dm-crypt's" diff "$work/theirs" "$work/ours"
	check "SCSI disk: right data" "$tools/iocheck" both -u 4096 -n 30 /dev/mapper/ours /dev/mapper/theirs 6
	dm_remove ours
	dm_remove theirs
	rmmod scsi_debug
else
	skip "limits of a SCSI disk" "no scsi_debug"
fi
finish
