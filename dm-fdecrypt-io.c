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
#include <linux/list_sort.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ratelimit.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <asm/local64.h>

#define DM_MSG_PREFIX	"fdecrypt"

/*
 * A batch is large enough to make the fixed cost of a request small, and small enough not to hold a CPU for
 * long with a slow cipher, however many pages a segment has.
 */
#define BATCH_SEGMENTS	16u
#define BATCH_BYTES	(64u << 10)

/* A bio that is shared with another CPU has at least that many bytes for each CPU that helps. */
#define PIECE_BYTES	(64u << 10)
#define PIECES_MAX	16u

/* A write bio never needs more pages than the pool holds, or it could wait for ever. */
#define WRITE_BYTES_MAX	(FDECRYPT_PAGES_MAX << PAGE_SHIFT)

/* One is enough never to stand still; each has a page of bio vectors, which small machines lack. */
#define BIOS_IN_POOL	16

static unsigned int inline_bytes = 16384;
module_param(inline_bytes, uint, 0644);
MODULE_PARM_DESC(inline_bytes, "I/O of up to that many bytes is not handed to a worker (default 16384)");

struct fdecrypt_io;

/* What a CPU has done: local types, since operations on plain ones turn interrupts off and on somewhere. */
struct fdecrypt_counters {
	local64_t batches[2];
	local64_t bytes[2];
	local64_t errors;
};

/*
 * struct fdecrypt_piece - a part of a bio that one CPU works on
 *
 * Only one context works on it at a time; it needs no lock.
 */
struct fdecrypt_piece {
	struct fdecrypt_job job;
	struct fdecrypt_io *io;
	struct bvec_iter src;		/* what is still to be encrypted or decrypted */
	struct bvec_iter dst;		/* the same in the bio that goes down; reads use @src */
	u64 sector;			/* first sector of @src, counted from the start of the target */
	unsigned int batch_bytes;	/* size of the batch in flight */
	struct completion *late;	/* the worker waits here for a late answer; NULL: it does not wait */
	int late_err;
	struct scatterlist src_sg[BATCH_SEGMENTS];
	struct scatterlist dst_sg[BATCH_SEGMENTS];
	struct fdecrypt_batch batch;	/* last: the engine's context follows */
};

/*
 * struct fdecrypt_io - one bio on its way through the volume
 *
 * Lives in the bio's per-bio data, so it exists as long as the bio and is never allocated. It ends with its
 * last piece; the first piece is part of it, more are allocated if memory is there.
 */
struct fdecrypt_io {
	struct fdecrypt_volume *volume;
	struct bio *base;		/* device mapper's clone of the caller's bio */
	struct bio *out;		/* writes: encrypted data on its way to the device below */
	bio_end_io_t *base_end_io;	/* reads: device mapper's, put back before anybody sees the bio */
	struct bvec_iter iter;		/* the range as submitted; the driver below uses bi_iter up */
	u64 sector;			/* its first sector, counted from the start of the target */
	atomic_t pieces;		/* still at work */
	blk_status_t status;		/* set by any piece that fails */
	struct work_struct work;	/* writes that wait for pages */
	struct list_head list;		/* writes that wait to be sorted */
	struct fdecrypt_piece first;	/* last: it has no fixed size */
};

static bool fdecrypt_io_is_write(const struct fdecrypt_io *io)
{
	return op_is_write(bio_op(io->base));
}

static enum fdecrypt_job_class fdecrypt_io_class(const struct fdecrypt_io *io)
{
	return fdecrypt_io_is_write(io) ? FDECRYPT_JOB_WRITE : FDECRYPT_JOB_READ;
}

/* May crypto run in this context, and may this CPU do it? Reads end anywhere, hard interrupts included. */
static bool fdecrypt_may_crypt_here(const struct fdecrypt_volume *v)
{
	return !in_hardirq() && !irqs_disabled() && fdecrypt_workers_may_run_here(&v->workers);
}

/* -- batches ------------------------------------------------------------------------------------ */

