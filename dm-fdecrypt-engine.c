// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: find what the kernel has for a cipher, choose, allocate by explicit name.
 *
 * It must not know bios or device mapper.
 *
 * Asking the crypto API for "xts(aes)" answers with the best implementation that happens to exist, however
 * slow, and builds nothing better; any user of AF_ALG can bring a slow one into being. So what exists is
 * enumerated here, what could be built better is built, and the result is allocated by its driver name.
 */

#include "dm-fdecrypt-engine.h"

#include <crypto/algapi.h>
#include <crypto/hash.h>
#include <crypto/skcipher.h>
#include <linux/err.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>
#if IS_ENABLED(CONFIG_X86)
#include <asm/cpufeature.h>
#elif IS_ENABLED(CONFIG_ARM64)
#include <linux/cpufeature.h>
#endif

/*
 * Drivers that allocate memory for a request are left out as dm-crypt leaves them out: under memory
 * pressure they fail, and there is nothing yet to fall back to.
 */
#define UNUSABLE_FLAGS (CRYPTO_ALG_LARVAL | CRYPTO_ALG_DEAD | CRYPTO_ALG_DYING | CRYPTO_ALG_INTERNAL | \
			CRYPTO_ALG_ALLOCATES_MEMORY)

struct found {
	char driver[CRYPTO_MAX_ALG_NAME];
	int priority;
	bool instance;		/* of a template: it may be there only because somebody asked for it */
};

/*
 * cryptd() puts any driver into a thread and claims a higher priority for that. An instance stays when
 * whoever wanted it is gone; so it is for those only who name it.
 */
static bool is_unwanted(const struct crypto_alg *alg, const char *name)
{
	return strstr(alg->cra_driver_name, "cryptd(") && !strstr(name, "cryptd(");
}

static bool is_usable(const struct crypto_alg *alg, u32 type)
{
	u32 alg_type = alg->cra_flags & CRYPTO_ALG_TYPE_MASK;

	if (alg->cra_flags & UNUSABLE_FLAGS || !(alg->cra_flags & CRYPTO_ALG_TESTED))
		return false;
	return alg_type == type ||
	       (type == CRYPTO_ALG_TYPE_SKCIPHER && alg_type == CRYPTO_ALG_TYPE_LSKCIPHER);
}

/* Of equal ones a driver of its own wins: the instance may be there only because somebody asked for it. */
static bool is_better(const struct crypto_alg *alg, const struct found *best)
{
	if (alg->cra_priority != best->priority)
		return alg->cra_priority > best->priority;
	return best->instance && !(alg->cra_flags & CRYPTO_ALG_INSTANCE);
}

/* The best of what exists under @name, which may also be a driver's own name: that is then meant. */
static bool find_best(const char *name, u32 type, struct found *best)
{
	struct crypto_alg *alg;
	bool any = false;

	down_read(&crypto_alg_sem);
	list_for_each_entry(alg, &crypto_alg_list, cra_list) {
		bool exact = !strcmp(alg->cra_driver_name, name);

		if (!is_usable(alg, type) || is_unwanted(alg, name))
			continue;
		if (!exact && strcmp(alg->cra_name, name))
			continue;
		if (any && !exact && !is_better(alg, best))
			continue;
		strscpy(best->driver, alg->cra_driver_name, sizeof(best->driver));
		best->priority = alg->cra_priority;
		best->instance = alg->cra_flags & CRYPTO_ALG_INSTANCE;
		any = true;
		if (exact)
			break;
	}
	up_read(&crypto_alg_sem);
	return any;
}

/*
 * Split "template(inside)" or "template(inside,rest)"; commas within parentheses do not count.
 * False for anything else, names that are too long included.
 */
