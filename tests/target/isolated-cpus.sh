#!/bin/bash
# Guarantee: CPUs that the kernel command line isolates are left alone unless they are named (QEMU, isolcpus=1).
# It breaks when the default takes all CPUs there are, or when an isolated one cannot be asked for.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=768M timeout=300 kernel-args="isolcpus=1 brd.rd_nr=1 brd.rd_size=32768" modules="dm-crypt"
# guest: kernels=debian-6.1-amd64
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 65536
is "the kernel isolates CPU 1" "$(</sys/devices/system/cpu/isolated)" 1

table="0 65536 $TARGET aes-xts-plain64 $(hexkey 64) 0 $ram 0"
workers() { cat /proc/[0-9]*/comm 2>/dev/null | grep -E "^kworker/1:.*[-+]fdecrypt/" | sort -u; }
io() { iocheck both -u 512 /dev/mapper/w /dev/mapper/w 5; }
# All that is large goes to workers.
echo 0 >"$params/inline_bytes"

new_dm w "$table"
is "by default the other CPUs work" "$(cpus_of w)" 0
check "and data are right" taskset -c 0 "$tools/iocheck" both -u 512 /dev/mapper/w /dev/mapper/w 5
is "with nothing done on the isolated one" "$(workers)" ""
check "an isolated CPU can be named" dm_message w cpus 0-1
is "and works then" "$(cpus_of w)" 0-1
check "all is all but isolated ones" dm_message w cpus all
is "also by message" "$(cpus_of w)" 0
dm_remove w
new_dm w "$table 1 cpus:1"
check "a mapping that has only the isolated CPU works" io
like "and works there" "$(workers)" 'kworker/1:'
dm_remove w
finish