/* Fill @sg with what fits of @bio from @iter on; returns the bytes. */
static unsigned int fdecrypt_fill_sg(struct scatterlist *sg, struct bio *bio, struct bvec_iter iter)
{
	unsigned int bytes = 0, nr;

	for (nr = 0; nr < BATCH_SEGMENTS && bytes < BATCH_BYTES && iter.bi_size; nr++) {
		struct bio_vec bv = mp_bvec_iter_bvec(bio->bi_io_vec, iter);
		unsigned int len = min(bv.bv_len, BATCH_BYTES - bytes);

		/* Not sg_init_table(): clearing what a small bio does not use takes longer than its AES. */
		sg[nr] = (struct scatterlist){ };
		sg_set_page(&sg[nr], bv.bv_page, len, bv.bv_offset);
		bytes += len;
		bio_advance_iter_single(bio, &iter, len);
	}
	sg_mark_end(&sg[nr - 1]);
	return bytes;
}

/* Build the next batch's lists; returns its bytes: whole units, 0 if one unit alone has too many pieces. */
static unsigned int fdecrypt_build_batch(struct fdecrypt_piece *p)
{
	struct fdecrypt_io *io = p->io;
	unsigned int bytes;

	bytes = fdecrypt_fill_sg(p->src_sg, io->base, p->src);
	if (io->out)
		bytes = min(bytes, fdecrypt_fill_sg(p->dst_sg, io->out, p->dst));
	return round_down(bytes, io->volume->unit_size);
}

static void fdecrypt_count_batch(struct fdecrypt_volume *v, bool write, unsigned int bytes)
{
	struct fdecrypt_counters *c = get_cpu_ptr(v->counters);

	local64_inc(&c->batches[write]);
	local64_add(bytes, &c->bytes[write]);
	put_cpu_ptr(v->counters);
}

static void fdecrypt_count_error(struct fdecrypt_volume *v)
{
	local64_inc(&get_cpu_ptr(v->counters)->errors);
	put_cpu_ptr(v->counters);
}

static void fdecrypt_report_error(struct fdecrypt_piece *p, int err)
{
	struct fdecrypt_io *io = p->io;
	struct fdecrypt_volume *v = io->volume;

	fdecrypt_count_error(v);
	DMERR_LIMIT("%s: %s failed at sector %llu with %s: error %d", v->name,
		    fdecrypt_io_is_write(io) ? "encryption" : "decryption",
		    (unsigned long long)p->sector, fdecrypt_engine_driver(&v->engine), err);
	WRITE_ONCE(io->status, BLK_STS_IOERR);
}

/* The batch in flight is through: step over it. */
static void fdecrypt_batch_end(struct fdecrypt_piece *p, int err)
{
	struct fdecrypt_io *io = p->io;

	if (unlikely(err)) {
		fdecrypt_report_error(p, err);
		return;
	}
	fdecrypt_count_batch(io->volume, fdecrypt_io_is_write(io), p->batch_bytes);
	bio_advance_iter(io->base, &p->src, p->batch_bytes);
	if (io->out)
		bio_advance_iter(io->out, &p->dst, p->batch_bytes);
	p->sector += p->batch_bytes >> SECTOR_SHIFT;
}

/*
 * Encrypt or decrypt what is left of a piece, batch by batch.
 *
 * Return: true when all is done or failed, see io->status; false if the engine answers later and
 * fdecrypt_batch_done() goes on.
 */
static bool fdecrypt_convert(struct fdecrypt_piece *p, bool may_sleep)
{
	struct fdecrypt_io *io = p->io;
	struct fdecrypt_volume *v = io->volume;
	struct fdecrypt_iv_range range = { .unit_size = v->unit_size, .step = v->step };
	/* Read before the engine has the batch: once it answers late, @p and @io may end. */
	struct completion *late = p->late;
	int err;

	while (p->src.bi_size && !READ_ONCE(io->status)) {
		p->batch_bytes = fdecrypt_build_batch(p);
		if (unlikely(!p->batch_bytes)) {
			fdecrypt_report_error(p, -EINVAL);
			break;
		}
		range.first = (p->sector + v->iv_offset) >> v->iv_shift;
		err = fdecrypt_engine_run(&p->batch, fdecrypt_io_is_write(io), &range, p->src_sg,
					  io->out ? p->dst_sg : p->src_sg, p->batch_bytes);
		if (err == -EINPROGRESS) {
			if (!late)
				return false;
			wait_for_completion(late);
			reinit_completion(late);
			err = p->late_err;
		}
		fdecrypt_batch_end(p, err);
		if (may_sleep)
			cond_resched();
	}
	return true;
}

