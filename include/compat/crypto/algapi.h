/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of all algorithms: every kernel exports it to modules, in a header that none gives them. */
#ifndef FDECRYPT_COMPAT_CRYPTO_ALGAPI_H
#define FDECRYPT_COMPAT_CRYPTO_ALGAPI_H

#include_next <crypto/algapi.h>
#include <linux/list.h>
#include <linux/rwsem.h>

extern struct list_head crypto_alg_list;
extern struct rw_semaphore crypto_alg_sem;

#endif
