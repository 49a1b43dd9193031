#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: suspend, resume, reload, resize and removal of a mapping, in use or not, end as with dm-crypt, and no byte
# is lost by them.
# How it could break: a suspend that waits for a frozen file system, a table with another key that gets requests of the
# old one, a mapping that keeps its old size, a forced removal that leaves requests waiting for ever.
#
# guest: cpus=2 mem=1024M timeout=600 kernel-args="brd.rd_size=32768" modules="dm-crypt" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 65536
need_target crypt
need_tool iocheck
k=$(hexkey 64) k2=$(hexkey 64 other)
size=8192
dio() { timeout 60 "$python" "$here/dio.py" "$@"; }
want() { "$python" "$here/dio.py" pattern - "$1" "$2" "$3"; }
table() { echo "0 ${3-$size} ${1} aes-xts-plain64 $k 0 $2 0"; }
sectors() { blockdev --getsz "/dev/mapper/$1"; }
more_cleanup() {
	! mountpoint -q "$work/mnt" || umount "$work/mnt"
	[ -z "${loop-}" ] || losetup -d "$loop"
}

# ---- suspend and resume below a file system ------------------------------------
new_dm ours "$(table "$TARGET" $ram 32768)"
mkdir "$work/mnt"
if ! mkfs.ext4 -q -b 4096 /dev/mapper/ours || ! mount /dev/mapper/ours "$work/mnt"; then bail "no ext4"; fi
n=0
for how in "" --noflush --nolockfs "--noflush --nolockfs"; do
	n=$((n + 1))
	head -c 300000 /dev/urandom >"$work/data$n"
	cp "$work/data$n" "$work/mnt/before$n"
	# shellcheck disable=SC2086 # a list of options
	check "suspend $how: with a dirty file system" timeout 60 dmsetup suspend --noudevsync $how ours
	# written while it is suspended: waits, and arrives
	timeout 100 dd if="$work/data$n" of="$work/mnt/during$n" bs=64k conv=fsync status=none &
	writer=$!
	sleep 0.5
	check "suspend $how: a writer waits" kill -0 $writer
	check "suspend $how: resume" timeout 60 dmsetup resume --noudevsync ours
	wait $writer
	is "suspend $how: the writer goes on" $? 0
done
check "the file system can be unmounted" umount "$work/mnt"
check "fsck finds nothing" e2fsck -fn /dev/mapper/ours
dm_remove ours
new_dm theirs "$(table crypt $ram 32768)"
mount -o ro /dev/mapper/theirs "$work/mnt" || bail "dm-crypt has no file system"
for i in $(seq $n); do
	check "dm-crypt reads what was written before and during suspend $i" \
		cmp "$work/data$i" "$work/mnt/before$i"
	check "and during it" cmp "$work/data$i" "$work/mnt/during$i"
done
umount "$work/mnt"
dm_remove theirs

# ---- another key or cipher for a part, under I/O on the other part -------------
# parts TARGET CIPHER KEY: the first half as ever, the second as said
parts() {
	echo "0 $size $1 aes-xts-plain64 $k 0 $ram 0
$size $size $1 $2 $3 0 $ram $size"
}
new_dm ours "$(parts "$TARGET" aes-xts-plain64 "$k")"
new_dm first "0 $size linear /dev/mapper/ours 0"
: >"$work/go-on"
(
	while [ -e "$work/go-on" ]; do iocheck both -u 512 -n 50 /dev/mapper/first /dev/mapper/first 4 || exit; done
) >"$work/load" 2>&1 &
writer=$!
at=$((size * 512))
n=0
for line in "aes-xts-plain64 $k2" "aes-cbc-essiv:sha256 ${k2:0:64}" "aes-xts-plain64 $k"; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # two words
	check "reload under I/O: ${line%% *}" dm_load ours "$(parts "$TARGET" $line)"
	check "reload under I/O: resumed" dm_resume ours
	is "reload under I/O: written" "$(dio write /dev/mapper/ours $at 65536 $n)" "$(want $at 65536 $n)"
	# shellcheck disable=SC2086 # two words
	new_dm theirs "$(parts crypt $line)"
	is "reload under I/O: dm-crypt reads it" "$(dio read /dev/mapper/theirs $at 65536)" "$(want $at 65536 $n)"
	dm_remove theirs
done
rm "$work/go-on"
if wait $writer; then ok "reload under I/O: right data in the other part"
else not_ok "reload under I/O: right data in the other part" "$(tail -n 5 "$work/load")"; fi
# what is refused leaves the live table alone; whether a table fits its device is seen when it is to become live
new_dm theirs "$(parts crypt aes-xts-plain64 "$k")"
# try NAME TABLE: what is said to it
try() {
	if ! dm_load "$1" "$2"; then echo "load: $(errno_of "$dm_err")"
	elif ! dm_resume "$1"; then echo "resume: $(errno_of "$dm_err")"
	else echo accepted; fi
	dm_resume "$1"
}
for bad in "0 $size @ aes-xts-plain64 ${k:0:60} 0 $ram 0" "0 $size @ aes-xts-bogus $k 0 $ram 0" \
	"0 999999999 @ aes-xts-plain64 $k 0 $ram 0" "8 $size @ aes-xts-plain64 $k 0 $ram 0"; do
	said=$(try ours "${bad/@/$TARGET}")
	is "refused: ${bad/$k/...}: as dm-crypt" "$said" "$(try theirs "${bad/@/crypt}")"
	like "refused: ${bad/$k/...}: so it was" "$said" '^(load|resume): .'
