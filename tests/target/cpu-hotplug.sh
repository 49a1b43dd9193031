#!/bin/bash
# Guarantee: data stay right while a CPU that works for the mapping goes off and on, under load and under changes.
# It breaks when a job waits for ever on a CPU that is gone, when a job is queued there after all have left it, or when
# a mapping that may only use that CPU has nobody to work for it.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=768M timeout=300 kernel-args="brd.rd_nr=1 brd.rd_size=32768" modules="dm-crypt"
# guest: kernels=debian-6.1-amd64
#
# LOAD=N: seconds of load for each of the two cases (default 20, in check-all 120).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
seconds=$(load_seconds 20 120)
sectors=65536
need_ram $sectors
cpu_1=/sys/devices/system/cpu/cpu1/online
[ -e "$cpu_1" ] || skip_all "CPU 1 cannot go off here"
more_cleanup() { rm -f "$work/load"; echo 1 >"$cpu_1"; }

k=$(printf '%0128d' 9)
table() { echo "0 $sectors $TARGET aes-xts-plain64 $k 0 $ram 0${1:+ $1}"; }
rounds() { cat "$work/$1"; }

# Off for a second, on for a second.
hotplug() {	# ROUND
	echo $(($1 % 2)) >"$cpu_1" && sleep 1
}

# Whatever else may happen to a mapping meanwhile.
change() {	# OPTIONS CPUS... ROUND
	local options=$1 cpus=("${@:2:$#-2}")
	case $((RANDOM % 4)) in
	0) dm_suspend w --noflush && dm_resume w ;;
	1) dm_suspend w && dm_resume w ;;
	2) dm_load w "$(table "$options")" && dm_resume w ;;
	3) dm_message w cpus "${cpus[RANDOM % ${#cpus[@]}]}" ;;
	esac && sleep 0.2
}

# Each job has a quarter of the mapping, and reads what it wrote 32 writes later.
load() {
	fio --name=load --filename=/dev/mapper/w --numjobs=4 --size=25% --offset_increment=25% --rw=randwrite \
		--bsrange=512-1m --ioengine=libaio --iodepth=8 --direct=1 --verify=crc32c --verify_backlog=32 \
		--verify_fatal=1 --time_based --runtime="$seconds" --minimal
}

under_hotplug() {	# NAME OPTIONS CPUS...
	local name=$1 seed=$((RANDOM + 1)) pids=() pid
	shift
	new_dm w "$(table "$1")"
	: >"$work/load"
	: >"$work/err"
	while_loaded "$work/hotplug" hotplug >>"$work/err" 2>&1 &
	pids+=($!)
	while_loaded "$work/changes" change "$@" >>"$work/err" 2>&1 &
	pids+=($!)
	check "$name: fio reads what it wrote" load
	check "$name: written" "$tools/iocheck" write -u 512 /dev/mapper/w $seed
	rm "$work/load"
	for pid in "${pids[@]}"; do
		if wait "$pid"; then ok "$name: went on to the end"; else not_ok "$name: went on to the end"; fi
	done
	echo 1 >"$cpu_1"
	diag "$(rounds hotplug) times on or off, $(rounds changes) changes"
	diag <"$work/err"
	check "$name: at least 3 times off" test "$(rounds hotplug)" -ge 6
	check "$name: at least 6 changes" test "$(rounds changes)" -ge 6
	dm_remove w
	new_dm theirs "0 $sectors crypt aes-xts-plain64 $k 0 $ram 0"
	check "$name: dm-crypt reads what was written last" "$tools/iocheck" verify -u 512 /dev/mapper/theirs $seed
	dm_remove theirs
}

under_hotplug "all CPUs" "" 0 1 0-1 all
under_hotplug "only the CPU that goes off" "1 cpus:1" 1

# -- a CPU that is gone already ----------------------------------------------------------------------------------
echo 0 >"$cpu_1"
new_dm w "$(table "1 cpus:1")"
new_dm theirs "0 $sectors crypt aes-xts-plain64 $k 0 $ram 0"
check "made while its only CPU is off: right both ways" \
	"$tools/iocheck" both -n 200 -u 512 /dev/mapper/w /dev/mapper/theirs 77
echo 1 >"$cpu_1"
check "and when it is back" "$tools/iocheck" both -n 200 -u 512 /dev/mapper/w /dev/mapper/theirs 78
dm_remove w
dm_remove theirs
finish
