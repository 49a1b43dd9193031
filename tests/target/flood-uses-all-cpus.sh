#!/bin/bash
# Guarantee: a flood of large I/O that one CPU submits is worked on by all CPUs that may, and a flood of reads lets
# writes through.
# It breaks when the jobs of a flood pile up on the CPU that submits, or when reads come first as long as there are any.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=1024M timeout=300 modules="dm-crypt null_blk"
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ -b /dev/nullb0 ] || bail "no null_blk"

# A slow cipher, so that what the kernel counts is encryption and not the rest.
new_dm w "0 262144 $TARGET capi:cbc(twofish-generic)-plain64 $(hexkey 32) 0 /dev/nullb0 0"

busy() { awk '$1 == "cpu1" { print $2 + $4 + $7 + $8 }' /proc/stat; }	# in ticks: user, system, interrupts

# busy_while RW: for how much of the time CPU 1 is busy while CPU 0 submits, in per cent
busy_while() {
	local before seconds=3
	before=$(busy)
	taskset -c 0 fio --name=flood --filename=/dev/mapper/w --rw="$1" --bs=1M --direct=1 --ioengine=io_uring \
		--iodepth=16 --iodepth_batch=16 --iodepth_batch_complete_min=8 --runtime=$seconds --time_based \
		>"$work/fio" 2>&1 || { echo "fio failed"; return; }
	echo $((100 * ($(busy) - before) / (seconds * $(getconf CLK_TCK))))
}

for rw in write read; do
	dm_message w cpus all
	used=$(busy_while $rw)
	like "$rw: the other CPU does its part ($used %)" "$used" '^([6-9][0-9]|1[0-9][0-9])$'
	dm_message w cpus 0
	used=$(busy_while $rw)
	like "$rw: it stays idle where cpus excludes it ($used %)" "$used" '^1?[0-9]$'
done

# -- a write in a flood of reads that one worker cannot keep up with ---------------------------------------------------
dm_message w cpus 0
fio --name=flood --filename=/dev/mapper/w --rw=read --bs=128k --direct=1 --ioengine=io_uring --iodepth=64 \
	--runtime=60 --time_based >"$work/fio" 2>&1 &
sleep 1
check "a write ends while the reads go on" timeout 30 dd if=/dev/zero of=/dev/mapper/w bs=1M count=4 oflag=direct
check "and they do" kill -INT $!
wait
finish
