#!/bin/bash
# Guarantee: every example in README.md and Documentation/ does what it says.
# It breaks when an option, a message or a status word changes and the documents do not.
# SPDX-License-Identifier: GPL-2.0-only
# guest: cpus=1 mem=1G timeout=300 modules="dm-crypt"
# shellcheck source=tests/target/lib.sh
. "$(dirname "$0")/lib.sh"
set -uo pipefail

passphrase='correct horse battery staple'

# What the examples in README.md call "your volume": a LUKS2 volume with a file system, on a loop device.
make_volume() {
	truncate -s 64M "$work/volume.img"
	volume=$(losetup --show --find "$work/volume.img") || return 1
	printf %s "$passphrase" | cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
		--key-file - "$volume" || return 1
	printf %s "$passphrase" | cryptsetup open --key-file - "$volume" setup || return 1
	mkfs.ext4 -q /dev/mapper/setup && cryptsetup close setup
}

run_example() {
	local file=$1 interpreter
	case $file in
	*.sh) interpreter=(bash -euo pipefail) ;;
	*.python) interpreter=("$python") ;;
	*) echo "no interpreter for $file"; return 1 ;;
	esac
	mkdir -p "$work/run"
	# The passphrase on standard input is what a person would type.
	(cd "$work/run" && VOLUME=$volume PATH=$PATH:/usr/sbin:/sbin "${interpreter[@]}" "$file") \
		<<<"$passphrase" >"$file.log" 2>&1
}

if make_volume >"$work/log" 2>&1; then
	ok "a volume for the examples is made"
else
	bail "no volume for the examples: $(cat "$work/log")"
fi
[ ! -e /proc/sys/crypto/af_alg_restrict ] || echo 0 >/proc/sys/crypto/af_alg_restrict
check "the documents can be read" "$python" "$here/documented-examples.py" "$here/../.." "$work"
"$python" "$here/documented-examples.py" "$here/../.." "$work" >"$work/blocks"
while read -r file place reason; do
	case $file in
	unmarked) not_ok "$place is marked: runs, or not run and why" ;;
	skipped) diag "$place: $reason" ;;
	*)
		check "$place runs" run_example "$file"
		diag <"$file.log"
		;;
	esac
done <"$work/blocks"
losetup --detach "$volume"
finish
