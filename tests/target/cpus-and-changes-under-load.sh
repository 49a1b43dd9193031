#!/bin/bash
# Guarantee: which CPUs work can be said by parameter, option and message, and data stay right while that, suspend,
# resume and reload happen under load.
# It breaks when a list is taken that names no CPU, when a piece of a bio is lost or done twice while workers change,
# or when a bio outlives its table.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt" kernels=normal,memory,locking
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 32768

k=$(printf '%0128d' 7)
table() { echo "0 32768 $TARGET aes-xts-plain64 $k 0 $ram 0${1:+ $1}"; }

parameter() { echo "$1" >"$params/cpus"; }

# -- saying it ---------------------------------------------------------------------------------------------------
new_dm w "$(table)"
is "by default all CPUs work" "$(cpus_of w)" 0-1
is "and TABLE does not speak of it" "$(dmsetup table w | grep -c cpus)" 0
check "message" dm_message w cpus 1
is "the message counts at once" "$(cpus_of w)" 1
like "and shows in TABLE" "$(dmsetup table w)" ' 1 cpus:1$'
for bad in "" x 1- 3-1 -1 0x1 99999 1,,x "0 1"; do
	refute "message: list '$bad' is refused" dmsetup message w 0 cpus "$bad"
	refute "option: list '$bad' is refused" dm_create bad "$(table "1 cpus:${bad// /\\\\ }")"
	refute "parameter: list '$bad' is refused" parameter "$bad"
done
refute "message: no list is refused" dmsetup message w 0 cpus
is "nothing of that changed anything" "$(cpus_of w) $(cat "$params/cpus")" "1 all"
check "message: all" dm_message w cpus all
is "all is all" "$(cpus_of w)" 0-1
dm_remove w
new_dm w "$(table "2 allow_discards cpus:0")"
is "option" "$(cpus_of w)" 0
dm_remove w
echo 1 >"$params/cpus"
new_dm w "$(table)"
is "parameter" "$(cpus_of w)" 1
dm_remove w
echo all >"$params/cpus"

# -- where it happens -----------------------------------------------------------------------------------------------
# A worker carries the mapping's number, so that top shows who uses a CPU; threads that idle have no name.
workers_seen() {	# NAME
	local number i
	number=$(dmsetup info -c --noheadings -o major,minor "$1")
	: >"$work/load"
	while [ -e "$work/load" ]; do dd if="/dev/mapper/$1" of=/dev/null bs=1M iflag=direct status=none; done &
	for i in {1..30}; do
		# tasks end while they are read
		cat /proc/[0-9]*/comm 2>/dev/null | grep -E "[-+]fdecrypt/$number\$"
	done
	rm "$work/load"
	wait
}
echo 0 >"$params/inline_bytes"
# Both at once: an idle thread shows for whom it worked last, which must not be a mapping that had the same number.
new_dm one "$(table "2 cpus:1 same_cpu_crypt")"
new_dm w "$(table "2 cpus:0 same_cpu_crypt")"
like "top shows the workers under the number of their mapping" "$(workers_seen one)" 'kworker/1:'
is "same_cpu_crypt does not work on a CPU that cpus excludes" "$(workers_seen w | grep -c 'kworker/1:')" 0
dm_remove w
dm_remove one
echo 16384 >"$params/inline_bytes"

# -- under load --------------------------------------------------------------------------------------------------
change() {	# ROUND
	dm_message w cpus $(($1 % 2)) || return
	case $(($1 % 4)) in
	0) dm_suspend w --noflush && dm_resume w ;;
	1) dm_suspend w && dm_resume w ;;
	2) dm_load w "$(table "2 no_read_workqueue no_write_workqueue")" && dm_resume w ;;
	3) dm_load w "$(table "2 same_cpu_crypt high_priority")" && dm_resume w ;;
	esac && dm_message w cpus all
}

for size in 0 16384 1048576; do
	echo "$size" >"$params/inline_bytes"
	new_dm w "$(table)"
	: >"$work/load"
	while_loaded "$work/rounds" change >"$work/changes" 2>&1 &
	for seed in 1 2 3; do
		check "inline_bytes $size, round $seed: written and read right under changes" \
			"$tools/iocheck" both -u 512 /dev/mapper/w /dev/mapper/w $((size + seed))
	done
	rm "$work/load"
	if wait $! && [ "$(<"$work/rounds")" -gt 3 ]; then ok "inline_bytes $size: changes went on"
	else not_ok "inline_bytes $size: changes went on"; fi
	diag "$(<"$work/rounds") rounds of changes"
	diag <"$work/changes"
	dm_remove w
	# what is on the disk is what dm-crypt would have written
	new_dm theirs "0 32768 crypt aes-xts-plain64 $k 0 $ram 0"
	# "both" writes a second time, with the next seed
	check "inline_bytes $size: dm-crypt reads it" "$tools/iocheck" verify -u 512 /dev/mapper/theirs $((size + 4))
	dm_remove theirs
done
echo 16384 >"$params/inline_bytes"
finish
