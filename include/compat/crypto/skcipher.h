/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields that skciphers share got a type of their own in 6.6. */
#ifndef FDECRYPT_COMPAT_CRYPTO_SKCIPHER_H
#define FDECRYPT_COMPAT_CRYPTO_SKCIPHER_H

#include <linux/version.h>
#include_next <crypto/skcipher.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define skcipher_alg_common skcipher_alg
#define crypto_skcipher_alg_common crypto_skcipher_alg
#endif

#endif
