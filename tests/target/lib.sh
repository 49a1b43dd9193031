# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the target tests share: TAP output, mappings that are gone at the end
# whatever happens, and the kernel's log since a mark.  Source it first:
#
#	. "$(dirname "$0")/lib.sh"
#	...
#	finish
#
# TARGET=crypt runs a script against stock dm-crypt, to see what that does.

set -uo pipefail
export LC_ALL=C DM_DISABLE_UDEV=1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034
tools=$here/../tools/build vectors=$here/../vectors
python=${PYTHON:-/usr/bin/python3}
TARGET=${TARGET:-fdecrypt}
module=dm_fdecrypt
[ "$TARGET" = fdecrypt ] || module=dm_crypt
params=/sys/module/$module/parameters
work=$(mktemp -d "${TMPDIR:-/tmp}/target.XXXXXX")

# ---- TAP ------------------------------------------------------------------

tap_count=0 tap_failed=0 tap_finished=no

# diag TEXT...: a line of explanation; without arguments, standard input
diag() {
	if [ $# -gt 0 ]; then printf '%s\n' "$*"; else cat; fi | sed 's/^/# /'
}

ok() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $*"
}

# not_ok NAME [DIAGNOSTIC...]
not_ok() {
	tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	shift
	while [ $# -gt 0 ]; do diag "$1"; shift; done
}

# skip NAME REASON: this one point cannot be tested here
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# skip_all REASON: nothing here can be tested
skip_all() {
	tap_finished=yes
	echo "1..0 # SKIP $*"
	exit 4
}

# check NAME COMMAND...: the command succeeds
check() {
	local name=$1 out st
	shift
	out=$("$@" 2>&1)
	st=$?
	if [ $st -eq 0 ]; then ok "$name"; return 0; fi
	not_ok "$name" "status $st of: $*"
	[ -z "$out" ] || diag <<<"$out"
	return 1
}

# refute NAME COMMAND...: the command fails, in the way commands fail
refute() {
	local name=$1 out st
	shift
	out=$("$@" 2>&1)
	st=$?
	if [ $st -gt 0 ] && [ $st -lt 124 ]; then ok "$name"; return 0; fi
	not_ok "$name" "status $st of: $*"
	[ -z "$out" ] || diag <<<"$out"
	return 1
}

# is NAME GOT EXPECTED
is() {
	if [ "$2" = "$3" ]; then ok "$1"; return 0; fi
	not_ok "$1" "got:      $2" "expected: $3"
	return 1
}

# like NAME GOT PATTERN: an extended regular expression
like() {
	if [[ $2 =~ $3 ]]; then ok "$1"; return 0; fi
	not_ok "$1" "got:     $2" "pattern: $3"
	return 1
}

# tap_name "12 - TEXT": TEXT
tap_name() {
	tap_said=${1#"${1%%[!0-9]*}"}
	tap_said=${tap_said# }
	tap_said=${tap_said#- }
}

# tap_of NAME COMMAND...: take over the TAP points that another program prints
tap_of() {
	local name=$1 line n=0 st='' plan=''
	shift
	while IFS= read -r line; do
		case $line in
		"ok "*)     tap_name "${line#ok }"; ok "$tap_said"; n=$((n + 1));;
		"not ok "*) tap_name "${line#not ok }"; not_ok "$tap_said"; n=$((n + 1));;
		"1.."*)     plan=${line#1..};;
		exit=*)     st=${line#exit=};;
		*)          diag "${line#"# "}";;
		esac
	done < <("$@" 2>&1; echo "exit=$?")
	if [ $n -eq 0 ] || [ "$n" != "$plan" ] || [ "${st:-99}" -gt 1 ]; then
		not_ok "$name ran to its end" "status $st, $n results, plan '$plan'"
	fi
}

finish() {
	if cleanup; then ok "no mapping is left"
	else not_ok "no mapping is left" "$(dmsetup ls 2>&1)"; fi
	tap_finished=yes
	echo "1..$tap_count"
	[ $tap_failed -eq 0 ] || exit 1
	exit 0
}

# ---- mappings -------------------------------------------------------------

dm_names=()

# dm_create NAME TABLE: returns dmsetup's status; its words are in $dm_err
dm_create() {
	dm_names+=("$1")
	dm_err=$(dmsetup create --noudevsync "$1" --table "$2" 2>&1)
}

dm_remove() {
	local i
	for ((i = 0; i < 20; i++)); do
		dm_err=$(dmsetup remove --noudevsync "$1" 2>&1) && return 0
		case $dm_err in *busy*) sleep 0.05;; *) return 1;; esac
	done
	return 1
}

