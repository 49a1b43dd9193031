#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: on a zoned device zones, limits, errors and bytes are dm-crypt's; writes to a zone arrive in their order,
# also from many writers and with an asynchronous cipher; zone append works.
# How it could break: two writes of a zone that overtake each other (an I/O error below, a zone that is torn), a zone
# command that goes to another zone or through the cipher, an append written elsewhere than it says.
#
# guest: cpus=2 mem=1024M timeout=600 modules="dm-crypt dm-witness" extra="tests/target/witness" kernels=normal
# guest: aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_target crypt
need_target witness
need_tool iocheck
k=$(hexkey 64) errors=()
dio() { timeout 60 "$python" "$here/dio.py" "$@"; }
want() { "$python" "$here/dio.py" pattern - "$1" "$2" "$3"; }

# ---- 32 zones of 1 MiB, the first 4 conventional ---------------------------------
null_disk fdt zoned=1 zone_size=1 zone_nr_conv=4 zone_max_open=8 zone_max_active=10 cache_size=4 ||
	bail "no null_blk with zones"
dev=$null_dev
mib=$((1 << 20)) zone=2048 conv=4
cipher="aes-xts-plain64 $k"

# map NAME TARGET [OPTIONS]
map() { new_dm "$1" "0 65536 $2 $cipher 0 $dev 0${3:+ $3}"; }
# report NAME: zones, and the limits of zoned devices
report() {
	blkzone report "/dev/mapper/$1" 2>&1 | sed "s,/$1:,/NAME:,"
	cd "$(queue_of "$1")" &&
		grep -sH . zon* chunk_sectors nr_zones max_open_zones max_active_zones max_sectors_kb max_hw_sectors_kb
}
same_report() { is "$1: zones and limits as dm-crypt's" "$(report ours)" "$(report theirs)"; }

map ours "$TARGET"
map theirs crypt
same_report "empty"
is "there are 32 zones, 4 of them conventional" \
	"$(blkzone report /dev/mapper/ours | wc -l) $(blkzone report /dev/mapper/ours | grep -c CONV)" "32 4"

# ---- bytes, both ways ---------------------------------------------------------------
writer=ours reader=theirs
for z in 4 5; do
	for ((i = 0; i < 4; i++)); do
		at=$((z * mib + i * 131072))
		is "zone $z by $writer, part $i" "$(dio write /dev/mapper/$writer $at 131072 "$z$i")" "$(want $at 131072 "$z$i")"
	done
	for ((i = 0; i < 4; i++)); do
		at=$((z * mib + i * 131072))
		is "zone $z read by $reader, part $i" "$(dio read /dev/mapper/$reader $at 131072)" "$(want $at 131072 "$z$i")"
	done
	writer=theirs reader=ours
