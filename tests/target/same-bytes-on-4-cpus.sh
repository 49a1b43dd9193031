#!/bin/bash
# Guarantee: the bytes are dm-crypt's also when a bio is cut into pieces for the workers of 4 CPUs.
# It breaks when a piece begins with a wrong sector, is done twice or not at all, or when a bio ends before its last one.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=4 mem=1024M timeout=1800 kernel-args="brd.rd_size=65536" modules="dm-crypt"
#
# Nothing is done inline here. Every 18th line of the matrix, in check-all all of them: with more CPUs than the
# machine has, each mapping takes a second to make.
echo 0 >/sys/module/dm_fdecrypt/parameters/inline_bytes
[ "${FDECRYPT_SUITE:-check}" = all ] || export EVERY=${EVERY:-18}
exec "$(dirname "$0")/same-bytes-as-dm-crypt.sh"