done
is "refused: the live table is in use" "$(dio read /dev/mapper/ours $at 65536)" "$(want $at 65536 $n)"
dm_remove first
dm_remove theirs
dm_remove ours

# ---- two mappings of one device --------------------------------------------------
new_dm ours "0 $size $TARGET aes-xts-plain64 $k 0 $ram 0"
new_dm ours2 "0 $size $TARGET aes-xts-plain64 $k2 9 $ram $size"
iocheck write -u 512 -n 100 /dev/mapper/ours2 8 >"$work/load" 2>&1 &
check "two mappings of one device: written" iocheck write -u 512 -n 100 /dev/mapper/ours 7
wait $!
is "two mappings of one device: both" $? 0
dm_remove ours
dm_remove ours2
new_dm theirs "0 $size crypt aes-xts-plain64 $k 0 $ram 0
$size $size crypt aes-xts-plain64 $k2 9 $ram $size"
for i in 0 1; do
	new_dm half "0 $size linear /dev/mapper/theirs $((i * size))"
	check "two mappings of one device: dm-crypt reads half $i" iocheck verify -u 512 -n 100 /dev/mapper/half $((7 + i))
	dm_remove half
done
dm_remove theirs

# ---- a device that grows -----------------------------------------------------------
truncate -s $((size * 512)) "$work/file"
loop=$(losetup --show -f "$work/file") || bail "no loop device"
new_dm ours "$(table "$TARGET" "$loop")"
check "resize: written" iocheck write -u 512 -n 50 /dev/mapper/ours 3
is "resize: a longer table than the device is refused" "$(try ours "$(table "$TARGET" "$loop" $((size * 2)))")" \
	"resume: Invalid argument"
truncate -s $((size * 1024)) "$work/file"
check "resize: the device grows" losetup -c "$loop"
exec 9</dev/mapper/ours
check "resize: a longer table is taken" dm_load ours "$(table "$TARGET" "$loop" $((size * 2)))"
check "resize: and resumed, while it is open" dm_resume ours
exec 9<&-
is "resize: that is its size" "$(sectors ours)" $((size * 2))
is "resize: what is new can be written" "$(dio write /dev/mapper/ours $at 65536 new)" "$(want $at 65536 new)"
dm_load ours "$(table "$TARGET" "$loop")" && dm_resume ours
is "resize: it shrinks, too" "$(sectors ours)" $size
check "resize: what was there stays" iocheck verify -u 512 -n 50 /dev/mapper/ours 3
dm_remove ours
new_dm theirs "$(table crypt "$loop" $((size * 2)))"
is "resize: dm-crypt reads what was new" "$(dio read /dev/mapper/theirs $at 65536)" "$(want $at 65536 new)"
dm_remove theirs
losetup -d "$loop"
loop=

# ---- removed while in use ------------------------------------------------------------
for t in "$TARGET" crypt; do
	new_dm busy "$(table "$t" $ram)"
	exec 9</dev/mapper/busy
	dmsetup remove --noudevsync busy >"$work/err" 2>&1
	like "$t: open: not removed" "$(<"$work/err")" 'Device or resource busy'
	is "$t: open: read on" "$(dio read /dev/mapper/busy 0 4096 | wc -c)" 65
	check "$t: open: removed later" dmsetup remove --noudevsync --deferred busy
	check "$t: open: it is still there" dm_exists busy
	exec 9<&-
	for _ in 1 2 3 4 5 6 7 8 9 10; do dm_exists busy || break; sleep 0.2; done
	refute "$t: closed: it is gone" dm_exists busy
	[ ! -e /dev/mapper/busy ] || rm -f /dev/mapper/busy

	new_dm forced "$(table "$t" $ram)"
	(for i in 1 2 3 4 5 6 7 8 9; do iocheck write -u 512 -n 100 /dev/mapper/forced $i || exit; done) >"$work/load" 2>&1 &
	writer=$!
	sleep 0.5
	timeout 60 dmsetup remove --noudevsync --force forced >"$work/err" 2>&1
	st=$?
	check "$t: forced removal under I/O ends" test $st -ne 124
	for _ in $(seq 100); do kill -0 $writer 2>/dev/null || break; sleep 0.3; done
	refute "$t: forced: the writer ends" kill -0 $writer
	wait $writer
	like "$t: forced: with an error" "$(<"$work/load")" 'Input/output error|EIO|error'
	if dm_exists forced; then dm_remove forced; fi
	refute "$t: forced: and is gone" dm_exists forced
done
finish
