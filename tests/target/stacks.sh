#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: on top of other mappings and below them data are dm-crypt's: on dm-crypt, on fdecrypt, on and in tables of
# segments that begin anywhere, on a logical volume and below LVM.
# How it could break: per-bio data of two layers mixed up, a sector counted from the wrong start, a unit cut in two by
# a border of segments, limits that a stack multiplies, two layers waiting for each other's pages.
#
# guest: cpus=2 mem=1024M timeout=450 kernel-args="brd.rd_size=32768" modules="dm-crypt" kernels=normal aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 65536
need_target crypt
need_tool iocheck
k=$(hexkey 64) k2=$(hexkey 64 inner)
size=4096
seed=10 odd=()

# same NAME BELOW UNIT [OFFSET]: both targets over the same mapping, each reads what the other wrote
same() {
	local opts=
	[ "$3" = 512 ] || opts=" 1 sector_size:$3"
	seed=$((seed + 2))
	new_dm ours "0 $size $TARGET aes-xts-plain64 $k 0 $2 ${4-0}$opts"
	new_dm theirs "0 $size crypt aes-xts-plain64 $k 0 $2 ${4-0}$opts"
	check "$1, units of $3" iocheck both -u "$3" -n 20 /dev/mapper/ours /dev/mapper/theirs $seed
	dm_remove ours
	dm_remove theirs
}

# ---- on dm-crypt, on itself --------------------------------------------------
for below in crypt "$TARGET"; do
	new_dm inner "0 $((size + 8)) $below aes-cbc-essiv:sha256 ${k2:0:64} 0 $ram 0"
	same "on $below" /dev/mapper/inner 512
	same "on $below" /dev/mapper/inner 4096 8
	dm_remove inner
done
new_dm inner "0 $((size + 8)) crypt aes-cbc-essiv:sha256 ${k2:0:64} 0 $ram 0"
new_dm theirs "0 $size crypt aes-xts-plain64 $k 0 /dev/mapper/inner 8 1 sector_size:4096"
check "two layers of $TARGET are two of dm-crypt" iocheck verify -u 4096 -n 20 /dev/mapper/theirs $((seed + 1))
dm_remove theirs
dm_remove inner

# ---- segments that begin anywhere ----------------------------------------------
# segments UNIT TARGET...: a table of segments whose lengths are odd numbers of units, places on the disk reversed; in
# TARGET, @ is the device with the place of the segment
segments() {
	local at=0 len n=0 unit=$(($1 / 512)) place=40000
	shift
	while [ $at -lt $size ]; do
		n=$((n + 1)) len=$((unit * (1 + n * 37 % 211)))
		[ $len -le $((size - at)) ] || len=$((size - at))
		place=$((place - len))
		echo "$at $len ${*//@/$ram $place}"
		at=$((at + len))
	done
}
new_dm linear "$(segments 512 linear @)
$size 8 linear $ram 50000"
same "on segments of odd length" /dev/mapper/linear 512
same "on segments of odd length, begun at 3" /dev/mapper/linear 512 3
for unit in 1024 4096; do
	# a unit goes over the border of two segments: as good on both
	same "on segments of odd length" /dev/mapper/linear $unit
	same "on segments of odd length, begun at 8" /dev/mapper/linear $unit 8
