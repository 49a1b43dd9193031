/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The grammar of the table line: what its words mean and how they are printed back.
 *
 * Pure text work: it must not know device mapper, the crypto API or memory allocation, so that the same
 * file is tested and fuzzed in user space.
 */
#ifndef DM_FDECRYPT_TABLE_H
#define DM_FDECRYPT_TABLE_H

#include <linux/types.h>

#define FDECRYPT_SECTOR_SHIFT		9
#define FDECRYPT_UNIT_SIZE_MIN		512u
#define FDECRYPT_UNIT_SIZE_MAX		4096u

/* The crypto API's CRYPTO_MAX_ALG_NAME; a name that does not fit cannot be allocated. */
#define FDECRYPT_NAME_SIZE		128

/* More keys than any known format uses (loop-AES has 65); each is a cipher transform of its own. */
#define FDECRYPT_KEY_COUNT_MAX		128u

/* Longer than any key of any cipher times FDECRYPT_KEY_COUNT_MAX. */
#define FDECRYPT_KEY_SIZE_MAX		(128u * FDECRYPT_KEY_COUNT_MAX)

/* Which options a table line may have: a minor version of dm-crypt's target 1.x, whose options, or all. */
#define FDECRYPT_OPTIONS_ALL		(~0u)

enum fdecrypt_integrity {
	FDECRYPT_INTEGRITY_ABSENT,	/* no integrity: option */
	FDECRYPT_INTEGRITY_NONE,	/* integrity:<n>:none */
	FDECRYPT_INTEGRITY_AEAD,	/* integrity:<n>:aead */
};

/**
 * struct fdecrypt_options - the optional parameters of a table line
 * @allow_discards: pass discards to the device below
 * @same_cpu_crypt: encrypt on the CPU that submitted the I/O
 * @high_priority: workers run at high priority
 * @submit_from_crypt_cpus: submit a write from the CPU that encrypted it
 * @no_read_workqueue: decrypt where the read completes, if the context allows
 * @no_write_workqueue: encrypt where the write is submitted
 * @iv_large_sectors: the IV counts data units instead of 512-byte sectors
 * @integrity: what the integrity: option asked for
 * @tag_size: its byte count, 1 to 480; 0 without the option
 * @unit_size: size of a data unit in bytes (sector_size:), 512 without the option
 * @integrity_key_size: size of the authentication key in bytes; 0 without the option
 * @cpus: list of CPUs that may work, a part of the word it was read from; NULL without the option
 * @version: the options that were allowed: a minor version of dm-crypt's target, or FDECRYPT_OPTIONS_ALL
 */
struct fdecrypt_options {
	bool allow_discards;
	bool same_cpu_crypt;
	bool high_priority;
	bool submit_from_crypt_cpus;
	bool no_read_workqueue;
	bool no_write_workqueue;
	bool iv_large_sectors;
	enum fdecrypt_integrity integrity;
	unsigned int tag_size;
	unsigned int unit_size;
	unsigned int integrity_key_size;
	const char *cpus;
	unsigned int version;
};

/**
 * struct fdecrypt_cipher - the cipher word of a table line
 * @skcipher: crypto API name of the cipher without IV generation, e.g. "essiv(cbc(aes),sha256)"
 * @iv_mode: IV mode of the fdiv template; "" if the word names none
 * @key_count: how many keys the sectors use in turn, a power of two
 */
struct fdecrypt_cipher {
	char skcipher[FDECRYPT_NAME_SIZE];
	char iv_mode[FDECRYPT_NAME_SIZE];
	unsigned int key_count;
};

enum fdecrypt_key_form {
	FDECRYPT_KEY_HEX,	/* "-" is a hex key of 0 bytes */
	FDECRYPT_KEY_RING,	/* :<size>:<type>:<description> */
};

/**
 * struct fdecrypt_key_word - the key word of a table line; it owns nothing
 * @form: how the key is given
 * @size: bytes of key
 * @hex: the digits, for FDECRYPT_KEY_HEX; 2 * @size of them
 * @type: key type, up to the next ':', for FDECRYPT_KEY_RING
 * @type_len: length of @type
 * @description: key description, for FDECRYPT_KEY_RING
 */
struct fdecrypt_key_word {
	enum fdecrypt_key_form form;
	unsigned int size;
	const char *hex;
	const char *type;
	unsigned int type_len;
	const char *description;
};

int fdecrypt_parse_u64(const char *text, u64 *value);
int fdecrypt_parse_key(const char *word, struct fdecrypt_key_word *key, const char **error);
int fdecrypt_parse_options(unsigned int argc, char *const *argv, unsigned int version,
			   struct fdecrypt_options *opts, const char **error);
int fdecrypt_parse_rule(char **rules, const char **pattern, struct fdecrypt_options *opts,
			const char **error);
bool fdecrypt_pattern_matches(const char *pattern, const char *text);
int fdecrypt_parse_cipher(const char *word, const struct fdecrypt_options *opts,
			  struct fdecrypt_cipher *cipher, const char **error);

size_t fdecrypt_print_options(const struct fdecrypt_options *opts, char *buf, size_t size);
size_t fdecrypt_print_options_ima(const struct fdecrypt_options *opts, char *buf, size_t size);

#endif
