#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: whatever allocation fails in a table load, resume, message or status, the answer is success or ENOMEM, and
# nothing is left of it: no device, table, reference or memory, and a mapping that was there works as before.
# How it could break: a way out that forgets to free, frees twice or uses what was freed; a key that is half set; an
# error that is no error code, or success without a mapping.
#
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=4096" kernels=memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 2048
[ "$TARGET" = fdecrypt ] || skip_all "this is about our module"
[ -e /proc/self/fail-nth ] || skip_all "this kernel cannot let allocations fail (CONFIG_FAULT_INJECTION)"
dd if=/dev/urandom of=$ram bs=1M count=1 status=none
tap_of "walks" "$python" "$here/failed-load-leaves-nothing.py" $ram
finish
