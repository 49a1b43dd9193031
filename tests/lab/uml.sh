#!/bin/bash
# How tests/lab/guest runs a kernel as a process, by User-Mode Linux. Sourced, never run.
# SPDX-License-Identifier: GPL-2.0-only
#
# The root file system is this machine's own; what the guest reports comes by a writable view of $run/channel.
# shellcheck disable=SC2154 # what guest sets
# shellcheck disable=SC2034 # and uses

# As its driver is built from sources of the kernel and runs on this machine's processor.
machine_aes=
if lab_has_aesni "$config" && grep -qm1 '^flags.* aes ' /proc/cpuinfo; then machine_aes=aesni-intel; fi

machine_prepare() {
	lab_need lab
}

# What the guest finds in the run directory. The modules are few enough to be copied.
machine_fill() {
	mkdir "$run/channel"
	cp -a "$kernel/modules" "$run/modules"
	[ -d /lib/modules ] || mkdir -p /lib/modules
	# A path of this machine is a path of the guest, except below what the guest covers with tmpfs's; the repository
	# is put back there by guest-init, another script is reached through the second view of the root.
	case $path in
	"$lab_top"/*) ;;
	/tmp/* | /run/* | /var/tmp/* | /mnt/* | /dev/*) path=/mnt/host$path ;;
	esac
}

machine_run() {
	local disk=() config_args
	# What a config wants on the command line stands in its fragment.
	config_args=$(sed -n 's/^# kernel-args: //p' "$lab_dir/configs/$config.config" 2>/dev/null || true)
	cp "$lab_dir/guest-init" "$run/init"
	[ ! -e "$run/scratch.img" ] || disk=("ubd0=$run/scratch.img")
	# shellcheck disable=SC2086 # kernel arguments are a list of words
	exec setsid setpriv --pdeathsig KILL "$kernel/linux" seccomp=on mem="${option[mem]}" ncpus="${option[cpus]}" \
		uml_dir="$run/" umid=guest root=/dev/root rootfstype=hostfs rootflags=/ ro init="$run/init" "${disk[@]}" \
		con=null con0=fd:0,fd:1 con1=null,fd:3 con2=null,fd:4 ssl=null \
		loglevel=7 printk.devkmsg=on devtmpfs.mount=1 panic=-1 $config_args ${option[kernel-args]} \
		</dev/null >"$run/console" 2>&1 3>>"$run/output" 4>>"$run/errors"
}

# For the log of a guest that hangs.
machine_show_blocked() {
	"$lab_dir/mconsole" "$run/guest/mconsole" "sysrq w" 2>/dev/null || true
}

# What the guest reported is in $run/channel already.
machine_collect() { :; }
