// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data path: the life of a read and of a write.
 *
 * It must not know table lines, keys or messages.
 *
 * A read is sent down as it is, with only its end hooked, and decrypted in place when the data has come.
 * A write is encrypted into pages of ours, which are sent down instead: the caller's pages are never
 * written. Both cut the bio into batches, one at a time: a batch is what fits the scatterlists below.
 */

#include "dm-fdecrypt-io.h"

#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/device-mapper.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define DM_MSG_PREFIX	"fdecrypt"

/*
 * A batch is large enough to make the fixed cost of a request small, and small enough not to hold a CPU for
 * long with a slow cipher, however many pages a segment has.
 */
#define BATCH_SEGMENTS	16u
#define BATCH_BYTES	(64u << 10)

/* A write bio never needs more pages than the pool holds, or it could wait for ever. */
#define WRITE_PAGES_MAX	BIO_MAX_VECS
#define WRITE_BYTES_MAX	(WRITE_PAGES_MAX << PAGE_SHIFT)
#define BIOS_IN_POOL	64

/*
 * struct fdecrypt_io - one bio on its way through the volume
 *
 * Lives in the bio's per-bio data, so it exists as long as the bio and is never allocated. Only one context
 * works on it at a time; it needs no lock.
 */
struct fdecrypt_io {
	struct fdecrypt_volume *volume;
	struct bio *base;		/* device mapper's clone of the caller's bio */
	struct bio *out;		/* writes: encrypted data on its way to the device below */
	bio_end_io_t *base_end_io;	/* reads: device mapper's, put back before anybody sees the bio */
	struct bvec_iter src;		/* what is still to be encrypted or decrypted */
	struct bvec_iter dst;		/* the same in @out; reads use @src */
	u64 sector;			/* first sector of @src, counted from the start of the target */
	unsigned int batch_bytes;	/* size of the batch in flight */
	blk_status_t status;
	struct work_struct work;	/* queued at most once at a time */
	struct completion *late;	/* the worker waits here for a late answer; NULL: it does not wait */
	int late_err;
	struct scatterlist src_sg[BATCH_SEGMENTS];
	struct scatterlist dst_sg[BATCH_SEGMENTS];
	struct fdecrypt_batch batch;	/* last: the engine's context follows */
};

static bool fdecrypt_io_is_write(const struct fdecrypt_io *io)
{
	return op_is_write(bio_op(io->base));
}

/* -- batches ------------------------------------------------------------------------------------ */

/* Fill @sg with what fits of @bio from @iter on; returns the bytes, @nr the entries used. */
static unsigned int fdecrypt_fill_sg(struct scatterlist *sg, struct bio *bio, struct bvec_iter iter,
				     unsigned int *nr)
{
	unsigned int bytes = 0;

	for (*nr = 0; *nr < BATCH_SEGMENTS && bytes < BATCH_BYTES && iter.bi_size; ++*nr) {
		struct bio_vec bv = mp_bvec_iter_bvec(bio->bi_io_vec, iter);
		unsigned int len = min(bv.bv_len, BATCH_BYTES - bytes);

		sg_set_page(&sg[*nr], bv.bv_page, len, bv.bv_offset);
		bytes += len;
		bio_advance_iter_single(bio, &iter, len);
	}
	return bytes;
}

/* Build the next batch's lists; returns its bytes: whole units, 0 if one unit alone has too many pieces. */
static unsigned int fdecrypt_build_batch(struct fdecrypt_io *io)
{
	unsigned int bytes, nr;

	sg_init_table(io->src_sg, BATCH_SEGMENTS);
	bytes = fdecrypt_fill_sg(io->src_sg, io->base, io->src, &nr);
	sg_mark_end(&io->src_sg[nr - 1]);
	if (io->out) {
		sg_init_table(io->dst_sg, BATCH_SEGMENTS);
		bytes = min(bytes, fdecrypt_fill_sg(io->dst_sg, io->out, io->dst, &nr));
		sg_mark_end(&io->dst_sg[nr - 1]);
	}
	return round_down(bytes, io->volume->unit_size);
}

