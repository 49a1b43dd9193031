/* SPDX-License-Identifier: GPL-2.0-only */
/* Atomic writes came in 6.11. */
#ifndef FDECRYPT_COMPAT_LINUX_BLK_TYPES_H
#define FDECRYPT_COMPAT_LINUX_BLK_TYPES_H

#include_next <linux/blk_types.h>

#ifndef REQ_ATOMIC
#define REQ_ATOMIC ((__force blk_opf_t)0)
#endif

#endif
