#!/bin/bash
# What the commands of tests/lab and tools/setup share: the cache, its locks, progress lines. Sourced, never run.
# SPDX-License-Identifier: GPL-2.0-only

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
lab_top=$(cd "$lab_dir/../.." && pwd -P)

# Everything in here can be rebuilt; nothing in here is ever needed.
lab_cache=${FDECRYPT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dm-fdecrypt}
# shellcheck disable=SC2034 # for those who source this
lab_jobs=${FDECRYPT_JOBS:-$(nproc)}

# A kernel is built with its own settings, whatever make called us.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# Stdout belongs to results (a directory, TAP); whatever is for people goes to stderr.
lab_say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
lab_die() { lab_say "$*"; exit 1; }

# Hold the cache's lock NAME for the rest of this process, so that two commands never make the same thing.
lab_lock() {
	local name=$1 fd
	mkdir -p "$lab_cache/locks"
	exec {fd}>"$lab_cache/locks/$name"
	flock -n "$fd" && return
	lab_say "another command is making $name, waiting for it"
	flock "$fd"
}

# Run COMMAND with its output in LOG and say every 20 s that it lives; on failure show the end of the log.
lab_run() {	# LABEL LOG COMMAND [ARG]...
	local label=$1 log=$2 pid ticker status=0 started=$SECONDS
	shift 2
	lab_say "$label ..."
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	(
		trap 'kill "$!" 2>/dev/null; exit' TERM
		while sleep 20 & wait "$!"; do
			lab_say "$label: $((SECONDS - started)) s, $(grep -cE '^  [A-Z]+( \[M\])? ' "$log") objects"
		done
	) >&2 &
	ticker=$!
	wait "$pid" || status=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	[ "$status" -eq 0 ] && return
	tail -n 30 "$log" >&2
	lab_say "$label failed, all of its output is in $log"
	return "$status"
}

# One short name for whatever comes in on stdin.
lab_hash() { sha256sum | cut -c1-16; }

# Keep the COUNT most recently used directories of those named, remove the others.
lab_prune() {	# COUNT DIR...
	local keep=$1 dir
	shift
	{ find "$@" -maxdepth 0 -printf '%T@ %p\n' 2>/dev/null || true; } | sort -rn | tail -n "+$((keep + 1))" |
		while read -r _ dir; do rm -rf -- "$dir"; done
}

# All packages of these groups, installed if they are not.
lab_need() { "$lab_top/tools/setup" "$@" >&2; }

# The directory of an unpacked source or headers package, fetched if need be.
lab_get() { "$lab_top/tools/setup" get "$1"; }

# What runs the kernel of a config: uml, whose configs are "normal" and the other fragments beside uml-base.config, or
# qemu, for kernels that Debian built.
lab_machine() {	# CONFIG
	case $1 in
	debian-6.1-amd64) echo qemu ;;
	*)
		[ "$1" = normal ] || [ -e "$lab_dir/configs/$1.config" ] ||
			lab_die "no kernel config '$1' (there are: normal $(cd "$lab_dir/configs" && echo ./*.config |
				sed 's,\./,,g; s,uml-base\.config,,; s,\.config,,g') debian-6.1-amd64)"
		echo uml
		;;
	esac
}

# May a kernel of that config use the vector registers? A fragment that makes it preemptible says "aesni: no".
lab_has_aesni() {	# CONFIG
	! grep -qx '# aesni: no' "$lab_dir/configs/$1.config" 2>/dev/null
}

# The files that a module of DIR is made from, relative to it. The product is what stands at the top of the repository
# and in two folders there; any other module is all of its DIR.
lab_module_files() {	# DIR
	local where=(.)
	(
		cd "$1" || exit
		shopt -s nullglob
		# A folder that is not there (yet) is no error: the globs drop it.
		[ "$1" != "$lab_top" ] || where=(Kbuil[d] ./*.[chS] includ[e] engin[e])
		find "${where[@]}" -type f \( -name '*.[chS]' -o -name Kbuild \) ! -name '*.mod.c' | sort
	)
}

# No symbol list (objects only), or a compiler of another patch level: not what a warning is for.
lab_build_noise='compiler differs from the one|Module\.symvers|Symbol info of vmlinux|modpost: .*(undefined!|unresolved symbol)'

# Build a copy of the module in DIR at DEST (so that variants never share an object) against KDIR, log in DEST/log.
# Whatever is said under W=1 is a failure and shown, apart from what only tells how we build.
lab_module_build() {	# DIR DEST KDIR [MAKE_ARG]...
	local from=$1 dest=$2 kdir=$3
	shift 3
	mkdir -p "$dest/src" || return
	(cd "$from" && lab_module_files "$from" | xargs cp --parents -t "$dest/src") || return
	make -C "$kdir" M="$dest/src" W=1 "$@" modules >"$dest/log" 2>&1 </dev/null || { cat "$dest/log" >&2; return 1; }
	! grep -iE 'warning:' "$dest/log" | grep -vE "$lab_build_noise" >&2
}
