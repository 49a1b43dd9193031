/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/hex.h> was a part of <linux/kernel.h> before 6.4. */
#ifndef FDECRYPT_COMPAT_LINUX_HEX_H
#define FDECRYPT_COMPAT_LINUX_HEX_H

#if __has_include_next(<linux/hex.h>)
#include_next <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

#endif
