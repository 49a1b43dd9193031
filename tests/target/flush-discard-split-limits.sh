#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: queue limits are dm-crypt's for the same table; discards pass only
# with allow_discards, and hit what they should; flush and FUA reach the device
# below, after the data; larger requests are split; misaligned ones refused.
# How it could break: a file system told a block size that cannot be kept, a
# discard that zeroes another place or gives away a map nobody allowed, an fsync
# that returns before the data is safe, a request longer than the bounce pages.
#
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt null_blk dm-log-writes" kernels=normal aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
need_target crypt
k=$(hexkey 64)
dio() { timeout 60 "$python" "$here/dio.py" "$@"; }
want() { "$python" "$here/dio.py" pattern - "$1" "$2" "$3"; }

# ---- limits ----------------------------------------------------------------
same_limits() {
	local name=$1 dev=$2 opts=$3 sectors=16384
	dm_create ours "0 $sectors $TARGET aes-xts-plain64 $k 0 $dev 0 $opts" ||
		{ not_ok "limits: $name" "$dm_err"; return; }
	dm_create theirs "0 $sectors crypt aes-xts-plain64 $k 0 $dev 0 $opts" ||
		{ not_ok "limits: $name" "dm-crypt: $dm_err"; return; }
	limits ours >"$work/ours"
	limits theirs >"$work/theirs"
	if [ "$(wc -l <"$work/ours")" -gt 15 ] && diff "$work/theirs" "$work/ours" >"$work/diff"; then
		ok "limits: $name"
	else
		not_ok "limits: $name" "dm-crypt (<) and ours (>):"
		diag <"$work/diff"
	fi
	dm_remove ours; dm_remove theirs
}
lower=("$ram")
names=("RAM disk")
if null_disk fdt512 blocksize=512 discard=1 cache_size=4; then
	lower+=("$null_dev"); names+=("null_blk, discards and cache")
fi
plain_null=${null_dev-}
if null_disk fdt4k blocksize=4096; then
	lower+=("$null_dev"); names+=("null_blk, blocks of 4096")
fi
four=${null_dev-}
for i in "${!lower[@]}"; do
	for opts in "" "1 allow_discards" "1 sector_size:1024" "2 sector_size:4096 iv_large_sectors" \
		"2 no_read_workqueue no_write_workqueue" "2 allow_discards sector_size:4096"; do
		same_limits "${names[i]}: ${opts:-no options}" "${lower[i]}" "$opts"
	done
done
for u in 512 1024 2048 4096; do
	new_dm ours "0 64 $TARGET aes-xts-plain64 $k 0 $ram 0 1 sector_size:$u"
	is "unit $u is the block size" "$(blockdev --getss /dev/mapper/ours) $(blockdev --getpbsz /dev/mapper/ours | awk -v u=$u '{ print ($1 >= u) }')" "$u 1"
	[ $u = 512 ] || is "unit $u: a read of half a unit" "$(dio read /dev/mapper/ours 0 $((u / 2)))" EINVAL
	[ $u = 512 ] || is "unit $u: a read at half a unit" "$(dio read /dev/mapper/ours $((u / 2)) "$u")" EINVAL
	dm_remove ours
