/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data path: a bio on its way through a volume.
 *
 * It must not know table lines, keys or messages: the target hands it a volume that is ready.
 */
#ifndef DM_FDECRYPT_IO_H
#define DM_FDECRYPT_IO_H

#include "dm-fdecrypt-engine.h"
#include "dm-fdecrypt-pages.h"
#include "dm-fdecrypt-worker.h"

#include <linux/bio.h>
#include <linux/blk_types.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock_types.h>
#include <linux/workqueue.h>

struct dm_target;

/* What has been done. */
struct fdecrypt_stats {
	u64 batches[2];			/* [READ], [WRITE] */
	u64 bytes[2];
	u64 errors;			/* batches that the engine failed */
};

struct fdecrypt_counters;

/**
 * struct fdecrypt_volume - what the data path needs to know of a mapping
 * @name: device name for log lines
 * @bdev: device below
 * @start: first 512-byte sector used of it
 * @iv_offset: added to the sector number before the IV is made
 * @unit_size: bytes of a data unit
 * @iv_shift: IV sectors are 512-byte sectors shifted right by this
 * @step: IV sectors from one unit to the next
 * @inline_reads: decrypt where the read completes, whatever its size
 * @inline_writes: encrypt where the write is submitted, whatever its size
 * @keep_order: writes reach the device below in the order they came (zoned devices)
 * @sort_writes: send writes down sorted, as far as they are ready at the same time (disks that turn)
 * @has_key: the engine has the volume's key; without, no bio gets through. Changes only while suspended.
 * @engine: encrypts and decrypts batches
 * @piece_size: bytes of a piece of a bio, with the engine's context
 * @workers: encrypt and decrypt; they never wait for memory
 * @waiting: writes that wait for pages; nothing runs there that a bio in flight needs to end
 * @sort_lock: for @sort_list
 * @sort_list: writes that are encrypted and wait for @sort_work
 * @sort_work: sends them down, on the workers' queue
 * @bios: bios for the device below
 * @pages: pages for encrypted data
 * @counters: what has been done, one for each CPU
 *
 * Const from fdecrypt_volume_init() to fdecrypt_volume_exit(), but for @has_key, the workers' CPUs, and what
 * pools, lists and counters do.
 */
struct fdecrypt_volume {
	const char *name;
	struct block_device *bdev;
	sector_t start;
	u64 iv_offset;
	unsigned int unit_size;
	unsigned int iv_shift;
	unsigned int step;
	bool inline_reads;
	bool inline_writes;
	bool keep_order;
	bool sort_writes;
	bool has_key;
	struct fdecrypt_engine engine;
	size_t piece_size;

	struct fdecrypt_workers workers;
	struct workqueue_struct *waiting;
	spinlock_t sort_lock;
	struct list_head sort_list;
	struct work_struct sort_work;
	struct bio_set bios;
	struct fdecrypt_pages pages;
	struct fdecrypt_counters __percpu *counters;
};

int fdecrypt_volume_init(struct fdecrypt_volume *v, const struct fdecrypt_options *opts, const char **error);
void fdecrypt_volume_exit(struct fdecrypt_volume *v);
size_t fdecrypt_volume_per_bio_size(const struct fdecrypt_volume *v);
int fdecrypt_volume_map(struct fdecrypt_volume *v, struct dm_target *ti, struct bio *bio);
void fdecrypt_volume_stats(const struct fdecrypt_volume *v, struct fdecrypt_stats *sum);

#endif
