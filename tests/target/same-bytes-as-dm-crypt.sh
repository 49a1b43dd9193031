#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: what dm-crypt wrote, fdecrypt reads, and the reverse, byte for byte,
# for every table line of matrix.py.
# How it could break: a wrong IV for one mode, unit size, way of counting, edge
# of the sector number or key of several; a scatterlist cut at the wrong place
# for buffers that are only as aligned as they must be; a batch that goes on
# with a wrong sector after a split; encryption in the caller's own pages.
#
# guest: cpus=1 mem=1024M timeout=900 kernel-args="brd.rd_size=65536" modules="dm-crypt" kernels=normal aesni=no
#
# EVERY=7 (or an argument "quick") takes every 7th line; ASYNC=1 (or an argument
# "asynchronous") the lines over cryptd().  A table line that dm-crypt refuses
# is a fault of the matrix and fails. (TARGET=crypt tests just the matrix.)

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
every=${EVERY:-1} async=${ASYNC:-0}
for arg; do
	case $arg in
	quick) every=7;;
	asynchronous) async=1;;
	*) echo "usage: $0 [quick] [asynchronous]" >&2; exit 2;;
	esac
done
need_ram 131072
need_target crypt
need_tool iocheck

args=(--every "$every")
if [ "$async" = 1 ]; then
	args+=(--asynchronous)
	# let the ciphers be known before the matrix reads /proc/crypto
	for c in "xts(aes)" "cbc(aes)" "ecb(aes)"; do
		new_dm warm "0 8 crypt capi:$c-null $(hexkey 32) 0 $ram 0"
		dm_remove warm
	done
fi
"$python" "$here/matrix.py" "${args[@]}" >"$work/matrix" || bail "matrix.py failed"

# fill_in TARGET TABLES
fill_in() {
	local t=${2//@TARGET@/$1}
	t=${t//@DEV@/$ram}
	printf '%s\n' "${t//$'\t'/$'\n'}"
}

# one UNIT TABLES SEED: prints what is wrong
one() {
	local unit=$1 tables=$2 seed=$3
	fill_in crypt "$tables" | dmsetup create --noudevsync theirs ||
		{ echo "dm-crypt refuses this line: the matrix is wrong"; return 1; }
	fill_in "$TARGET" "$tables" | dmsetup create --noudevsync ours ||
		{ echo "fdecrypt refuses this line"; log_since | tail -n 3; return 1; }
	"$work/iocheck" both -u "$unit" /dev/mapper/theirs /dev/mapper/ours "$seed"
}

# names without keys, all at once: starting a program is slow in the guest
cp "$tools/iocheck" "$work/"
mapfile -t names < <(cut -f2- "$work/matrix" | sed -E \
	's/@TARGET@ //g; s/ [0-9a-f]{17,} / <key> /g; s/\t/ + /g; s/ @DEV@//g')

dm_names=(theirs ours)
seed=1000 i=0
log_mark
while IFS=$'\t' read -r unit tables; do
	seed=$((seed + 2))
	if out=$(one "$unit" "$tables" $seed 2>&1); then
		ok "${names[i]}"
	else
		not_ok "${names[i]}" "seed $seed, unit $unit"
		diag <<<"$out"
	fi
	i=$((i + 1))
	dmsetup remove --noudevsync ours theirs >/dev/null 2>&1 ||
		for d in ours theirs; do
			dm_remove $d || ! dm_exists $d || diag "$d stays: $dm_err"
		done
done <"$work/matrix"
[ $i -gt 0 ] || bail "the matrix is empty"
finish
