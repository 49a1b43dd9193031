#!/bin/bash
# Guarantee: a machine can hibernate to a swap space on a mapping, and other mappings work on afterwards.
# It breaks when a workqueue of the target is frozen with the processes: the image is written and read after that.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=512M timeout=200 scratch=768 kernel-args="brd.rd_nr=1 brd.rd_size=16384" modules="dm-crypt"
# guest: kernels=debian-6.1-amd64
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
sectors=16384
need_ram $sectors
disk=${FDECRYPT_SCRATCH-}
[ -b "$disk" ] || skip_all "no disk for the swap space"
grep -qw disk /sys/power/state || skip_all "this kernel cannot hibernate"

k=$(printf '%0128d' 5)
other() { echo "0 $sectors $1 aes-xts-plain64 $k 0 $ram 0"; }
swap() { echo "0 $(blockdev --getsz "$disk") $1 aes-xts-plain64 ${k//5/6} 0 $disk 0"; }

new_dm other "$(other "$TARGET")"
new_dm swap "$(swap "$TARGET")"
new_dm again "$(swap "$TARGET")"
check "before: written" "$tools/iocheck" write -n 50 -u 512 /dev/mapper/other 1
check "a swap space on a mapping" mkswap -q /dev/mapper/swap
check "is taken" swapon /dev/mapper/swap

# "test_resume" does all that hibernation does, but for the pause without power: memory becomes again what is read back
# from the disk. Kernels before 6.4 cannot read a swap space that is in use, and say EBUSY when the image is on the disk
# (and swapoff never ends then, as the image's pages belong to nobody): so it is read by another mapping of the same
# disk, as after power-on. That ends here in the first "echo disk" a second time, and now with success; what memory
# held since the first time, the kernel's log too, is gone.
number_of() { lsblk -ndo MAJ:MIN "$1" | tr -d ' '; }
hibernate() {
	number_of /dev/mapper/swap >/sys/power/resume || return
	echo test_resume >/sys/power/disk || return
	sync
	echo 3 >/proc/sys/vm/drop_caches
	if echo disk >/sys/power/state; then return; fi
	[ "$(blkid -p -o value -s TYPE /dev/mapper/again)" = swsuspend ] || return
	number_of /dev/mapper/again >/sys/power/resume
	echo "it did not resume"
	return 1
}
unused() { dd if="$disk" bs=1M skip=1 count=32 iflag=direct status=none | sha256sum; }
before=$(unused)
log_mark
check "hibernation: all is written, read back and restored" hibernate
like "the kernel says so" "$(log_since)" 'hibernation exit'
is "memory is that of the image" "$(log_since | grep -c 'Image saving done')" 0
refute "the image went to the disk" test "$(unused)" = "$before"

check "after: what was written before is there" "$tools/iocheck" verify -n 50 -u 512 /dev/mapper/other 1
check "after: written anew" "$tools/iocheck" write -n 50 -u 512 /dev/mapper/other 2
dm_remove other
new_dm other "$(other crypt)"
check "after: dm-crypt reads it" "$tools/iocheck" verify -n 50 -u 512 /dev/mapper/other 2
check "the swap space is given back" swapoff /dev/mapper/swap
dm_remove swap
dm_remove again
new_dm swap "$(swap crypt)"
is "dm-crypt finds the swap space" "$(blkid -p -o value -s TYPE /dev/mapper/swap)" swap
finish
