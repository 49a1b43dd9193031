#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: each IV mode of the fdiv template yields, over AF_ALG, what an
# independent implementation in Python works out from the formulas; bad IV
# headers and lengths get EINVAL; a request that is read in pieces goes on with
# the right sector.
# How it could break: an IV with its bytes in the wrong order, a wrong key of
# several, a sector number that overflows at 32 bits or stops at 64, a header
# from user space believed, an asynchronous child completed too early, the first
# sector in the request not advanced.
#
# guest: cpus=1 mem=1024M timeout=600 kernel-args="brd.rd_size=65536 crypto.af_alg_restrict=0" kernels=normal,memory aesni=no
#
# SEED=N takes other keys, sector numbers and cuts than those of seed 1.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
seed=${SEED:-1}
[ "$TARGET" = fdecrypt ] || skip_all "dm-crypt has no template"
"$python" -c 'import cryptography' 2>/dev/null ||
	bail "python3-cryptography is not installed"
[ ! -e /proc/sys/crypto/af_alg_restrict ] ||
	echo 0 >/proc/sys/crypto/af_alg_restrict

"$python" "$vectors/gen-vectors.py" --seed "$seed" >"$work/vectors" ||
	bail "gen-vectors.py failed"
same_digests() {
	"$python" "$vectors/gen-vectors.py" --digests | diff - "$vectors/known-answers.txt"
}
if [ "$seed" = 1 ]; then
	check "the reference still gives the answers it was committed with" \
		same_digests
fi
check_vectors() { "$python" "$vectors/check-vectors.py" "$1" --seed "$seed"; }
known() { check_vectors known <"$work/vectors"; }
tap_of "known answers" known
tap_of "ciphers the reference lacks" check_vectors children
tap_of "hostile headers" check_vectors hostile
tap_of "split requests" check_vectors split
finish