done
for unit in 1024 4096; do
	for target in "$TARGET" crypt; do
		dm_create odd "0 $size $target aes-xts-plain64 $k 0 /dev/mapper/linear 3 1 sector_size:$unit" &&
			dm_err=accepted && dm_remove odd
		odd[${#odd[@]}]=$(errno_of "$dm_err")$(grep -o accepted <<<"$dm_err")
	done
	is "units of $unit, begun at 3: as dm-crypt" "${odd[-2]}" "${odd[-1]}"
done
dm_remove linear
for unit in 512 1024 4096; do
	opts=
	[ $unit = 512 ] || opts=" 1 sector_size:$unit"
	seed=$((seed + 2))
	new_dm ours "$(segments $unit "$TARGET" aes-xts-plain64 "$k" $((unit / 64)) "@$opts")"
	new_dm theirs "$(segments $unit crypt aes-xts-plain64 "$k" $((unit / 64)) "@$opts")"
	check "a table of odd segments, units of $unit" iocheck both -u $unit -n 20 /dev/mapper/ours /dev/mapper/theirs $seed
	dm_remove ours
	dm_remove theirs
done

# ---- LVM -----------------------------------------------------------------------
lvm_of() {	# DEVICE COMMAND...
	local dev=$1 command=$2
	shift 2
	LVM_SUPPRESS_FD_WARNINGS=1 timeout 60 lvm "$command" --config "devices { use_devicesfile=0
		filter=[\"a|^$dev\$|\",\"r|.*|\"] obtain_device_list_from_udev=0 }
		activation { udev_sync=0 udev_rules=0 monitoring=0 } backup { backup=0 archive=0 }
		global { event_activation=0 use_lvmpolld=0 locking_dir=\"/run/lock/lvm\" }" "$@"
}
vg=fdt$$
more_cleanup() { [ -z "${lvm_dev-}" ] || lvm_of "$lvm_dev" vgchange -qq -an "$vg" >/dev/null 2>&1; }
if command -v lvm >/dev/null; then
	# below LVM
	dd if=/dev/zero of=$ram bs=1M count=1 status=none
	new_dm ours "0 32768 $TARGET aes-xts-plain64 $k 0 $ram 0"
	lvm_dev=/dev/mapper/ours
	check "LVM on $TARGET: pvcreate" lvm_of $lvm_dev pvcreate -qq $lvm_dev
	check "LVM on $TARGET: vgcreate" lvm_of $lvm_dev vgcreate -qq -s 1M $vg $lvm_dev
	check "LVM on $TARGET: lvcreate" lvm_of $lvm_dev lvcreate -qq -Wn -Zn -an -l 4 -n lv $vg
	check "LVM on $TARGET: lvextend" lvm_of $lvm_dev lvextend -qq -l 6 $vg/lv
	check "LVM on $TARGET: activated" lvm_of $lvm_dev vgchange -qq -ay $vg
	check "LVM on $TARGET: data" iocheck write -u 512 -n 20 /dev/mapper/$vg-lv 7
	check "LVM on $TARGET: deactivated" lvm_of $lvm_dev vgchange -qq -an $vg
	dm_remove ours
	new_dm theirs "0 32768 crypt aes-xts-plain64 $k 0 $ram 0"
	lvm_dev=/dev/mapper/theirs
	check "the same LVM on dm-crypt: activated" lvm_of $lvm_dev vgchange -qq -ay $vg
	check "the same LVM on dm-crypt: data" iocheck verify -u 512 -n 20 /dev/mapper/$vg-lv 7
	check "the same LVM on dm-crypt: deactivated" lvm_of $lvm_dev vgchange -qq -an $vg
	dm_remove theirs
	# on a logical volume of two segments
	lvm_dev=$ram
	dd if=/dev/zero of=$ram bs=1M count=1 status=none
	lvm_of $ram pvcreate -qq $ram
	lvm_of $ram vgcreate -qq -s 1M $vg $ram
	lvm_of $ram lvcreate -qq -Wn -Zn -l 2 -n lv $vg
	lvm_of $ram lvcreate -qq -Wn -Zn -l 1 -n between $vg
	check "a logical volume of two segments" lvm_of $ram lvextend -qq -l 4 $vg/lv
	same "on a logical volume" /dev/mapper/$vg-lv 512
	same "on a logical volume" /dev/mapper/$vg-lv 4096
	check "and it can be deactivated" lvm_of $ram vgchange -qq -an $vg
else
	skip "LVM on $TARGET, and $TARGET on LVM" "no lvm2"
fi
finish
