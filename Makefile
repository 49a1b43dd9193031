# SPDX-License-Identifier: GPL-2.0-only
# What people type; what is compiled and how stands in Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build
MDIR := $(CURDIR)
release := $(shell uname -r)

.DEFAULT_GOAL := all
.PHONY: all modules_install install clean setup unit lint check check-all demo bench help
# The kernel's make sees to its own parallelism; ours runs one verb after the other.
.NOTPARALLEL:

all: headers ## build dm-fdecrypt.ko for the running kernel, or for the one of KDIR=
	$(MAKE) -C $(KDIR) M=$(MDIR) W=1 modules

modules_install: all ## copy the module to the kernel's modules (INSTALL_MOD_PATH= as for the kernel)
	$(MAKE) -C $(KDIR) M=$(MDIR) modules_install

install: modules_install ## modules_install, and let modprobe know
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $$($(MAKE) -s -C $(KDIR) kernelrelease)

clean: ## remove what the build made here (kernels for tests stay in the cache)
	@find . \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \
		-o -name '*.symvers' -o -name 'modules.order' \) -not -path './.git/*' -delete
	@rm -rf .tmp_versions tests/*/build

setup: ## install the packages that all of these need (Debian 12, as root)
	tools/setup

unit: ## run the unit tests in user space
	tools/setup unit
	tests/unit/run

lint: ## run the static checks
	tools/setup lint
	tools/lint

check: ## run everything that must pass before a commit (tests/README.md says how long it takes)
	tests/check

check-all: ## run check, and the tests that take longer
	tests/check --all

demo: ## watch a LUKS volume of dm-crypt being read and written by fdecrypt, in a guest
	tools/setup lab
	tools/demo

bench: ## compare the speed with dm-crypt's best, in a guest (BENCH= options of tools/bench)
	tools/setup lab
	tools/bench $(BENCH)

help: ## print this
	@sed -nE 's/^([a-z_-]+):[^#]*## (.*)/\1\t\2/p' Makefile | expand -t 18

.PHONY: headers
headers:
	@test -e $(KDIR)/Makefile || [ "$(origin KDIR)" = file ] || { \
		echo "KDIR=$(KDIR) is no folder of kernel headers: it has no Makefile" >&2; exit 1; }
	@test -e $(KDIR)/Makefile || { \
		echo "No kernel headers in $(KDIR). To build for this kernel install:"; \
		echo "  Debian, Ubuntu:      apt-get install linux-headers-$(release)"; \
		echo "                       (or linux-headers-amd64, linux-headers-arm64 for the newest Debian kernel)"; \
		echo "  Fedora, RHEL:        dnf install kernel-devel-$(release)"; \
		echo "  openSUSE:            zypper install kernel-default-devel"; \
		echo "  Arch:                pacman -S linux-headers"; \
		echo "or name the headers of another kernel: make KDIR=/usr/src/linux-headers-..."; \
		exit 2; } >&2
