/* SPDX-License-Identifier: GPL-2.0-only */
/* See <crypto/skcipher.h>; and large synchronous requests are flagged only where the flag exists. */
#ifndef FDECRYPT_COMPAT_CRYPTO_INTERNAL_SKCIPHER_H
#define FDECRYPT_COMPAT_CRYPTO_INTERNAL_SKCIPHER_H

#include <linux/version.h>
#include_next <crypto/internal/skcipher.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define crypto_spawn_skcipher_alg_common crypto_spawn_skcipher_alg
#endif

#ifndef CRYPTO_ALG_SKCIPHER_REQSIZE_LARGE
#define CRYPTO_ALG_SKCIPHER_REQSIZE_LARGE 0
#endif

#endif