/* The engine answered late; it may do so in a context where crypto may not run. */
static void fdecrypt_batch_done(void *data, int err)
{
	struct fdecrypt_piece *p = data;
	struct fdecrypt_volume *v = p->io->volume;

	if (err == -EINPROGRESS)
		return;	/* it left the engine's backlog; the real end is to come */
	if (p->late) {
		p->late_err = err;
		complete(p->late);
		return;
	}
	fdecrypt_batch_end(p, err);
	fdecrypt_workers_queue(&v->workers, &p->job, fdecrypt_io_class(p->io),
			       fdecrypt_workers_pick_one(&v->workers));
}

CRYPTO_COMPLETION(fdecrypt_batch_done)

/* -- pieces: one bio on several CPUs ------------------------------------------------------------ */

static void fdecrypt_io_finish(struct fdecrypt_io *io);

static void fdecrypt_piece_run(struct fdecrypt_piece *p, bool may_sleep)
{
	struct fdecrypt_io *io = p->io;

	if (!fdecrypt_convert(p, may_sleep))
		return;
	if (p != &io->first)
		kfree(p);
	if (atomic_dec_and_test(&io->pieces))
		fdecrypt_io_finish(io);
}

static void fdecrypt_piece_job(struct fdecrypt_job *job)
{
	fdecrypt_piece_run(container_of(job, struct fdecrypt_piece, job), true);
}

/* Make @p the @bytes of its bio that begin @offset bytes behind the bio's start. */
static void fdecrypt_piece_init(struct fdecrypt_piece *p, struct fdecrypt_io *io, unsigned int offset,
				unsigned int bytes)
{
	p->job.run = fdecrypt_piece_job;
	p->io = io;
	p->late = NULL;
	p->sector = io->sector + (offset >> SECTOR_SHIFT);
	p->src = io->iter;
	bio_advance_iter(io->base, &p->src, offset);
	p->src.bi_size = bytes;
	if (io->out) {
		p->dst = io->out->bi_iter;
		bio_advance_iter(io->out, &p->dst, offset);
		p->dst.bi_size = bytes;
	}
	fdecrypt_engine_prepare(&io->volume->engine, &p->batch, crypto_completion(fdecrypt_batch_done), p);
}

/* Give parts of the bio to idle CPUs; returns the bytes that are left for the first piece. */
static unsigned int fdecrypt_spread(struct fdecrypt_io *io, const unsigned int *cpus, unsigned int nr)
{
	struct fdecrypt_volume *v = io->volume;
	unsigned int share = round_up(io->iter.bi_size / (nr + 1), v->unit_size);
	unsigned int end = io->iter.bi_size;
	struct fdecrypt_piece *p;

	for (; nr && end > share; nr--) {
		/* A helping hand: without memory, reserves not touched, the rest stays in one piece. */
		p = kmalloc(v->piece_size, GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC);
		if (!p)
			break;
		fdecrypt_piece_init(p, io, end - share, share);
		end -= share;
		atomic_inc(&io->pieces);
		fdecrypt_workers_queue(&v->workers, &p->job, fdecrypt_io_class(io), cpus[nr - 1]);
	}
	return end;
}

/*
 * Encrypt or decrypt a bio: here, on other CPUs, or both.
 *
 * Small I/O is done where it is, since a hop to another thread costs more than it; so is all, where the table
 * line asks for that. Large I/O is cut into pieces for idle CPUs; one is kept here, or, where this context is
 * not one to stay in for long, given to a worker too.
 */