done
is "a whole zone with one call" "$(dio write /dev/mapper/ours $((6 * mib)) $mib z6)" "$(want 0 $mib z6)"
is "dm-crypt reads it" "$(dio read /dev/mapper/theirs $((6 * mib)) $mib)" "$(want 0 $mib z6)"
same_report "after writes"
for w in ours theirs; do
	errors[${#errors[@]}]="$(dio write /dev/mapper/$w $((7 * mib + 4096)) 4096 x) $(
		dio write /dev/mapper/$w $((5 * mib)) 4096 x) $(dio write /dev/mapper/$w $((6 * mib)) 4096 x)"
done
is "writes not at the write pointer: as dm-crypt" "${errors[0]}" "${errors[1]}"
like "and they are refused" "${errors[0]}" '^E[A-Z]+ E[A-Z]+ E[A-Z]+$'

# ---- zone commands -------------------------------------------------------------------
check "finish" blkzone finish -o $((5 * zone)) -c 1 /dev/mapper/ours
check "reset" blkzone reset -o $((4 * zone)) -c 1 /dev/mapper/ours
check "open and close" sh -c "blkzone open -o $((8 * zone)) -c 1 /dev/mapper/ours && blkzone close -o $((8 * zone)) \
	-c 1 /dev/mapper/ours"
same_report "after zone commands"
is "the zones below were meant" "$(blkzone report "$dev" | sed -n '5p;6p' | grep -oE 'zcond:..' | tr '\n' ' ')" \
	"zcond: 1 zcond:14 "
is "a zone after its reset" "$(dio write /dev/mapper/ours $((4 * mib)) 65536 again)" "$(want 0 65536 again)"
is "read by dm-crypt" "$(dio read /dev/mapper/theirs $((4 * mib)) 65536)" "$(want 0 65536 again)"
dm_remove theirs
new_dm conv "0 $((conv * zone)) linear /dev/mapper/ours 0"
check "conventional zones take any write" timeout 100 "$tools/iocheck" write -u 512 -n 30 /dev/mapper/conv 3
dm_remove conv
dm_remove ours
new_dm conv "0 $((conv * zone)) crypt $cipher 0 $dev 0"
check "and dm-crypt reads them" timeout 100 "$tools/iocheck" verify -u 512 -n 30 /dev/mapper/conv 3
dm_remove conv

# ---- many writers -----------------------------------------------------------------------
# writers NAME [FIO_OPTION...]: four, each with its own zones, up to 8 writes of a zone at once; fio reads what it wrote
writers() {
	local name=$1
	shift
	check "$name: reset of all zones" blkzone reset /dev/mapper/ours
	check "$name: writers of zones in parallel" timeout 200 fio --name=w --filename=/dev/mapper/ours --direct=1 \
		--zonemode=zbd --rw=write --ioengine=libaio --iodepth=8 --numjobs=4 --offset=4m --offset_increment=2m --size=2m \
		--bsrange=4k-128k --bs_unaligned=0 --verify=crc32c --verify_fatal=1 --max_open_zones=8 --thread \
		--group_reporting "$@"
}
for opts in "" "1 sector_size:4096" "2 no_read_workqueue no_write_workqueue"; do
	map ours "$TARGET" "$opts"
	driver=$(dmsetup status ours | sed 's/.*driver=fdiv(plain64,\([^ ]*\)) .*/\1/')
	writers "${opts:-no options}"
	map theirs crypt "$opts"
	same_report "${opts:-no options}"
	check "${opts:-no options}: dm-crypt reads the same" cmp /dev/mapper/ours /dev/mapper/theirs
	dm_remove theirs
	dm_remove ours
done
new_dm ours "0 65536 $TARGET capi:cryptd($driver)-plain64 $k 0 $dev 0"
writers "asynchronous cipher"
map theirs crypt
check "asynchronous cipher: dm-crypt reads the same" cmp /dev/mapper/ours /dev/mapper/theirs
dm_remove theirs
dm_remove ours

# ---- zone append --------------------------------------------------------------------------
blkzone reset "$dev"
map ours "$TARGET"
new_dm top "0 65536 witness /dev/mapper/ours 0 append"
for ((i = 0; i < 4; i++)); do
	at=$((9 * mib + i * 65536))
	is "append $i" "$(dio write /dev/mapper/top $at 65536 "a$i")" "$(want $at 65536 "a$i")"
done
is "appends were written where they say" "$(dmsetup status top | cut -d' ' -f4,5)" "4 0"
dm_remove top
dm_remove ours
map theirs crypt
for ((i = 0; i < 4; i++)); do
	at=$((9 * mib + i * 65536))
	is "append $i, read by dm-crypt" "$(dio read /dev/mapper/theirs $at 65536)" "$(want $at 65536 "a$i")"
done
dm_remove theirs

# ---- parts of a zoned device ----------------------------------------------------------------
for part in "0 $((8 * zone)) @ $cipher 0 $dev $((8 * zone))" "0 $((6 * zone)) @ $cipher 0 $dev $((2 * zone))" \
	"0 $((conv * zone)) @ $cipher 0 $dev 0" "0 $((zone + 8)) @ $cipher 0 $dev 0" "0 $zone @ $cipher 0 $dev 8"; do
	title="sectors $(cut -d' ' -f2 <<<"$part") from ${part##* }"
	if dm_create ours "${part/@/$TARGET}"; then
		if dm_create theirs "${part/@/crypt}"; then same_report "$title"
		else not_ok "$title: dm-crypt refuses" "$dm_err"; fi
	else
		a=$(errno_of "$dm_err")
		dm_create theirs "${part/@/crypt}" && dm_err=accepted
		is "$title: refused as by dm-crypt" "$a" "$(errno_of "$dm_err")"
	fi
	dm_exists ours && dm_remove ours
	dm_exists theirs && dm_remove theirs
done
finish
