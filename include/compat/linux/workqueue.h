/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-CPU queues say so since 6.17; before, a queue that is not WQ_UNBOUND was one. */
#ifndef FDECRYPT_COMPAT_LINUX_WORKQUEUE_H
#define FDECRYPT_COMPAT_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

#ifndef FDECRYPT_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

#endif
