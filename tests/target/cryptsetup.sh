#!/bin/bash
# Guarantee: unmodified cryptsetup does with names=crypt what it does with dm-crypt, with the same words, errors, table
# lines and data: LUKS1, LUKS2 and plain volumes, with and without keyring, their whole life.
# It breaks when a text, version or error differs from what libcryptsetup expects, or a byte from what the other wrote.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=1536M timeout=900 aesni=no kernels=normal
#
# make check has one LUKS2 and the plain volumes, make check-all all of them: each of the many calls takes a second here.
# shellcheck source=lib.sh
TARGET=crypt . "$(dirname "$0")/lib.sh"
command -v cryptsetup >/dev/null || skip_all "no cryptsetup"
uuid=6c1d5a3e-0000-4000-8000-0000000000
kinds=(luks2)
[ "$(by_suite few all)" = few ] || kinds+=(luks1 large adiantum serpent)
fast=(--pbkdf pbkdf2 --pbkdf-force-iterations 1000)
dm_names=(vol)
more_cleanup() { exec 9<&-; losetup -D; }

# say [-p PASSPHRASE] ARGUMENT...: run cryptsetup; the transcript gets command, status and words
say() {
	local pass=secret out st
	if [ "$1" = -p ]; then pass=$2; shift 2; fi
	out=$(printf %s "$pass" | timeout 120 cryptsetup -q "$@" 2>&1)
	st=$?
	echo "\$ cryptsetup $* -> $st"
	# What differs from run to run: names of devices, salts, times.
	[ -z "$out" ] || sed -E "s,$volume,VOLUME,g; s,$images,IMAGES,g; s/^ *(Salt|Digest|MK salt|MK digest):.*//" <<<"$out" |
		grep -vE 'MiB written|[0-9]+m[0-9.]+s'
}
table() { dmsetup table vol 2>&1 | sed -E "s/ 7:[0-9]+ / LOOP /"; }
pattern() { openssl enc -aes-128-ctr -nosalt -K "$(printf '%032d' "$1")" -iv 0 </dev/zero 2>/dev/null | head -c $((6 << 20)); }
sum() { blockdev --flushbufs /dev/mapper/vol; head -c $((6 << 20)) /dev/mapper/vol | sha256sum | cut -c1-16; }
write() { pattern "$1" | dd of=/dev/mapper/vol bs=1M iflag=fullblock oflag=direct status=none; echo "written: $(sum)"; }

# life NAME LUKS-TYPE FORMAT-OPTION...: a volume from its format to its last close
life() {
	local name=$1 type=$2
	shift 2
	volume=$(losetup --show -f "$images/$name")
	say luksFormat --type "$type" "${fast[@]}" --uuid "$uuid${#name}0" "$@" "$volume"
	say isLuks --type "$type" "$volume"
	say luksDump "$volume" | grep -iE '^\$|version|cipher|sector|offset|uuid|flags'
	say -p wrong open "$volume" vol
	say open "$volume" vol
	say status vol
	table
	say open "$volume" vol
	write 1
	exec 9</dev/mapper/vol
	say close vol
	say close --deferred vol
	say status vol
	exec 9<&-
	for _ in {1..50}; do dm_exists vol || break; sleep 0.1; done
	say status vol
	say open --allow-discards --perf-same_cpu_crypt "$volume" vol
	table
	say resize --size 4096 vol
	table
	say resize vol
	table
	say refresh vol
	table
	say refresh --perf-no_read_workqueue --perf-no_write_workqueue --perf-submit_from_crypt_cpus vol
	table
	say luksSuspend vol
	say status vol
	say -p wrong luksResume vol
	say luksResume vol
	echo "after the resume: $(sum)"
	if [ "$type" = luks2 ]; then
		say reencrypt "${fast[@]}" --resilience checksum --active-name vol
		table
		echo "after the reencryption: $(sum)"
	fi
	say close vol
	say open --disable-keyring --readonly "$volume" vol
	table | sed -E 's/[0-9a-f]{32,}/<key>/'
	echo "without keyring: $(sum)"
	say close vol
	losetup -d "$volume"
}