static void fdecrypt_dispatch(struct fdecrypt_io *io, bool inline_all)
{
	struct fdecrypt_volume *v = io->volume;
	unsigned int bytes = io->iter.bi_size, cpus[PIECES_MAX], nr = 0, cpu;
	bool here = fdecrypt_may_crypt_here(v);

	if (here && (inline_all || bytes <= READ_ONCE(inline_bytes))) {
		fdecrypt_piece_init(&io->first, io, 0, bytes);
		fdecrypt_piece_run(&io->first, false);
		return;
	}

	if (!v->workers.stay)
		nr = fdecrypt_workers_pick_idle(&v->workers, cpus, min(bytes / PIECE_BYTES, PIECES_MAX));
	/* With nobody else idle the first piece is all of it, and too much to keep the submitter with. */
	here = here && nr && !in_serving_softirq();
	bytes = fdecrypt_spread(io, cpus, nr);
	fdecrypt_piece_init(&io->first, io, 0, bytes);
	if (here) {
		fdecrypt_piece_run(&io->first, false);
		return;
	}
	/* Where the two options contradict each other, the CPUs win: they may be kept free for a reason. */
	if (v->workers.stay && fdecrypt_workers_may_run_here(&v->workers))
		cpu = raw_smp_processor_id();
	else
		cpu = fdecrypt_workers_pick_one(&v->workers);
	fdecrypt_workers_queue(&v->workers, &io->first.job, fdecrypt_io_class(io), cpu);
}

/* -- the life of a write ------------------------------------------------------------------------ */

static void fdecrypt_write_end(struct bio *out)
{
	struct fdecrypt_io *io = out->bi_private;
	struct bio *base = io->base;

	base->bi_status = out->bi_status;
	fdecrypt_pages_release(&io->volume->pages, out);
	bio_put(out);
	bio_endio(base);
}

/*
 * Make the bio that carries the encrypted data down.
 *
 * Return: true if it is there; false only if not @may_sleep.
 */
static bool fdecrypt_make_out(struct fdecrypt_io *io, bool may_sleep)
{
	struct fdecrypt_volume *v = io->volume;
	unsigned int bytes = io->iter.bi_size;
	/* Neither polled nor unwilling to wait: nobody polls this bio, and the caller's was accepted. */
	blk_opf_t opf = io->base->bi_opf & ~(REQ_POLLED | REQ_NOWAIT);
	struct bio *out;

	out = bio_alloc_bioset(v->bdev, DIV_ROUND_UP(bytes, PAGE_SIZE), opf,
			       may_sleep ? GFP_NOIO : GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NOWARN, &v->bios);
	if (!out)
		return false;
	if (!fdecrypt_pages_add(&v->pages, out, bytes, may_sleep)) {
		bio_put(out);
		return false;
	}
	out->bi_iter.bi_sector = v->start + io->sector;
	out->bi_ioprio = io->base->bi_ioprio;
	fdecrypt_copy_hints(out, io->base);
	out->bi_private = io;
	out->bi_end_io = fdecrypt_write_end;
	io->out = out;
	return true;
}

/* The first piece of a bio, done by a worker while somebody waits. */
struct fdecrypt_errand {
	struct fdecrypt_job job;
	struct fdecrypt_piece *piece;
	struct completion done;
};

static void fdecrypt_errand_job(struct fdecrypt_job *job)
{
	struct fdecrypt_errand *errand = container_of(job, struct fdecrypt_errand, job);

	fdecrypt_piece_run(errand->piece, true);
	complete(&errand->done);
}

