/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Engines: crypto API implementations that encrypt batches; finding them, choosing one, using it.
 *
 * It must not know bios or device mapper. Here is the seam for other policies: whoever chooses an engine
 * differently, or several, changes only what is behind these functions.
 */
#ifndef DM_FDECRYPT_ENGINE_H
#define DM_FDECRYPT_ENGINE_H

#include "dm-fdecrypt-iv.h"
#include "dm-fdecrypt-table.h"

#include <crypto/skcipher.h>

/**
 * struct fdecrypt_engine - the engine of a mapping
 * @tfm: the batch cipher
 */
struct fdecrypt_engine {
	struct crypto_skcipher *tfm;
};

/**
 * struct fdecrypt_batch - consecutive units that are encrypted or decrypted by one request
 * @header: self-describing IV of the batch; the engine uses it up
 * @req: last: the engine's request context follows, fdecrypt_engine_batch_size() bytes in all
 *
 * Belongs to the engine from fdecrypt_engine_run() until that returns or the callback runs.
 */
struct fdecrypt_batch {
	u8 header[FDECRYPT_IV_HEADER_SIZE] __aligned(8);
	struct skcipher_request req;
};

int fdecrypt_engine_open(struct fdecrypt_engine *engine, const struct fdecrypt_cipher *cipher,
			 const char **error);
void fdecrypt_engine_close(struct fdecrypt_engine *engine);
int fdecrypt_engine_set_key(struct fdecrypt_engine *engine, const u8 *key, unsigned int size);
int fdecrypt_engine_wipe_key(struct fdecrypt_engine *engine, u8 *scratch, unsigned int size);
const char *fdecrypt_engine_driver(const struct fdecrypt_engine *engine);
size_t fdecrypt_engine_batch_size(const struct fdecrypt_engine *engine);

/**
 * fdecrypt_engine_prepare - tie a batch to its engine and to whom to tell when it is through
 * @engine: the engine
 * @batch: the batch; need not be initialised
 * @done: crypto_completion() of a callback; not called for a batch that is through at once
 * @data: handed to @done
 *
 * Once for each batch; then fdecrypt_engine_run() may be called again and again.
 *
 * Context: any.
 */
static inline void fdecrypt_engine_prepare(const struct fdecrypt_engine *engine, struct fdecrypt_batch *batch,
					   crypto_completion_t done, void *data)
{
	skcipher_request_set_tfm(&batch->req, engine->tfm);
	skcipher_request_set_callback(&batch->req, CRYPTO_TFM_REQ_MAY_BACKLOG, done, data);
}

/**
 * fdecrypt_engine_run - encrypt or decrypt a batch
 * @batch: the batch, prepared
 * @encrypt: direction
 * @range: first IV sector, unit size and step
 * @src: source, cut anywhere
 * @dst: destination, cut anywhere; the same list as @src for in place
 * @size: bytes, whole units
 *
 * Context: where the crypto API may be used: not in hard interrupts, not with interrupts off.
 * Return: 0 or an error if it is through; -EINPROGRESS if the callback will tell (it may have already).
 */
static inline int fdecrypt_engine_run(struct fdecrypt_batch *batch, bool encrypt,
				      const struct fdecrypt_iv_range *range, struct scatterlist *src,
				      struct scatterlist *dst, unsigned int size)
{
	int err;

	fdecrypt_iv_header_write(batch->header, range);
	skcipher_request_set_crypt(&batch->req, src, dst, size, batch->header);
	err = encrypt ? crypto_skcipher_encrypt(&batch->req) : crypto_skcipher_decrypt(&batch->req);
	/* With MAY_BACKLOG, -EBUSY says that the batch waits in the engine's queue, not a refusal. */
	return err == -EBUSY ? -EINPROGRESS : err;
}

#endif
