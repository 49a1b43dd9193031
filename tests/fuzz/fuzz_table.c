// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guarantee: no text crashes the table line's parser, and what it takes it prints, takes again and prints the same.
 *
 * The input is text. Its lines are: the cipher word, the key word, then the words of the optional parameters. Each
 * word lies in memory of exactly its size.
 */

#include "dm-fdecrypt-table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 40

/* The fuzzer takes abort() for a crash and keeps the input. */
#define MUST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* What every parser promises of its error text. */
static void check_outcome(int err, const char *error)
{
	MUST(!err || err == -22 || err == -12 || err == -2);
	MUST(!err || (error && *error && !strchr(error, '\n')));
}

static void fuzz_options(unsigned int argc, char *const *argv, struct fdecrypt_options *opts)
{
	struct fdecrypt_options again;
	char text[8192] = "", text_again[8192] = "", copy[8192], *words[WORDS_MAX], *save = NULL;
	const char *error = NULL;
	unsigned int nr = 0;
	size_t len, i;
	int err = fdecrypt_parse_options(argc, argv, FDECRYPT_OPTIONS_ALL, opts, &error);

	check_outcome(err, error);
	if (err) {
		memset(opts, 0, sizeof(*opts));
		opts->unit_size = 512;
		opts->version = FDECRYPT_OPTIONS_ALL;
		return;
	}
	MUST(opts->unit_size == 512 || opts->unit_size == 1024 || opts->unit_size == 2048 || opts->unit_size == 4096);
	MUST(opts->tag_size <= 480 && !opts->tag_size == (opts->integrity == FDECRYPT_INTEGRITY_ABSENT));

	len = fdecrypt_print_options(opts, text, sizeof(text));
	MUST(len == strlen(text) && len < sizeof(text) - 1);
	strcpy(copy, text);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[nr++] = word;
	MUST(!fdecrypt_parse_options(nr, words, FDECRYPT_OPTIONS_ALL, &again, &error));
	MUST(!opts->cpus == !again.cpus && (!opts->cpus || !strcmp(opts->cpus, again.cpus)));
	again.cpus = opts->cpus;
	MUST(!memcmp(opts, &again, sizeof(again)));
	fdecrypt_print_options(&again, text_again, sizeof(text_again));
	MUST(!strcmp(text, text_again));

	for (i = 1; i < len; i += 1 + len / 7) {
		char *small = malloc(i);

		MUST(fdecrypt_print_options(opts, small, i) == i - 1 && !memcmp(small, text, i - 1));
		MUST(fdecrypt_print_options_ima(opts, small, i) < i);
		free(small);
	}
}

static void fuzz_key(const char *word)
{
	struct fdecrypt_key_word key;
	const char *error = NULL;
	char text[64];
	int err = fdecrypt_parse_key(word, &key, &error), n;

	check_outcome(err, error);
	if (err)
		return;
	MUST(!error && key.size <= FDECRYPT_KEY_SIZE_MAX);
	if (key.form == FDECRYPT_KEY_HEX) {
		MUST(strlen(key.hex) == 2 * (size_t)key.size);
		MUST(key.hex >= word && key.hex <= word + strlen(word));
		MUST(strspn(key.hex, "0123456789abcdefABCDEF") == strlen(key.hex));
		return;
	}
	MUST(key.type_len && *key.description && !memchr(key.type, ':', key.type_len));
	MUST(key.type[key.type_len] == ':' && key.description == key.type + key.type_len + 1);
	/* Printed from its parts it is the same word, but for zeros before the size. */
	n = snprintf(text, sizeof(text), "%u:", key.size);
	MUST(!strncmp(key.type - n, text, n));
}

static void fuzz_cipher(const char *word, const struct fdecrypt_options *opts)
{
	struct fdecrypt_cipher cipher, again;
	char text[3 * FDECRYPT_NAME_SIZE];
	const char *error = NULL;
	int err = fdecrypt_parse_cipher(word, opts, &cipher, &error);

	check_outcome(err, error);
	if (err)
		return;
	MUST(memchr(cipher.skcipher, '\0', FDECRYPT_NAME_SIZE) && memchr(cipher.iv_mode, '\0', FDECRYPT_NAME_SIZE));
	MUST(cipher.key_count && cipher.key_count <= FDECRYPT_KEY_COUNT_MAX);
	MUST(!(cipher.key_count & (cipher.key_count - 1)));
	MUST(strcmp(cipher.iv_mode, "essiv"));

	/* The same said in the new form is the same cipher, where the new form can say it. */
	if (strchr(cipher.skcipher, ':') || strpbrk(cipher.iv_mode, ":-") || !*cipher.iv_mode)
		return;
	snprintf(text, sizeof(text), "capi:%s-%s", cipher.skcipher, cipher.iv_mode);
	MUST(!fdecrypt_parse_cipher(text, opts, &again, &error));
	MUST(!strcmp(cipher.skcipher, again.skcipher) && !strcmp(cipher.iv_mode, again.iv_mode));
	MUST(again.key_count == 1);
}

static void fuzz_rules(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	struct fdecrypt_options opts;
	const char *pattern, *error = NULL;
	unsigned int nr = 0;
	int ret;

	memcpy(text, data, size);
	text[size] = '\0';
	while ((ret = fdecrypt_parse_rule(&rest, &pattern, &opts, &error)) > 0) {
		MUST(++nr <= size && pattern >= text && *pattern && opts.cpus && *opts.cpus);
		MUST(!strpbrk(pattern, " ;\t\n") && !strpbrk(opts.cpus, " ;\t\n"));
		MUST(opts.unit_size == 512 && !opts.allow_discards && !opts.tag_size);
		if (!strchr(pattern, '*'))
			MUST(fdecrypt_pattern_matches(pattern, pattern));
	}
	check_outcome(ret, error);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS_MAX] = { NULL };
	struct fdecrypt_options opts;
	const char *cipher, *key;
	unsigned int nr = 0;

	fuzz_rules(data, size);
	while (size && nr < WORDS_MAX) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		words[nr] = malloc(len + 1);
		memcpy(words[nr], data, len);
		words[nr++][len] = '\0';
		data += len + !!end;
		size -= len + !!end;
	}
	cipher = nr > 0 ? words[0] : "";
	key = nr > 1 ? words[1] : "";
	fuzz_options(nr > 2 ? nr - 2 : 0, words + 2, &opts);
	fuzz_key(key);
	fuzz_cipher(cipher, &opts);
	for (unsigned int i = 0; i < nr; i++) {
		u64 number;

		fdecrypt_parse_u64(words[i], &number);
		free(words[i]);
	}
	return 0;
}
