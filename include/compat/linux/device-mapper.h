/* SPDX-License-Identifier: GPL-2.0-only */
/* What device mapper learned after 6.1. */
#ifndef FDECRYPT_COMPAT_LINUX_DEVICE_MAPPER_H
#define FDECRYPT_COMPAT_LINUX_DEVICE_MAPPER_H

#include <linux/version.h>
#include_next <linux/device-mapper.h>
#include <linux/blkdev.h>

/* The version 1.x of this kernel's dm-crypt, as far as options and texts differ. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define FDECRYPT_DM_CRYPT_MINOR 24
#elif !defined(DM_TARGET_ATOMIC_WRITES)
#define FDECRYPT_DM_CRYPT_MINOR 28
#else
#define FDECRYPT_DM_CRYPT_MINOR 29
#endif

#ifndef DM_TARGET_ATOMIC_WRITES
#define DM_TARGET_ATOMIC_WRITES 0
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
static inline void fdecrypt_stack_bs_limits(struct queue_limits *limits, unsigned int bs)
{
	limits->logical_block_size = max(limits->logical_block_size, bs);
	limits->physical_block_size = max(limits->physical_block_size, bs);
	limits->io_min = max(limits->io_min, bs);
}

#define dm_stack_bs_limits fdecrypt_stack_bs_limits
#endif

/* Since 6.10 a bio for a zoned device is split to the limits first, and may not be split in map any more. */
#define FDECRYPT_ZONED_WRITES_ARE_SPLIT	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0))

/* Limits that came or went: atomic writes (stacked since 6.17), size of a segment (until 6.11). */
static inline void fdecrypt_limit_bios(struct queue_limits *limits, unsigned int max_bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	limits->atomic_write_hw_unit_max = min(limits->atomic_write_hw_unit_max, max_bytes);
	limits->atomic_write_hw_max = min(limits->atomic_write_hw_max, max_bytes);
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	limits->max_segment_size = PAGE_SIZE;
#endif
}

#endif