static bool split_template(const char *name, char template[CRYPTO_MAX_ALG_NAME],
			   char inside[CRYPTO_MAX_ALG_NAME], char rest[CRYPTO_MAX_ALG_NAME])
{
	const char *open = strchr(name, '('), *end = name + strlen(name), *p, *comma = NULL;
	int depth = 0;

	if (!open || open == name || end[-1] != ')' || end - name >= CRYPTO_MAX_ALG_NAME)
		return false;
	end--;
	for (p = open + 1; p < end; p++) {
		if (*p == '(')
			depth++;
		else if (*p == ')')
			depth--;
		else if (*p == ',' && !depth && !comma)
			comma = p;
	}
	snprintf(template, CRYPTO_MAX_ALG_NAME, "%.*s", (int)(open - name), name);
	snprintf(inside, CRYPTO_MAX_ALG_NAME, "%.*s", (int)((comma ?: end) - open - 1), open + 1);
	snprintf(rest, CRYPTO_MAX_ALG_NAME, "%.*s", comma ? (int)(end - comma - 1) : 0,
		 comma ? comma + 1 : "");
	return true;
}

/* Name of the driver that serves a hash; the essiv template takes a synchronous one. */
static bool find_hash(const char *name, char driver[CRYPTO_MAX_ALG_NAME])
{
	struct crypto_shash *hash = crypto_alloc_shash(name, 0, 0);

	if (IS_ERR(hash))
		return false;
	strscpy(driver, crypto_shash_driver_name(hash), CRYPTO_MAX_ALG_NAME);
	crypto_free_shash(hash);
	return true;
}

/* Buffers of one level of the search below; names are too long for so many on the stack. */
struct search {
	char template[CRYPTO_MAX_ALG_NAME];
	char inside[CRYPTO_MAX_ALG_NAME];
	char rest[CRYPTO_MAX_ALG_NAME];
	char name[CRYPTO_MAX_ALG_NAME];
	struct found part;
};

static int find_skcipher(const char *name, struct found *best, unsigned int depth);

/*
 * Write into @s->name what @name would be when built from the best parts there are.
 * False if there is nothing to build.
 */
static bool compose_better(const char *name, struct search *s, unsigned int depth)
{
	int n;

	if (!depth || !split_template(name, s->template, s->inside, s->rest))
		return false;
	if (!strcmp(s->template, "essiv")) {
		if (find_skcipher(s->inside, &s->part, depth - 1) || !find_hash(s->rest, s->inside))
			return false;
		n = snprintf(s->name, sizeof(s->name), "essiv(%s,%s)", s->part.driver, s->inside);
	} else if (!strcmp(s->template, "xts") || !strcmp(s->template, "lrw")) {
		/* Both are built over ecb(<cipher>), which the name leaves out. */
		n = snprintf(s->name, sizeof(s->name), strncmp(s->inside, "ecb(", 4) ? "ecb(%s)" : "%s",
			     s->inside);
		if (n >= (int)sizeof(s->name) || find_skcipher(s->name, &s->part, depth - 1))
			return false;
		n = snprintf(s->name, sizeof(s->name), "%s(%s)", s->template, s->part.driver);
	} else if (!*s->rest && find_best(s->inside, CRYPTO_ALG_TYPE_CIPHER, &s->part)) {
		n = snprintf(s->name, sizeof(s->name), "%s(%s)", s->template, s->part.driver);
	} else {
		return false;
	}
	return n < (int)sizeof(s->name);
}

/*
 * Find the best implementation of @name. @depth bounds the templates within templates that are looked into.
 */
static int find_skcipher(const char *name, struct found *best, unsigned int depth)
{
	struct crypto_skcipher *any;
	struct search *s;

	/* Loads modules, and lets templates make the instance that nobody has asked for before. */
	any = crypto_alloc_skcipher(name, 0, CRYPTO_ALG_ALLOCATES_MEMORY);
	if (IS_ERR(any))
		return PTR_ERR(any);
	crypto_free_skcipher(any);
	if (!find_best(name, CRYPTO_ALG_TYPE_SKCIPHER, best))
		return -ENOENT;
	/* A driver of its own is there on purpose, and so is one that was asked for by its own name. */
	if (!best->instance || !strcmp(best->driver, name))
		return 0;

	s = kmalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	if (compose_better(name, s, depth) && crypto_has_skcipher(s->name, 0, CRYPTO_ALG_ALLOCATES_MEMORY))
		find_best(name, CRYPTO_ALG_TYPE_SKCIPHER, best);
	kfree(s);
	return 0;
}