static void fdecrypt_report_error(struct fdecrypt_io *io, int err)
{
	struct fdecrypt_volume *v = io->volume;

	this_cpu_inc(v->stats->errors);
	DMERR_LIMIT("%s: %s failed at sector %llu with %s: error %d", v->name,
		    fdecrypt_io_is_write(io) ? "encryption" : "decryption",
		    (unsigned long long)io->sector, fdecrypt_engine_driver(&v->engine), err);
	io->status = BLK_STS_IOERR;
}

/* The batch in flight is through: step over it. */
static void fdecrypt_batch_end(struct fdecrypt_io *io, int err)
{
	bool write = fdecrypt_io_is_write(io);

	if (unlikely(err)) {
		fdecrypt_report_error(io, err);
		return;
	}
	this_cpu_inc(io->volume->stats->batches[write]);
	this_cpu_add(io->volume->stats->bytes[write], io->batch_bytes);
	bio_advance_iter(io->base, &io->src, io->batch_bytes);
	if (io->out)
		bio_advance_iter(io->out, &io->dst, io->batch_bytes);
	io->sector += io->batch_bytes >> SECTOR_SHIFT;
}

/*
 * Encrypt or decrypt what is left, batch by batch.
 *
 * Return: true when all is done or failed, see io->status; false if the engine answers later and
 * fdecrypt_batch_done() goes on.
 */
static bool fdecrypt_convert(struct fdecrypt_io *io, bool may_sleep)
{
	struct fdecrypt_volume *v = io->volume;
	struct fdecrypt_iv_range range = { .unit_size = v->unit_size, .step = v->step };
	/* Read before the engine has the batch: once it answers late, @io may end, and its memory with it. */
	struct completion *late = io->late;
	int err;

	while (io->src.bi_size && !io->status) {
		io->batch_bytes = fdecrypt_build_batch(io);
		if (unlikely(!io->batch_bytes)) {
			fdecrypt_report_error(io, -EINVAL);
			break;
		}
		range.first = (io->sector + v->iv_offset) >> v->iv_shift;
		err = fdecrypt_engine_run(&io->batch, fdecrypt_io_is_write(io), &range, io->src_sg,
					  io->out ? io->dst_sg : io->src_sg, io->batch_bytes);
		if (err == -EINPROGRESS) {
			if (!late)
				return false;
			wait_for_completion(late);
			reinit_completion(late);
			err = io->late_err;
		}
		fdecrypt_batch_end(io, err);
		if (may_sleep)
			cond_resched();
	}
	return true;
}

static void fdecrypt_queue(struct fdecrypt_io *io)
{
	struct fdecrypt_volume *v = io->volume;
	bool needs_pages = fdecrypt_io_is_write(io) && !io->out;

	queue_work(needs_pages ? v->writes : v->crypt, &io->work);
}

/* The engine answered late; it may do so in a context where crypto may not run. */
static void fdecrypt_batch_done(void *data, int err)
{
	struct fdecrypt_io *io = data;

	if (err == -EINPROGRESS)
		return;	/* it left the engine's backlog; the real end is to come */
	if (io->late) {
		io->late_err = err;
		complete(io->late);
		return;
	}
	fdecrypt_batch_end(io, err);
	fdecrypt_queue(io);
}

CRYPTO_COMPLETION(fdecrypt_batch_done)

/* -- pages -------------------------------------------------------------------------------------- */

static void fdecrypt_free_pages(struct fdecrypt_volume *v, struct bio *bio)
{
	struct bio_vec *bv;
	struct bvec_iter_all iter;

	bio_for_each_segment_all(bv, bio, iter) {
		if (bv->bv_page)
			mempool_free(bv->bv_page, &v->pages);
	}
}