done
if [ ${#lower[@]} -gt 2 ]; then
	# a 512-byte unit on blocks of 4096: the same answer as dm-crypt
	for line in "0 12 @ aes-xts-plain64 $k 0 $four 0" "0 16 @ aes-xts-plain64 $k 0 $four 4" \
		"0 16 @ aes-xts-plain64 $k 0 $four 8"; do
		dm_create ours "${line/@/$TARGET}" && dm_err=accepted && dm_remove ours
		a=$dm_err
		dm_create ours "${line/@/crypt}" && dm_err=accepted && dm_remove ours
		is "blocks of 4096: ${line/ aes*$four/ ...}, as dm-crypt" \
			"$(errno_of "$a")" "$(errno_of "$dm_err")"
	done
fi

# ---- discards --------------------------------------------------------------
discards_on() {
	local dev=$1 name=$2 before zero
	dd if=/dev/urandom of="$dev" bs=1M count=8 conv=fsync status=none
	new_dm ours "0 8192 $TARGET aes-xts-plain64 $k 0 $dev 2048"
	is "$name: no discards without the option" \
		"$(cat "$(queue_of ours)/discard_max_bytes")" 0
	before=$(sha256sum "$dev" | cut -c1-64)
	refute "$name: blkdiscard is refused" blkdiscard -o 65536 -l 131072 /dev/mapper/ours
	drop_caches "$dev"
	is "$name: and nothing changed below" "$(sha256sum "$dev" | cut -c1-64)" "$before"
	dm_remove ours
	new_dm ours "0 8192 $TARGET aes-xts-plain64 $k 0 $dev 2048 1 allow_discards"
	dd if="$dev" of="$work/below" bs=1M count=8 status=none
	check "$name: blkdiscard with the option" blkdiscard -o 65536 -l 131072 /dev/mapper/ours
	drop_caches "$dev"
	dd if=/dev/zero of="$work/below" bs=4096 seek=$(((2048 * 512 + 65536) / 4096)) count=32 conv=notrunc status=none
	check "$name: exactly that is discarded, at the device's offset" \
		cmp -n 8388608 "$dev" "$work/below"
	# zeroing is no discard: it must be written encrypted
	check "$name: blkdiscard --zeroout" blkdiscard -z -o 0 -l 65536 /dev/mapper/ours
	drop_caches /dev/mapper/ours
	check "$name: reads as zeros" cmp -n 65536 /dev/mapper/ours /dev/zero
	drop_caches "$dev"
	zero=$(dd if="$dev" bs=512 skip=2048 count=128 status=none | tr -d '\0' | wc -c)
	check "$name: and is no zeros below" test "$zero" -gt 60000
	dm_remove ours
}
found=no
for d in "$ram" "$plain_null"; do
	[ -n "$d" ] || continue
	q=/sys/class/block/${d##*/}/queue/discard_max_bytes
	[ "$(cat "$q" 2>/dev/null || echo 0)" -gt 0 ] || continue
	found=yes
	discards_on "$d" "${d##*/}"
done
[ $found = yes ] || skip "discards" "no device with discards here"

# ---- flush, FUA, splitting: what dm-log-writes sees ------------------------
if has_target log-writes && [ -b /dev/ram1 ]; then
	log=/dev/ram1
	new_dm logged "0 32768 log-writes $ram $log"
	new_dm ours "0 16384 $TARGET aes-xts-plain64 $k 0 /dev/mapper/logged 4096"
	ours=/dev/mapper/ours
	mark() { dm_message logged mark "$1"; }
	mark start
	is "a plain write" "$(dio write $ours 0 65536 a)" "$(want 0 65536 a)"
	mark written
	is "an fsync" "$(dio sync $ours)" ok
	mark synced
	is "a write with DSYNC" "$(dio dsync $ours 65536 8192 b)" "$(want 65536 8192 b)"
	mark dsynced
	is "a write of 4 MiB" "$(dio write $ours 1048576 4194304 c)" "$(want 1048576 4194304 c)"
	mark large
	check "a buffered write and fsync" dd if=/dev/zero of=$ours bs=4096 count=4 seek=2000 conv=notrunc,fsync status=none
	mark buffered
	drop_caches $ours
	is "the 4 MiB read back" "$(dio read $ours 1048576 4194304)" "$(want 1048576 4194304 c)"
	dm_remove ours
	dm_remove logged
	drop_caches $log
	tap_of "log" "$python" "$here/read-log-writes.py" $log
	new_dm theirs "0 16384 crypt aes-xts-plain64 $k 0 $ram 4096"
	is "dm-crypt reads the 4 MiB" "$(dio read /dev/mapper/theirs 1048576 4194304)" "$(want 1048576 4194304 c)"
	dm_remove theirs
else
	skip "flush, FUA and splitting" "no dm-log-writes in this kernel"
fi
finish
