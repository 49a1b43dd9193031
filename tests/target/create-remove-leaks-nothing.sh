#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: 300 times create, use, remove leaves no memory, thread, workqueue,
# algorithm, device or module reference behind; refused tables neither. (100 times
# in make check on kernels that debug, which are slower and see a single leak.)
# How it could break: a pool or a transform not freed on one of the ways out, a
# workqueue per mapping that stays, a template instance per mapping, a key kept.
#
# guest: cpus=1 mem=1024M timeout=900 kernel-args="brd.rd_size=65536" modules="dm-crypt" kernels=normal,memory aesni=no
#
# CYCLES=N changes the number. (The lab reads kmemleak afterwards.)

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
cycles=300
[ "${FDECRYPT_KERNEL-normal}" = normal ] || cycles=$(by_suite 100 300)
tap_of "cycles" "$python" "$here/create-remove.py" "$TARGET" $ram "${CYCLES:-$cycles}"
is "no reference to the module is left" "$(cat /sys/module/$module/refcnt)" 0
finish
