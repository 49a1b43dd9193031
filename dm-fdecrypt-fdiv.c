// SPDX-License-Identifier: GPL-2.0-only
/*
 * The crypto API template fdiv(<iv mode>,<skcipher>[,<key count>]): one request encrypts a whole batch.
 *
 * It gives every skcipher of the kernel the batch interface, computing the IVs of the batch and driving
 * the child cipher unit by unit: in a loop if it is synchronous, several units in flight if it is not.
 * It must not know bios or device mapper; user space reaches it over AF_ALG, so requests are untrusted.
 */

#include "dm-fdecrypt-fdiv.h"
#include "dm-fdecrypt-iv.h"
#include "dm-fdecrypt-table.h"

#include <crypto/algapi.h>
#include <crypto/internal/skcipher.h>
#include <crypto/scatterwalk.h>
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/fips.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

/* IVs are computed for this many units at a time; a power of two. */
#define IV_PASS		32u

/* IVs are kept aligned for the pickiest of engines; a request's context is not. */
#define IV_ALIGN	32u

/* Room for units in flight of one request with an asynchronous child: bytes, and units at least. */
#define FLIGHT_BYTES	4096u
#define FLIGHT_MIN	2u
#define FLIGHT_MAX	16u

/* Continues requests that had to wait for an asynchronous child. */
static struct workqueue_struct *fdiv_wq;

/* What an instance is: fixed by its name. */
struct fdiv_instance {
	struct crypto_skcipher_spawn spawn;
	const struct fdecrypt_iv_mode *mode;
	unsigned int key_count;
};

/* A transform: const after setkey. */
struct fdiv_tfm {
	const struct fdecrypt_iv_mode *mode;
	struct fdecrypt_iv_layout layout;
	bool async;
	unsigned int key_count;
	unsigned int flight_max;	/* units in flight of one request */
	unsigned int unit_bytes;	/* size of a struct fdiv_unit with the child's request */
	unsigned int units_offset;	/* of the first fdiv_unit in the request context */
	struct crypto_skcipher *iv_tfm;	/* encrypts IVs, synchronous; NULL if the mode needs none */
	struct crypto_skcipher *child[];	/* @key_count of them */
};

/* A place in a scatterlist: the next byte to use. */
struct fdiv_cursor {
	struct scatterlist *sg;
	unsigned int offset;
};

/* A unit on its way through the child. */
struct fdiv_unit {
	struct fdiv_request *owner;
	struct scatterlist src[2];	/* the unit's first piece, chained to the caller's list */
	struct scatterlist dst[2];
	u8 iv[FDECRYPT_IV_SIZE_MAX] __aligned(IV_ALIGN);
	struct skcipher_request sub;	/* last: the child's context follows */
};

/* A batch on its way; lives in the caller's request. */
struct fdiv_request {
	struct skcipher_request *req;
	struct fdecrypt_iv_range range;
	bool encrypt;
	int err;			/* first error; protected by lock once units are in flight */
	unsigned int nr_units;
	unsigned int next;		/* unit to submit next; only the one who pumps touches it */
	struct fdiv_cursor src;
	struct fdiv_cursor dst;

	/* Asynchronous children only. */
	spinlock_t lock;
	unsigned long busy;		/* units in flight, a bit each; protected by lock */
	bool pumping;			/* somebody submits, or will; protected by lock */
	bool parked;			/* the pump waits for a free unit; protected by lock */
	struct work_struct work;

	u8 iv_block[FDECRYPT_IV_SIZE_MAX] __aligned(IV_ALIGN);
	u8 ivs[IV_PASS * FDECRYPT_IV_SIZE_MAX] __aligned(IV_ALIGN);
	/* struct fdiv_unit[] follows, then the request of iv_tfm */
};

static struct fdiv_request *fdiv_request_of(struct skcipher_request *req)
{
	return PTR_ALIGN((struct fdiv_request *)skcipher_request_ctx(req), IV_ALIGN);
}

