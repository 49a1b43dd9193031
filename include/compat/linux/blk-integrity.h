/* SPDX-License-Identifier: GPL-2.0-only */
/* What a device's metadata profile is called and made of, which has changed twice. */
#ifndef FDECRYPT_COMPAT_LINUX_BLK_INTEGRITY_H
#define FDECRYPT_COMPAT_LINUX_BLK_INTEGRITY_H

#include <linux/version.h>
#include_next <linux/blk-integrity.h>
#include <linux/string.h>

/* Why a device's profile does not do for @tag_size bytes of tag for each @unit_size; NULL if it does. */
static inline char *fdecrypt_check_integrity(struct block_device *bdev, unsigned int tag_size,
					     unsigned int unit_size)
{
#if IS_ENABLED(CONFIG_BLK_DEV_INTEGRITY)
	struct blk_integrity *bi = blk_get_integrity(bdev->bd_disk);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	if (!bi || strcasecmp(bi->profile->name, "DM-DIF-EXT-TAG"))
		return "Integrity profile not supported.";
	if (bi->tag_size != tag_size || bi->tuple_size != tag_size)
		return "Integrity profile tag size mismatch.";
#else
	if (!bi || bi->csum_type != BLK_INTEGRITY_CSUM_NONE)
		return "Integrity profile not supported.";
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	if (bi->tuple_size < tag_size)
		return "Integrity profile tag size mismatch.";
#else
	if (bi->metadata_size < tag_size)
		return "Integrity profile tag size mismatch.";
#endif
#endif
	if (1u << bi->interval_exp != unit_size)
		return "Integrity profile sector size mismatch.";
	return NULL;
#else
	return "Integrity profile not supported.";
#endif
}

#endif
