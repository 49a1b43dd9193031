// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device-mapper target: table in, bios through, status out.
 *
 * It ties the parts together and knows device mapper; how bios, keys, IVs and ciphers work it must not know.
 */

#include "dm-fdecrypt-engine.h"
#include "dm-fdecrypt-fdiv.h"
#include "dm-fdecrypt-io.h"
#include "dm-fdecrypt-key.h"
#include "dm-fdecrypt-settings.h"
#include "dm-fdecrypt-table.h"
#include "dm-fdecrypt-worker.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#define DM_MSG_PREFIX	"fdecrypt"

static bool show_keys;
module_param(show_keys, bool, 0600);
MODULE_PARM_DESC(show_keys, "Print raw keys in TABLE text; zeros stand for them otherwise (default 0)");

static char *names = "fdecrypt";
module_param(names, charp, 0444);
MODULE_PARM_DESC(names, "Names of the target: fdecrypt, crypt (in place of dm-crypt), or fdecrypt,crypt (default fdecrypt)");

/*
 * struct fdecrypt_target - a mapping
 *
 * Const from constructor to destructor, but for @settings, which change at any time, and @key and @suspended,
 * which change only while no bio is in flight. Device mapper lets messages, status and resume run at the
 * same time.
 */
struct fdecrypt_target {
	char *cipher_word;		/* as the table line had it */
	struct fdecrypt_cipher cipher;
	struct fdecrypt_options opts;
	struct fdecrypt_settings_user settings;	/* has a lock inside */
	struct mutex lock;		/* for what messages, status and resume share */
	struct fdecrypt_key key;	/* protected by lock */
	bool suspended;			/* protected by lock */
	struct dm_dev *dev;
	struct fdecrypt_volume volume;
};

/* -- constructor and destructor ----------------------------------------------------------------- */

static void fdecrypt_dtr(struct dm_target *ti)
{
	struct fdecrypt_target *ft = ti->private;

	fdecrypt_volume_exit(&ft->volume);
	fdecrypt_engine_close(&ft->volume.engine);
	if (ft->dev)
		dm_put_device(ti, ft->dev);
	fdecrypt_key_wipe(&ft->key);
	fdecrypt_settings_leave(&ft->settings);
	kfree(ft->cipher_word);
	kfree(ft);
}

/* <key>, into key and engine */
static int fdecrypt_ctr_key(struct fdecrypt_target *ft, const char *word, const char **error)
{
	int err;

	err = fdecrypt_key_load(&ft->key, word, error);
	if (err)
		return err;
	if (ft->key.size % ft->cipher.key_count) {
		*error = "Error decoding and setting key: the key size is not a multiple of the key count";
		return -EINVAL;
	}
	err = fdecrypt_engine_set_key(&ft->volume.engine, ft->key.bytes, ft->key.size);
	if (err)
		*error = "Error decoding and setting key: the cipher takes no key of this size or value";
	fdecrypt_key_forget_bytes(&ft->key);
	ft->volume.has_key = !err;
	return err;
}

/* <iv_offset> */
static int fdecrypt_ctr_iv_offset(struct fdecrypt_target *ft, const char *word, sector_t len,
				  const char **error)
{
	u64 *iv_offset = &ft->volume.iv_offset;

	if (fdecrypt_parse_u64(word, iv_offset)) {
		*error = "Invalid iv_offset sector: not a decimal number of 64 bits at most";
		return -EINVAL;
	}
	if (!IS_ALIGNED(*iv_offset, ft->opts.unit_size >> SECTOR_SHIFT)) {
		*error = "Invalid iv_offset sector: not a multiple of sector_size / 512";
		return -EINVAL;
	}
	if (len && *iv_offset > U64_MAX - (len - 1)) {
		*error = "Invalid iv_offset sector: the last sector's IV number would exceed 64 bits";
		return -EINVAL;
	}
	return 0;
}

/* <device> <dev_start> */
static int fdecrypt_ctr_device(struct fdecrypt_target *ft, struct dm_target *ti, char **argv)
{
	u64 start;
	int err;

	err = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &ft->dev);
	if (err) {
		ti->error = "Device lookup failed";
		ft->dev = NULL;
		return err;
	}
	if (fdecrypt_parse_u64(argv[1], &start) || start != (sector_t)start) {
		ti->error = "Invalid device sector";
		return -EINVAL;
	}
	ft->volume.bdev = ft->dev->bdev;
	ft->volume.start = start;
	ft->volume.keep_order = bdev_is_zoned(ft->dev->bdev);
	/* dm-crypt says so there; we keep the order otherwise. */
	if (ft->volume.keep_order && ft->opts.version != FDECRYPT_OPTIONS_ALL)
		ft->opts.no_write_workqueue = true;
	return 0;
}

