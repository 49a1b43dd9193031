/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion callbacks take the caller's data since 6.3, and the request that holds it before.
 *
 * Write the callback as on new kernels, name it in CRYPTO_COMPLETION() behind its body, and pass
 * crypto_completion(callback) where a callback is wanted.
 */
#ifndef FDECRYPT_COMPAT_LINUX_CRYPTO_H
#define FDECRYPT_COMPAT_LINUX_CRYPTO_H

#include <linux/version.h>
#include_next <linux/crypto.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define CRYPTO_COMPLETION(fn) \
	static void fn##_areq(struct crypto_async_request *areq, int err) \
	{ \
		fn(areq->data, err); \
	}
#define crypto_completion(fn) fn##_areq
#else
#define CRYPTO_COMPLETION(fn)
#define crypto_completion(fn) fn
#endif

/* Simple block ciphers that work on linear memory (6.7); an skcipher allocation takes them too. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define CRYPTO_ALG_TYPE_LSKCIPHER CRYPTO_ALG_TYPE_SKCIPHER
#endif

#endif
