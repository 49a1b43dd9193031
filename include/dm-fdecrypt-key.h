/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of a mapping: from hex digits or a keyring into memory, and out of memory again.
 *
 * It must not know bios or device mapper, and never prints key bytes anywhere but into TABLE text.
 */
#ifndef DM_FDECRYPT_KEY_H
#define DM_FDECRYPT_KEY_H

#include <linux/types.h>

/**
 * struct fdecrypt_key - a key and what TABLE says of it
 * @size: bytes of key
 * @valid: it was loaded and has not been wiped
 * @bytes: @size bytes, wiped before they are freed; NULL if @size is 0 or the bytes were wiped
 * @reference: ":<size>:<type>:<description>" of a keyring key, NULL for a key given in hex
 */
struct fdecrypt_key {
	unsigned int size;
	bool valid;
	u8 *bytes;
	char *reference;
};

int fdecrypt_key_load(struct fdecrypt_key *key, const char *word, const char **error);
void fdecrypt_key_forget_bytes(struct fdecrypt_key *key);
void fdecrypt_key_wipe(struct fdecrypt_key *key);
size_t fdecrypt_key_print(const struct fdecrypt_key *key, bool show, char *buf, size_t size);
void fdecrypt_key_wipe_word(char *word);

#endif