static void fdecrypt_ctr_units(struct fdecrypt_target *ft)
{
	struct fdecrypt_volume *v = &ft->volume;

	v->unit_size = ft->opts.unit_size;
	if (ft->opts.iv_large_sectors) {
		v->iv_shift = ilog2(v->unit_size >> SECTOR_SHIFT);
		v->step = 1;
	} else {
		v->step = v->unit_size >> SECTOR_SHIFT;
	}
}

/* Under its name, exactly what dm-crypt of this kernel takes. */
static unsigned int fdecrypt_options_version(const struct dm_target *ti)
{
	return strcmp(ti->type->name, "crypt") ? FDECRYPT_OPTIONS_ALL : ti->type->version[1];
}

/* The options, and what is said of the device elsewhere. */
static int fdecrypt_ctr_options(struct fdecrypt_target *ft, struct dm_target *ti, unsigned int argc,
				char **argv, const char **error)
{
	struct mapped_device *md = dm_table_get_md(ti->table);
	char name[DM_NAME_LEN] = "", uuid[DM_UUID_LEN] = "";
	int err;

	err = fdecrypt_parse_options(argc, argv, fdecrypt_options_version(ti), &ft->opts, error);
	if (!err)
		err = fdecrypt_settings_join(&ft->settings, md, &ft->volume.workers, ft->opts.cpus, error);
	/* A part of the argument words, which do not live long. */
	ft->opts.cpus = NULL;
	if (err)
		return err;
	/* A device that is being removed has neither, and its table is not going to be used. */
	dm_copy_name_and_uuid(md, name, uuid);
	return fdecrypt_settings_apply(&ft->settings, name, uuid, error);
}

static void fdecrypt_ctr_target(struct fdecrypt_target *ft, struct dm_target *ti)
{
	ti->per_io_data_size = fdecrypt_volume_per_bio_size(&ft->volume);
	ti->num_flush_bios = 1;
	ti->num_discard_bios = ft->opts.allow_discards;
	ti->limit_swap_bios = true;
	ti->accounts_remapped_io = true;
	ti->emulate_zone_append = ft->volume.keep_order;
}

/* The table line's own errors come in dm-crypt's order, so that a line has the same first error on both. */
static int fdecrypt_construct(struct fdecrypt_target *ft, struct dm_target *ti, unsigned int argc,
			      char **argv)
{
	const char *error = "Cannot allocate cipher strings";
	struct fdecrypt_key_word key_word;
	int err;

	ft->volume.name = dm_table_device_name(ti->table);
	ft->cipher_word = kstrdup(argv[0], GFP_KERNEL);
	err = ft->cipher_word ? 0 : -ENOMEM;
	if (!err)
		err = fdecrypt_parse_key(argv[1], &key_word, &error);
	if (!err)
		err = fdecrypt_ctr_options(ft, ti, argc - 5, argv + 5, &error);
	if (!err && ti->len & ((ft->opts.unit_size >> SECTOR_SHIFT) - 1)) {
		error = "Device size is not multiple of sector_size feature";
		err = -EINVAL;
	}
	if (!err)
		err = fdecrypt_parse_cipher(argv[0], &ft->opts, &ft->cipher, &error);
	if (!err)
		err = fdecrypt_engine_open(&ft->volume.engine, &ft->cipher, &error);
	if (!err)
		err = fdecrypt_ctr_key(ft, argv[1], &error);
	if (!err)
		err = fdecrypt_ctr_iv_offset(ft, argv[2], ti->len, &error);
	if (err) {
		ti->error = (char *)error;
		return err;
	}

	err = fdecrypt_ctr_device(ft, ti, argv + 3);
	if (err)
		return err;
	fdecrypt_ctr_units(ft);
	err = fdecrypt_volume_init(&ft->volume, &ft->opts, &error);
	if (err) {
		ti->error = (char *)error;
		return err;
	}
	fdecrypt_ctr_target(ft, ti);
	return 0;
}

static int fdecrypt_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct fdecrypt_target *ft;
	int err;

	if (argc < 5) {
		ti->error = "Not enough arguments";
		err = -EINVAL;
		goto out;
	}
	ft = kzalloc(sizeof(*ft), GFP_KERNEL);
	if (!ft) {
		ti->error = "Cannot allocate encryption context";
		err = -ENOMEM;
		goto out;
	}
	mutex_init(&ft->lock);
	ti->private = ft;
	err = fdecrypt_construct(ft, ti, argc, argv);
	if (err)
		fdecrypt_dtr(ti);
