// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device-mapper target for tests: passes every bio on as it is, and remembers what it was.
 *
 *	<start> <length> witness <device> <offset> [watch|irqs-off|hardirq|append|stream:<n>]...
 *
 * watch	look whether reads are decrypted where they end
 * irqs-off	the same, and reads and writes end with interrupts disabled
 * hardirq	the same, and they end in a timer's hard interrupt
 * append	writes become zone appends; <touched> counts those that were not written where the write would have been
 * stream:<n>	writes carry this write stream from here on
 *
 * The message "reset" forgets. INFO is
 *
 *	<bios> <touched> <record>...
 *
 * with the first RECORDS bios that had data or were a flush, each
 *
 *	<operation>,<flag|flag...>,<I/O priority>,<write hint>,<write stream>,<cgroup>,<sector>,<bytes>
 *
 * where the sector counts from the start of the target. <touched> is how many reads had other data after their end
 * function than before: they were decrypted right there. With one CPU nobody else can have done that while interrupts
 * were off.
 */

#include "dm-core.h"

#include <linux/atomic.h>
#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/device-mapper.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define RECORDS	256

struct witness_record {
	blk_opf_t opf;
	u16 prio;
	u8 hint;
	u8 stream;
	int cgroup;
	sector_t sector;
	unsigned int bytes;
};

struct witness {
	struct dm_dev *dev;
	sector_t start;
	bool watch;
	bool irqs_off;
	bool hardirq;
	bool append;
	u8 stream;
	spinlock_t lock;	/* for what follows */
	unsigned int bios;
	struct witness_record records[RECORDS];
};

struct witness_io {
	struct witness *witness;
	struct bio *bio;
	struct bio_vec first;
	sector_t sector;	/* where an append should be written; bios that are none: 0 */
	bio_end_io_t *end_io;
	void *private;
	struct hrtimer timer;
};

/* Not in struct witness, which may be gone after the last bio. */
static atomic_t touched;

static const struct {
	blk_opf_t flag;
	const char *name;
} flags[] = {
	{ REQ_FAILFAST_DEV | REQ_FAILFAST_TRANSPORT | REQ_FAILFAST_DRIVER, "FAILFAST" },
	{ REQ_SYNC, "SYNC" }, { REQ_META, "META" }, { REQ_PRIO, "PRIO" }, { REQ_NOMERGE, "NOMERGE" },
	{ REQ_IDLE, "IDLE" }, { REQ_FUA, "FUA" }, { REQ_PREFLUSH, "PREFLUSH" }, { REQ_RAHEAD, "RAHEAD" },
	{ REQ_BACKGROUND, "BACKGROUND" }, { REQ_NOWAIT, "NOWAIT" }, { REQ_POLLED, "POLLED" },
	{ REQ_SWAP, "SWAP" }, { REQ_ATOMIC, "ATOMIC" },
};

/* -- the end of a bio ---------------------------------------------------------------------------------------------- */

static void witness_end_now(struct witness_io *io)
{
	struct bio *bio = io->bio;
	bool read = bio_op(bio) == REQ_OP_READ && !bio->bi_status;
	struct page *page = io->first.bv_page;
	const u64 *data = page_address(page) + io->first.bv_offset;
	u64 before = 0;

	/* Bio and @io are gone after its end function, and its pages could be. */
	if (read) {
		get_page(page);
		before = *data;
	}
	bio_endio(bio);
	if (read) {
		if (before != *data)
			atomic_inc(&touched);
		put_page(page);
	}
}

static enum hrtimer_restart witness_timer(struct hrtimer *timer)
{
	witness_end_now(container_of(timer, struct witness_io, timer));
	return HRTIMER_NORESTART;
}

static void witness_end(struct bio *bio)
{
	struct witness_io *io = bio->bi_private;
	unsigned long irqs;

	bio->bi_end_io = io->end_io;
	bio->bi_private = io->private;
	if (io->witness->hardirq) {
		hrtimer_start(&io->timer, 0, HRTIMER_MODE_REL_HARD);
		return;
	}
	if (!io->witness->irqs_off) {
		witness_end_now(io);
		return;
	}
	local_irq_save(irqs);
	witness_end_now(io);
	local_irq_restore(irqs);
}

static int witness_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct witness_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (io->sector && !*error && bio->bi_iter.bi_sector != io->sector)
		atomic_inc(&touched);
	return DM_ENDIO_DONE;
}

/* -- its beginning ------------------------------------------------------------------------------------------------- */

/* Device mapper's clone gets its cgroup after the map function: that of the bio that came in. */
static int witness_cgroup(struct bio *bio)
{
	struct dm_target_io *tio = container_of(bio, struct dm_target_io, clone);
	struct cgroup_subsys_state *css = bio_blkcg_css(tio->io->orig_bio);

	return css ? css->id : 0;
}

static void witness_record(struct witness *w, struct bio *bio, sector_t sector)
{
	unsigned long irqs;

	spin_lock_irqsave(&w->lock, irqs);
	if (w->bios < RECORDS) {
		w->records[w->bios] = (struct witness_record) {
			.opf = bio->bi_opf,
			.prio = bio->bi_ioprio,
			.hint = bio->bi_write_hint,
			.stream = bio->bi_write_stream,
			.cgroup = witness_cgroup(bio),
			.sector = sector,
			.bytes = bio->bi_iter.bi_size,
		};
	}
	w->bios++;
	spin_unlock_irqrestore(&w->lock, irqs);
}