/* -- advice ------------------------------------------------------------------------------------- */

/* The module that would use this CPU's AES instructions, NULL if it has none. */
static const char *aes_module(void)
{
#if IS_ENABLED(CONFIG_X86)
	if (boot_cpu_has(X86_FEATURE_AES))
		return "aesni_intel";
#elif IS_ENABLED(CONFIG_ARM64)
	if (cpu_have_named_feature(AES))
		return "aes_ce_blk";
#endif
	return NULL;
}

static bool uses_aes_instructions(const char *driver)
{
	return strstr(driver, "aesni") || strstr(driver, "vaes") || strstr(driver, "-ce");
}

/* One warning, since a machine that lacks the module in its initramfs stays slow until it is rebooted. */
static void advise(const char *skcipher, const char *driver, u32 flags)
{
	const char *module = aes_module();

	if (!module || !strstr(skcipher, "aes") || uses_aes_instructions(driver) ||
	    flags & CRYPTO_ALG_KERN_DRIVER_ONLY)
		return;
	pr_warn_once("%s is served by %s although this CPU has AES instructions: load module %s for speed\n",
		     skcipher, driver, module);
}

/* What the crypto API's answer to a name means, in words. */
static const char *explain(int err)
{
	switch (err) {
	case -ENOENT:
		return "Error allocating crypto tfm: the kernel has no such cipher (is its module loaded?)";
	case -EINVAL:
		return "Error allocating crypto tfm: not the name of a cipher without authentication";
	case -EEXIST:
		return "Error allocating crypto tfm: inside cryptd() name a driver, not an algorithm";
	case -ELIBBAD:
		return "Error allocating crypto tfm: the cipher failed the kernel's self-test";
	default:
		return "Error allocating crypto tfm";
	}
}

/* -- the engine --------------------------------------------------------------------------------- */

static int name_engine(char to[CRYPTO_MAX_ALG_NAME], const struct fdecrypt_cipher *cipher, const char *driver)
{
	const char *mode = *cipher->iv_mode ? cipher->iv_mode : "null";
	int n;

	if (cipher->key_count == 1)
		n = snprintf(to, CRYPTO_MAX_ALG_NAME, "fdiv(%s,%s)", mode, driver);
	else
		n = snprintf(to, CRYPTO_MAX_ALG_NAME, "fdiv(%s,%s,%u)", mode, driver, cipher->key_count);
	return n < CRYPTO_MAX_ALG_NAME ? 0 : -ENAMETOOLONG;
}

/* Can this IV mode be used with this cipher? Asked first, to say what is wrong better than -EINVAL does. */
static int check_iv_mode(const struct fdecrypt_cipher *cipher, const char *driver, const char **error)
{
	const struct fdecrypt_iv_mode *mode;
	unsigned int iv_size, block_size;
	struct crypto_skcipher *child;

	child = crypto_alloc_skcipher(driver, 0, CRYPTO_ALG_ALLOCATES_MEMORY);
	if (IS_ERR(child)) {
		*error = explain(PTR_ERR(child));
		return PTR_ERR(child);
	}
	iv_size = crypto_skcipher_ivsize(child);
	block_size = crypto_skcipher_blocksize(child);
	crypto_free_skcipher(child);

	if (!*cipher->iv_mode) {
		if (!iv_size)
			return 0;
		*error = "Invalid IV mode: this cipher needs one (capi:<name>-<iv mode>)";
		return -EINVAL;
	}
	mode = fdecrypt_iv_find(cipher->iv_mode);
	if (!mode) {
		*error = "Invalid IV mode";
		return -EINVAL;
	}
	if (iv_size && !mode->fits(iv_size, block_size)) {
		*error = "Error creating IV: this IV mode does not fit the cipher's block or IV size";
		return -EINVAL;
	}
	return 0;
}