out:
	if (argc >= 2)
		fdecrypt_key_wipe_word(argv[1]);
	return err;
}

/* -- bios --------------------------------------------------------------------------------------- */

static int fdecrypt_map(struct dm_target *ti, struct bio *bio)
{
	struct fdecrypt_target *ft = ti->private;

	return fdecrypt_volume_map(&ft->volume, ti, bio);
}

static int fdecrypt_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct fdecrypt_target *ft = ti->private;

	return fn(ti, ft->dev, ft->volume.start, ti->len, data);
}

static void fdecrypt_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct fdecrypt_target *ft = ti->private;

	dm_stack_bs_limits(limits, ft->volume.unit_size);
	/* A unit then never straddles two segments of a bio. */
	limits->dma_alignment = limits->logical_block_size - 1;
	fdecrypt_limit_bios(limits, BIO_MAX_VECS << PAGE_SHIFT);
	if (ft->volume.keep_order)
		limits->max_hw_sectors = min_t(unsigned int, limits->max_hw_sectors,
					       BIO_MAX_VECS << (PAGE_SHIFT - SECTOR_SHIFT));
}

#ifdef CONFIG_BLK_DEV_ZONED
static int fdecrypt_report_zones(struct dm_target *ti, struct dm_report_zones_args *args,
				 unsigned int nr_zones)
{
	struct fdecrypt_target *ft = ti->private;

	return dm_report_zones(ft->dev->bdev, ft->volume.start,
			       ft->volume.start + dm_target_offset(ti, args->next_sector), args, nr_zones);
}
#else
#define fdecrypt_report_zones NULL
#endif

/* -- suspend, resume, keys ---------------------------------------------------------------------- */

static void fdecrypt_postsuspend(struct dm_target *ti)
{
	struct fdecrypt_target *ft = ti->private;

	mutex_lock(&ft->lock);
	ft->suspended = true;
	mutex_unlock(&ft->lock);
}

static int fdecrypt_preresume(struct dm_target *ti)
{
	struct fdecrypt_target *ft = ti->private;
	bool valid;

	mutex_lock(&ft->lock);
	valid = ft->key.valid;
	mutex_unlock(&ft->lock);
	if (valid)
		return 0;
	DMERR("%s: aborting resume - crypt key is not set.", ft->volume.name);
	return -EAGAIN;
}

/*
 * Not in preresume: another target of the device may refuse there, and the device stay suspended. A key that
 * is wiped between the two leaves a mapping without key, which lets no bio through.
 */
static void fdecrypt_resume(struct dm_target *ti)
{
	struct fdecrypt_target *ft = ti->private;

	mutex_lock(&ft->lock);
	ft->suspended = false;
	mutex_unlock(&ft->lock);
}

/* The mapping's key is @key now, or none. */
static void fdecrypt_key_is(struct fdecrypt_target *ft, const struct fdecrypt_key *key)
{
	fdecrypt_key_wipe(&ft->key);
	if (key)
		ft->key = *key;
	WRITE_ONCE(ft->volume.has_key, ft->key.valid);
}

/* A cipher that refuses a key may have forgotten its old one, and may have taken a part of the new one. */
static void fdecrypt_key_restore(struct fdecrypt_target *ft, u8 *scratch)
{
	struct fdecrypt_engine *engine = &ft->volume.engine;

	if (ft->key.valid && (ft->key.bytes || !ft->key.size) &&
	    !fdecrypt_engine_set_key(engine, ft->key.bytes, ft->key.size))
		return;
	fdecrypt_engine_wipe_key(engine, scratch, ft->key.size);
	fdecrypt_key_is(ft, NULL);
}

static int fdecrypt_key_apply(struct fdecrypt_target *ft, const struct fdecrypt_key *new, const char **error)
{
	int err;

	*error = "not suspended during key manipulation.";
	if (!ft->suspended)
		return -EINVAL;
	*error = "the new key must have the size of the old one";
	if (new->size != ft->key.size)
		return -EINVAL;
	*error = "the cipher does not take this key";
	err = fdecrypt_engine_set_key(&ft->volume.engine, new->bytes, new->size);
	if (err)
		fdecrypt_key_restore(ft, new->bytes);
	else
		fdecrypt_key_is(ft, new);
	return err;
}