plain() {
	volume=$(losetup --show -f "$images/plain")
	say open --type plain -c aes-xts-plain64 -s 512 -h sha512 "$volume" vol
	say status vol
	write 2
	say resize --size 4096 vol
	table
	say close vol
	say open --type plain -c aes-cbc-essiv:sha256 -s 256 -h sha256 --sector-size 4096 --iv-large-sectors --offset 8 --skip 8 \
		"$volume" vol
	table
	say close vol
	losetup -d "$volume"
}

# all_lives IMAGES: the transcript
all_lives() {
	local kind
	images=$1
	mkdir "$images"
	for kind in "${kinds[@]}" plain; do
		truncate -s 26M "$images/$kind"
		case $kind in
		luks1) life luks1 luks1 ;;
		luks2) life luks2 luks2 --sector-size 512 ;;
		large) life large luks2 --sector-size 4096 ;;
		adiantum) life adiantum luks2 -c xchacha12,aes-adiantum-plain64 -s 256 ;;
		serpent) life serpent luks2 -c serpent-xts-plain64 -s 512 ;;
		plain) plain ;;
		esac
	done
}

# read_all IMAGES: what is on the volumes that the other target wrote
read_all() {
	local kind
	images=$1
	for kind in "${kinds[@]}"; do
		volume=$(losetup --show -f "$images/$kind")
		say open "$volume" vol
		echo "$kind: $(sum)"
		say close vol
		losetup -d "$volume"
	done
	volume=$(losetup --show -f "$images/plain")
	say open --type plain -c aes-xts-plain64 -s 512 -h sha512 "$volume" vol
	echo "plain: $(sum)"
	say close vol
	losetup -d "$volume"
}

# same NAME THEIRS OURS: two transcripts; each command is a point
same() {
	local theirs ours
	while IFS= read -r -u3 theirs && IFS= read -r -u4 ours; do
		is "$1: ${theirs:0:100}" "$ours" "$theirs" || break
	done 3<"$2" 4<"$3"
	check "$1: nothing more, nothing less" diff "$2" "$3"
}

modprobe -r dm-fdecrypt
all_lives "$work/theirs" >"$work/theirs.said"
modprobe -r dm-crypt || bail "dm-crypt does not unload"
modprobe dm-fdecrypt names=crypt || bail "names=crypt does not load"
all_lives "$work/ours" >"$work/ours.said"
read_all "$work/theirs" >"$work/theirs.read-by-ours"
modprobe -r dm-fdecrypt || bail "dm-fdecrypt does not unload"
modprobe dm-crypt
read_all "$work/theirs" >"$work/theirs.read-by-theirs"
read_all "$work/ours" >"$work/ours.read-by-theirs"
modprobe -r dm-crypt
modprobe dm-fdecrypt names=crypt
read_all "$work/ours" >"$work/ours.read-by-ours"
modprobe -r dm-fdecrypt

sums="$(pattern 1 | sha256sum | cut -c1-16)|$(pattern 2 | sha256sum | cut -c1-16)"
is "commands that were run" "$(($(grep -c '^\$' "$work/theirs.said") > 25))" 1
is "the transcript has the data" "$(grep -c "written: $(pattern 1 | sha256sum | cut -c1-16)" "$work/theirs.said")" ${#kinds[@]}
is "and what a successful open says" "$(grep -c '^\$ cryptsetup open VOLUME vol -> 0' <(sed "s,/dev/loop[0-9]*,VOLUME," "$work/theirs.said"))" ${#kinds[@]}
same "life" "$work/theirs.said" "$work/ours.said"
same "written by dm-crypt" "$work/theirs.read-by-theirs" "$work/theirs.read-by-ours"
is "what dm-crypt wrote was found by both" "$(cat "$work"/theirs.read-by-* | grep -cE ": ($sums)$")" $((2 * ${#kinds[@]} + 2))
is "and what fdecrypt wrote" "$(cat "$work"/ours.read-by-* | grep -cE ": ($sums)$")" $((2 * ${#kinds[@]} + 2))
same "written by fdecrypt" "$work/ours.read-by-theirs" "$work/ours.read-by-ours"
finish