/**
 * fdecrypt_engine_open - choose and allocate the engine of a mapping
 * @engine: result
 * @cipher: what the table line asks for
 * @error: on failure, what was wrong
 *
 * Context: may sleep, loads modules.
 * Return: 0; -ENOENT if the kernel has no such cipher; -EINVAL if the IV mode does not fit it; what the
 * crypto API says.
 */
int fdecrypt_engine_open(struct fdecrypt_engine *engine, const struct fdecrypt_cipher *cipher,
			 const char **error)
{
	char name[CRYPTO_MAX_ALG_NAME];
	struct crypto_skcipher *tfm;
	struct found child;
	int err;

	err = find_skcipher(cipher->skcipher, &child, 2);
	if (err) {
		*error = explain(err);
		return err;
	}
	err = check_iv_mode(cipher, child.driver, error);
	if (err)
		return err;
	if (name_engine(name, cipher, child.driver)) {
		*error = "Error allocating crypto tfm: the driver's name is too long";
		return -ENAMETOOLONG;
	}
	tfm = crypto_alloc_skcipher(name, 0, 0);
	if (IS_ERR(tfm)) {
		*error = explain(PTR_ERR(tfm));
		return PTR_ERR(tfm);
	}
	advise(cipher->skcipher, child.driver, crypto_skcipher_alg_common(tfm)->base.cra_flags);
	engine->tfm = tfm;
	return 0;
}

/**
 * fdecrypt_engine_close - free the engine and what it knows of the key
 * @engine: the engine; one that is all zero is fine
 *
 * Context: may sleep; no batch is in flight.
 */
void fdecrypt_engine_close(struct fdecrypt_engine *engine)
{
	crypto_free_skcipher(engine->tfm);
	engine->tfm = NULL;
}

/**
 * fdecrypt_engine_set_key - give the engine its key
 * @engine: the engine
 * @key: all keys of the table line, one behind the other; may be NULL if @size is 0
 * @size: bytes of @key
 *
 * Context: may sleep; no batch is in flight.
 * Return: 0, or -EINVAL for a key that the cipher does not take.
 */
int fdecrypt_engine_set_key(struct fdecrypt_engine *engine, const u8 *key, unsigned int size)
{
	return crypto_skcipher_setkey(engine->tfm, key, size);
}

/**
 * fdecrypt_engine_wipe_key - make the engine forget its key
 * @engine: the engine
 * @scratch: memory for a key
 * @size: bytes of the key it has, and of @scratch
 *
 * A cipher cannot be without a key once it had one; so it gets a random one, which is left in @scratch.
 *
 * Context: may sleep; no batch is in flight.
 * Return: 0, or what the cipher says to a random key.
 */
int fdecrypt_engine_wipe_key(struct fdecrypt_engine *engine, u8 *scratch, unsigned int size)
{
	if (!size)
		return 0;
	get_random_bytes(scratch, size);
	return crypto_skcipher_setkey(engine->tfm, scratch, size);
}

/**
 * fdecrypt_engine_driver - name the driver in use, as in /proc/crypto
 * @engine: the engine
 *
 * Context: any.
 * Return: the name; lives as long as the engine.
 */
const char *fdecrypt_engine_driver(const struct fdecrypt_engine *engine)
{
	return crypto_skcipher_alg_common(engine->tfm)->base.cra_driver_name;
}

/**
 * fdecrypt_engine_batch_size - say how large a batch of this engine is
 * @engine: the engine
 *
 * Context: any.
 * Return: bytes of a struct fdecrypt_batch with the engine's context.
 */
size_t fdecrypt_engine_batch_size(const struct fdecrypt_engine *engine)
{
	return sizeof(struct fdecrypt_batch) + crypto_skcipher_reqsize(engine->tfm);
}
