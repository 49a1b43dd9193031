#!/bin/bash
# Guarantee: with names=crypt the module stands in for dm-crypt, whose version, texts and errors it then gives; it never
# takes the name away from dm-crypt, and says how to free it.
# It breaks when a text differs, when an option of our own shows or is taken, or when a failed load leaves half of it.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=1024M timeout=300 kernel-args="brd.rd_size=32768" aesni=no kernels=normal,memory
# shellcheck source=lib.sh
TARGET=crypt . "$(dirname "$0")/lib.sh"
need_ram 65536

ours() { modprobe dm-fdecrypt "names=$1"; }
targets() { dmsetup targets | awk '$1 ~ /crypt/ { print $1, $2 }' | sort | paste -sd' '; }
ima() { "$python" -c 'import sys; sys.path.insert(0, sys.argv[1]); import dm; print(dm.query(sys.argv[2], dm.F_IMA))' "$here" "$1"; }
short() { sed -E 's/[0-9a-f]{64,}/<key>/' <<<"$1"; }

# Every option, each cipher form, key forms: what a text can depend on.
"$python" -c 'import sys; sys.path.insert(0, sys.argv[1]); import dm; dm.add_key("user", "names-key", bytes(range(64)))' "$here"
lines=(
	"aes-xts-plain64 $(hexkey 64) 0 $ram 0"
	"capi:cbc(aes)-essiv:sha256 $(hexkey 32) 8 $ram 16 1 allow_discards"
	"aes:2-cbc-plain $(hexkey 32) 0 $ram 0 3 same_cpu_crypt no_write_workqueue no_read_workqueue"
	"cipher_null-ecb - 0 $ram 0"
	"aes-xts-plain64 :64:user:names-key 0 $ram 0 2 iv_large_sectors sector_size:4096"
	"aes-xts-plain64 $(hexkey 64) 0 $ram 0 3 high_priority submit_from_crypt_cpus sector_size:1024"
	"aes-xts-plain64 $(hexkey 64) 0 $ram 0 1 integrity_key_size:8"
	"aes-xts-plain64 $(hexkey 64) 0 $ram 0 1 cpus:1"
	"aes-xts-plain64 $(hexkey 64) 0 $ram 0 1 bogus"
	"aes-xts-plain64 $(hexkey 64) 0 $ram 0 11 bogus"
)
# say_all: for each line its texts, or the error
say_all() {
	local line
	for line in "${lines[@]}"; do
		log_mark
		if dm_create says "0 1024 crypt $line"; then
			dm_table says
			dmsetup table says
			ima says
			dm_suspend says && dm_message says key wipe && dm_table says
			dm_message says bogus; errno_of "$dm_err"
			dm_remove says
		else
			errno_of "$dm_err"
			log_since | grep -oE 'crypt: .*'
		fi
	done
}

# say_zoned: dm-crypt sets an option by itself there
say_zoned() {
	dm_create says "0 $(blockdev --getsz "$null_dev") crypt aes-xts-plain64 $(hexkey 64) 0 $null_dev 0" || echo "$dm_err"
	dm_table says
	ima says
	dm_remove says
}
null_disk fdt zoned=1 zone_size=1 || bail "no null_blk with zones"

# -- dm-crypt has the name -----------------------------------------------------------------------------------------
modprobe -r dm-fdecrypt
version=$(targets)
like "dm-crypt is loaded" "$version" '^crypt v1\.'
say_all >"$work/theirs"
is "lines that dm-crypt takes" "$(grep -c '^0 1024 crypt .*[0-9a-f]' "$work/theirs")" 18
say_zoned >"$work/theirs.zoned"
log_mark
refute "names=crypt does not load beside dm-crypt" ours crypt
like "and says how to free the name" "$(log_since)" 'rmmod dm_crypt'
refute "nor does names=fdecrypt,crypt" ours fdecrypt,crypt
is "nothing is left of that" "$(targets) $(grep -c fdecrypt /proc/modules)" "$version 0"
check "names=fdecrypt does" ours fdecrypt
modprobe -r dm-fdecrypt

# -- it has not ----------------------------------------------------------------------------------------------------
check "dm-crypt can be unloaded" modprobe -r dm-crypt
for bad in "" bogus crypt,crypt "fdecrypt," "crypt fdecrypt" Crypt; do
	refute "names='$bad' is refused" ours "$bad"
