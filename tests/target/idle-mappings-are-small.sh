#!/bin/bash
# Guarantee: an idle mapping takes no more memory than the documents say, nor more than one of dm-crypt.
# It breaks when a pool grows, or when something is kept for each CPU that need not be.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=512M timeout=300 kernel-args="brd.rd_size=16384" modules="dm-crypt"
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 64
need_target crypt
k=$(hexkey 64)
nr=40
stated=1350	# KiB, Documentation/admin-guide/device-mapper/dm-fdecrypt.rst

free_kib() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}

# KiB of memory that each of $nr mappings of a target takes; device mapper's own part included.
memory_of() {	# TARGET
	local before i
	# What comes with the first one (algorithms, slab caches) is not counted.
	new_dm first "0 64 $1 aes-xts-plain64 $k 0 $ram 0"
	before=$(free_kib)
	for ((i = 0; i < nr; i++)); do new_dm "m$i" "0 64 $1 aes-xts-plain64 $k 0 $ram 0"; done
	used=$(((before - $(free_kib)) / nr))
	for ((i = 0; i < nr; i++)); do dm_remove "m$i"; done
	dm_remove first
}

memory_of crypt
theirs=$used
memory_of "$TARGET"
diag "KiB for each mapping: fdecrypt $used, dm-crypt $theirs"
check "not more than the $stated KiB that are documented" test "$used" -le $stated
check "and not far from that: the document would be out of date" test "$used" -ge $((stated / 2))
check "not more than dm-crypt" test "$used" -le "$theirs"
finish
