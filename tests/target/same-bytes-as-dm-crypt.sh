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
	for c in "xts(aes)-null" "cbc(aes)-null" "ecb(aes)" "cbc(aes)-essiv:sha256"; do
		new_dm warm "0 8 crypt capi:$c $(hexkey 32) 0 $ram 0"
		dm_remove warm
	done
fi
"$python" "$here/matrix.py" "${args[@]}" >"$work/matrix" || bail "matrix.py failed"

cp "$tools/iocheck" "$work/"
dm_names=(theirs ours)
compare() {
	"$python" "$here/same-bytes-as-dm-crypt.py" "$TARGET" "$ram" "$work/iocheck" <"$work/matrix"
}
tap_of "the matrix" compare
finish