done
check "names=crypt loads" ours crypt
is "the version is dm-crypt's, and there is no other name" "$(targets)" "$version"
say_all >"$work/ours"
sed -E 's/fdecrypt: //' "$work/ours" >"$work/ours.words"
while IFS=$'\t' read -r -u3 theirs && IFS=$'\t' read -r -u4 mine; do
	# The texts of errors may say more.
	case $theirs in
	"crypt: "*) like "error: $(short "$theirs")" "$mine" "^${theirs%% (*}" ;;
	*) is "$(short "$theirs")" "$mine" "$theirs" ;;
	esac
done 3<"$work/theirs" 4<"$work/ours.words"
say_zoned >"$work/ours.zoned"
check "on a zoned device, too" diff "$work/theirs.zoned" "$work/ours.zoned"
like "where dm-crypt says more than it was told" "$(<"$work/ours.zoned")" 'no_write_workqueue'
is "as many texts" "$(wc -l <"$work/ours")" "$(wc -l <"$work/theirs")"

# -- settings, which the table cannot carry --------------------------------------------------------------------------
params=/sys/module/dm_fdecrypt/parameters
line="0 1024 crypt ${lines[0]}"
reload() { dm_load w "$line" && dm_suspend w && dm_resume w; }
new_dm w "$line"
check "message cpus" dm_message w cpus 1
is "it works" "$(cpus_of w)" 1
is "and does not show in TABLE" "$(dm_table w)" "${line/$ram/1:0}"
check "a new table is loaded, as for a resize" reload
is "what the message said holds" "$(cpus_of w)" 1
check "loaded beforehand" dm_load w "$line"
check "message in between" dm_message w cpus 0
check "then resumed" dm_resume w
is "the message holds" "$(cpus_of w)" 0
dm_remove w
new_dm w "$line"
is "with the device it is gone" "$(cpus_of w)" 0-1
dm_remove w

dm_names+=(two)
dmsetup create --noudevsync two <<S
0 1024 crypt ${lines[0]}
1024 1024 crypt ${lines[0]}
S
check "a message to one of two segments" dm_message two cpus 1
is "is for the device" "$(dmsetup status two | grep -oE 'cpus=.*' | paste -sd' ')" "cpus=1 cpus=1"
dm_remove two

# In one write, which the shell's own do not promise.
rules() { printf '%s\n' "$1" | dd of="$params/rules" bs=4096 status=none; }
for bad in x "x cpus" "x bogus:1" "x cpus:9-1" "x cpus:1 cpus:1" "x allow_discards" "a*b cpus:1" "x cpus:1; y" "x cpus:1;y z" $'x cpus:0\ny cpus:1'; do
	refute "rules '${bad//$'\n'/\\n}' are refused" rules "$bad"
done
is "and change nothing" "$(<"$params/rules")" ""
check "rules are taken" rules "CRYPT-LUKS2-77* cpus:0; other cpus:0;w* cpus:1;wide cpus:0"
new_dm w "$line"
is "by name; the first that fits counts" "$(cpus_of w)" 1
check "after a reload" reload
is "still" "$(cpus_of w)" 1
check "a message" dm_message w cpus all
is "counts more" "$(cpus_of w)" 0-1
dm_remove w
new_dm neither "$line"
is "others are left alone" "$(cpus_of neither)" 0-1
dm_remove neither
dm_names+=(by-uuid)
dmsetup create --noudevsync by-uuid --uuid CRYPT-LUKS2-7712-by-uuid --table "$line"
is "by UUID" "$(cpus_of by-uuid)" 0
dm_remove by-uuid
check "rules can be taken back" rules ""

# -- both names ------------------------------------------------------------------------------------------------------
check "unload" modprobe -r dm-fdecrypt
check "names=crypt,fdecrypt loads" ours crypt,fdecrypt
like "both are there" "$(targets)" "^$version fdecrypt v"
new_dm w "$line"
new_dm o "0 1024 fdecrypt ${lines[0]} 1 cpus:1"
is "own options under the own name" "$(cpus_of o)" 1
refute "only there" dm_create bad "$line 1 cpus:1"
refute "unloading waits for the last mapping" modprobe -r dm-fdecrypt
dm_remove w
dm_remove o
check "unload at the end" modprobe -r dm-fdecrypt
check "dm-crypt can have its name back" modprobe dm-crypt
is "it has" "$(targets)" "$version"
finish