dm_exists() { dmsetup info "$1" >/dev/null 2>&1; }

# dm_load NAME TABLE: suspended or not, into the inactive slot
dm_load() { dm_err=$(dmsetup load --noudevsync "$1" --table "$2" 2>&1); }
# dm_suspend NAME [--noflush] [--nolockfs]
dm_suspend() { dm_err=$(dmsetup suspend --noudevsync "$@" 2>&1); }
dm_resume() { dm_err=$(dmsetup resume --noudevsync "$1" 2>&1); }
dm_message() { local d=$1; shift; dm_err=$(dmsetup message "$d" 0 "$@" 2>&1); }
dm_table() { dmsetup table --showkeys "$1"; }

# errno_of TEXT: the error in what dmsetup wrote, as dmsetup words it
errno_of() { sed -n 's/^.*ioctl on .*failed: //p' <<<"$1" | head -n 1; }

# new_dm NAME TABLE: a mapping the test cannot do without
new_dm() {
	dm_create "$1" "$2" || bail "cannot create $1 ($2): $dm_err"
}

# cleanup: removes what this script made, the last one first
cleanup() {
	local i left=0
	for ((i = ${#dm_names[@]} - 1; i >= 0; i--)); do
		dm_exists "${dm_names[i]}" || continue
		dmsetup resume --noudevsync "${dm_names[i]}" >/dev/null 2>&1
		dm_remove "${dm_names[i]}" || dmsetup remove --noudevsync --force \
			"${dm_names[i]}" >/dev/null 2>&1
		dm_exists "${dm_names[i]}" && left=1
	done
	dm_names=()
	return $left
}

bail() {
	echo "Bail out! $*"
	tap_finished=yes
	exit 1
}

at_exit() {
	local st=$?
	trap - EXIT
	cleanup
	if declare -F more_cleanup >/dev/null; then more_cleanup; fi
	remove_null_disks
	if [ -n "$old_show_keys" ]; then echo "$old_show_keys" >"$params/show_keys"; fi
	rm -rf "$work"
	if [ $tap_finished = no ]; then
		echo "Bail out! the script ended before its plan (status $st)"
		[ $st -ne 0 ] || st=1
	fi
	exit $st
}
old_show_keys=
trap at_exit EXIT
trap 'exit 130' INT TERM

# show_keys 0|1: only our own target has it, dmsetup hides those of "crypt"
show_keys() {
	[ -e "$params/show_keys" ] || return 0
	[ -n "$old_show_keys" ] || old_show_keys=$(<"$params/show_keys")
	echo "$1" >"$params/show_keys"
}

# ---- load ------------------------------------------------------------------

# by_suite CHECK ALL: what it is in make check, and in make check-all
by_suite() { [ "${FDECRYPT_SUITE:-check}" = all ] && echo "$2" || echo "$1"; }

# load_seconds CHECK ALL: how long a load lasts; LOAD=N says it by hand
load_seconds() { echo "${LOAD:-$(by_suite "$@")}"; }

# while_loaded COUNT COMMAND...: again and again, with the number of the round as
# last argument, until $work/load is gone; the file COUNT holds how often
while_loaded() {
	local count=$1 n=0
	shift
	echo 0 >"$count"
	while [ -e "$work/load" ]; do
		n=$((n + 1))
		"$@" $n || { echo "round $n of $1 failed: ${dm_err-}"; return 1; }
		echo $n >"$count"
	done
}

# ---- devices and kernel ---------------------------------------------------

# ram SECTORS: /dev/ram0 exists and is at least that long
ram=/dev/ram0
need_ram() {
	[ -b $ram ] || modprobe brd 2>/dev/null
	[ -b $ram ] || skip_all "no RAM disk (CONFIG_BLK_DEV_RAM)"
	[ "$(blockdev --getsz $ram)" -ge "$1" ] ||
		skip_all "$ram is smaller than $1 sectors (brd.rd_size=)"
}

need_target() {
	dmsetup targets 2>/dev/null | grep -q "^$1 " && return 0
	modprobe "dm-$1" 2>/dev/null
	dmsetup targets | grep -q "^$1 " || skip_all "no device-mapper target $1"
}

has_target() {
	dmsetup targets 2>/dev/null | grep -q "^$1 " && return 0
	modprobe "dm-$1" 2>/dev/null
	dmsetup targets | grep -q "^$1 "
}

# null_disk NAME KEY=VALUE...: a RAM disk of 32 MiB with what null_blk can do beyond
# brd; sets $null_dev, is gone at the end. Fails where null_blk or a key is missing.
null_dirs=() null_dev=''
null_disk() {
	local all=/sys/kernel/config/nullb kv
	local d=$all/$1
	modprobe null_blk nr_devices=0 2>/dev/null
	[ -d $all ] || mount -t configfs configfs /sys/kernel/config 2>/dev/null
	mkdir "$d" 2>/dev/null || return 1
	null_dirs+=("$d")
	for kv in size=32 memory_backed=1 "${@:2}" power=1; do
		echo "${kv#*=}" 2>/dev/null >"$d/${kv%%=*}" || return 1
	done
	null_dev=/dev/$1
	[ -b "$null_dev" ] || null_dev=/dev/nullb$(cat "$d/index")
	[ -b "$null_dev" ]
}

remove_null_disks() {
	local d
	for d in "${null_dirs[@]}"; do
		echo 0 2>/dev/null >"$d/power"
		rmdir "$d" 2>/dev/null
	done
}

# queue_of NAME: where sysfs has the limits of a mapping
queue_of() { echo "/sys/dev/block/$(dmsetup info -c --noheadings -o major,minor --separator : "$1" | tr -d ' ')/queue"; }

# limits NAME: those that are to be dm-crypt's
limits() {
	(cd "$(queue_of "$1")" && grep -sH . ./*) |
		grep -vE '^./(scheduler|nr_requests|io_timeout|iostats|wbt_|rq_affinity|nomerges)'
}

# cpus_of NAME: which CPUs work for a mapping, as its status says
cpus_of() { dmsetup status "$1" | sed -n 's/.* cpus=\([^ ]*\)$/\1/p'; }

need_tool() { [ -x "$tools/$1" ] || bail "$1 is not built: make -C tests/tools"; }

# one that hangs fails before the guest's time is up
iocheck() { timeout 200 "$tools/iocheck" "$@"; }

# hexkey BYTES [SEED]: the same key for the same seed
hexkey() {
	"$python" -c '
import hashlib, sys
n, s = int(sys.argv[1]), sys.argv[2]
print(hashlib.shake_256(s.encode()).hexdigest(n))' "$1" "${2:-key}"
}

# Marks in the kernel's log.  Writes to /dev/kmsg are rate-limited otherwise.
log_mark() {
	echo on 2>/dev/null >/proc/sys/kernel/printk_devkmsg || :
	log_marker="target-test $$ $RANDOM$RANDOM"
	echo "$log_marker" >/dev/kmsg
}

# log_since: the kernel's log after the last mark
log_since() { dmesg | sed "1,/$log_marker/d" | sed 's/^\[[^]]*\] *//'; }

# drop_caches DEVICE: what is read next comes from below
drop_caches() { blockdev --flushbufs "$1"; }

target_is_there() {
	dmsetup targets 2>/dev/null | grep -q "^$TARGET " && return
	modprobe "dm-$TARGET" 2>/dev/null
	dmsetup targets 2>/dev/null | grep -q "^$TARGET " ||
		bail "the target $TARGET is not loaded"
}
target_is_there