static bool fdecrypt_add_pages(struct fdecrypt_volume *v, struct bio *bio, unsigned int bytes, gfp_t gfp)
{
	while (bytes) {
		struct page *page = mempool_alloc(&v->pages, gfp);
		unsigned int len = min_t(unsigned int, bytes, PAGE_SIZE);

		if (!page)
			return false;
		__bio_add_page(bio, page, len, 0);
		bytes -= len;
	}
	return true;
}

/*
 * Make the bio that carries the encrypted data down.
 *
 * First without waiting. If that fails, everything is given back and taken again from the pool, waiting,
 * one write at a time: two writers that each held half of the pool would wait for each other for ever.
 * Waiting always ends, since a write needs no more pages than the pool has, and pages in flight come back.
 *
 * Return: NULL only if @may_sleep is false.
 */
static struct bio *fdecrypt_alloc_out(struct fdecrypt_io *io, bool may_sleep)
{
	struct fdecrypt_volume *v = io->volume;
	unsigned int bytes = io->src.bi_size;
	/* Neither polled nor unwilling to wait: nobody polls this bio, and the caller's was accepted. */
	blk_opf_t opf = io->base->bi_opf & ~(REQ_POLLED | REQ_NOWAIT);
	struct bio *out;

	out = bio_alloc_bioset(v->bdev, DIV_ROUND_UP(bytes, PAGE_SIZE), opf,
			       may_sleep ? GFP_NOIO : GFP_NOWAIT, &v->bios);
	if (!out)
		return NULL;
	if (!fdecrypt_add_pages(v, out, bytes, GFP_NOWAIT | __GFP_NOWARN)) {
		fdecrypt_free_pages(v, out);
		if (!may_sleep) {
			bio_put(out);
			return NULL;
		}
		out->bi_vcnt = 0;
		out->bi_iter.bi_size = 0;
		mutex_lock(&v->pages_lock);
		fdecrypt_add_pages(v, out, bytes, GFP_NOIO);
		mutex_unlock(&v->pages_lock);
	}
	out->bi_iter.bi_sector = v->start + io->sector;
	out->bi_ioprio = io->base->bi_ioprio;
	fdecrypt_copy_hints(out, io->base);
	out->bi_private = io;
	return out;
}

/* -- the life of a write ------------------------------------------------------------------------ */

static void fdecrypt_write_end(struct bio *out)
{
	struct fdecrypt_io *io = out->bi_private;
	struct bio *base = io->base;

	base->bi_status = out->bi_status;
	fdecrypt_free_pages(io->volume, out);
	bio_put(out);
	bio_endio(base);
}

static void fdecrypt_write_fail(struct fdecrypt_io *io)
{
	io->base->bi_status = io->status;
	fdecrypt_free_pages(io->volume, io->out);
	bio_put(io->out);
	bio_endio(io->base);
}

/* Encrypt and send down; also called to go on after an engine answered late. */
static void fdecrypt_write(struct fdecrypt_io *io, bool may_sleep)
{
	if (!io->out) {
		io->out = fdecrypt_alloc_out(io, may_sleep);
		if (!io->out) {
			fdecrypt_queue(io);
			return;
		}
		io->dst = io->out->bi_iter;
		io->out->bi_end_io = fdecrypt_write_end;
	}
	if (!fdecrypt_convert(io, may_sleep))
		return;
	if (unlikely(io->status))
		fdecrypt_write_fail(io);
	else
		dm_submit_bio_remap(io->base, io->out);
}

/* -- the life of a read ------------------------------------------------------------------------- */

static void fdecrypt_read(struct fdecrypt_io *io, bool may_sleep)
{
	if (!fdecrypt_convert(io, may_sleep))
		return;
	io->base->bi_status = io->status;
	bio_endio(io->base);
}

