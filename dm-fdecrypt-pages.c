// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages for encrypted data: pool, limit, and who waits for whom.
 *
 * It must not know what is written into the pages, or device mapper.
 *
 * A write must get its pages even when memory is gone, since it may be the write that makes memory free. But
 * a flood of writes must not take all memory either. So each mapping has a few pages of its own, and a share
 * of memory beyond which it uses only those.
 */

#include "dm-fdecrypt-pages.h"

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>

/* All mappings together take at most this part of memory for pages in flight, but 16 bios each. */
#define SHARE_PERCENT	2
#define SHARE_MIN	(16 * FDECRYPT_PAGES_MAX)

/* One large page for a whole bio, where the allocator has it at hand. */
#define ORDER_MAX	ilog2(FDECRYPT_PAGES_MAX)

static atomic_t nr_mappings;

static bool fdecrypt_pages_over_share(struct fdecrypt_pages *pages)
{
	unsigned long share = totalram_pages() * SHARE_PERCENT / 100 / max(atomic_read(&nr_mappings), 1);

	return percpu_counter_read_positive(&pages->nr_out) > max_t(unsigned long, share, SHARE_MIN);
}

/* The pool's allocator: over its share a mapping waits for pages to come back, as if there were no memory. */
static void *fdecrypt_page_alloc(gfp_t gfp, void *data)
{
	return fdecrypt_pages_over_share(data) ? NULL : alloc_page(gfp);
}

static void fdecrypt_page_free(void *page, void *data)
{
	__free_page(page);
}

/*
 * A large page of up to *@order if one lies about: fewer segments, less work for everybody below. What the
 * allocator did not have is not asked for again: *@order is what it had in the end.
 */
static struct page *fdecrypt_page_large(struct fdecrypt_pages *pages, unsigned int bytes, unsigned int *order)
{
	gfp_t gfp = GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NORETRY | __GFP_NOWARN | __GFP_COMP;
	struct page *page;

	*order = min_t(unsigned int, *order, ilog2(bytes >> PAGE_SHIFT ?: 1));
	if (*order && fdecrypt_pages_over_share(pages))
		*order = 0;
	for (; *order; --*order) {
		page = alloc_pages(gfp, *order);
		if (page)
			return page;
	}
	return NULL;
}

static bool fdecrypt_pages_take(struct fdecrypt_pages *pages, struct bio *bio, unsigned int bytes, gfp_t gfp,
				unsigned int order)
{
	while (bytes) {
		struct page *page = fdecrypt_page_large(pages, bytes, &order);
		unsigned int len = min_t(unsigned int, bytes, PAGE_SIZE << order);

		if (!page)
			page = mempool_alloc(&pages->pool, gfp);
		if (!page)
			return false;
		__bio_add_page(bio, page, len, 0);
		bytes -= len;
	}
	return true;
}

/* The other way; returns how many pages they were. */
static unsigned int fdecrypt_pages_give_back(struct fdecrypt_pages *pages, struct bio *bio)
{
	unsigned int i, nr = 0;

	/* The bio's own vector, not an iterator: that one would cut large pages into small ones. */
	for (i = 0; i < bio->bi_vcnt; i++) {
		struct page *page = bio->bi_io_vec[i].bv_page;
		unsigned int order = compound_order(page);

		nr += 1u << order;
		if (order)
			__free_pages(page, order);
		else
			mempool_free(page, &pages->pool);
	}
	return nr;
}

/**
 * fdecrypt_pages_add - fill a bio with pages
 * @pages: the pages of the mapping
 * @bio: a bio without data, with room for @bytes
 * @bytes: how much, FDECRYPT_PAGES_MAX pages at most
 * @may_sleep: wait if need be
 *
 * First without waiting. If that fails, everything is given back and taken again from the pool, waiting, one
 * bio at a time: two that each held half of the pool would wait for each other for ever. Waiting ends, since
 * a bio needs no more pages than the pool has, and pages in flight come back.
 *
 * Context: any if not @may_sleep; else process, with nothing held that a bio in flight needs to end.
 * Return: true; false, with no page added, only if not @may_sleep.
 */
bool fdecrypt_pages_add(struct fdecrypt_pages *pages, struct bio *bio, unsigned int bytes, bool may_sleep)
{
	unsigned int nr = DIV_ROUND_UP(bytes, PAGE_SIZE);

	/* Once for the bio, since page by page this counter costs more than the pages. */
	percpu_counter_add(&pages->nr_out, nr);
	if (fdecrypt_pages_take(pages, bio, bytes, GFP_NOWAIT | __GFP_NOWARN, ORDER_MAX))
		return true;
	fdecrypt_pages_give_back(pages, bio);
	bio->bi_vcnt = 0;
	bio->bi_iter.bi_size = 0;
	percpu_counter_sub(&pages->nr_out, nr);
	if (!may_sleep)
		return false;
	mutex_lock(&pages->lock);
	/* Only now: many that wait empty-handed would put the one who takes pages over the share. */
	percpu_counter_add(&pages->nr_out, nr);
	fdecrypt_pages_take(pages, bio, bytes, GFP_NOIO, 0);
	mutex_unlock(&pages->lock);
	return true;
}

/**
 * fdecrypt_pages_release - give the pages of a bio back
 * @pages: the pages of the mapping
 * @bio: a bio that fdecrypt_pages_add() filled
 *
 * Context: any.
 */
void fdecrypt_pages_release(struct fdecrypt_pages *pages, struct bio *bio)
{
	percpu_counter_sub(&pages->nr_out, fdecrypt_pages_give_back(pages, bio));
}

/**
 * fdecrypt_pages_init - make the pool
 * @pages: all zero
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; after an error fdecrypt_pages_exit() cleans up.
 */
int fdecrypt_pages_init(struct fdecrypt_pages *pages)
{
	int err;

	mutex_init(&pages->lock);
	atomic_inc(&nr_mappings);
	pages->counted = true;
	err = percpu_counter_init(&pages->nr_out, 0, GFP_KERNEL);
	if (err)
		return err;
	return mempool_init(&pages->pool, FDECRYPT_PAGES_MAX, fdecrypt_page_alloc, fdecrypt_page_free, pages);
}

/**
 * fdecrypt_pages_exit - free the pool
 * @pages: what fdecrypt_pages_init() has been called for, or all zero
 *
 * Context: may sleep; no page is out.
 */
void fdecrypt_pages_exit(struct fdecrypt_pages *pages)
{
	mempool_exit(&pages->pool);
	WARN_ON(percpu_counter_initialized(&pages->nr_out) && percpu_counter_sum(&pages->nr_out));
	percpu_counter_destroy(&pages->nr_out);
	if (pages->counted)
		atomic_dec(&nr_mappings);
	pages->counted = false;
}
