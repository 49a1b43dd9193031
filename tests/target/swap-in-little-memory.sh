#!/bin/bash
# Guarantee: swap on fdecrypt holds in a machine of 128 MB whose programs use three times that: no deadlock, no failed
# I/O, every page comes back as it was.
# It breaks when a write needs memory that only this write can free, when the page pool can run dry for ever, or when
# what waits for memory stands before what gives it back.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=128M timeout=900 scratch=640 kernels=normal
#
# LOAD=N: seconds of load, after all memory was written once (default 5; in check-all 300, half of it with crypto where
# the I/O is submitted).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_tool workingset
seconds=$(load_seconds 5 300)
disk=${FDECRYPT_SCRATCH-}
[ -b "$disk" ] || skip_all "no scratch disk (--scratch 640)"
sectors=$(blockdev --getsz "$disk")
more_cleanup() { swapoff -a; }
swapped() { awk '$1 == "pswpout" { print $2 }' /proc/vmstat; }

k=$(hexkey 64)
options=("")
[ "${FDECRYPT_SUITE:-check}" != all ] || options+=("2 no_read_workqueue no_write_workqueue")
for opts in "${options[@]}"; do
	name="${opts:-default options}"
	new_dm s "0 $sectors $TARGET aes-xts-plain64 $k 0 $disk 0 $opts"
	if ! mkswap /dev/mapper/s >/dev/null 2>&1 || ! swapon /dev/mapper/s; then bail "no swap on $disk"; fi
	log_mark
	before=$(swapped)
	check "$name: working set of 384 MB" "$tools/workingset" 384 $((seconds / ${#options[@]})) 4
	diag "$(($(swapped) - before)) pages swapped out, $(dmsetup status s)"
	check "$name: it was swapped" test $(($(swapped) - before)) -gt 50000
	is "$name: no error of I/O" "$(log_since | grep -ciE 'i/o error|read-error|write-error')" 0
	like "$name: no error of the engine" "$(dmsetup status s)" ' errors=0 '
	swapoff -a
	dm_remove s
done
finish