static struct fdiv_unit *fdiv_unit_at(const struct fdiv_tfm *ctx, struct fdiv_request *batch, unsigned int i)
{
	return (void *)batch + ctx->units_offset + i * ctx->unit_bytes;
}

static struct skcipher_request *fdiv_iv_request(const struct fdiv_tfm *ctx, struct fdiv_request *batch)
{
	return (void *)fdiv_unit_at(ctx, batch, ctx->flight_max);
}

static struct fdiv_tfm *fdiv_request_tfm(const struct fdiv_request *batch)
{
	return crypto_skcipher_ctx(crypto_skcipher_reqtfm(batch->req));
}

/* -- IVs ---------------------------------------------------------------------------------------- */

/* Encrypt each IV as the child would encrypt a block of zeros with it: E(iv) for CBC, dm-crypt's eboiv. */
static int fdiv_encrypt_ivs(const struct fdiv_tfm *ctx, struct fdiv_request *batch, unsigned int nr)
{
	struct skcipher_request *sub = fdiv_iv_request(ctx, batch);
	unsigned int size = ctx->layout.iv_size;
	struct scatterlist sg;
	unsigned int i;
	int err;

	sg_init_one(&sg, batch->iv_block, size);
	skcipher_request_set_tfm(sub, ctx->iv_tfm);
	skcipher_request_set_callback(sub, 0, NULL, NULL);
	for (i = 0; i < nr; i++) {
		memset(batch->iv_block, 0, size);
		skcipher_request_set_crypt(sub, &sg, &sg, size, batch->ivs + i * size);
		err = crypto_skcipher_encrypt(sub);
		if (err)
			return err;
		memcpy(batch->ivs + i * size, batch->iv_block, size);
	}
	return 0;
}

/* Make batch->ivs hold the IV of batch->next, and of the units behind it up to the end of the pass. */
static int fdiv_fill_ivs(const struct fdiv_tfm *ctx, struct fdiv_request *batch)
{
	unsigned int nr = min(batch->nr_units - batch->next, IV_PASS);

	fdecrypt_iv_fill(ctx->mode, &ctx->layout, &batch->range, batch->next, nr, batch->ivs);
	return ctx->iv_tfm ? fdiv_encrypt_ivs(ctx, batch, nr) : 0;
}

/* -- units -------------------------------------------------------------------------------------- */

/*
 * Make @out the list of the @size bytes at @cursor and move the cursor behind them.
 *
 * The child stops after @size bytes, so the second entry of a unit that is cut into pieces can be a link
 * into the caller's list: nothing is allocated however small the pieces are, and the list is walked once.
 */
static int fdiv_cursor_take(struct fdiv_cursor *cursor, struct scatterlist out[2], unsigned int size)
{
	unsigned int room, here;

	while (cursor->sg && cursor->offset == cursor->sg->length) {
		cursor->sg = sg_next(cursor->sg);
		cursor->offset = 0;
	}
	if (unlikely(!cursor->sg))
		return -EINVAL;	/* the list is shorter than the request says */

	room = cursor->sg->length - cursor->offset;
	here = min(room, size);
	sg_set_page(out, sg_page(cursor->sg), here, cursor->sg->offset + cursor->offset);
	cursor->offset += here;
	if (likely(here == size)) {
		sg_mark_end(out);
		return 0;
	}

	sg_unmark_end(out);
	cursor->sg = sg_next(cursor->sg);
	if (unlikely(!cursor->sg))
		return -EINVAL;
	sg_chain(out, 2, cursor->sg);
	for (size -= here; cursor->sg && size > cursor->sg->length; cursor->sg = sg_next(cursor->sg))
		size -= cursor->sg->length;
	cursor->offset = size;
	return cursor->sg ? 0 : -EINVAL;
}

/* Cut the next unit out of the caller's lists; in place stays in place. A lone unit needs no cutting. */
static int fdiv_take_pieces(struct fdiv_request *batch, struct fdiv_unit *unit, struct scatterlist **src,
			    struct scatterlist **dst)
{
	bool in_place = *src == *dst;
	int err;

