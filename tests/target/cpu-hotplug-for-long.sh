#!/bin/bash
# Guarantee: that of cpu-hotplug.sh, for two minutes a case.
# It breaks as that does, in narrower windows.
# SPDX-License-Identifier: GPL-2.0-only
#
# guest: cpus=2 mem=768M timeout=400 kernel-args="brd.rd_nr=1 brd.rd_size=32768" modules="dm-crypt"
# guest: kernels=debian-6.1-amd64 suite=all
SECONDS_OF_LOAD=120
# shellcheck source=cpu-hotplug.sh
. "$(dirname "$0")/cpu-hotplug.sh"