/* The data has come, encrypted. Any context, hard interrupts included. */
static void fdecrypt_read_end(struct bio *bio)
{
	struct fdecrypt_io *io = bio->bi_private;

	bio->bi_end_io = io->base_end_io;
	if (unlikely(bio->bi_status)) {
		bio_endio(bio);
		return;
	}
	if (io->volume->inline_reads && !in_hardirq() && !irqs_disabled())
		fdecrypt_read(io, false);
	else
		fdecrypt_queue(io);
}

/* -- both --------------------------------------------------------------------------------------- */

/* The next write in the queue may not begin before this one is on its way. */
static void fdecrypt_write_in_order(struct fdecrypt_io *io)
{
	DECLARE_COMPLETION_ONSTACK(late);

	io->late = &late;
	fdecrypt_write(io, true);
}

static void fdecrypt_io_work(struct work_struct *work)
{
	struct fdecrypt_io *io = container_of(work, struct fdecrypt_io, work);

	if (!fdecrypt_io_is_write(io))
		fdecrypt_read(io, true);
	else if (io->volume->keep_order)
		fdecrypt_write_in_order(io);
	else
		fdecrypt_write(io, true);
}

static void fdecrypt_io_init(struct fdecrypt_io *io, struct fdecrypt_volume *v, struct bio *bio,
			     sector_t sector)
{
	io->volume = v;
	io->base = bio;
	io->out = NULL;
	io->src = bio->bi_iter;
	io->sector = sector;
	io->status = BLK_STS_OK;
	io->late = NULL;
	INIT_WORK(&io->work, fdecrypt_io_work);
	fdecrypt_engine_prepare(&v->engine, &io->batch, crypto_completion(fdecrypt_batch_done), io);
}

/**
 * fdecrypt_volume_map - take a bio in
 * @v: the volume
 * @ti: its target
 * @bio: device mapper's clone of the caller's bio
 *
 * Flushes and discards carry no data and are passed on, and so is whatever else has none. A read or write
 * that is not made of whole units is refused, and all is while the key is wiped.
 *
 * Context: process; does not sleep.
 * Return: DM_MAPIO_REMAPPED, DM_MAPIO_SUBMITTED or DM_MAPIO_KILL.
 */
int fdecrypt_volume_map(struct fdecrypt_volume *v, struct dm_target *ti, struct bio *bio)
{
	sector_t sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	struct fdecrypt_io *io;

	if (unlikely(!READ_ONCE(v->has_key)))
		return DM_MAPIO_KILL;

	if (!bio_has_data(bio) || bio->bi_opf & REQ_PREFLUSH) {
		bio_set_dev(bio, v->bdev);
		if (bio_sectors(bio) || op_is_zone_mgmt(bio_op(bio)))
			bio->bi_iter.bi_sector = v->start + sector;
		return DM_MAPIO_REMAPPED;
	}
	if (op_is_write(bio_op(bio)) && unlikely(bio->bi_iter.bi_size > WRITE_BYTES_MAX)) {
		/* The limits keep these small; a part of one is not what the caller asked for. */
		if (v->keep_order || bio->bi_opf & REQ_ATOMIC)
			return DM_MAPIO_KILL;
		dm_accept_partial_bio(bio, WRITE_BYTES_MAX >> SECTOR_SHIFT);
	}
	/* The queue limits make this impossible for callers that honour them. */
	if (unlikely(((sector << SECTOR_SHIFT) | bio->bi_iter.bi_size) & (v->unit_size - 1)))
		return DM_MAPIO_KILL;

	io = dm_per_bio_data(bio, fdecrypt_volume_per_bio_size(v));
	fdecrypt_io_init(io, v, bio, sector);

	if (op_is_write(bio_op(bio))) {
		if (v->inline_writes)
			fdecrypt_write(io, false);
		else
			fdecrypt_queue(io);
		return DM_MAPIO_SUBMITTED;
	}

	io->base_end_io = bio->bi_end_io;
	bio->bi_end_io = fdecrypt_read_end;
	bio->bi_private = io;
	bio->bi_opf &= ~REQ_POLLED;
	bio_set_dev(bio, v->bdev);
	bio->bi_iter.bi_sector = v->start + sector;
	return DM_MAPIO_REMAPPED;
}