/* Encrypt a write and send it down before returning: the next in the queue may not overtake it. */
static void fdecrypt_write_in_order(struct fdecrypt_io *io)
{
	struct fdecrypt_workers *ws = &io->volume->workers;
	struct fdecrypt_errand errand = { .job.run = fdecrypt_errand_job, .piece = &io->first };
	DECLARE_COMPLETION_ONSTACK(late);

	fdecrypt_piece_init(&io->first, io, 0, io->iter.bi_size);
	io->first.late = &late;
	if (fdecrypt_workers_may_run_here(ws)) {
		fdecrypt_piece_run(&io->first, true);
		return;
	}
	init_completion(&errand.done);
	fdecrypt_workers_queue(ws, &errand.job, FDECRYPT_JOB_WRITE, fdecrypt_workers_pick_one(ws));
	wait_for_completion(&errand.done);
}

/* Where waiting for pages is allowed: nothing that could give pages back runs on this queue. */
static void fdecrypt_write_work(struct work_struct *work)
{
	struct fdecrypt_io *io = container_of(work, struct fdecrypt_io, work);

	fdecrypt_make_out(io, true);
	if (io->volume->keep_order)
		fdecrypt_write_in_order(io);
	else
		fdecrypt_dispatch(io, false);
}

static int fdecrypt_compare_sectors(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct fdecrypt_io *first = list_entry(a, struct fdecrypt_io, list);
	const struct fdecrypt_io *second = list_entry(b, struct fdecrypt_io, list);

	return first->sector > second->sector;
}

/* Send down what several CPUs have encrypted meanwhile, as a disk that turns likes it. */
static void fdecrypt_sort_work(struct work_struct *work)
{
	struct fdecrypt_volume *v = container_of(work, struct fdecrypt_volume, sort_work);
	struct fdecrypt_io *io, *next;
	struct blk_plug plug;
	LIST_HEAD(list);

	spin_lock_irq(&v->sort_lock);
	list_splice_init(&v->sort_list, &list);
	spin_unlock_irq(&v->sort_lock);

	list_sort(NULL, &list, fdecrypt_compare_sectors);
	blk_start_plug(&plug);
	/* A bio may end, and its io with it, as soon as it is on its way. */
	list_for_each_entry_safe(io, next, &list, list)
		dm_submit_bio_remap(io->base, io->out);
	blk_finish_plug(&plug);
}

/* A write is encrypted. */
static void fdecrypt_send_down(struct fdecrypt_io *io)
{
	struct fdecrypt_volume *v = io->volume;
	unsigned long flags;

	if (!v->sort_writes) {
		dm_submit_bio_remap(io->base, io->out);
		return;
	}
	/* Under the lock: as soon as the work can see the io, its bio may end, and the mapping with it. */
	spin_lock_irqsave(&v->sort_lock, flags);
	list_add_tail(&io->list, &v->sort_list);
	queue_work(v->workers.wq, &v->sort_work);
	spin_unlock_irqrestore(&v->sort_lock, flags);
}

static void fdecrypt_write(struct fdecrypt_io *io)
{
	struct fdecrypt_volume *v = io->volume;

	if (v->keep_order || !fdecrypt_make_out(io, false))
		queue_work(v->waiting, &io->work);
	else
		fdecrypt_dispatch(io, v->inline_writes);
}

/* -- the life of a read ------------------------------------------------------------------------- */

/* The data has come, encrypted. Any context, hard interrupts included. */
static void fdecrypt_read_end(struct bio *bio)
{
	struct fdecrypt_io *io = bio->bi_private;

	bio->bi_end_io = io->base_end_io;
	if (unlikely(bio->bi_status))
		bio_endio(bio);
	else
		fdecrypt_dispatch(io, io->volume->inline_reads);
}

/* -- both --------------------------------------------------------------------------------------- */

/* All pieces are done. */
static void fdecrypt_io_finish(struct fdecrypt_io *io)
{
	if (!io->out) {
		io->base->bi_status = io->status;
		bio_endio(io->base);
	} else if (unlikely(io->status)) {
		io->out->bi_status = io->status;
		fdecrypt_write_end(io->out);
	} else {
		fdecrypt_send_down(io);
	}
}

