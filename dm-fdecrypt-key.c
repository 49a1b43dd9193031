// SPDX-License-Identifier: GPL-2.0-only
/*
 * The key of a mapping: hex or keyring, loaded, printed, wiped.
 *
 * It must not know bios or device mapper. Every exit of every function here leaves no key byte behind
 * but in struct fdecrypt_key.
 */

#include "dm-fdecrypt-key.h"
#include "dm-fdecrypt-table.h"

#include <keys/encrypted-type.h>
#include <keys/trusted-type.h>
#include <keys/user-type.h>
#include <linux/err.h>
#include <linux/hex.h>
#include <linux/key.h>
#include <linux/slab.h>
#include <linux/string.h>

#if IS_ENABLED(CONFIG_KEYS)

/* How a key type keeps its payload. Call with the key's semaphore held for reading. */
static int user_payload(struct key *ring_key, const u8 **bytes, unsigned int *size)
{
	const struct user_key_payload *payload = user_key_payload_locked(ring_key);

	if (!payload)
		return -EKEYREVOKED;
	*bytes = payload->data;
	*size = payload->datalen;
	return 0;
}

#if IS_ENABLED(CONFIG_ENCRYPTED_KEYS)
static int encrypted_payload(struct key *ring_key, const u8 **bytes, unsigned int *size)
{
	const struct encrypted_key_payload *payload = ring_key->payload.data[0];

	if (!payload)
		return -EKEYREVOKED;
	*bytes = payload->decrypted_data;
	*size = payload->decrypted_datalen;
	return 0;
}
#endif

#if IS_ENABLED(CONFIG_TRUSTED_KEYS)
static int trusted_payload(struct key *ring_key, const u8 **bytes, unsigned int *size)
{
	const struct trusted_key_payload *payload = ring_key->payload.data[0];

	if (!payload)
		return -EKEYREVOKED;
	*bytes = payload->key;
	*size = payload->key_len;
	return 0;
}
#endif

static const struct ring_type {
	const char *name;
	struct key_type *type;
	int (*payload)(struct key *ring_key, const u8 **bytes, unsigned int *size);
} ring_types[] = {
	{ "logon", &key_type_logon, user_payload },
	{ "user", &key_type_user, user_payload },
#if IS_ENABLED(CONFIG_ENCRYPTED_KEYS)
	{ "encrypted", &key_type_encrypted, encrypted_payload },
#endif
#if IS_ENABLED(CONFIG_TRUSTED_KEYS)
	{ "trusted", &key_type_trusted, trusted_payload },
#endif
};

static const struct ring_type *find_ring_type(const struct fdecrypt_key_word *word)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ring_types); i++) {
		if (strlen(ring_types[i].name) == word->type_len &&
		    !memcmp(ring_types[i].name, word->type, word->type_len))
			return &ring_types[i];
	}
	return NULL;
}

/* Runs with the caller's credentials, so the caller's session and thread keyrings are searched. */
static int load_from_ring(const struct fdecrypt_key_word *word, u8 *to, const char **error)
{
	const struct ring_type *ring = find_ring_type(word);
	struct key *ring_key;
	unsigned int size;
	const u8 *bytes;
	int err;

	if (!ring) {
		*error = "Error decoding and setting key: not a logon, user, encrypted or trusted key";
		return -EINVAL;
	}
	ring_key = request_key(ring->type, word->description, NULL);
	if (IS_ERR(ring_key)) {
		err = PTR_ERR(ring_key);
		*error = err == -EKEYREVOKED ? "Error decoding and setting key: the key was revoked" :
			 err == -EKEYEXPIRED ? "Error decoding and setting key: the key has expired" :
			 "Error decoding and setting key: no such key in the caller's keyrings";
		return err;
	}

	down_read(&ring_key->sem);
	err = ring->payload(ring_key, &bytes, &size);
	if (err) {
		*error = "Error decoding and setting key: the key was revoked";
	} else if (size != word->size) {
		*error = "Error decoding and setting key: the key in the keyring has another size";
		err = -EINVAL;
	} else {
		memcpy(to, bytes, size);
	}
	up_read(&ring_key->sem);
	key_put(ring_key);
	return err;
}