	err = fdiv_cursor_take(&batch->src, unit->src, batch->range.unit_size);
	*src = unit->src;
	*dst = unit->src;
	if (err || in_place)
		return err;
	*dst = unit->dst;
	return fdiv_cursor_take(&batch->dst, unit->dst, batch->range.unit_size);
}

static int fdiv_run_child(struct fdiv_request *batch, struct skcipher_request *sub)
{
	return batch->encrypt ? crypto_skcipher_encrypt(sub) : crypto_skcipher_decrypt(sub);
}

/* Hand the next unit of the batch to the child. Return what the child returned. */
static int fdiv_submit_next(const struct fdiv_tfm *ctx, struct fdiv_request *batch, struct fdiv_unit *unit)
{
	struct scatterlist *src = batch->req->src, *dst = batch->req->dst;
	unsigned int size = batch->range.unit_size;
	unsigned int i = batch->next % IV_PASS;
	u8 *iv = batch->ivs + i * ctx->layout.iv_size;
	unsigned int key;
	int err = 0;

	if (!i)
		err = fdiv_fill_ivs(ctx, batch);
	if (!err && batch->nr_units > 1)
		err = fdiv_take_pieces(batch, unit, &src, &dst);
	if (err)
		return err;

	/* The next pass may overwrite batch->ivs while this unit is in flight. */
	if (ctx->async)
		iv = memcpy(unit->iv, iv, ctx->layout.iv_size);
	key = fdecrypt_iv_key_index(&batch->range, batch->next, ctx->key_count);
	batch->next++;
	skcipher_request_set_tfm(&unit->sub, ctx->child[key]);
	skcipher_request_set_crypt(&unit->sub, src, dst, size, iv);
	return fdiv_run_child(batch, &unit->sub);
}

/* The batch is through: leave the IV ready for a caller who splits, as cbc does with its chain. */
static int fdiv_finish(struct fdiv_request *batch)
{
	if (batch->err)
		return batch->err;
	batch->range.first += (u64)batch->nr_units * batch->range.step;
	fdecrypt_iv_header_write(batch->req->iv, &batch->range);
	return 0;
}

/* -- synchronous children ----------------------------------------------------------------------- */

static int fdiv_crypt_sync(const struct fdiv_tfm *ctx, struct fdiv_request *batch)
{
	struct fdiv_unit *unit = fdiv_unit_at(ctx, batch, 0);

	skcipher_request_set_callback(&unit->sub, batch->req->base.flags & CRYPTO_TFM_REQ_MAY_SLEEP, NULL,
				      NULL);
	while (!batch->err && batch->next < batch->nr_units)
		batch->err = fdiv_submit_next(ctx, batch, unit);
	return fdiv_finish(batch);
}

/* -- asynchronous children ---------------------------------------------------------------------- */

static struct fdiv_unit *fdiv_take_unit(const struct fdiv_tfm *ctx, struct fdiv_request *batch)
{
	struct fdiv_unit *unit = NULL;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&batch->lock, flags);
	i = find_first_zero_bit(&batch->busy, ctx->flight_max);
	if (i < ctx->flight_max) {
		__set_bit(i, &batch->busy);
		unit = fdiv_unit_at(ctx, batch, i);
	} else {
		batch->parked = true;
	}
	spin_unlock_irqrestore(&batch->lock, flags);
	return unit;
}

/*
 * Submit units until all are submitted or none is free.
 *
 * One context at a time pumps: first the caller's, then the work item, never a completion, which may run
 * where crypto may not. The pump keeps the batch alive: only when it has ended can a completion be the last.
 *
 * Return: true if the batch is through, and the caller of this must report that; false if a completion
 * will.
 */