/* key set <key>: nothing changes unless the cipher takes it. */
static int fdecrypt_key_set(struct fdecrypt_target *ft, const char *word)
{
	struct fdecrypt_key new = { };
	const char *error;
	int err;

	/* Without the lock: looking for a key can take as long as user space likes. */
	err = fdecrypt_key_load(&new, word, &error);
	if (!err) {
		mutex_lock(&ft->lock);
		err = fdecrypt_key_apply(ft, &new, &error);
		if (!err)
			fdecrypt_key_forget_bytes(&ft->key);
		mutex_unlock(&ft->lock);
	}
	if (err) {
		DMWARN("%s: key not set: %s", ft->volume.name, error);
		fdecrypt_key_wipe(&new);
	}
	return err;
}

/* key wipe */
static int fdecrypt_key_forget(struct fdecrypt_target *ft)
{
	const char *error = "not suspended during key manipulation.";
	u8 *scratch = kmalloc(ft->key.size, GFP_KERNEL);	/* its size never changes */
	int err = -EINVAL;

	mutex_lock(&ft->lock);
	if (!scratch) {
		error = "no memory";
		err = -ENOMEM;
	} else if (ft->suspended) {
		error = "the cipher does not take a random key";
		err = fdecrypt_engine_wipe_key(&ft->volume.engine, scratch, ft->key.size);
		if (!err)
			fdecrypt_key_is(ft, NULL);
	}
	mutex_unlock(&ft->lock);
	kfree_sensitive(scratch);
	if (err)
		DMWARN("%s: key not wiped: %s", ft->volume.name, error);
	return err;
}

/* cpus <list>: at once, under load; what is queued is done where it is. */
static int fdecrypt_cpus_message(struct fdecrypt_target *ft, const char *list)
{
	const char *error;
	int err = fdecrypt_settings_say_cpus(&ft->settings, list, &error);

	if (err)
		DMWARN("%s: cpus not changed: %s", ft->volume.name, error);
	return err;
}

static int fdecrypt_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			    unsigned int maxlen)
{
	struct fdecrypt_target *ft = ti->private;
	/* The device may be suspended, with swap or a frozen file system on it: do not wait for either. */
	unsigned int noio = memalloc_noio_save();
	int err = -EINVAL;
	unsigned int i;

	if (argc == 3 && !strcasecmp(argv[0], "key") && !strcasecmp(argv[1], "set"))
		err = fdecrypt_key_set(ft, argv[2]);
	else if (argc == 2 && !strcasecmp(argv[0], "key") && !strcasecmp(argv[1], "wipe"))
		err = fdecrypt_key_forget(ft);
	else if (argc == 2 && !strcasecmp(argv[0], "cpus"))
		err = fdecrypt_cpus_message(ft, argv[1]);
	else
		DMWARN("%s: unrecognised message received: not key set, key wipe or cpus",
		       ft->volume.name);
	/* Whatever was wrong with it, what stands there may be a key. */
	for (i = 1; i < argc; i++)
		fdecrypt_key_wipe_word(argv[i]);
	memalloc_noio_restore(noio);
	return err;
}

/* -- status ------------------------------------------------------------------------------------- */

static void fdecrypt_status_info(struct fdecrypt_target *ft, char *result, unsigned int maxlen)
{
	struct fdecrypt_stats sum;
	size_t sz = 0;

	fdecrypt_volume_stats(&ft->volume, &sum);
	DMEMIT("driver=%s unit=%u", fdecrypt_engine_driver(&ft->volume.engine), ft->volume.unit_size);
	DMEMIT(" reads=%llu read_bytes=%llu", sum.batches[READ], sum.bytes[READ]);
	DMEMIT(" writes=%llu write_bytes=%llu", sum.batches[WRITE], sum.bytes[WRITE]);
	DMEMIT(" errors=%llu cpus=%*pbl", sum.errors, cpumask_pr_args(&ft->volume.workers.cpus));
}

static void fdecrypt_status_table(struct fdecrypt_target *ft, char *result, unsigned int maxlen)
{
	/* dmsetup hides keys by itself, but only those of a target called crypt. */
	bool as_crypt = ft->opts.version != FDECRYPT_OPTIONS_ALL;
	struct fdecrypt_options opts = ft->opts;
	size_t sz = 0;

	DMEMIT("%s ", ft->cipher_word);
	sz += fdecrypt_key_print(&ft->key, show_keys || as_crypt, result + sz, maxlen - sz);
	DMEMIT(" %llu %s %llu", ft->volume.iv_offset, ft->dev->name, (unsigned long long)ft->volume.start);
	opts.cpus = fdecrypt_settings_read_cpus(&ft->settings);
	fdecrypt_print_options(&opts, result + sz, maxlen - sz);
	fdecrypt_settings_read_end();
}