#else

static int load_from_ring(const struct fdecrypt_key_word *word, u8 *to, const char **error)
{
	*error = "Cannot parse key size: this kernel has no keyrings";
	return -EINVAL;
}

#endif

/**
 * fdecrypt_key_load - read a key given in hex or by a keyring
 * @key: all zero; stays without key on failure
 * @word: the key word of a table line or message
 * @error: on failure, what was wrong
 *
 * Context: may sleep; runs with the credentials of whoever loads the table.
 * Return: 0; -EINVAL, -ENOMEM, -ENOKEY, -EKEYREVOKED, -EKEYEXPIRED, or another error of request_key().
 */
int fdecrypt_key_load(struct fdecrypt_key *key, const char *word, const char **error)
{
	struct fdecrypt_key_word parsed;
	int err;

	err = fdecrypt_parse_key(word, &parsed, error);
	if (err)
		return err;

	err = -ENOMEM;
	*error = "Cannot allocate memory for the key";
	key->size = parsed.size;
	if (parsed.size) {
		key->bytes = kmalloc(parsed.size, GFP_KERNEL);
		if (!key->bytes)
			goto err_wipe;
	}
	if (parsed.form == FDECRYPT_KEY_RING) {
		key->reference = kstrdup(word, GFP_KERNEL);
		if (!key->reference)
			goto err_wipe;
		err = load_from_ring(&parsed, key->bytes, error);
	} else {
		err = hex2bin(key->bytes, parsed.hex, parsed.size);
		*error = "Error decoding and setting key";
	}
	if (err)
		goto err_wipe;
	key->valid = true;
	*error = NULL;
	return 0;

err_wipe:
	fdecrypt_key_wipe(key);
	return err;
}

/**
 * fdecrypt_key_forget_bytes - wipe the bytes of a keyring key once the cipher has them
 * @key: the key; one given in hex is left alone, since TABLE must be able to print it
 *
 * Context: may sleep.
 */
void fdecrypt_key_forget_bytes(struct fdecrypt_key *key)
{
	if (!key->reference)
		return;
	kfree_sensitive(key->bytes);
	key->bytes = NULL;
}

/**
 * fdecrypt_key_wipe - wipe and free the key, keeping its size
 * @key: the key; safe on one that is all zero or wiped already
 *
 * Context: may sleep.
 */
void fdecrypt_key_wipe(struct fdecrypt_key *key)
{
	kfree_sensitive(key->bytes);
	key->bytes = NULL;
	kfree(key->reference);
	key->reference = NULL;
	key->valid = false;
}

/**
 * fdecrypt_key_print - print the key as TABLE text
 * @key: the key
 * @show: print the bytes of a key that was given in hex; otherwise zeros stand for them
 * @buf: where to; @size bytes, always terminated if @size is not 0
 * @size: size of @buf
 *
 * A wiped key prints as zeros.
 *
 * Context: any.
 * Return: number of characters printed, without the terminating NUL.
 */
size_t fdecrypt_key_print(const struct fdecrypt_key *key, bool show, char *buf, size_t size)
{
	size_t n = 0;
	unsigned int i;

	if (key->reference)
		return scnprintf(buf, size, "%s", key->reference);
	if (!key->size)
		return scnprintf(buf, size, "-");
	for (i = 0; i < key->size; i++)
		n += scnprintf(buf + n, size - n, "%02x", show && key->bytes ? key->bytes[i] : 0);
	return n;
}

/**
 * fdecrypt_key_wipe_word - overwrite the key word of a table line or message
 * @word: the word; a keyring reference is no secret and stays
 *
 * The ioctl buffer that holds it is freed by device mapper without being wiped, unless user space asked.
 *
 * Context: any.
 */
void fdecrypt_key_wipe_word(char *word)
{
	size_t len = strlen(word);

	if (word[0] == ':')
		return;
	memset(word, '0', len);
	/* memset alone may be dropped by the compiler: nobody reads the word again. */
	barrier_data(word);
}
