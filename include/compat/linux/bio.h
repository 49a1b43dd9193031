/* SPDX-License-Identifier: GPL-2.0-only */
/* Bios carry a write hint since 6.9 and a write stream since 6.16. */
#ifndef FDECRYPT_COMPAT_LINUX_BIO_H
#define FDECRYPT_COMPAT_LINUX_BIO_H

#include <linux/version.h>
#include_next <linux/bio.h>

/* Give @to, a bio of our own for the same data, the hints of @from. */
static inline void fdecrypt_copy_hints(struct bio *to, const struct bio *from)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	to->bi_write_hint = from->bi_write_hint;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	to->bi_write_stream = from->bi_write_stream;
#endif
}

#endif