static bool fdiv_pump(const struct fdiv_tfm *ctx, struct fdiv_request *batch)
{
	struct fdiv_unit *unit = NULL;
	unsigned long flags;
	bool through;
	int err = 0;

	while (batch->next < batch->nr_units && !READ_ONCE(batch->err)) {
		if (!unit)
			unit = fdiv_take_unit(ctx, batch);
		if (!unit)
			return false;
		err = fdiv_submit_next(ctx, batch, unit);
		/* -EBUSY: it waits in the child's backlog. The unit is in flight and no longer ours. */
		if (err == -EINPROGRESS || err == -EBUSY) {
			unit = NULL;
			err = 0;
		} else if (err) {
			break;
		}
	}

	spin_lock_irqsave(&batch->lock, flags);
	if (unit)
		__clear_bit(((void *)unit - (void *)fdiv_unit_at(ctx, batch, 0)) / ctx->unit_bytes,
			    &batch->busy);
	if (err && !batch->err)
		batch->err = err;
	batch->pumping = false;
	through = !batch->busy;
	spin_unlock_irqrestore(&batch->lock, flags);
	return through;
}

static void fdiv_unit_done(void *data, int err)
{
	struct fdiv_unit *unit = data;
	struct fdiv_request *batch = unit->owner;
	const struct fdiv_tfm *ctx = fdiv_request_tfm(batch);
	bool wake, through;
	unsigned long flags;

	if (err == -EINPROGRESS)
		return;	/* it left the child's backlog; the real end is to come */

	spin_lock_irqsave(&batch->lock, flags);
	if (err && !batch->err)
		WRITE_ONCE(batch->err, err);
	__clear_bit(((void *)unit - (void *)fdiv_unit_at(ctx, batch, 0)) / ctx->unit_bytes, &batch->busy);
	/* Not for each place that comes free: waking the pump costs more than many units. */
	wake = batch->parked && hweight_long(batch->busy) <= ctx->flight_max / 2;
	if (wake)
		batch->parked = false;
	through = !batch->busy && !batch->pumping;
	spin_unlock_irqrestore(&batch->lock, flags);

	/* Nobody else touches the batch: after wake the work owns it, after through we do. */
	if (wake)
		queue_work(fdiv_wq, &batch->work);
	else if (through)
		skcipher_request_complete(batch->req, fdiv_finish(batch));
}

CRYPTO_COMPLETION(fdiv_unit_done)

static void fdiv_work(struct work_struct *work)
{
	struct fdiv_request *batch = container_of(work, struct fdiv_request, work);

	if (!fdiv_pump(fdiv_request_tfm(batch), batch))
		return;
	/* Completions expect softirq's rules. */
	local_bh_disable();
	skcipher_request_complete(batch->req, fdiv_finish(batch));
	local_bh_enable();
}

static int fdiv_crypt_async(const struct fdiv_tfm *ctx, struct fdiv_request *batch)
{
	spin_lock_init(&batch->lock);
	INIT_WORK(&batch->work, fdiv_work);
	batch->busy = 0;
	batch->parked = false;
	batch->pumping = true;
	return fdiv_pump(ctx, batch) ? fdiv_finish(batch) : -EINPROGRESS;
}

/* -- the skcipher ------------------------------------------------------------------------------- */

static void fdiv_init_unit(const struct fdiv_tfm *ctx, struct fdiv_request *batch, struct fdiv_unit *unit)
{
	unit->owner = batch;
	if (batch->nr_units > 1) {
		sg_init_table(unit->src, 2);
		if (batch->req->src != batch->req->dst)
			sg_init_table(unit->dst, 2);
	}
	/*
	 * Always MAY_BACKLOG: a full queue of the child must delay a unit, not fail the batch. Never
	 * MAY_SLEEP: the pump may run in a context that the caller's flags do not speak of.
	 */
	if (ctx->async)
		skcipher_request_set_callback(&unit->sub, CRYPTO_TFM_REQ_MAY_BACKLOG,
					      crypto_completion(fdiv_unit_done), unit);
}

