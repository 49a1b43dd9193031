#!/bin/bash
# Guarantee: no I/O fails and no byte is wrong, raw and through ext4 and xfs, while tables are reloaded, devices
# suspended and resumed, CPUs changed and blocks discarded, all at random; dm-crypt then reads the same.
# It breaks when a bio outlives its table, is lost or done twice in a suspend, or when a late answer of an asynchronous
# cipher touches what has ended.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=1536M timeout=1200 kernel-args="brd.rd_size=409600" modules="dm-crypt" kernels=normal,memory,locking
#
# LOAD=N: seconds of load for each of the four volumes (default 8, in check-all 120). SEED=N: the order of the changes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
load=$(load_seconds 8 120)
RANDOM=${SEED:=$RANDOM}
diag "SEED=$SEED"

sectors=$((380 << 11))	# xfs wants 300 MiB
need_ram $sectors
k=$(hexkey 64)
mnt=/mnt/volume
cipher=aes-xts-plain64
more_cleanup() { ! mountpoint -q "$mnt" || umount "$mnt"; }

table() { echo "0 $sectors $TARGET $cipher $k 0 $ram 0 $*"; }
some_options() {
	local all=("1 allow_discards" "3 allow_discards no_read_workqueue no_write_workqueue"
		"2 allow_discards same_cpu_crypt" "3 allow_discards high_priority submit_from_crypt_cpus"
		"2 allow_discards cpus:1")
	echo "${all[RANDOM % ${#all[@]}]}"
}

# ---- one change after the other, until the load ends -------------------------------------------------------------
# The last 16 MiB of the raw volume are not fio's: they are discarded. A file system says itself what can be.
discard() {
	if mountpoint -q "$mnt"; then fstrim "$mnt"
	else blkdiscard -f -o $((sectors * 512 - (16 << 20) + (RANDOM % 64 << 16))) -l $((8 << 20)) /dev/mapper/w; fi
}

change() {
	local all=(0 1 all)
	case $((RANDOM % 6)) in
	0) dm_suspend w && dm_resume w ;;
	1) dm_suspend w --noflush && dm_resume w ;;
	2) dm_suspend w --nolockfs && dm_resume w ;;
	3) dm_load w "$(table "$(some_options)")" && dm_resume w ;;
	4) dm_message w cpus "${all[RANDOM % 3]}" ;;
	5) discard ;;
	esac
}

# ---- the load ----------------------------------------------------------------------------------------------------
# Four jobs write blocks of random size at random places of their part until it is full, verify it, and begin again.
fio_load() {	# WHERE...
	fio --name=v --rw=randwrite --bsrange=512-1M --direct=1 --ioengine=libaio --iodepth=8 --numjobs=4 \
		--verify=crc32c --verify_fatal=1 --verify_backlog=64 --serialize_overlap=1 --time_based --runtime="$load" \
		--randseed="$SEED" --group_reporting --output="$work/fio" "$@"
}

under_changes() {	# NAME FIO_ARGS...
	local name=$1 changer
	shift
	: >"$work/load"
	while_loaded "$work/rounds" change >"$work/changes" 2>&1 &
	changer=$!
	check "$name: no error under changes" fio_load "$@"
	like "$name: what was written was verified" "$(<"$work/fio")" "READ: bw=[1-9]"
	rm "$work/load"
	if wait $changer && [ "$(<"$work/rounds")" -gt 3 ]; then ok "$name: changes went on"
	else not_ok "$name: changes went on"; fi
	diag "$(<"$work/rounds") changes"
	diag <"$work/changes"
	sed -n 's/^ *\(READ\|WRITE\): /\1: /p' "$work/fio" | diag
	# dm_load and the others ran in a subshell
	dmsetup resume --noudevsync w
}

raw() {	# NAME MEGABYTES_OF_A_JOB
	new_dm w "$(table "1 allow_discards")"
	under_changes "$1" --filename=/dev/mapper/w --size="$2M" --offset_increment="$2M"
	new_dm theirs "0 $sectors crypt $cipher $k 0 $ram 0"
	check "$1: dm-crypt reads the same" cmp -n $((4 * $2 << 20)) /dev/mapper/w /dev/mapper/theirs
	dm_remove theirs
	dm_remove w
}

file_system() {	# NAME MKFS...
	new_dm w "$(table "1 allow_discards")"
	"${@:2}" /dev/mapper/w >"$work/mkfs" 2>&1 || bail "$1: $(cat "$work/mkfs")"
	mkdir -p $mnt
	mount /dev/mapper/w $mnt || bail "$1 cannot be mounted"
	under_changes "$1" --directory=$mnt --size=6M
	(cd $mnt && sha256sum v.*) >"$work/sums"
	umount $mnt
	dm_remove w
	new_dm theirs "0 $sectors crypt $cipher $k 0 $ram 0"
	check "$1: dm-crypt mounts it" mount /dev/mapper/theirs $mnt
	check "$1: with the same files" bash -c "cd $mnt && sha256sum --quiet -c $work/sums"
	umount $mnt
	dm_remove theirs
}

raw raw 6
# The memory kernel takes minutes for a file system; there they are for check-all.
if [ "${FDECRYPT_KERNEL:-}" != memory ] || [ "${FDECRYPT_SUITE:-check}" = all ]; then
	file_system ext4 mkfs.ext4 -q
	file_system xfs mkfs.xfs -q -f
fi
# The same over an asynchronous cipher.
new_dm w "$(table "1 allow_discards")"
driver=$(dmsetup status w | grep -oE 'fdiv\([^ ]*' | sed 's/^[^,]*,//; s/)$//')
dm_remove w
cipher="capi:cryptd($driver)-plain64"
raw "raw, asynchronous" 1
finish