static void fdecrypt_status_ima(struct fdecrypt_target *ft, struct dm_target *ti, char *result,
				unsigned int maxlen)
{
	size_t sz = 0;

	DMEMIT_TARGET_NAME_VERSION(ti->type);
	sz += fdecrypt_print_options_ima(&ft->opts, result + sz, maxlen - sz);
	DMEMIT(",cipher_string=%s,key_size=%u,key_parts=%u", ft->cipher_word, ft->key.size,
	       ft->cipher.key_count);
	DMEMIT(",key_extra_size=0,key_mac_size=%u;", ft->opts.integrity_key_size);
}

static void fdecrypt_status(struct dm_target *ti, status_type_t type, unsigned int status_flags, char *result,
			    unsigned int maxlen)
{
	struct fdecrypt_target *ft = ti->private;

	switch (type) {
	case STATUSTYPE_INFO:
		fdecrypt_status_info(ft, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		mutex_lock(&ft->lock);
		fdecrypt_status_table(ft, result, maxlen);
		mutex_unlock(&ft->lock);
		break;
	case STATUSTYPE_IMA:
		mutex_lock(&ft->lock);
		fdecrypt_status_ima(ft, ti, result, maxlen);
		mutex_unlock(&ft->lock);
		break;
	}
}

/* -- module ------------------------------------------------------------------------------------- */

static struct target_type fdecrypt_target = {
	.name			= "fdecrypt",
	.version		= { 1, 0, 0 },
	.module			= THIS_MODULE,
	.features		= DM_TARGET_ZONED_HM | DM_TARGET_ATOMIC_WRITES,
	.ctr			= fdecrypt_ctr,
	.dtr			= fdecrypt_dtr,
	.map			= fdecrypt_map,
	.postsuspend		= fdecrypt_postsuspend,
	.preresume		= fdecrypt_preresume,
	.resume			= fdecrypt_resume,
	.status			= fdecrypt_status,
	.message		= fdecrypt_message,
	.report_zones		= fdecrypt_report_zones,
	.iterate_devices	= fdecrypt_iterate_devices,
	.io_hints		= fdecrypt_io_hints,
};

/* The same in place of dm-crypt; what it says of itself is what dm-crypt of this kernel would. */
static struct target_type crypt_target;

static bool named_fdecrypt, named_crypt;

static int __init fdecrypt_parse_names(void)
{
	char *copy = kstrdup(names, GFP_KERNEL), *rest = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ","))) {
		bool *which = !strcmp(name, "fdecrypt") ? &named_fdecrypt :
			      !strcmp(name, "crypt") ? &named_crypt : NULL;

		if (!which || *which) {
			DMERR("names=%s: expected fdecrypt, crypt or fdecrypt,crypt", names);
			err = -EINVAL;
		} else {
			*which = true;
		}
	}
	kfree(copy);
	return err;
}

static int __init fdecrypt_register_crypt(void)
{
	int err;

	crypt_target = fdecrypt_target;
	crypt_target.name = "crypt";
	crypt_target.version[0] = 1;
	crypt_target.version[1] = FDECRYPT_DM_CRYPT_MINOR;
	crypt_target.version[2] = 0;
	err = dm_register_target(&crypt_target);
	/* Not -EEXIST, which modprobe takes for a module that is loaded already. */
	if (err == -EEXIST)
		err = -EBUSY;
	if (err == -EBUSY)
		DMERR("names=%s: dm-crypt has the name crypt: close its mappings and rmmod dm_crypt", names);
	return err;
}

/*
 * What can be expected to fail comes first: whatever was registered before may be in use already, and a
 * module whose init fails is gone at once.
 */
static int __init fdecrypt_init(void)
{
	int err;

	err = fdecrypt_parse_names();
	if (!err && named_crypt)
		err = fdecrypt_register_crypt();
	if (err)
		return err;
	err = fdecrypt_fdiv_register();
	if (err)
		goto err_crypt;
	if (named_fdecrypt)
		err = dm_register_target(&fdecrypt_target);
	if (err)
		goto err_fdiv;
	return 0;

err_fdiv:
	fdecrypt_fdiv_unregister();
err_crypt:
	if (named_crypt)
		dm_unregister_target(&crypt_target);
	return err;
}

static void __exit fdecrypt_exit(void)
{
	if (named_fdecrypt)
		dm_unregister_target(&fdecrypt_target);
	if (named_crypt)
		dm_unregister_target(&crypt_target);
	fdecrypt_fdiv_unregister();
}

module_init(fdecrypt_init);
module_exit(fdecrypt_exit);

MODULE_AUTHOR("The dm-fdecrypt developers");
MODULE_DESCRIPTION(DM_NAME " target for transparent encryption, on-disk compatible with dm-crypt");
MODULE_SOFTDEP("pre: xts cbc essiv");
MODULE_LICENSE("GPL");