static int fdiv_crypt(struct skcipher_request *req, bool encrypt)
{
	const struct fdiv_tfm *ctx = crypto_skcipher_ctx(crypto_skcipher_reqtfm(req));
	struct fdiv_request *batch = fdiv_request_of(req);
	unsigned int i;
	int err;

	err = fdecrypt_iv_header_read(req->iv, &batch->range);
	if (err || req->cryptlen % batch->range.unit_size)
		return -EINVAL;

	batch->req = req;
	batch->encrypt = encrypt;
	batch->err = 0;
	batch->nr_units = req->cryptlen / batch->range.unit_size;
	batch->next = 0;
	batch->src = (struct fdiv_cursor){ .sg = req->src };
	batch->dst = (struct fdiv_cursor){ .sg = req->dst };
	for (i = 0; i < min(ctx->flight_max, batch->nr_units); i++)
		fdiv_init_unit(ctx, batch, fdiv_unit_at(ctx, batch, i));

	return ctx->async ? fdiv_crypt_async(ctx, batch) : fdiv_crypt_sync(ctx, batch);
}

static int fdiv_encrypt(struct skcipher_request *req)
{
	return fdiv_crypt(req, true);
}

static int fdiv_decrypt(struct skcipher_request *req)
{
	return fdiv_crypt(req, false);
}

static int fdiv_set_child_key(struct crypto_skcipher *parent, struct crypto_skcipher *child, const u8 *key,
			      unsigned int key_size)
{
	crypto_skcipher_clear_flags(child, CRYPTO_TFM_REQ_MASK);
	crypto_skcipher_set_flags(child, crypto_skcipher_get_flags(parent) & CRYPTO_TFM_REQ_MASK);
	return crypto_skcipher_setkey(child, key, key_size);
}

static int fdiv_setkey(struct crypto_skcipher *tfm, const u8 *key, unsigned int key_size)
{
	struct fdiv_tfm *ctx = crypto_skcipher_ctx(tfm);
	unsigned int one = key_size / ctx->key_count;
	unsigned int i;
	int err = 0;

	if (key_size % ctx->key_count)
		return -EINVAL;
	for (i = 0; i < ctx->key_count && !err; i++)
		err = fdiv_set_child_key(tfm, ctx->child[i], key + i * one, one);
	if (!err && ctx->iv_tfm)
		err = fdiv_set_child_key(tfm, ctx->iv_tfm, key, one);
	return err;
}

static void fdiv_free_children(struct fdiv_tfm *ctx, unsigned int nr)
{
	while (nr--)
		crypto_free_skcipher(ctx->child[nr]);
}

static int fdiv_init_tfm(struct crypto_skcipher *tfm)
{
	struct skcipher_instance *inst = skcipher_alg_instance(tfm);
	struct fdiv_instance *ictx = skcipher_instance_ctx(inst);
	struct fdiv_tfm *ctx = crypto_skcipher_ctx(tfm);
	struct crypto_skcipher *child = NULL;
	unsigned int i, size;

	ctx->mode = ictx->mode;
	ctx->key_count = ictx->key_count;
	for (i = 0; i < ctx->key_count; i++) {
		child = crypto_spawn_skcipher(&ictx->spawn);
		if (IS_ERR(child)) {
			fdiv_free_children(ctx, i);
			return PTR_ERR(child);
		}
		ctx->child[i] = child;
	}

	ctx->async = crypto_skcipher_alg_common(child)->base.cra_flags & CRYPTO_ALG_ASYNC;
	ctx->layout.iv_size = crypto_skcipher_ivsize(child);
	ctx->layout.block_shift = ilog2(crypto_skcipher_blocksize(child));
	ctx->iv_tfm = NULL;
	if (ctx->mode->encrypted && ctx->layout.iv_size) {
		/* IVs are computed where nobody can wait for a child that answers later. */
		ctx->iv_tfm = crypto_alloc_skcipher(crypto_skcipher_alg_common(child)->base.cra_name, 0,
						    CRYPTO_ALG_ASYNC);
		if (IS_ERR(ctx->iv_tfm)) {
			fdiv_free_children(ctx, ctx->key_count);
			return PTR_ERR(ctx->iv_tfm);
		}
	}

	ctx->units_offset = ALIGN(sizeof(struct fdiv_request), __alignof__(struct fdiv_unit));
	ctx->unit_bytes = ALIGN(sizeof(struct fdiv_unit) + crypto_skcipher_reqsize(child),
				__alignof__(struct fdiv_unit));
	ctx->flight_max = ctx->async ? clamp(FLIGHT_BYTES / ctx->unit_bytes, FLIGHT_MIN, FLIGHT_MAX) : 1;
	size = ctx->units_offset + ctx->flight_max * ctx->unit_bytes;
	if (ctx->iv_tfm)
		size += sizeof(struct skcipher_request) + crypto_skcipher_reqsize(ctx->iv_tfm);
	crypto_skcipher_set_reqsize(tfm, size + IV_ALIGN - 1);
	return 0;
}