/**
 * fdecrypt_volume_per_bio_size - say how much per-bio data the volume needs
 * @v: the volume; its engine is open
 *
 * Context: any.
 * Return: bytes.
 */
size_t fdecrypt_volume_per_bio_size(const struct fdecrypt_volume *v)
{
	return ALIGN(offsetof(struct fdecrypt_io, batch) + fdecrypt_engine_batch_size(&v->engine),
		     CRYPTO_MINALIGN);
}

/**
 * fdecrypt_volume_init - make the pools and workers of a volume
 * @v: the volume; what comes before its workers is filled in, the rest is zero
 * @opts: options of the table line
 * @error: on failure, what was wrong
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; after an error fdecrypt_volume_exit() cleans up.
 */
int fdecrypt_volume_init(struct fdecrypt_volume *v, const struct fdecrypt_options *opts, const char **error)
{
	unsigned int flags = WQ_MEM_RECLAIM;

	if (opts->same_cpu_crypt)
		flags |= WQ_PERCPU | WQ_CPU_INTENSIVE;
	else
		flags |= WQ_UNBOUND;
	if (opts->high_priority)
		flags |= WQ_HIGHPRI;

	mutex_init(&v->pages_lock);
	v->inline_reads = opts->no_read_workqueue;
	v->inline_writes = opts->no_write_workqueue && !v->keep_order;

	*error = "Cannot allocate counters";
	v->stats = alloc_percpu(struct fdecrypt_stats);
	if (!v->stats)
		return -ENOMEM;
	*error = "Cannot allocate page mempool";
	if (mempool_init_page_pool(&v->pages, WRITE_PAGES_MAX, 0))
		return -ENOMEM;
	*error = "Cannot allocate crypt bioset";
	if (bioset_init(&v->bios, BIOS_IN_POOL, 0, BIOSET_NEED_BVECS))
		return -ENOMEM;
	*error = "Couldn't create the crypt workers";
	v->crypt = alloc_workqueue("fdecrypt/%s", flags, num_online_cpus(), v->name);
	if (!v->crypt)
		return -ENOMEM;
	*error = "Couldn't create the write workers";
	if (v->keep_order)
		v->writes = alloc_ordered_workqueue("fdecrypt_w/%s", WQ_MEM_RECLAIM, v->name);
	else
		v->writes = alloc_workqueue("fdecrypt_w/%s", flags, num_online_cpus(), v->name);
	if (!v->writes)
		return -ENOMEM;
	*error = NULL;
	return 0;
}

/**
 * fdecrypt_volume_exit - free what fdecrypt_volume_init() made, however far it came
 * @v: the volume; no bio is in flight
 *
 * Context: may sleep.
 */
void fdecrypt_volume_exit(struct fdecrypt_volume *v)
{
	if (v->crypt)
		destroy_workqueue(v->crypt);
	if (v->writes)
		destroy_workqueue(v->writes);
	bioset_exit(&v->bios);
	mempool_exit(&v->pages);
	free_percpu(v->stats);
}

/**
 * fdecrypt_volume_stats - add up the counters of all CPUs
 * @v: the volume
 * @sum: result; not a snapshot while I/O goes on
 *
 * Context: any.
 */
void fdecrypt_volume_stats(const struct fdecrypt_volume *v, struct fdecrypt_stats *sum)
{
	unsigned int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct fdecrypt_stats *s = per_cpu_ptr(v->stats, cpu);

		for (i = 0; i < 2; i++) {
			sum->batches[i] += READ_ONCE(s->batches[i]);
			sum->bytes[i] += READ_ONCE(s->bytes[i]);
		}
		sum->errors += READ_ONCE(s->errors);
	}
}
