#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guarantee: an error of the device below reaches whoever reads, writes or syncs,
# with the same errno; afterwards the mapping works on and can be removed.
# How it could break: a status dropped on the way back, a read whose decryption
# covers up that nothing was read, a bounce buffer that is never freed, a request
# that is never completed, another error than the one below (ENOSPC as EIO).
#
# guest: cpus=2 mem=1024M timeout=300 kernel-args="brd.rd_size=65536" modules="dm-crypt dm-flakey" kernels=normal,memory aesni=no

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_ram 131072
need_tool iocheck
k=$(hexkey 64) size=16384
mib=1048576
dio() { timeout 60 "$python" "$here/dio.py" "$@"; }
want() { "$python" "$here/dio.py" pattern - "$1" "$2" "$3"; }
up="0 $size linear $ram 0"

# lower TABLE: exchanges what is below the mapping
lower() {
	if ! dm_suspend lower || ! dm_load lower "$1" || ! dm_resume lower; then
		bail "cannot exchange the device below: $dm_err"
	fi
}

new_dm lower "$up"
new_dm top "0 $size $TARGET aes-xts-plain64 $k 0 /dev/mapper/lower 0"
top=/dev/mapper/top
good=$(want 0 $mib one)
is "a write when all is well" "$(dio write $top 0 $mib one)" "$good"

# all of it fails
lower "0 $size error"
is "dm-error: a small read" "$(dio read $top 0 512)" EIO
is "dm-error: a large read" "$(dio read $top 0 $mib)" EIO
is "dm-error: a small write" "$(dio write $top 4096 512 two)" EIO
is "dm-error: a large write" "$(dio write $top 0 $mib two)" EIO
is "dm-error: a FUA write" "$(dio dsync $top 4096 4096 two)" EIO
check "dm-error: a buffered write fails at fsync" "$python" -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, bytes(65536), 65536)
try:
    os.fsync(fd)
except OSError as e:
    sys.exit(e.errno != 5)
sys.exit("fsync saw no error")' $top
is "dm-error: a buffered read" "$("$python" -c '
import errno, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
try:
    os.pread(fd, 4096, 1 << 20)
    print("read")
except OSError as e:
    print(errno.errorcode[e.errno])' $top)" EIO
lower "$up"
is "works again: the data written before" "$(dio read $top 0 $mib)" "$good"
is "works again: a write" "$(dio write $top $mib $mib three)" "$(want $mib $mib three)"

# a hole of one sector run in the middle
hole=$((size / 2))
lower "0 $hole linear $ram 0
$hole 8 error
$((hole + 8)) $((size - hole - 8)) linear $ram $((hole + 8))"
is "before the hole" "$(dio read $top $(((hole - 8) * 512)) 4096 >/dev/null && echo good)" good
is "after the hole" "$(dio read $top $(((hole + 8) * 512)) 4096 >/dev/null && echo good)" good
is "in the hole" "$(dio read $top $((hole * 512)) 4096)" EIO
like "across the hole: no success" "$(dio read $top $(((hole - 64) * 512)) 65536)" '^(EIO|short: )'
is "a write into the hole" "$(dio write $top $((hole * 512)) 4096 four)" EIO
like "a write across the hole: no success" \
	"$(dio write $top $(((hole - 64) * 512)) 65536 five)" '^(EIO|short: )'
lower "$up"

# only reads, only writes, now and then
if has_target flakey; then
	flaky="0 $size flakey $ram 0"
	is "a write before the reads fail" "$(dio write $top 0 65536 six)" "$(want 0 65536 six)"
	if dm_suspend lower && dm_load lower "$flaky 0 3600 1 error_reads"; then
		dm_resume lower
		is "error_reads: a read" "$(dio read $top 0 4096)" EIO
		is "error_reads: a write" "$(dio write $top 0 4096 seven)" "$(want 0 4096 seven)"
	else
		dm_resume lower
		skip "error_reads" "this dm-flakey does not know it"
	fi
	lower "$flaky 0 3600 1 error_writes"
	is "error_writes: a read" "$(dio read $top 4096 4096 >/dev/null && echo good)" good
	is "error_writes: a write" "$(dio write $top 0 4096 eight)" EIO
	lower "$flaky 0 3600 1 drop_writes"
	is "drop_writes: a write" "$(dio write $top 0 4096 nine)" "$(want 0 4096 nine)"
	lower "$up"
	# errors under load, many requests in flight: nothing may hang
	lower "$flaky 1 1"
	for i in 1 2 3; do
		timeout 60 "$tools/iocheck" write -u 512 $top $i >/dev/null 2>&1
		st=$?
		if [ $st -le 2 ]; then ok "load over a flaky device ends ($i)"
		else not_ok "load over a flaky device ends ($i)" "status $st"; fi
	done
	lower "$up"
else
	skip "only reads or only writes fail" "no dm-flakey in this kernel"
fi
check "after all that the mapping works" timeout 120 "$tools/iocheck" both -u 512 $top $top 77
check "and can be removed" dm_remove top
check "and so can what is below" dm_remove lower

# another errno than EIO: a thin pool that is full
if has_target thin-pool; then
	dd if=/dev/zero of=$ram bs=1M count=2 status=none
	new_dm meta "0 4096 linear $ram 0"
	new_dm data "0 2048 linear $ram 8192"
	new_dm pool "0 2048 thin-pool /dev/mapper/meta /dev/mapper/data 128 0 1 error_if_no_space"
	dm_message pool create_thin 0 || bail "no thin volume: $dm_err"
	new_dm thin "0 $size thin /dev/mapper/pool 0"
	new_dm top "0 $size $TARGET aes-xts-plain64 $k 0 /dev/mapper/thin 0"
	is "thin pool: what fits" "$(dio write $top 0 65536 a)" "$(want 0 65536 a)"
	for ((i = 1; i < 20; i++)); do
		last=$(dio write $top $((i * 65536)) 65536 a) || break
	done
	is "thin pool full: ENOSPC reaches the writer" "$last" ENOSPC
	is "thin pool full: what was written is there" "$(dio read $top 0 65536)" "$(want 0 65536 a)"
	check "thin pool: removed" dm_remove top
else
	skip "ENOSPC reaches the writer" "no dm-thin-pool in this kernel"
fi
finish