static void fdiv_exit_tfm(struct crypto_skcipher *tfm)
{
	struct fdiv_tfm *ctx = crypto_skcipher_ctx(tfm);

	crypto_free_skcipher(ctx->iv_tfm);
	fdiv_free_children(ctx, ctx->key_count);
}

/* -- the template ------------------------------------------------------------------------------- */

static void fdiv_free_instance(struct skcipher_instance *inst)
{
	struct fdiv_instance *ictx = skcipher_instance_ctx(inst);

	crypto_drop_skcipher(&ictx->spawn);
	kfree(inst);
}

static int fdiv_check_child(const struct fdiv_instance *ictx, const struct skcipher_alg_common *alg)
{
	unsigned int block_size = alg->base.cra_blocksize;

	if (!alg->ivsize)
		return 0;
	if (alg->ivsize < FDECRYPT_IV_SIZE_MIN || alg->ivsize > FDECRYPT_IV_SIZE_MAX)
		return -EINVAL;
	if (!is_power_of_2(block_size) || !ictx->mode->fits(alg->ivsize, block_size))
		return -EINVAL;
	return 0;
}

/* An instance must carry the spelling it was asked for, the key count included, or nobody finds it. */
static int fdiv_name(char to[CRYPTO_MAX_ALG_NAME], const char *mode, const char *child, const char *count)
{
	int n = snprintf(to, CRYPTO_MAX_ALG_NAME, "fdiv(%s,%s%s%s)", mode, child, count ? "," : "",
			 count ?: "");

	return n < CRYPTO_MAX_ALG_NAME ? 0 : -ENAMETOOLONG;
}

static int fdiv_parse_count(const char *text, unsigned int *count)
{
	u64 value;

	/* One spelling for each count: each spelling is an instance, and anybody can ask for one. */
	if (text[0] == '0' || fdecrypt_parse_u64(text, &value) || !is_power_of_2(value) ||
	    value > FDECRYPT_KEY_COUNT_MAX)
		return -EINVAL;
	*count = value;
	return 0;
}

