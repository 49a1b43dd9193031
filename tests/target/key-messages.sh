#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: "key set" and "key wipe" follow dm-crypt's rules: only while
# suspended, the size of the key stays, no resume without a key, a wiped key is
# gone from the table, and a key that was set is really the one in use.
# How it could break: a key that is taken while requests run, a schedule (of the
# IV, of one key of several) that keeps the old key, a resume that reads with
# nothing, a failed "key set" that leaves half a key.
#
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
need_target crypt
need_tool iocheck
show_keys 1
einval="Invalid argument"
# a message that must be refused, and why
no() {
	local name=$1 d=$2
	shift 2
	dm_message "$d" "$@" && { not_ok "$name" "accepted: $*"; return; }
	is "$name" "$(sed -n 's/^.*failed: //p' <<<"$dm_err" | head -n 1)" "$einval"
}

k1=$(hexkey 64 one) k2=$(hexkey 64 two)
new_dm ours "0 4096 $TARGET aes-xts-plain64 $k1 0 $ram 0"
ours=/dev/mapper/ours
check "written with the first key" iocheck write -u 512 $ours 5

# while it runs
log_mark
no "key set while it runs" ours key set "$k2"
no "key wipe while it runs" ours key wipe
like "the log says why" "$(log_since)" "suspended"
for m in "key" "key set" "key set $k2 x" "key wipe now" "key bogus" "bogus" "keyset $k2"; do
	# shellcheck disable=SC2086
	no "message while it runs: ${m//$k2/<key>}" ours $m
done
check "still the first key" iocheck verify -u 512 $ours 5

# while it is suspended: what is wrong stays refused
dm_suspend ours
for m in "key" "key set" "key set $k2 x" "key wipe now" "key bogus" "bogus"; do
	# shellcheck disable=SC2086
	no "message while suspended: ${m//$k2/<key>}" ours $m
done
check "resumes with its key after these" dm_resume ours
check "still the first key" iocheck verify -u 512 $ours 5

# wipe
dm_suspend ours
check "key wipe" dm_message ours key wipe
table=$(dm_table ours)
refute "the wiped key is not in the table" grep -q "$k1" <<<"$table"
like "the table shows a key of zeros or none" "$table" " aes-xts-plain64 (0{128}|-) 0 "
log_mark
dm_resume ours && not_ok "resume without a key" "accepted"
is "resume without a key: EAGAIN" "$(errno_of "$dm_err")" "Resource temporarily unavailable"
like "the log says why" "$(log_since)" "[Kk]ey"
check "wipe again does no harm" dm_message ours key wipe
no "a key too short" ours key set "${k1:2}"
no "a key too long" ours key set "${k1}00"
no "a key of another valid size" ours key set "${k1:64}"
no "a key of half a byte more" ours key set "${k1}0"
no "a key that is no hex" ours key set "${k1:1}g"
no "no key" ours key set -
dm_resume ours && not_ok "resume after bad keys" "accepted"
is "resume after bad keys: EAGAIN" "$(errno_of "$dm_err")" "Resource temporarily unavailable"
check "key set, names in capitals" dm_message ours KEY SET "$k1"
check "resume with it" dm_resume ours
check "the data is there" iocheck verify -u 512 $ours 5
is "the table shows it" "$(dm_table ours)" "0 4096 $TARGET aes-xts-plain64 $k1 0 1:0 0"

# a key set that failed leaves the old key or none, as on dm-crypt, never a part
for bad in "${k1:2}" "${k1:1}g" "${k1:0:126}zz"; do
	dm_suspend ours
	no "key set that fails while there is a key" ours key set "$bad"
	if dm_resume ours; then
		check "it left the old key" iocheck verify -u 512 $ours 5
	else
		is "it left no key" "$(errno_of "$dm_err")" "Resource temporarily unavailable"
		dm_message ours key set "$k1"
		check "resumes with a good one" dm_resume ours
	fi
done
check "the data is there" iocheck verify -u 512 $ours 5

# another key in use: bytes as dm-crypt writes with it
another() {
	local cipher=$1 a b
	a=$(hexkey "$2" a) b=$(hexkey "$2" b)
	new_dm changed "0 4096 $TARGET $cipher $a 0 $ram 8192"
	dm_suspend changed
	[ "$3" = set ] || dm_message changed key wipe
	dm_message changed key set "$b" || { not_ok "$cipher: key set" "$dm_err"; return; }
	dm_resume changed
	new_dm theirs "0 4096 crypt $cipher $b 0 $ram 8192"
	check "$cipher: after $3, as dm-crypt with that key" \
		iocheck both -u 512 /dev/mapper/changed /dev/mapper/theirs 9
	dm_remove theirs
	dm_remove changed
}
another aes-xts-plain64 64 set
another aes-xts-plain64 64 wipe+set
another aes-cbc-essiv:sha256 32 set
another aes-cbc-essiv:sha256 32 wipe+set
another aes-cbc-eboiv 32 set
another aes:4-cbc-plain64 64 set
another aes:64-cbc-benbi 2048 wipe+set
another xchacha12,aes-adiantum-plain64 32 set
another aes-lrw-benbi 48 set

# data cached above the mapping is not written with the wrong key
buffered() {
	dd if=/dev/zero of="$ours" bs=1M count=2 conv=notrunc status=none &&
	dm_suspend ours && dm_message ours key wipe &&
	dm_message ours key set "$k1" && dm_resume ours &&
	drop_caches "$ours" && cmp -n 2097152 "$ours" /dev/zero
}
check "buffered data, then wipe and set" buffered

# a key of no bytes
new_dm none "0 8 $TARGET cipher_null-ecb - 0 $ram 0"
dm_suspend none
check "key set - where the key has no bytes" dm_message none key set -
no "any other key there" none key set 00
dm_message none key set -
check "resumes" dm_resume none
dm_remove none

# one target of two without key: the device stays suspended, and the other one's key can still be wiped
new_dm two "0 8 $TARGET aes-xts-plain64 $k1 0 $ram 0
8 8 $TARGET aes-xts-plain64 $k1 0 $ram 8"
dm_suspend two
dmsetup message two 8 key wipe
refute "two targets, one wiped: no resume" dm_resume two
check "two targets, one wiped: the other can be wiped" dm_message two key wipe
check "two targets, one wiped: the other can be set" dm_message two key set "$k1"
check "two targets, one wiped: it can be set" dmsetup message two 8 key set "$k1"
check "two targets: resume" dm_resume two
dm_remove two

# keyrings
tap_of "keyring keys" "$python" "$here/key-messages.py" "$TARGET" $ram
finish
