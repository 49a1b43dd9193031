/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/unaligned.h> was <asm/unaligned.h> before 6.12. */
#ifndef FDECRYPT_COMPAT_LINUX_UNALIGNED_H
#define FDECRYPT_COMPAT_LINUX_UNALIGNED_H

#if __has_include_next(<linux/unaligned.h>)
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif
