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
cgroup=/sys/fs/cgroup/manners
more_cleanup() { [ ! -d "$cgroup" ] || rmdir "$cgroup"; }

# ---- a device with a write cache that can be polled --------------------------
null_disk fdt cache_size=4 submit_queues=1 poll_queues=1 || bail "no null_blk that can be polled"
echo +io >/sys/fs/cgroup/cgroup.subtree_control || skip_all "no cgroups of block devices"
mkdir "$cgroup"
tap_of "manners" "$python" "$here/block-manners.py" "$TARGET" "$null_dev" "$work" "$cgroup"

# ---- the limits of a disk with blocks of 4096 in physical ones of 32768 ------
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
