#!/bin/bash
# How tests/lab/guest runs a kernel that Debian built, in QEMU without KVM. Sourced, never run.
# SPDX-License-Identifier: GPL-2.0-only
#
# The root file system is the image of tests/lab/image. The repository, our modules and the script come in a second
# initrd, and everything goes out by virtio ports, not by a file system of the host: those do not live through
# hibernation.
# shellcheck disable=SC2154 # what guest sets
# shellcheck disable=SC2034 # and uses

case ${config##*-} in
amd64)
	machine_aes=aesni-intel
	qemu=(qemu-system-x86_64)
	serial=ttyS0
	;;
*) lab_die "no machine for $config" ;;
esac

# Page tables that change at every system call, and self-tests of ciphers, cost an emulated processor most of its time.
quick="mitigations=off cryptomgr.notests audit=0 apparmor=0"

machine_prepare() {
	lab_need lab qemu
	[ -z "${option[share]}" ] || lab_die "--share: not with kernel $config"
	image=$("$lab_dir/image" "$config")
}

# What the guest finds in /lab: guest-init, its settings, and files, which it lays over its root.
machine_fill() {
	local modules=$run/modules/lib/modules/$release name files=$run/initrd/lab/files
	mkdir -p "$modules" "$run/channel" "$files/usr/lib/modules/$release" "$files$lab_top"
	ln -s "$kernel/modules/lib/modules/$release/kernel" "$modules/kernel"
	for name in order builtin builtin.modinfo; do cp "$kernel/modules/lib/modules/$release/modules.$name" "$modules/"; done
	(cd "$lab_top" && find . \( -name .git -o -path "./${lab_cache#"$lab_top"/}" -o -path './tests/fuzz/build' -o \
		-path './tests/unit/build' -o -name __pycache__ \) -prune -o -type f ! -name '*.o' ! -name '*.ko' -print0 |
		xargs -0 cp -a --parents -t "$files$lab_top")
	[ -e "$files$path" ] || { mkdir -p "$files${path%/*}" && cp "$path" "$files$path"; }
}

machine_run() {
	local disks=("file=$image/root.img,format=raw,if=virtio,readonly=on,file.locking=off")
	local modules=usr/lib/modules/$release drive arguments=()
	[ ! -e "$run/scratch.img" ] || disks+=("file=$run/scratch.img,format=raw,if=virtio,cache=unsafe")
	for drive in "${disks[@]}"; do arguments+=(-drive "$drive"); done

	# Those that modprobe reads.
	(cd "$run/modules/lib/modules/$release" && cp -r extra modules.{dep,alias,builtin,builtin.alias}.bin \
		modules.{softdep,builtin.modinfo} "$run/initrd/lab/files/$modules")
	cp "$lab_dir/guest-init" "$run/initrd/lab/init"
	cp "$run/settings" "$run/initrd/lab/settings"
	{ cat "$image/initrd" && cd "$run/initrd" && find . | cpio --quiet -o -H newc; } >"$run/initrd.img"

	# The console's input is the way to send it a break, see below.
	mkfifo "$run/keys"
	exec setsid setpriv --pdeathsig KILL "${qemu[@]}" -nodefaults -no-user-config -display none -no-reboot \
		-accel tcg,thread=multi -cpu max -smp "${option[cpus]}" -m "${option[mem]}" \
		-kernel "$kernel/linux" -initrd "$run/initrd.img" "${arguments[@]}" \
		-chardev stdio,id=console,mux=on,signal=off -serial chardev:console \
		-device virtio-serial-pci,max_ports=4 \
		-chardev file,id=output,path="$run/output",append=on -device virtserialport,chardev=output,name=output \
		-chardev file,id=errors,path="$run/errors",append=on -device virtserialport,chardev=errors,name=errors \
		-chardev file,id=report,path="$run/report.tar" -device virtserialport,chardev=report,name=report \
		-append "console=$serial loglevel=7 printk.devkmsg=on sysrq_always_enabled panic=-1 $quick ${option[kernel-args]}" \
		<>"$run/keys" >"$run/console" 2>&1
}

# A break and the key on the serial console; QEMU makes a break of C-a b.
machine_show_blocked() {
	# Opened for reading too, or it would wait for a reader that may be gone.
	[ ! -p "$run/keys" ] || printf '\001bw' 1<>"$run/keys"
	sleep 1
}

# A report that is not whole is none.
machine_collect() {
	sed -i 's/\r*$//' "$run/console"
	if ! tar -C "$run/channel" -xf "$run/report.tar" 2>/dev/null; then rm -f "$run"/channel/*; fi
}
