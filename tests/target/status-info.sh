#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: the INFO line is "key=value" words; its counters grow by exactly what
# was read and written; the driver it names is registered, and built on the one
# with the highest priority for the cipher; a warning about a slow driver comes
# once at most and names a module.
# How it could break: counters that miss split or in-place requests or count them
# twice, a driver named after the wish and not the transform, a warning for each
# mapping, or none.
#
# guest: cpus=1 mem=1024M timeout=120 kernel-args="brd.rd_size=65536" modules="dm-crypt" kernels=normal aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ "$TARGET" = fdecrypt ] || skip_all "dm-crypt has no INFO line"
need_ram 131072
k=$(hexkey 64)
dio() { timeout 60 "$python" "$here/dio.py" "$@"; }
info() { dmsetup status "$1" | sed -n "${2:-1}p"; }
# value KEY LINE
value() { grep -oE "(^| )$1=[^ ]*" <<<"$2" | cut -d= -f2-; }
num() { value "$1" "$(info s)"; }

log_mark
new_dm s "0 16384 $TARGET aes-xts-plain64 $k 0 $ram 0 1 sector_size:1024"
line=$(info s)
diag "$line"
like "start, length and target" "$line" "^0 16384 $TARGET "
bad=
for w in ${line#0 16384 "$TARGET" }; do [[ $w =~ ^[a-z_]+=[^=]+$ ]] || bad+=" $w"; done
is "all else is key=value" "$bad" ""
for key in driver unit reads read_bytes writes write_bytes errors; do
	check "has $key" test -n "$(value $key "$line")"
done
is "unit" "$(value unit "$line")" 1024
for key in reads read_bytes writes write_bytes errors; do
	is "$key is 0 at first" "$(value $key "$line")" 0
done

dio write /dev/mapper/s 0 1048576 a >/dev/null
is "1 MiB written" "$(num write_bytes)" 1048576
check "in at least one batch" test "$(num writes)" -ge 1
is "nothing read" "$(num read_bytes) $(num reads)" "0 0"
writes=$(num writes)
dio read /dev/mapper/s 262144 262144 >/dev/null
is "256 KiB read" "$(num read_bytes)" 262144
check "in at least one batch" test "$(num reads)" -ge 1
is "nothing written by that" "$(num write_bytes) $(num writes)" "1048576 $writes"
dio write /dev/mapper/s 0 1024 a >/dev/null
is "one unit more" "$(num write_bytes)" $((1048576 + 1024))
is "is one batch more" "$(num writes)" $((writes + 1))
dio sync /dev/mapper/s >/dev/null
is "a flush counts as nothing" "$(num write_bytes)" $((1048576 + 1024))
dio write /dev/mapper/s 0 4194304 a >/dev/null
is "4 MiB in one call" "$(num write_bytes)" $((5 * 1048576 + 1024))
dio read /dev/mapper/s 0 4194304 >/dev/null
is "and read" "$(num read_bytes)" $((4194304 + 262144))
is "no errors" "$(num errors)" 0
dm_suspend s
dm_resume s
is "suspend and resume keep the counters" "$(num write_bytes)" $((5 * 1048576 + 1024))

# the driver
driver=$(value driver "$(info s)")
check "the driver is registered" grep -qxF "driver       : $driver" /proc/crypto
best=$(awk '$1 == "name" { n = $3 } $1 == "driver" { d = $3 } $1 == "priority" {
	if (n == "xts(aes)" && d !~ /cryptd|fdiv/ && $3 > p) { p = $3; b = d } }
	END { print b }' /proc/crypto)
like "it is built on the best driver ($best)" "$driver" "[(,]${best//[()]/.}[,)]"
for spec in "aes-cbc-essiv:sha256 32" "aes:4-cbc-plain 64" "aes-ecb 16" "xchacha12,aes-adiantum-plain64 32"; do
	new_dm t "0 8 $TARGET ${spec% *} $(hexkey "${spec#* }") 0 $ram 0"
	check "${spec% *}: the driver is registered" grep -qxF "driver       : $(value driver "$(info t)")" /proc/crypto
	dm_remove t
done

# each segment counts its own
dm_remove s
new_dm s "0 2048 $TARGET aes-xts-plain64 $k 0 $ram 0
2048 2048 $TARGET aes-cbc-plain64 ${k:64} 0 $ram 2048" 2>/dev/null
dio write /dev/mapper/s $((2048 * 512)) 8192 a >/dev/null
is "segment 1 of 2" "$(value write_bytes "$(info s 1)")" 0
is "segment 2 of 2" "$(value write_bytes "$(info s 2)")" 8192
dm_remove s

# warnings
n=0
warned=$(log_since | grep -iE 'fdecrypt.*(accelerat|slow|modprobe|load )' | grep -v 'table:')
[ -z "$warned" ] || n=$(wc -l <<<"$warned")
check "one warning at most about slow drivers" test "$n" -le 1
if [ "$n" = 1 ]; then
	like "it names a module" "$warned" '(aesni|aes[-_]ce|aes[-_]neon|[a-z0-9]+[-_][a-z0-9]+)'
fi
like "no crypto error in the log" "x$(log_since | grep -ciE 'fdecrypt.*error')" "^x0$"
finish
