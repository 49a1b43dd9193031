/* SPDX-License-Identifier: GPL-2.0-only */
/* Rotational disks say so by a limit since 6.11, by the lack of a queue flag before. */
#ifndef FDECRYPT_COMPAT_LINUX_BLKDEV_H
#define FDECRYPT_COMPAT_LINUX_BLKDEV_H

#include <linux/version.h>
#include_next <linux/blkdev.h>

static inline bool fdecrypt_is_rotational(struct block_device *bdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	return bdev_get_queue(bdev)->limits.features & BLK_FEAT_ROTATIONAL;
#else
	return !bdev_nonrot(bdev);
#endif
}

#endif
