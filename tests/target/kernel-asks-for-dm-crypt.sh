#!/bin/bash
# Guarantee: with the documented lines in modprobe.d, whoever wants dm-crypt gets fdecrypt: the kernel for a table line,
# cryptsetup, and modprobe (QEMU, whose root can be written; Debian's own kernel and cryptsetup).
# It breaks when the module of that name is loaded all the same, when the version is one that cryptsetup refuses, or when
# no volume can be opened any more because fdecrypt is not there.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=768M timeout=300 kernel-args="brd.rd_nr=1 brd.rd_size=32768" modules="brd loop"
# guest: kernels=debian-6.1-amd64
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 65536
targets() { dmsetup targets | awk '$1 ~ /crypt/ { print $1 }' | paste -sd' '; }
make_it() { printf %s secret | cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$ram"; }
open_it() { printf %s secret | cryptsetup open "$ram" vol; }

guide=$FDECRYPT_TOP/Documentation/admin-guide/device-mapper/dm-fdecrypt.rst
lines=$(sed -nE 's/^\t((install|options) dm.*)/\1/p' "$guide")
is "the guide has two lines" "$(wc -l <<<"$lines")" 2
modprobe -r dm-fdecrypt
modprobe -r dm-crypt 2>/dev/null
is "neither target is there" "$(targets)" ""
mkdir -p /etc/modprobe.d
echo "$lines" >/etc/modprobe.d/dm-fdecrypt.conf

new_dm w "0 1024 crypt aes-xts-plain64 $(hexkey 64) 0 $ram 0"
is "the kernel asked for dm-crypt and got fdecrypt" "$(targets) $(grep -c '^dm_fdecrypt ' /proc/modules) $(grep -c '^dm_crypt ' /proc/modules)" "crypt 1 0"
dm_remove w
check "unload" modprobe -r dm-fdecrypt

dm_names+=(vol)
check "cryptsetup makes a LUKS2 volume" make_it
check "and opens it" open_it
like "on fdecrypt" "$(dmsetup status vol)" 'driver=fdiv'
like "which it takes for dm-crypt" "$(dmsetup table vol)" '^0 32768 crypt aes-xts-plain64 :64:logon:cryptsetup:'
pattern() { head -c 4194304 /dev/zero | tr '\0' 'f'; }
fill() { pattern | dd of=/dev/mapper/vol bs=1M iflag=fullblock oflag=direct; }
check "data go in" fill
check "it closes it" cryptsetup close vol
modprobe -r dm-fdecrypt

echo "options dm_fdecrypt rules=x" >>/etc/modprobe.d/dm-fdecrypt.conf
new_dm w "0 1024 crypt aes-xts-plain64 $(hexkey 64) 0 $ram 0"
is "where fdecrypt does not load there is dm-crypt" "$(grep -c '^dm_fdecrypt ' /proc/modules) $(grep -c '^dm_crypt ' /proc/modules)" "0 1"
dm_remove w
refute "names=crypt is refused beside it" modprobe dm-fdecrypt names=crypt rules=
modprobe -r dm-crypt
rm /etc/modprobe.d/dm-fdecrypt.conf
check "without the lines it opens on dm-crypt" open_it
is "which reads the same" "$(head -c 4194304 /dev/mapper/vol | sha256sum)" "$(pattern | sha256sum)"
is "with dm-crypt loaded" "$(grep -c '^dm_crypt ' /proc/modules)" 1
cryptsetup close vol
finish
