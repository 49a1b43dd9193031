#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: the fdiv template behaves among the kernel's other algorithms: one
# instance per spelling however many mappings there are, no odd name accepted,
# the best driver for a mapping whatever somebody allocated before, no request
# lost when an asynchronous child's queue is full, nothing left after rmmod.
# How it could break: an instance per mapping, a name that registers under another
# spelling, a composite name captured by a slow instance over AF_ALG, -EBUSY or
# -EINPROGRESS of a child misread, a transform of its own that holds the module.
#
# guest: cpus=2 mem=1024M timeout=400 kernel-args="brd.rd_size=65536 crypto.af_alg_restrict=0 cryptd.cryptd_max_cpu_qlen=1" modules="dm-crypt" kernels=normal,memory aesni=no
#
# Unloads the module at its end, so it must be the last script in its guest.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ "$TARGET" = fdecrypt ] || skip_all "dm-crypt has no template"
need_ram 131072
need_tool iocheck
[ ! -e /proc/sys/crypto/af_alg_restrict ] ||
	echo 0 >/proc/sys/crypto/af_alg_restrict
k=$(hexkey 64)
fdivs() { grep -c '^name *: fdiv(' /proc/crypto; }
driver_in() { dmsetup status "$1" | grep -oE ' driver=[^ ]*' | cut -d= -f2-; }

# an instance per spelling, not per mapping
new_dm one "0 64 $TARGET aes-xts-plain64 $k 0 $ram 0"
n=$(fdivs)
check "a mapping makes an instance" test "$n" -ge 1
for i in 1 2 3 4 5 6 7 8 9 10; do
	new_dm "more$i" "0 64 $TARGET aes-xts-plain64 $k $((i * 8)) $ram $((i * 64)) 1 sector_size:4096"
done
is "ten more mappings make none" "$(fdivs)" "$n"
for i in 1 2 3 4 5 6 7 8 9 10; do dm_remove "more$i"; done
best=$(driver_in one)
dm_remove one
is "nor does removing them" "$(fdivs)" "$n"
is "the module is not held" "$(cat /sys/module/$module/refcnt)" 0

# names, spellings, capture
tap_of "names" "$python" "$here/template-traps.py" names "$vectors"
tap_of "capture" "$python" "$here/template-traps.py" capture "$vectors"
new_dm one "0 64 $TARGET aes-xts-plain64 $k 0 $ram 0"
is "a mapping still gets the driver it got before" "$(driver_in one)" "$best"
dm_remove one
# cryptd's instance has the higher priority, and stays when the mapping that named it is gone
plain=${best#*,} plain=${plain%)}
new_dm one "0 64 $TARGET capi:cryptd($plain)-plain64 $k 0 $ram 0"
is "who names cryptd gets it" "$(driver_in one)" "fdiv(plain64,cryptd($plain))"
dm_remove one
new_dm one "0 64 $TARGET aes-xts-plain64 $k 0 $ram 0"
is "who does not name cryptd does not get it" "$(driver_in one)" "$best"
dm_remove one

# the queue of the asynchronous child is one request long here
qlen=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^cryptd.cryptd_max_cpu_qlen=//p')
[ "$qlen" = 1 ] || diag "cryptd's queue is ${qlen:-1000} long: this tests less"
child=$(awk '$1 == "name" { n = $3 } $1 == "driver" && n == "xts(aes)" && $3 !~ /cryptd|fdiv/ { print $3; exit }' /proc/crypto)
for opts in "" "1 sector_size:4096" "2 no_read_workqueue no_write_workqueue"; do
	new_dm a "0 16384 $TARGET capi:cryptd($child)-plain64 $k 0 $ram 0 $opts"
	new_dm b "0 16384 $TARGET capi:cryptd($child)-plain64 $k 0 $ram 0 $opts"
	pids=()
	for i in 1 2 3; do
		new_dm "par$i" "0 8192 $TARGET capi:cryptd($child)-plain64 $k 0 $ram $((16384 * i)) $opts"
		timeout 100 "$tools/iocheck" both -u 4096 "/dev/mapper/par$i" "/dev/mapper/par$i" "$i" \
			>"$work/par$i" 2>&1 &
		pids+=($!)
	done
	check "a full queue loses nothing (${opts:-no options})" \
		timeout 100 "$tools/iocheck" both -u 4096 /dev/mapper/a /dev/mapper/b 5
	for i in 1 2 3; do
		if wait "${pids[i - 1]}"; then ok "nor for others at the same time ($i)"
		else not_ok "nor for others at the same time ($i)" "$(<"$work/par$i")"; fi
		dm_remove "par$i"
	done
	dm_remove a; dm_remove b
done
tap_of "many AF_ALG requests" "$python" "$here/template-traps.py" backlog "$vectors"

# modalias
ko=${MODULE_KO:-$here/../../dm-fdecrypt.ko}
if [ -f "$ko" ]; then
	like "the template loads its module by name" "$(modinfo -F alias "$ko" | tr '\n' ' ')" "crypto-fdiv "
else
	skip "the template loads its module by name" "the module's file is not known (MODULE_KO)"
fi

# unloading
tap_of "unloading" "$python" "$here/template-traps.py" unload "$vectors"
finish