static void fdecrypt_io_init(struct fdecrypt_io *io, struct fdecrypt_volume *v, struct bio *bio,
			     sector_t sector)
{
	io->volume = v;
	io->base = bio;
	io->out = NULL;
	io->iter = bio->bi_iter;
	io->sector = sector;
	atomic_set(&io->pieces, 1);
	io->status = BLK_STS_OK;
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

	/* Device mapper sends the flush of a write with data by itself, without any. */
	if (!bio_has_data(bio)) {
		bio_set_dev(bio, v->bdev);
		if (bio_sectors(bio) || op_is_zone_mgmt(bio_op(bio)))
			bio->bi_iter.bi_sector = v->start + sector;
		return DM_MAPIO_REMAPPED;
	}
	if (op_is_write(bio_op(bio)) && unlikely(bio->bi_iter.bi_size > WRITE_BYTES_MAX)) {
		/* The limits keep these small; a part of one is not what the caller asked for. */
		if ((v->keep_order && FDECRYPT_ZONED_WRITES_ARE_SPLIT) || bio->bi_opf & REQ_ATOMIC)
			return DM_MAPIO_KILL;
		dm_accept_partial_bio(bio, WRITE_BYTES_MAX >> SECTOR_SHIFT);
	}
	/* The queue limits make this impossible for callers that honour them. */
	if (unlikely(((sector << SECTOR_SHIFT) | bio->bi_iter.bi_size) & (v->unit_size - 1)))
		return DM_MAPIO_KILL;

	io = dm_per_bio_data(bio, fdecrypt_volume_per_bio_size(v));
	fdecrypt_io_init(io, v, bio, sector);

	if (op_is_write(bio_op(bio))) {
		INIT_WORK(&io->work, fdecrypt_write_work);
		fdecrypt_write(io);
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
	return ALIGN(offsetof(struct fdecrypt_io, first.batch) + fdecrypt_engine_batch_size(&v->engine),
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
	v->inline_reads = opts->no_read_workqueue;
	v->inline_writes = opts->no_write_workqueue;
	v->workers.stay = opts->same_cpu_crypt;
	v->sort_writes = !v->keep_order && !opts->no_write_workqueue && !opts->submit_from_crypt_cpus &&
			 fdecrypt_is_rotational(v->bdev);
	spin_lock_init(&v->sort_lock);
	INIT_LIST_HEAD(&v->sort_list);
	INIT_WORK(&v->sort_work, fdecrypt_sort_work);
	v->piece_size = offsetof(struct fdecrypt_piece, batch) + fdecrypt_engine_batch_size(&v->engine);

	*error = "Cannot allocate counters";
	v->counters = alloc_percpu(struct fdecrypt_counters);
	if (!v->counters)
		return -ENOMEM;
	*error = "Cannot allocate page mempool";
	if (fdecrypt_pages_init(&v->pages))
		return -ENOMEM;
	*error = "Cannot allocate crypt bioset";
	if (bioset_init(&v->bios, BIOS_IN_POOL, 0, BIOSET_NEED_BVECS))
		return -ENOMEM;
	*error = "Couldn't create the workers";
	if (fdecrypt_workers_init(&v->workers, v->name, opts->high_priority))
		return -ENOMEM;
	if (v->keep_order)
		v->waiting = alloc_ordered_workqueue("fdecrypt_w/%s", WQ_MEM_RECLAIM, v->name);
	else
		v->waiting = alloc_workqueue("fdecrypt_w/%s", WQ_MEM_RECLAIM | WQ_UNBOUND, num_online_cpus(),
					     v->name);
	if (!v->waiting)
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
	/* First what hands jobs to the workers. */
	if (v->waiting)
		destroy_workqueue(v->waiting);
	fdecrypt_workers_exit(&v->workers);
	bioset_exit(&v->bios);
	fdecrypt_pages_exit(&v->pages);
	free_percpu(v->counters);
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
		const struct fdecrypt_counters *c = per_cpu_ptr(v->counters, cpu);

		for (i = 0; i < 2; i++) {
			sum->batches[i] += local64_read(&c->batches[i]);
			sum->bytes[i] += local64_read(&c->bytes[i]);
		}
		sum->errors += local64_read(&c->errors);
	}
}