static int witness_map(struct dm_target *ti, struct bio *bio)
{
	struct witness *w = ti->private;
	struct witness_io *io = dm_per_bio_data(bio, sizeof(*io));
	sector_t sector = dm_target_offset(ti, bio->bi_iter.bi_sector);

	bio_set_dev(bio, w->dev->bdev);
	bio->bi_iter.bi_sector = w->start + sector;
	io->sector = 0;
	if (w->append && bio_op(bio) == REQ_OP_WRITE && bio_sectors(bio)) {
		io->sector = bio->bi_iter.bi_sector;
		bio->bi_iter.bi_sector -= bdev_offset_from_zone_start(w->dev->bdev, io->sector);
		bio->bi_opf = (bio->bi_opf & ~REQ_OP_MASK) | REQ_OP_ZONE_APPEND | REQ_NOMERGE;
	}
	if (w->stream && op_is_write(bio_op(bio)))
		bio->bi_write_stream = w->stream;
	if (!bio_has_data(bio) && !(bio->bi_opf & REQ_PREFLUSH))
		return DM_MAPIO_REMAPPED;
	witness_record(w, bio, sector);
	if (bio_has_data(bio) && w->watch) {
		io->witness = w;
		io->bio = bio;
		io->first = bio_iovec(bio);
		io->end_io = bio->bi_end_io;
		io->private = bio->bi_private;
		hrtimer_setup(&io->timer, witness_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
		bio->bi_end_io = witness_end;
		bio->bi_private = io;
	}
	return DM_MAPIO_REMAPPED;
}

static int witness_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct witness *w = ti->private;

	return fn(ti, w->dev, w->start, ti->len, data);
}

static int witness_report_zones(struct dm_target *ti, struct dm_report_zones_args *args, unsigned int nr_zones)
{
	struct witness *w = ti->private;

	return dm_report_zones(w->dev->bdev, w->start, w->start + dm_target_offset(ti, args->next_sector), args,
			       nr_zones);
}

/* -- what it is asked ---------------------------------------------------------------------------------------------- */

static void witness_status(struct dm_target *ti, status_type_t type, unsigned int status_flags, char *result,
			   unsigned int maxlen)
{
	struct witness *w = ti->private;
	size_t sz = 0;
	unsigned int i, j;

	result[0] = '\0';
	if (type != STATUSTYPE_INFO)
		return;
	DMEMIT("%u %u", READ_ONCE(w->bios), atomic_read(&touched));
	for (i = 0; i < min(READ_ONCE(w->bios), RECORDS); i++) {
		const struct witness_record *r = &w->records[i];

		DMEMIT(" %s,", blk_op_str(r->opf & REQ_OP_MASK));
		for (j = 0; j < ARRAY_SIZE(flags); j++) {
			if (r->opf & flags[j].flag)
				DMEMIT("%s|", flags[j].name);
		}
		DMEMIT(",%u,%u,%u,%d,%llu,%u", r->prio, r->hint, r->stream, r->cgroup,
		       (unsigned long long)r->sector, r->bytes);
	}
}

static int witness_message(struct dm_target *ti, unsigned int argc, char **argv, char *result, unsigned int maxlen)
{
	struct witness *w = ti->private;

	if (argc != 1 || strcmp(argv[0], "reset"))
		return -EINVAL;
	spin_lock_irq(&w->lock);
	w->bios = 0;
	spin_unlock_irq(&w->lock);
	atomic_set(&touched, 0);
	return 0;
}

static void witness_dtr(struct dm_target *ti)
{
	struct witness *w = ti->private;

	dm_put_device(ti, w->dev);
	kvfree(w);
}

static int witness_option(struct witness *w, const char *word)
{
	if (!strncmp(word, "stream:", 7))
		return kstrtou8(word + 7, 10, &w->stream);
	w->append = !strcmp(word, "append");
	w->irqs_off = !strcmp(word, "irqs-off");
	w->hardirq = !strcmp(word, "hardirq");
	w->watch = w->irqs_off || w->hardirq || !strcmp(word, "watch");
	return w->watch || w->append ? 0 : -EINVAL;
}

static int witness_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct witness *w;
	unsigned int i;
	u64 start;
	int err = 0;

	if (argc < 2 || kstrtou64(argv[1], 10, &start)) {
		ti->error = "not <device> <offset>";
		return -EINVAL;
	}
	w = kvzalloc(sizeof(*w), GFP_KERNEL);
	if (!w)
		return -ENOMEM;
	spin_lock_init(&w->lock);
	w->start = start;
	for (i = 2; i < argc && !err; i++)
		err = witness_option(w, argv[i]);
	if (err)
		ti->error = "unknown option";
	else
		err = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &w->dev);
	if (err) {
		kvfree(w);
		return err;
	}
	ti->private = w;
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->per_io_data_size = sizeof(struct witness_io);
	return 0;
}

static struct target_type witness_target = {
	.name			= "witness",
	.version		= { 1, 0, 0 },
	.module			= THIS_MODULE,
	.features		= DM_TARGET_NOWAIT | DM_TARGET_ATOMIC_WRITES | DM_TARGET_ZONED_HM,
	.ctr			= witness_ctr,
	.dtr			= witness_dtr,
	.map			= witness_map,
	.end_io			= witness_end_io,
	.report_zones		= witness_report_zones,
	.status			= witness_status,
	.message		= witness_message,
	.iterate_devices	= witness_iterate_devices,
};
module_dm(witness);

MODULE_DESCRIPTION("A device-mapper target that remembers the bios it passes on, for tests");
MODULE_LICENSE("GPL");
