#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: with show_keys=0 a raw key prints as zeros of its length, whatever
# dmsetup is asked; it is in no status, no IMA text and no kernel message.
# References to keyrings always print. With show_keys=1 root sees the key.
# How it could break: a second place that prints the table, an error message that
# quotes its argument, a length that gives a key away, a parameter others can set.
#
# guest: cpus=1 mem=1024M timeout=120 kernel-args="brd.rd_size=65536" modules="dm-crypt" aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ "$TARGET" = fdecrypt ] || skip_all "dm-crypt leaves this to dmsetup"
need_ram 131072

is "show_keys is for root" "$(stat -c '%U %a' "$params/show_keys")" "root 600"
log_mark
show_keys 0
for spec in aes-xts-plain64:64 aes-cbc-essiv:sha256:32 aes:64-cbc-plain64:2048 aes-ecb:16; do
	n=${spec##*:} cipher=${spec%:*}
	k=$(hexkey "$n")
	zeros=$(printf '%0*d' $((2 * n)) 0)
	new_dm hidden "0 8 $TARGET $cipher $k 0 $ram 0"
	is "$cipher: zeros of its length" "$(dm_table hidden)" "0 8 $TARGET $cipher $zeros 0 1:0 0"
	for what in "status" "status --target $TARGET" "table" "info -c" "table --concise" "table --showkeys --inactive"; do
		# shellcheck disable=SC2086
		out=$(dmsetup $what hidden 2>&1)
		refute "$cipher: the key is not in dmsetup $what" grep -qi "${k:0:32}" <<<"$out"
	done
	ima=$("$python" -c '
import sys; sys.path.insert(0, sys.argv[1]); import dm
print(dm.query("hidden", dm.F_IMA))' "$here" 2>&1)
	refute "$cipher: the key is not in the IMA text" grep -qi "${k:0:32}" <<<"$ima"
	show_keys 1
	is "$cipher: with show_keys=1 the key" "$(dm_table hidden)" "0 8 $TARGET $cipher $k 0 1:0 0"
	show_keys 0
	is "$cipher: and hidden again" "$(dm_table hidden)" "0 8 $TARGET $cipher $zeros 0 1:0 0"
	dm_remove hidden
done

# messages
k=$(hexkey 64) k2=$(hexkey 64 second)
new_dm hidden "0 8 $TARGET aes-xts-plain64 $k 0 $ram 0"
dm_suspend hidden
dm_message hidden key set "$k2"
refute "a key that was set is not in the table" grep -qi "${k2:0:32}" <<<"$(dm_table hidden)"
dm_message hidden key set "${k2:2}"
dm_message hidden key set "${k2:1}g"
dm_message hidden key "set$k2"
dm_message hidden key set "$k2"
dm_resume hidden
dm_remove hidden

# refused tables
for table in "aes-xts-plain64 ${k}0 0 $ram 0" "aes-xts-plain64 $k$k 0 $ram 0" \
	"aes-xts-plain64 ${k:2} 0 $ram 0" "aes-xts-plain64 ${k:1}x 0 $ram 0" \
	"aes-bogus-plain64 $k 0 $ram 0" "aes-xts-plain64 $k 0 /dev/not-there 0" \
	"$k aes-xts-plain64 0 $ram 0" "aes-xts-plain64 0 $k $ram 0" \
	"aes-xts-plain64 $k 0 $ram 0 1 bogus"; do
	dm_create refused "0 8 $TARGET $table" && not_ok "refused: $table"
done
log_since >"$work/log"
check "the kernel log has lines of this test" test -s "$work/log"
for secret in "${k:8:24}" "${k2:8:24}" "$(hexkey 32 | cut -c9-32)"; do
	refute "the kernel log has no key (${secret:0:4}...)" grep -qi "$secret" "$work/log"
done

# references
new_dm none "0 8 $TARGET cipher_null-ecb - 0 $ram 0"
is "no key prints as it was given" "$(dm_table none)" "0 8 $TARGET cipher_null-ecb - 0 1:0 0"
dm_remove none
ring=$("$python" -c '
import sys; sys.path.insert(0, sys.argv[1]); import dm
if not dm.new_session_keyring(): sys.exit("no keyrings")
dm.add_key("logon", "fd:hidden", bytes(range(64)))
dm.create("ring")
try:
    dm.load("ring", f"0 8 {sys.argv[2]} aes-xts-plain64 :64:logon:fd:hidden 0 {sys.argv[3]} 0")
    print(dm.table("ring"))
finally:
    dm.remove_all()' "$here" "$TARGET" $ram 2>&1)
if [[ $ring = "no keyrings" ]]; then
	skip "a keyring key prints as it was given" "this kernel has no keyrings"
else
	is "a keyring key prints as it was given" "$ring" \
		"0 8 $TARGET aes-xts-plain64 :64:logon:fd:hidden 0 1:0 0"
fi
finish
