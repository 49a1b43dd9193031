#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: the device below may end its bios anywhere, also with interrupts disabled or in a hard interrupt: nothing is
# decrypted there, data are right, nobody waits for ever.
# How it could break: a cipher where crypto may not run (vector registers, sleeping locks), milliseconds with interrupts
# off, a lock taken there that is elsewhere held with interrupts on.
#
# One CPU: what is decrypted between two looks of the witness was decrypted there, nobody else ran.
#
# guest: cpus=1 mem=1024M timeout=300 kernel-args="brd.rd_size=32768" modules="dm-crypt dm-witness"
# guest: extra="tests/target/witness" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 65536
need_target crypt
need_target witness
need_tool iocheck
k=$(hexkey 64) size=4096
inline="2 no_read_workqueue no_write_workqueue"

# decrypted_there: how many reads were
decrypted_there() { dmsetup status below | cut -d' ' -f5; }

ends() {	# WHERE [OPTIONS]
	local name="$1, ${2:-no options}"
	new_dm below "0 $size witness $ram 0 $1"
	new_dm ours "0 $size $TARGET aes-xts-plain64 $k 0 /dev/mapper/below 0${2:+ $2}"
	new_dm theirs "0 $size crypt aes-xts-plain64 $k 0 $ram 0"
	dm_message below reset
	check "$name: right data" timeout 100 "$tools/iocheck" both -u 512 -n 30 /dev/mapper/ours /dev/mapper/theirs 5
	if [ "$1" = watch ]; then like "$name: the witness sees what is decrypted there" "$(decrypted_there)" '^[1-9]'
	else is "$name: nothing is decrypted there" "$(decrypted_there)" 0; fi
	dm_remove theirs
	dm_remove ours
	dm_remove below
}
ends watch "$inline"
for where in irqs-off hardirq; do
	ends $where
	ends $where "$inline"
done
finish
