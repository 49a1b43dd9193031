/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages for encrypted data: they never fail to come, and never take more than their share of memory.
 *
 * It must not know what is written into them, or device mapper.
 */
#ifndef DM_FDECRYPT_PAGES_H
#define DM_FDECRYPT_PAGES_H

#include <linux/bio.h>
#include <linux/mempool.h>
#include <linux/mutex.h>
#include <linux/percpu_counter.h>

/* Pages that are always there, and the most that one bio may ask for. */
#define FDECRYPT_PAGES_MAX	BIO_MAX_VECS

/**
 * struct fdecrypt_pages - the pages of a mapping
 * @pool: the last FDECRYPT_PAGES_MAX pages
 * @lock: held by the one who waits for them
 * @nr_out: pages of bios in flight, and those that are being taken
 * @counted: among the mappings that share the limit
 */
struct fdecrypt_pages {
	mempool_t pool;
	struct mutex lock;
	struct percpu_counter nr_out;
	bool counted;
};

int fdecrypt_pages_init(struct fdecrypt_pages *pages);
void fdecrypt_pages_exit(struct fdecrypt_pages *pages);
bool fdecrypt_pages_add(struct fdecrypt_pages *pages, struct bio *bio, unsigned int bytes, bool may_sleep);
void fdecrypt_pages_release(struct fdecrypt_pages *pages, struct bio *bio);

#endif