static int fdiv_create(struct crypto_template *tmpl, struct rtattr **tb)
{
	const char *mode, *child, *count = NULL;
	struct skcipher_alg_common *alg;
	struct skcipher_instance *inst;
	struct fdiv_instance *ictx;
	struct fdiv_tfm *ctx;
	u32 mask;
	int err;

	err = crypto_check_attr_type(tb, CRYPTO_ALG_TYPE_SKCIPHER, &mask);
	if (err)
		return err;
	mode = crypto_attr_alg_name(tb[1]);
	if (IS_ERR(mode))
		return PTR_ERR(mode);
	child = crypto_attr_alg_name(tb[2]);
	if (IS_ERR(child))
		return PTR_ERR(child);
	if (tb[3]) {
		count = crypto_attr_alg_name(tb[3]);
		if (IS_ERR(count))
			return PTR_ERR(count);
		if (tb[4])
			return -EINVAL;
	}

	inst = kzalloc(sizeof(*inst) + sizeof(*ictx), GFP_KERNEL);
	if (!inst)
		return -ENOMEM;
	ictx = skcipher_instance_ctx(inst);
	ictx->key_count = 1;
	if (count && fdiv_parse_count(count, &ictx->key_count)) {
		kfree(inst);
		return -EINVAL;
	}
	ictx->mode = fdecrypt_iv_find(mode);
	if (!ictx->mode) {
		kfree(inst);
		return -EINVAL;
	}

	err = crypto_grab_skcipher(&ictx->spawn, skcipher_crypto_instance(inst), child, 0, mask);
	if (err)
		goto err_free_instance;
	alg = crypto_spawn_skcipher_alg_common(&ictx->spawn);
	err = fdiv_check_child(ictx, alg);
	if (err)
		goto err_free_instance;
	err = fdiv_name(inst->alg.base.cra_name, mode, alg->base.cra_name, count) ?:
	      fdiv_name(inst->alg.base.cra_driver_name, mode, alg->base.cra_driver_name, count);
	if (err)
		goto err_free_instance;

	/* A synchronous request of ours is too large for anybody's stack. */
	inst->alg.base.cra_flags |= CRYPTO_ALG_SKCIPHER_REQSIZE_LARGE;
	inst->alg.base.cra_priority = alg->base.cra_priority;
	inst->alg.base.cra_blocksize = alg->base.cra_blocksize;
	inst->alg.base.cra_alignmask = 0;
	inst->alg.base.cra_ctxsize = struct_size(ctx, child, ictx->key_count);
	inst->alg.ivsize = FDECRYPT_IV_HEADER_SIZE;
	inst->alg.chunksize = FDECRYPT_UNIT_SIZE_MIN;	/* callers that split do it between units */
	inst->alg.min_keysize = alg->min_keysize * ictx->key_count;
	inst->alg.max_keysize = min_t(u64, (u64)alg->max_keysize * ictx->key_count, UINT_MAX);
	inst->alg.setkey = fdiv_setkey;
	inst->alg.encrypt = fdiv_encrypt;
	inst->alg.decrypt = fdiv_decrypt;
	inst->alg.init = fdiv_init_tfm;
	inst->alg.exit = fdiv_exit_tfm;
	inst->free = fdiv_free_instance;

	err = skcipher_register_instance(tmpl, inst);
	if (err)
		goto err_free_instance;
	return 0;

err_free_instance:
	fdiv_free_instance(inst);
	return err;
}

static struct crypto_template fdiv_template = {
	.name = "fdiv",
	.create = fdiv_create,
	.module = THIS_MODULE,
};

/**
 * fdecrypt_fdiv_register - make the template known to the crypto API
 *
 * Context: module init; may sleep.
 * Return: 0; -EKEYREJECTED where registering would panic a kernel in FIPS mode; -ENOMEM or what the crypto
 * API says.
 */
int fdecrypt_fdiv_register(void)
{
	int err;

	/* The crypto API does not refuse an unsigned module's algorithms in FIPS mode: it panics. */
	if (fips_enabled && !module_sig_ok(THIS_MODULE)) {
		pr_err("the kernel is in FIPS mode and this module is not signed: refusing to load\n");
		return -EKEYREJECTED;
	}
	fdiv_wq = alloc_workqueue("fdecrypt_fdiv", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!fdiv_wq)
		return -ENOMEM;
	err = crypto_register_template(&fdiv_template);
	if (err)
		destroy_workqueue(fdiv_wq);
	return err;
}

/**
 * fdecrypt_fdiv_unregister - remove the template and every instance of it
 *
 * Context: module exit; may sleep. No transform is left: each holds a reference on the module.
 */
void fdecrypt_fdiv_unregister(void)
{
	crypto_unregister_template(&fdiv_template);
	destroy_workqueue(fdiv_wq);
}

MODULE_ALIAS_CRYPTO("fdiv");
