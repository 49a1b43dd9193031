#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: the module can be unloaded as soon as the last mapping is removed, and that as soon as its last request has
# ended, with the processors busy; 20 times (8 on kernels that debug), in check-all 50 (20).
# How it could break: a worker or a late answer of a cipher still in the module's code when that is freed, a queue that
# is destroyed before its last job has returned, a template instance that outlives the module.
#
# What still holds a reference is seen for sure. What returns late into code that was freed is seen only if it crashes:
# the kernel leaves freed code mapped for a while.
#
# guest: cpus=2 mem=1024M timeout=600 kernel-args="brd.rd_size=16384" kernels=normal,memory aesni=no
#
# ROUNDS=N changes the number.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 16384
[ "$TARGET" = fdecrypt ] || skip_all "this is about our module"
busy=()
for _ in 1 2; do
	dd if=/dev/zero of=/dev/null bs=64k status=none &
	busy+=($!)
done
more_cleanup() { [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null; }
rounds=$(by_suite 20 50)
# a round is longer there
[ "${FDECRYPT_KERNEL-normal}" = normal ] || rounds=$(by_suite 8 20)
tap_of "rounds" "$python" "$here/module-comes-and-goes.py" $ram "${ROUNDS:-$rounds}"
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null
busy=()
check "and it is loaded again at the end" test -e /sys/module/dm_fdecrypt
finish
