// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guarantee: the table line means what it means to dm-crypt, is printed back so that it loads again, and whatever
 * dm-crypt misreads (wrapped numbers, half options, odd digits) is refused with dm-crypt's errno and one clear text.
 *
 * It could break through a number that is cut to fewer bits, an option that matches by prefix, a text that is read
 * or written past its end: every word is tried in memory of exactly its size.
 */

#include "dm-fdecrypt-table.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOT_VALID (-22)		/* -EINVAL, also when the product's headers got it wrong */
#define NO_MEMORY (-12)
#define NO_ENTRY (-2)

/* A copy in memory of exactly its size: reading on is seen by the address sanitizer. */
static char *exact(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	if (!copy)
		abort();
	return memcpy(copy, text, size);
}

static char *repeated(char c, size_t nr)
{
	char *text = malloc(nr + 1);

	memset(text, c, nr);
	text[nr] = '\0';
	return text;
}

static bool begins(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

/* One line, not empty, no newline: what may go to ti->error. */
static bool is_error_text(const char *text)
{
	return text && *text && strlen(text) < 120 && !strpbrk(text, "\n\r\t%");
}

/* -- numbers ------------------------------------------------------------------------------------ */

static void numbers(void)
{
	static const struct {
		const char *text;
		int err;
		unsigned long long value;
	} words[] = {
		{ "0", 0, 0 },
		{ "7", 0, 7 },
		{ "007", 0, 7 },
		{ "010", 0, 10 },
		{ "4294967295", 0, 4294967295u },
		{ "4294967296", 0, 4294967296u },
		{ "9223372036854775808", 0, 9223372036854775808u },
		{ "18446744073709551609", 0, 18446744073709551609u },
		{ "18446744073709551614", 0, 18446744073709551614u },
		{ "18446744073709551615", 0, 18446744073709551615u },
		{ "000000000000000000000000018446744073709551615", 0, 18446744073709551615u },
		{ "18446744073709551616", NOT_VALID, 0 },
		{ "18446744073709551619", NOT_VALID, 0 },
		{ "18446744073709551620", NOT_VALID, 0 },
		{ "18446744073709551625", NOT_VALID, 0 },
		{ "184467440737095516150", NOT_VALID, 0 },
		{ "36893488147419103232", NOT_VALID, 0 },
		{ "99999999999999999999", NOT_VALID, 0 },
		{ "340282366920938463463374607431768211456", NOT_VALID, 0 },
		{ "", NOT_VALID, 0 },
		{ " ", NOT_VALID, 0 },
		{ "+1", NOT_VALID, 0 },
		{ "-1", NOT_VALID, 0 },
		{ "-0", NOT_VALID, 0 },
		{ " 1", NOT_VALID, 0 },
		{ "1 ", NOT_VALID, 0 },
		{ "\t1", NOT_VALID, 0 },
		{ "1\n", NOT_VALID, 0 },
		{ "0x10", NOT_VALID, 0 },
		{ "1e3", NOT_VALID, 0 },
		{ "1.0", NOT_VALID, 0 },
		{ "1,000", NOT_VALID, 0 },
		{ "1:", NOT_VALID, 0 },
		{ "a", NOT_VALID, 0 },
		{ "/", NOT_VALID, 0 },
		{ "\xb2", NOT_VALID, 0 },
		{ "1\xff", NOT_VALID, 0 },
	};

	for (unsigned int i = 0; i < COUNT(words); i++) {
		char *text = exact(words[i].text);
		u64 value = 0;
		int err = fdecrypt_parse_u64(text, &value);

		CHECK(err == words[i].err, "\"%s\": %d", text, err);
		CHECK(err || value == words[i].value, "\"%s\": %llu", text, value);
		free(text);
	}
}

static void any_number_reads_back(void)
{
	unsigned long long seed = 1;
	char text[32];

	for (unsigned int i = 0; i < 20000; i++) {
		unsigned long long want = tap_random(&seed) >> i % 64;
		u64 value = 0;

		snprintf(text, sizeof(text), "%llu", want);
		CHECK(!fdecrypt_parse_u64(text, &value) && value == want, "%s: %llu", text, value);
	}
}

static void only_digits_are_digits(void)
{
	for (unsigned int c = 1; c < 256; c++) {
		char word[] = { '1', (char)c, '\0' };
		u64 value = 0;
		bool digit = c >= '0' && c <= '9';

		CHECK(!fdecrypt_parse_u64(word, &value) == digit, "character %u", c);
		CHECK(!digit || value == 10 + c - '0', "character %u", c);
	}
}

/* -- the key word ------------------------------------------------------------------------------- */

static void check_key_error(const char *text, int want, const char *begin)
{
	struct fdecrypt_key_word key;
	const char *error = NULL;
	char *word = exact(text);
	int err = fdecrypt_parse_key(word, &key, &error);

	CHECK(err == want, "\"%.40s\" (%zu characters): %d", text, strlen(text), err);
	CHECK(!err || (is_error_text(error) && begins(error, begin)), "\"%.40s\": %s", text, error ?: "no text");
	free(word);
}

static void check_hex(const char *text, unsigned int size)
{
	struct fdecrypt_key_word key;
	const char *error = NULL;
	char *word = exact(text);
	int err = fdecrypt_parse_key(word, &key, &error);

	CHECK(!err, "\"%.40s\" (%zu characters): %d %s", text, strlen(text), err, error ?: "");
	if (!err) {
		CHECK(key.form == FDECRYPT_KEY_HEX && key.size == size && !error, "\"%.40s\": size %u", text, key.size);
		CHECK(key.hex && !strcmp(key.hex, size ? text : "") && key.hex >= word, "\"%.40s\"", text);
		CHECK(!key.type && !key.description && !key.type_len, "\"%.40s\"", text);
	}
	free(word);
}

static void hex_keys(void)
{
	char *longest = repeated('a', 2 * FDECRYPT_KEY_SIZE_MAX);

	check_hex("00", 1);
	check_hex("fF", 1);
	check_hex("0123456789abcdefABCDEF", 11);
	for (unsigned int size = 1; size <= 256; size++) {
		char *text = repeated('7', 2 * size);

		check_hex(text, size);
		free(text);
	}
	check_hex(longest, FDECRYPT_KEY_SIZE_MAX);
	free(longest);
}

static void a_dash_is_the_empty_key(void)
{
	check_hex("-", 0);
	check_key_error("--", NOT_VALID, "Error decoding and setting key");
	check_key_error("-0", NOT_VALID, "Error decoding and setting key");
	check_key_error("0-", NOT_VALID, "Error decoding and setting key");
}

/* dm-crypt: no digits and not "-" is an error; libdevmapper passes such a word when it is told to. */
static void no_key_word_is_not_a_key(void)
{
	check_key_error("", NOT_VALID, "Error decoding and setting key");
}

static void bad_hex_keys(void)
{
	static const char *const words[] = {
		"0", "f", "g", "000", "0g", "g0", "0x00", "0x", " 00", "00 ", "0 ", "00\n", "00:00", "+0", "00-0",
		"0123456789abcdef0123456789abcde", "\xe0\xe0",
	};

	for (unsigned int i = 0; i < COUNT(words); i++)
		check_key_error(words[i], NOT_VALID, "Error decoding and setting key");
}

static void only_hex_digits_are_hex_digits(void)
{
	for (unsigned int c = 1; c < 256; c++) {
		char first[] = { (char)c, '0', '\0' }, second[] = { '0', (char)c, '\0' };
		bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
		struct fdecrypt_key_word key;
		const char *error;

		CHECK(!fdecrypt_parse_key(second, &key, &error) == hex, "character %u", c);
		if (c != ':')
			CHECK(!fdecrypt_parse_key(first, &key, &error) == hex, "character %u", c);
	}
}

static void check_ring(const char *text, unsigned int size, const char *type, const char *description)
{
	struct fdecrypt_key_word key;
	const char *error = NULL;
	char *word = exact(text);
	int err = fdecrypt_parse_key(word, &key, &error);

	CHECK(!err, "\"%s\": %d %s", text, err, error ?: "");
	if (!err) {
		CHECK(key.form == FDECRYPT_KEY_RING && key.size == size && !error, "\"%s\": size %u", text, key.size);
		CHECK(key.type_len == strlen(type) && !memcmp(key.type, type, key.type_len), "\"%s\"", text);
		CHECK(!strcmp(key.description, description), "\"%s\": %s", text, key.description);
		CHECK(!key.hex, "\"%s\"", text);
	}
	free(word);
}

static void keyring_keys(void)
{
	check_ring(":32:logon:cryptsetup:8a1b-d0", 32, "logon", "cryptsetup:8a1b-d0");
	check_ring(":64:user:x", 64, "user", "x");
	check_ring(":64:encrypted:::", 64, "encrypted", "::");
	check_ring(":1:trusted:kmk-\xc3\xa9", 1, "trusted", "kmk-\xc3\xa9");
	check_ring(":064:logon:a", 64, "logon", "a");
	check_ring(":16384:logon:a", FDECRYPT_KEY_SIZE_MAX, "logon", "a");
}

static void bad_keyring_sizes(void)
{
	static const char *const words[] = {
		":", "::", ":::", ":32", "::logon:x", ":x:logon:x", ":-1:logon:x", ":+1:logon:x", ": 32:logon:x",
		":32 :logon:x", ":0x20:logon:x", ":2147483648:logon:x", ":4294967295:logon:x",
		":4294967296:logon:x", ":4294967328:logon:x", ":18446744073709551648:logon:x",
		":99999999999999999999999999999999:logon:x", ":logon:x:32",
	};

	for (unsigned int i = 0; i < COUNT(words); i++)
		check_key_error(words[i], NOT_VALID, "Cannot parse key size");
}

static void bad_keyring_names(void)
{
	static const char *const words[] = {
		":32:", ":32:logon", ":32:logon:", ":32::x", ":32::", ":32:logon:a b", ":32:logon:a\tb",
		":32:logon:a\nb", ":32:logon:a\vb", ":32:logon:a\fb", ":32:logon:a\rb", ":32:logon:a ",
		":32:logon: a", ":32:lo gon:a",
	};

	for (unsigned int i = 0; i < COUNT(words); i++)
		check_key_error(words[i], NOT_VALID, "Error decoding and setting key");
}

static void huge_keys(void)
{
	char *digits = repeated('0', 2 * FDECRYPT_KEY_SIZE_MAX + 2);

	check_key_error(digits, NO_MEMORY, "Cannot allocate encryption context");
	digits[1] = 'g';
	check_key_error(digits, NOT_VALID, "Error decoding and setting key");
	check_key_error(":16385:logon:x", NO_MEMORY, "Cannot allocate encryption context");
	check_key_error(":2147483647:logon:x", NO_MEMORY, "Cannot allocate encryption context");
	free(digits);
}

/* -- the optional parameters -------------------------------------------------------------------- */

#define NR_OPTIONS 10

/* dm-crypt's order of TABLE text. */
static const char *const words_in_order[NR_OPTIONS] = {
	"allow_discards", "same_cpu_crypt", "high_priority", "submit_from_crypt_cpus", "no_read_workqueue",
	"no_write_workqueue", "integrity:16:none", "sector_size:4096", "iv_large_sectors", "integrity_key_size:32",
};

/* The same with other values. */
static const char *const other_words[NR_OPTIONS] = {
	"ALLOW_DISCARDS", "Same_Cpu_Crypt", "high_Priority", "submit_from_crypt_CPUS", "No_Read_Workqueue",
	"NO_write_WORKQUEUE", "Integrity:480:AEAD", "Sector_Size:1024", "iv_large_SECTORS",
	"INTEGRITY_KEY_SIZE:4294967295",
};

/* Parse @nr words behind their count; each word in memory of its own. */
static int parse(unsigned int nr, const char *const *words, struct fdecrypt_options *opts, const char **error)
{
	char count[16], **argv = calloc(nr + 1, sizeof(*argv));
	int err;

	snprintf(count, sizeof(count), "%u", nr);
	argv[0] = exact(count);
	for (unsigned int i = 0; i < nr; i++)
		argv[i + 1] = exact(words[i]);
	*error = NULL;
	memset(opts, 0x5a, sizeof(*opts));
	err = fdecrypt_parse_options(nr + 1, argv, FDECRYPT_OPTIONS_ALL, opts, error);
	for (unsigned int i = 0; i <= nr; i++)
		free(argv[i]);
	free(argv);
	CHECK(!err || is_error_text(*error), "%s: %s", nr ? words[0] : "", *error ?: "no text");
	CHECK(err || !*error, "%s: %s", nr ? words[0] : "", *error ?: "");
	return err;
}

static bool same(const struct fdecrypt_options *a, const struct fdecrypt_options *b)
{
	return a->allow_discards == b->allow_discards && a->same_cpu_crypt == b->same_cpu_crypt &&
	       a->high_priority == b->high_priority && a->submit_from_crypt_cpus == b->submit_from_crypt_cpus &&
	       a->no_read_workqueue == b->no_read_workqueue && a->no_write_workqueue == b->no_write_workqueue &&
	       a->iv_large_sectors == b->iv_large_sectors && a->integrity == b->integrity &&
	       a->tag_size == b->tag_size && a->unit_size == b->unit_size &&
	       a->integrity_key_size == b->integrity_key_size;
}

/* What a subset of words_in_order (or of other_words) means. */
static struct fdecrypt_options meaning(unsigned int subset, bool other)
{
	return (struct fdecrypt_options){
		.allow_discards = subset & 1,
		.same_cpu_crypt = subset & 2,
		.high_priority = subset & 4,
		.submit_from_crypt_cpus = subset & 8,
		.no_read_workqueue = subset & 16,
		.no_write_workqueue = subset & 32,
		.integrity = !(subset & 64) ? FDECRYPT_INTEGRITY_ABSENT :
			     other ? FDECRYPT_INTEGRITY_AEAD : FDECRYPT_INTEGRITY_NONE,
		.tag_size = !(subset & 64) ? 0 : other ? 480 : 16,
		.unit_size = !(subset & 128) ? 512 : other ? 1024 : 4096,
		.version = FDECRYPT_OPTIONS_ALL,
		.iv_large_sectors = subset & 256,
		.integrity_key_size = !(subset & 512) ? 0 : other ? 4294967295u : 32,
	};
}

static unsigned int words_of(unsigned int subset, const char *const *from, const char **words)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < NR_OPTIONS; i++) {
		if (subset & 1u << i)
			words[nr++] = from[i];
	}
	return nr;
}

static void no_options(void)
{
	struct fdecrypt_options opts, none = meaning(0, false);
	const char *error = NULL;
	char zero[] = "0", *argv[] = { zero };

	memset(&opts, 0x5a, sizeof(opts));
	CHECK(!fdecrypt_parse_options(0, NULL, FDECRYPT_OPTIONS_ALL, &opts, &error) && same(&opts, &none), "no word");
	memset(&opts, 0x5a, sizeof(opts));
	CHECK(!fdecrypt_parse_options(1, argv, FDECRYPT_OPTIONS_ALL, &opts, &error) && same(&opts, &none), "count 0");
}

static void each_option_alone(void)
{
	for (unsigned int i = 0; i < NR_OPTIONS; i++) {
		struct fdecrypt_options opts, want = meaning(1u << i, false);
		const char *error;

		CHECK(!parse(1, &words_in_order[i], &opts, &error), "%s: %s", words_in_order[i], error ?: "");
		CHECK(same(&opts, &want), "%s", words_in_order[i]);
	}
}

static void case_does_not_matter(void)
{
	struct fdecrypt_options opts, want = meaning(1023, true);
	const char *error;

	CHECK(!parse(NR_OPTIONS, other_words, &opts, &error), "%s", error ?: "");
	CHECK(same(&opts, &want), "other values");
}

/* dm-crypt prints ten options but takes nine. */
static void all_subsets_in_any_order(void)
{
	unsigned long long seed = 4;

	for (unsigned int subset = 0; subset < 1024; subset++)
	for (unsigned int other = 0; other < 2; other++)
	for (unsigned int shuffle = 0; shuffle < 6; shuffle++) {
		struct fdecrypt_options opts, want = meaning(subset, other);
		const char *words[NR_OPTIONS], *error;
		unsigned int nr = words_of(subset, other ? other_words : words_in_order, words);

		for (unsigned int i = nr; i > 1; i--) {
			unsigned int with = tap_random(&seed) % i;
			const char *word = words[i - 1];

			words[i - 1] = words[with];
			words[with] = word;
		}
		CHECK(!parse(nr, words, &opts, &error), "subset %#x: %s", subset, error ?: "");
		CHECK(same(&opts, &want), "subset %#x", subset);
	}
}

static void a_repeated_option_is_refused(void)
{
	for (unsigned int i = 0; i < NR_OPTIONS; i++)
	for (unsigned int other = 0; other < 2; other++) {
		const char *const words[] = { words_in_order[i], other ? other_words[i] : words_in_order[i] };
		struct fdecrypt_options opts;
		const char *error;

		CHECK(parse(2, words, &opts, &error) == NOT_VALID, "%s %s", words[0], words[1]);
		CHECK(begins(error, "Feature argument given twice"), "%s: %s", words[0], error ?: "");
		CHECK(error && strstr(error, "twice: ") && begins(words[0], strstr(error, "twice: ") + 7),
		      "%s: %s", words[0], error ?: "");
	}
}

static void check_option(const char *word, const char *begin)
{
	struct fdecrypt_options opts;
	const char *error;
	int err = parse(1, &word, &opts, &error);

	CHECK(err == NOT_VALID, "\"%s\": %d", word, err);
	CHECK(begins(error, begin), "\"%s\": %s", word, error ?: "");
}

static void other_words_are_refused(void)
{
	static const char *const words[] = {
		"", " ", "x", ":", "allow_discard", "allow_discardss", "allow_discards ", " allow_discards",
		"allow_discards:", "allow_discards:1", "same_cpu_crypt:0", "iv_large_sectors:4096", "high_priority=1",
		"high-priority", "no_read_workqueue_", "integrity", "integrity_", "integrit", "integrity16:none",
		"integrity-16-none", "sector_size", "sector_size=4096", "sector_siz:4096", "sector_sizes:4096",
		"integrity_key_size", "integrity_key_size=32", "integrity_key:32", "lmk", "0", "1",
		"submit_from_crypt_cpu", "\xff\xff",
	};

	for (unsigned int i = 0; i < COUNT(words); i++)
		check_option(words[i], "Invalid feature arguments");
	for (unsigned int i = 0; i < NR_OPTIONS; i++) {
		char *cut = exact(words_in_order[i]);

		for (size_t len = strcspn(cut, ":"); len > 0; len--) {
			cut[len - (strchr(words_in_order[i], ':') ? 0 : 1)] = '\0';
			check_option(cut, "Invalid feature arguments");
		}
		free(cut);
	}
}

static void counts(void)
{
	static const struct {
		const char *words[4];
		const char *begin;
	} bad[] = {
		{ { "1" }, "Not enough feature arguments" },
		{ { "2", "allow_discards" }, "Not enough feature arguments" },
		{ { "11", "allow_discards" }, "Not enough feature arguments" },
		{ { "12", "allow_discards" }, "Invalid number of feature args" },
		{ { "4294967296", "allow_discards" }, "Invalid number of feature args" },
		{ { "4294967297", "allow_discards" }, "Invalid number of feature args" },
		{ { "18446744073709551617", "allow_discards" }, "Invalid number of feature args" },
		{ { "4294967295" }, "Invalid number of feature args" },
		{ { "-1", "allow_discards" }, "Invalid number of feature args" },
		{ { "+1", "allow_discards" }, "Invalid number of feature args" },
		{ { " 1", "allow_discards" }, "Invalid number of feature args" },
		{ { "1x", "allow_discards" }, "Invalid number of feature args" },
		{ { "", "allow_discards" }, "Invalid number of feature args" },
		{ { "allow_discards" }, "Invalid number of feature args" },
		{ { "allow_discards", "1" }, "Invalid number of feature args" },
		{ { "0", "allow_discards" }, "Words after the last feature argument" },
		{ { "1", "allow_discards", "same_cpu_crypt" }, "Words after the last feature argument" },
		{ { "1", "allow_discards", "" }, "Words after the last feature argument" },
		{ { "1", "bogus", "allow_discards" }, "Words after the last feature argument" },
	};

	for (unsigned int i = 0; i < COUNT(bad); i++) {
		struct fdecrypt_options opts;
		const char *error = NULL;
		char *argv[4];
		unsigned int argc = 0;

		while (argc < 4 && bad[i].words[argc]) {
			argv[argc] = exact(bad[i].words[argc]);
			argc++;
		}
		CHECK(fdecrypt_parse_options(argc, argv, FDECRYPT_OPTIONS_ALL, &opts, &error) == NOT_VALID,
		      "line %u", i);
		CHECK(is_error_text(error) && begins(error, bad[i].begin), "line %u: %s", i, error ?: "");
		while (argc)
			free(argv[--argc]);
	}
}

/* dm-crypt cuts the number to 16 bits: 66048 would be 512. */
static void sector_sizes(void)
{
	static const char *const words[] = {
		"sector_size:", "sector_size::", "sector_size:4k", "sector_size:-512", "sector_size:+512",
		"sector_size: 512", "sector_size:512 ", "sector_size:0x200", "sector_size:512:", "sector_size:512:512",
		"sector_size:4294967808", "sector_size:18446744073709552128", "sector_size:4294968320",
		"sector_size:68719477248", "sector_size:512.0",
	};
	char word[64];

	for (unsigned int size = 0; size <= 140000; size++) {
		const char *const one = word;
		struct fdecrypt_options opts;
		const char *error;
		bool good = size == 512 || size == 1024 || size == 2048 || size == 4096;

		snprintf(word, sizeof(word), "sector_size:%u", size);
		if (!good) {
			check_option(word, "Invalid feature value for sector_size");
			continue;
		}
		CHECK(!parse(1, &one, &opts, &error) && opts.unit_size == size, "%s", word);
	}
	for (unsigned int i = 0; i < COUNT(words); i++)
		check_option(words[i], "Invalid feature value for sector_size");
}

static void tag_sizes(void)
{
	char word[64];

	for (unsigned int size = 0; size <= 70000; size++)
	for (unsigned int aead = 0; aead < 2; aead++) {
		const char *const one = word;
		struct fdecrypt_options opts;
		const char *error;

		snprintf(word, sizeof(word), "integrity:%u:%s", size, aead ? "aead" : "none");
		if (size < 1 || size > 480) {
			check_option(word, "Invalid integrity arguments");
			continue;
		}
		CHECK(!parse(1, &one, &opts, &error) && opts.tag_size == size &&
		      opts.integrity == (aead ? FDECRYPT_INTEGRITY_AEAD : FDECRYPT_INTEGRITY_NONE), "%s", word);
	}
}

/* "integrity:16" crashes dm-crypt. */
static void half_an_integrity_option(void)
{
	static const char *const no_size[] = {
		"integrity:", "integrity::", "integrity::none", "integrity:none", "integrity:x:none",
		"integrity:-1:none", "integrity:+16:none", "integrity: 16:none", "integrity:16 :none",
		"integrity:0x10:none", "integrity:4294967312:none", "integrity:18446744073709551632:none",
		"integrity:none:16", "integrity:16", "integrity:480", "integrity:9999999999",
	};
	static const char *const no_type[] = {
		"integrity:16:", "integrity:16:x", "integrity:16:non", "integrity:16:nonee", "integrity:16:none:",
		"integrity:16::none", "integrity:16: none", "integrity:16:aead ", "integrity:16:aea", "integrity:16:16",
		"integrity:16:hmac(sha256)",
	};

	for (unsigned int i = 0; i < COUNT(no_size); i++)
		check_option(no_size[i], "Invalid integrity arguments");
	for (unsigned int i = 0; i < COUNT(no_type); i++)
		check_option(no_type[i], "Unknown integrity profile");
}

static void integrity_key_sizes(void)
{
	static const char *const bad[] = {
		"", "0", "00", "-1", "+1", " 1", "1 ", "x", "1x", "0x1", "4294967296", "4294967297",
		"18446744073709551617", "32:", "32:none",
	};
	static const unsigned int good[] = { 1, 16, 20, 32, 64, 65535, 65536, 2147483647, 2147483648, 4294967295 };
	char word[64];

	for (unsigned int i = 0; i < COUNT(bad); i++) {
		snprintf(word, sizeof(word), "integrity_key_size:%s", bad[i]);
		check_option(word, "Invalid integrity_key_size argument");
	}
	for (unsigned int i = 0; i < COUNT(good); i++) {
		const char *const one = word;
		struct fdecrypt_options opts;
		const char *error;

		snprintf(word, sizeof(word), "integrity_key_size:%u", good[i]);
		CHECK(!parse(1, &one, &opts, &error) && opts.integrity_key_size == good[i], "%s", word);
	}
}

/* The first bad word is the one reported, whatever follows. */
/* What the list means is for others; here it is a word that comes back. */
static void cpus_are_kept(void)
{
	static const char *const empty[] = { "cpus:" }, *const bare[] = { "cpus" };
	char two[] = "2", list[] = "CPUS:0-3,8", discards[] = "allow_discards";
	char *const argv[] = { two, list, discards };
	struct fdecrypt_options opts;
	const char *error;
	char text[100];

	CHECK(!fdecrypt_parse_options(3, argv, FDECRYPT_OPTIONS_ALL, &opts, &error), "%s", error ?: "");
	CHECK(opts.cpus && !strcmp(opts.cpus, "0-3,8"), "%s", opts.cpus ?: "");
	fdecrypt_print_options(&opts, text, sizeof(text));
	CHECK(!strcmp(text, " 2 allow_discards cpus:0-3,8"), "%s", text);
	fdecrypt_print_options_ima(&opts, text, sizeof(text));
	CHECK(!strstr(text, ",cpus"), "%s", text);
	CHECK(parse(1, empty, &opts, &error) == NOT_VALID, "an empty list is taken");
	CHECK(begins(error, "Invalid cpus"), "%s", error ?: "");
	CHECK(parse(1, bare, &opts, &error) == NOT_VALID, "no list is taken");
}

/* As crypt, a version knows its own options and those before, and prints no others. */
static void versions_know_their_options(void)
{
	static const struct { const char *word; unsigned int since; } news[] = {
		{ "allow_discards", 0 }, { "sector_size:4096", 0 }, { "integrity:8:none", 0 }, { "high_priority", 26 },
		{ "integrity_key_size:4", 28 }, { "cpus:1", FDECRYPT_OPTIONS_ALL },
	};
	static const unsigned int versions[] = { 24, 26, 28, 29, FDECRYPT_OPTIONS_ALL };

	for (unsigned int i = 0; i < COUNT(news); i++)
	for (unsigned int j = 0; j < COUNT(versions); j++) {
		char one[] = "1", *word = exact(news[i].word), *argv[] = { one, word }, text[256];
		struct fdecrypt_options opts;
		const char *error = NULL;
		int err = fdecrypt_parse_options(2, argv, versions[j], &opts, &error);

		if (versions[j] >= news[i].since) {
			CHECK(!err && opts.version == versions[j], "%s in %u: %s", word, versions[j], error ?: "");
			fdecrypt_print_options(&opts, text, sizeof(text));
			CHECK(strstr(text, word), "%s in %u: \"%s\"", word, versions[j], text);
		} else {
			CHECK(err == NOT_VALID && begins(error, "Invalid feature arguments"), "%s in %u: %s", word,
			      versions[j], error ?: "taken");
		}
		fdecrypt_print_options_ima(&opts, text, sizeof(text));
		CHECK(!strstr(text, ",high_priority=") == (versions[j] < 26), "IMA text of %u: %s", versions[j], text);
		free(word);
	}
}

static void versions_count_their_options(void)
{
	static const struct { unsigned int version; const char *most, *more; } limits[] = {
		{ 24, "8", "9" }, { 26, "9", "10" }, { 29, "10", "11" }, { FDECRYPT_OPTIONS_ALL, "11", "12" },
	};

	for (unsigned int i = 0; i < COUNT(limits); i++) {
		char *most_word = exact(limits[i].most), *more_word = exact(limits[i].more);
		char *const most[] = { most_word }, *const more[] = { more_word };
		struct fdecrypt_options opts;
		const char *error = NULL;

		CHECK(fdecrypt_parse_options(1, most, limits[i].version, &opts, &error) == NOT_VALID &&
		      begins(error, "Not enough feature arguments"), "%u: %s", limits[i].version, error);
		CHECK(fdecrypt_parse_options(1, more, limits[i].version, &opts, &error) == NOT_VALID &&
		      begins(error, "Invalid number of feature args"), "%u: %s", limits[i].version, error);
		free(most_word);
		free(more_word);
	}
}

/* What is set by a message shows under the own name only. */
static void own_options_do_not_show_as_crypt(void)
{
	struct fdecrypt_options opts = { .unit_size = 512, .cpus = "1", .allow_discards = true, .version = 29 };
	char text[100];

	fdecrypt_print_options(&opts, text, sizeof(text));
	CHECK(!strcmp(text, " 1 allow_discards"), "%s", text);
}

static void rules_are_read(void)
{
	char *text = exact(" luks-* cpus:0-3;;\t CRYPT-LUKS2-01*\n\tCPUS:4 ;swap cpus:all; "), *rest = text;
	static const struct { const char *pattern, *cpus; } want[] = {
		{ "luks-*", "0-3" }, { "CRYPT-LUKS2-01*", "4" }, { "swap", "all" },
	};
	struct fdecrypt_options opts;
	const char *pattern, *error = NULL;

	for (unsigned int i = 0; i < COUNT(want); i++) {
		CHECK(fdecrypt_parse_rule(&rest, &pattern, &opts, &error) == 1, "rule %u: %s", i, error ?: "");
		CHECK(!strcmp(pattern, want[i].pattern) && !strcmp(opts.cpus, want[i].cpus),
		      "rule %u: \"%s\" \"%s\"", i, pattern, opts.cpus);
	}
	CHECK(!fdecrypt_parse_rule(&rest, &pattern, &opts, &error), "a fourth rule");
	CHECK(!fdecrypt_parse_rule(&rest, &pattern, &opts, &error), "a rule behind the end");
	free(text);
}

static void bad_rules_are_refused(void)
{
	static const char *const bad[] = {
		"x", "x ", "x cpus", "x cpus:", "x cpus:1 cpus:2", "x bogus", "x allow_discards",
		"x cpus:1 allow_discards",
		"x sector_size:512", "a*b cpus:1", "** cpus:1",
	};

	for (unsigned int i = 0; i < COUNT(bad); i++) {
		char *text = exact(bad[i]), *rest = text;
		struct fdecrypt_options opts;
		const char *pattern, *error = NULL;

		CHECK(fdecrypt_parse_rule(&rest, &pattern, &opts, &error) == NOT_VALID, "\"%s\" is taken", bad[i]);
		CHECK(is_error_text(error), "\"%s\": %s", bad[i], error ?: "no text");
		free(text);
	}
}

static void patterns_match(void)
{
	static const struct { const char *pattern, *text; bool matches; } cases[] = {
		{ "luks", "luks", true }, { "luks", "luks1", false }, { "luks", "luk", false },
		{ "luks*", "luks", true },
		{ "luks*", "luks-1", true }, { "luks*", "luk", false }, { "*", "x", true }, { "*", "", false },
		{ "luks", "", false }, { "LUKS", "luks", false }, { "a", "a*", false },
	};

	for (unsigned int i = 0; i < COUNT(cases); i++) {
		CHECK(fdecrypt_pattern_matches(cases[i].pattern, cases[i].text) == cases[i].matches,
		      "\"%s\" and \"%s\"", cases[i].pattern, cases[i].text);
	}
}

static void the_first_error_counts(void)
{
	static const char *const words[] = { "allow_discards", "sector_size:513", "bogus", "integrity:0:none" };
	struct fdecrypt_options opts;
	const char *error;

	CHECK(parse(4, words, &opts, &error) == NOT_VALID, "taken");
	CHECK(begins(error, "Invalid feature value for sector_size"), "%s", error ?: "");
}

/* -- printing ----------------------------------------------------------------------------------- */

/* Another computation of the TABLE text; @other values are printed as numbers and lower case. */
static void expect_table(char *text, unsigned int subset, bool other)
{
	char words[512] = "", lower[64];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < NR_OPTIONS; i++) {
		if (!(subset & 1u << i))
			continue;
		nr++;
		strcpy(lower, (other ? other_words : words_in_order)[i]);
		for (char *c = lower; *c; c++)
			*c |= *c >= 'A' && *c <= 'Z' ? 'a' - 'A' : 0;
		strcat(strcat(words, " "), lower);
	}
	if (nr)
		sprintf(text, " %u%s", nr, words);
	else
		*text = '\0';
}

static void table_text_is_dm_crypts(void)
{
	for (unsigned int subset = 0; subset < 1024; subset++)
	for (unsigned int other = 0; other < 2; other++) {
		struct fdecrypt_options opts = meaning(subset, other);
		char want[600], text[600] = "";
		size_t n;

		expect_table(want, subset, other);
		n = fdecrypt_print_options(&opts, text, sizeof(text));
		CHECK(!strcmp(text, want) && n == strlen(want), "\"%s\", not \"%s\"", text, want);
	}
}

static void defaults_are_not_printed(void)
{
	static const char *const words[] = { "sector_size:512" };
	struct fdecrypt_options opts;
	const char *error;
	char text[64] = "";

	CHECK(!parse(1, words, &opts, &error), "%s", error ?: "");
	CHECK(!fdecrypt_print_options(&opts, text, sizeof(text)) && !*text, "\"%s\"", text);
}

static void printed_text_loads_again(void)
{
	for (unsigned int subset = 0; subset < 1024; subset++)
	for (unsigned int other = 0; other < 2; other++) {
		struct fdecrypt_options first = meaning(subset, other), again;
		char text[600] = "", text_again[600] = "", *argv[16], *save = NULL;
		const char *error = NULL;
		unsigned int argc = 0;

		fdecrypt_print_options(&first, text, sizeof(text));
		strcpy(text_again, text);
		for (char *word = strtok_r(text_again, " ", &save); word; word = strtok_r(NULL, " ", &save))
			argv[argc++] = word;
		CHECK(!fdecrypt_parse_options(argc, argv, FDECRYPT_OPTIONS_ALL, &again, &error) && same(&first, &again),
		      "\"%s\": %s", text, error ?: "other options");
		memset(text_again, 0, sizeof(text_again));
		fdecrypt_print_options(&again, text_again, sizeof(text_again));
		CHECK(!strcmp(text, text_again), "\"%s\", then \"%s\"", text, text_again);
	}
}

static void ima_text_is_dm_crypts(void)
{
	for (unsigned int subset = 0; subset < 1024; subset++)
	for (unsigned int other = 0; other < 2; other++) {
		struct fdecrypt_options opts = meaning(subset, other);
		char want[600], text[600] = "";
		int n;

		n = sprintf(want, ",allow_discards=%c,same_cpu_crypt=%c,high_priority=%c,submit_from_crypt_cpus=%c",
			    subset & 1 ? 'y' : 'n', subset & 2 ? 'y' : 'n', subset & 4 ? 'y' : 'n',
			    subset & 8 ? 'y' : 'n');
		n += sprintf(want + n, ",no_read_workqueue=%c,no_write_workqueue=%c,iv_large_sectors=%c",
			     subset & 16 ? 'y' : 'n', subset & 32 ? 'y' : 'n', subset & 256 ? 'y' : 'n');
		if (subset & 64)
			n += sprintf(want + n, ",integrity_tag_size=%s",
				     other ? "480,cipher_auth=aead" : "16,cipher_auth=none");
		if (subset & 128)
			n += sprintf(want + n, ",sector_size=%s", other ? "1024" : "4096");
		CHECK(fdecrypt_print_options_ima(&opts, text, sizeof(text)) == (size_t)n && !strcmp(text, want),
		      "\"%s\", not \"%s\"", text, want);
	}
}

typedef size_t print_fn(const struct fdecrypt_options *opts, char *buf, size_t size);

/* Into every size from 0 to enough: never past the end, always terminated, a beginning of the whole text. */
static void check_small_buffers(print_fn *print)
{
	for (unsigned int subset = 0; subset < 1024; subset++)
	for (unsigned int other = 0; other < 2; other++) {
		struct fdecrypt_options opts = meaning(subset, other);
		char whole[600] = "";
		size_t len = print(&opts, whole, sizeof(whole));

		for (size_t size = 0; size <= len + 2; size += subset % 31 ? 1 + size / 8 : 1) {
			char *buf = malloc(size + 1), *marked = malloc(size + 16);
			size_t n;

			/* Ends at the end of its memory; size 0 is the place behind it. */
			memset(buf, 'x', size + 1);
			n = print(&opts, buf + 1, size);
			memset(marked, 'x', size + 16);
			CHECK(print(&opts, marked, size) == n, "subset %#x, size %zu", subset, size);
			for (unsigned int i = 0; i < 16; i++)
				CHECK(marked[size + i] == 'x', "subset %#x, size %zu: written behind", subset, size);
			CHECK(n <= len && (size ? n < size : !n), "subset %#x, size %zu: %zu", subset, size, n);
			if (size && n < size) {
				CHECK(buf[1 + n] == '\0', "subset %#x, size %zu: not terminated", subset, size);
				CHECK(!memcmp(buf + 1, whole, n), "subset %#x, size %zu", subset, size);
				CHECK(n == len || n == size - 1, "subset %#x, size %zu: %zu", subset, size, n);
			}
			free(buf);
			free(marked);
		}
	}
}

static void table_text_into_small_buffers(void) { check_small_buffers(fdecrypt_print_options); }
static void ima_text_into_small_buffers(void) { check_small_buffers(fdecrypt_print_options_ima); }

/* -- the cipher word ---------------------------------------------------------------------------- */

static const struct fdecrypt_options no_option = { .unit_size = 512 };

static int parse_cipher(const char *text, const struct fdecrypt_options *opts, struct fdecrypt_cipher *cipher,
			const char **error)
{
	char *word = exact(text);
	int err;

	*error = NULL;
	memset(cipher, 0x5a, sizeof(*cipher));
	err = fdecrypt_parse_cipher(word, opts, cipher, error);
	CHECK(!err || is_error_text(*error), "\"%.60s\": %s", text, *error ?: "no text");
	free(word);
	return err;
}

static void check_cipher(const char *text, const char *skcipher, const char *iv_mode, unsigned int key_count)
{
	struct fdecrypt_cipher cipher;
	const char *error;
	int err = parse_cipher(text, &no_option, &cipher, &error);

	CHECK(!err, "\"%.60s\": %d %s", text, err, error ?: "");
	CHECK(err || (!strcmp(cipher.skcipher, skcipher) && !strcmp(cipher.iv_mode, iv_mode) &&
		      cipher.key_count == key_count),
	      "\"%.60s\": \"%.60s\" \"%.60s\" %u", text, cipher.skcipher, cipher.iv_mode, cipher.key_count);
}

static void check_no_cipher(const char *text, int want, const char *begin)
{
	struct fdecrypt_cipher cipher;
	const char *error;
	int err = parse_cipher(text, &no_option, &cipher, &error);

	CHECK(err == want, "\"%.60s\": %d", text, err);
	CHECK(!err || begins(error, begin), "\"%.60s\": %s", text, error ?: "");
}

static void old_form(void)
{
	check_cipher("aes-xts-plain64", "xts(aes)", "plain64", 1);
	check_cipher("aes-cbc-plain", "cbc(aes)", "plain", 1);
	check_cipher("serpent-xts-plain64be", "xts(serpent)", "plain64be", 1);
	check_cipher("twofish-lrw-benbi", "lrw(twofish)", "benbi", 1);
	check_cipher("aes-cbc-null", "cbc(aes)", "null", 1);
	check_cipher("aes-cbc-eboiv", "cbc(aes)", "eboiv", 1);
	check_cipher("aes-ctr-plain64", "ctr(aes)", "plain64", 1);
	check_cipher("cipher_null-ecb-null", "ecb(cipher_null)", "null", 1);
	check_cipher("xchacha12,aes-adiantum-plain64", "adiantum(xchacha12,aes)", "plain64", 1);
	check_cipher("aes-xts-plain64:ignored", "xts(aes)", "plain64", 1);
	check_cipher("aes-xts-bogus", "xts(aes)", "bogus", 1);
	check_cipher("aes-xts-PLAIN64", "xts(aes)", "PLAIN64", 1);
	check_cipher("AES-xts-plain64", "xts(AES)", "plain64", 1);
}

static void first_dm_crypts_forms(void)
{
	check_cipher("aes", "cbc(aes)", "plain", 1);
	check_cipher("aes-plain", "cbc(aes)", "plain", 1);
	check_cipher("serpent", "cbc(serpent)", "plain", 1);
	check_cipher("aes:4", "cbc(aes)", "plain", 4);
	check_cipher("aes:2-plain", "cbc(aes)", "plain", 2);
	check_cipher("aes-plain-plain64", "plain(aes)", "plain64", 1);
}

static void ecb_needs_no_iv_mode(void)
{
	check_cipher("aes-ecb", "ecb(aes)", "", 1);
	check_cipher("cipher_null-ecb", "ecb(cipher_null)", "", 1);
	check_cipher("aes:8-ecb", "ecb(aes)", "", 8);
	check_cipher("aes-ecb-plain64", "ecb(aes)", "plain64", 1);
	check_no_cipher("aes-cbc", NOT_VALID, "IV mechanism required");
	check_no_cipher("aes-xts", NOT_VALID, "IV mechanism required");
	check_no_cipher("aes-ECB", NOT_VALID, "IV mechanism required");
	check_no_cipher("aes-ecbx", NOT_VALID, "IV mechanism required");
	check_no_cipher("aes-ec", NOT_VALID, "IV mechanism required");
	check_no_cipher("aes-plain64", NOT_VALID, "IV mechanism required");
	check_no_cipher("aes-", NOT_VALID, "IV mechanism required");
}

static void essiv(void)
{
	check_cipher("aes-cbc-essiv:sha256", "essiv(cbc(aes),sha256)", "plain64", 1);
	check_cipher("capi:cbc(aes)-essiv:sha256", "essiv(cbc(aes),sha256)", "plain64", 1);
	check_cipher("capi:cbc-aes-aesni-essiv:sha256-ni", "essiv(cbc-aes-aesni,sha256-ni)", "plain64", 1);
	check_cipher("aes:4-cbc-essiv:wp512", "essiv(cbc(aes),wp512)", "plain64", 4);
	check_cipher("capi:essiv(cbc(aes),sha256)-plain64", "essiv(cbc(aes),sha256)", "plain64", 1);
	check_no_cipher("aes-cbc-essiv", NOT_VALID, "Digest algorithm missing for ESSIV mode");
	check_no_cipher("aes-cbc-essiv:", NOT_VALID, "Digest algorithm missing for ESSIV mode");
	check_no_cipher("capi:cbc(aes)-essiv", NOT_VALID, "Digest algorithm missing for ESSIV mode");
	check_no_cipher("capi:cbc(aes)-essiv:", NOT_VALID, "Digest algorithm missing for ESSIV mode");
}

static void capi_form(void)
{
	check_cipher("capi:xts(aes)-plain64", "xts(aes)", "plain64", 1);
	check_cipher("capi:adiantum(xchacha12,aes)-plain64", "adiantum(xchacha12,aes)", "plain64", 1);
	check_cipher("capi:xts-aes-ce-plain64", "xts-aes-ce", "plain64", 1);
	check_cipher("capi:cryptd(xts-aes-aesni)-plain64", "cryptd(xts-aes-aesni)", "plain64", 1);
	check_cipher("capi:virtio_crypto_aes_cbc-plain64", "virtio_crypto_aes_cbc", "plain64", 1);
	check_cipher("capi:lrw(serpent)-benbi:ignored", "lrw(serpent)", "benbi", 1);
}

/* The text behind the last '-' is the IV mode, even if it was meant as part of the name. */
static void capi_form_without_iv_mode(void)
{
	check_cipher("capi:cbc(aes)", "cbc(aes)", "", 1);
	check_cipher("capi:ecb(cipher_null)", "ecb(cipher_null)", "", 1);
	check_cipher("capi:xts-aes-ce", "xts-aes", "ce", 1);
}

static void parentheses_need_the_capi_form(void)
{
	check_no_cipher("xts(aes)-plain64", NOT_VALID, "Bad cipher specification");
	check_no_cipher("aes-xts(x)-plain64", NOT_VALID, "Bad cipher specification");
	check_no_cipher("aes-cbc-essiv:hmac(sha256)", NOT_VALID, "Bad cipher specification");
	check_no_cipher("CAPI:xts(aes)-plain64", NOT_VALID, "Bad cipher specification");
	check_no_cipher("capi-xts(aes)-plain64", NOT_VALID, "Bad cipher specification");
	check_no_cipher("(", NOT_VALID, "Bad cipher specification");
}

static void key_counts(void)
{
	static const char *const bad[] = {
		"0", "3", "5", "6", "7", "9", "63", "65", "1023", "1025", "2048", "65536", "2147483648", "4294967296",
		"4294967297", "18446744073709551617", "99999999999999999999999999", "", "-1", "+1", " 1", "1 ", "x",
		"1x", "0x2", "2:", "2:2",
	};
	char word[64];

	for (unsigned int count = 1; count <= FDECRYPT_KEY_COUNT_MAX; count *= 2) {
		snprintf(word, sizeof(word), "aes:%u-cbc-plain64", count);
		check_cipher(word, "cbc(aes)", "plain64", count);
	}
	for (unsigned int i = 0; i < COUNT(bad); i++) {
		if (bad[i][0] == '-')		/* that is the next word of the grammar: "aes:" and "1" */
			continue;
		snprintf(word, sizeof(word), "aes:%s-cbc-plain64", bad[i]);
		check_no_cipher(word, NOT_VALID, "Bad cipher key count specification");
	}
	check_no_cipher("aes:-1-cbc-plain64", NOT_VALID, "Bad cipher key count specification");
	check_no_cipher("aes:", NOT_VALID, "Bad cipher key count specification");
	check_no_cipher("aes:64x", NOT_VALID, "Bad cipher key count specification");
}

/* Crypto API names have up to 127 characters. */
static void long_names(void)
{
	for (size_t len = 100; len <= 300; len++) {
		char *name = repeated('n', len), word[800], want[800];

		sprintf(word, "%s-xts-plain64", name);
		sprintf(want, "xts(%s)", name);
		if (strlen(want) <= 127)
			check_cipher(word, want, "plain64", 1);
		else
			check_no_cipher(word, NO_MEMORY, "Cannot allocate cipher string");

		sprintf(word, "aes-%s-plain64", name);
		sprintf(want, "%s(aes)", name);
		if (strlen(want) <= 127)
			check_cipher(word, want, "plain64", 1);
		else
			check_no_cipher(word, NO_MEMORY, "Cannot allocate cipher string");

		sprintf(word, "aes-cbc-essiv:%s", name);
		sprintf(want, "essiv(cbc(aes),%s)", name);
		if (strlen(want) <= 127)
			check_cipher(word, want, "plain64", 1);
		else
			check_no_cipher(word, NO_MEMORY, "Cannot allocate cipher string");

		sprintf(word, "capi:%s-plain64", name);
		if (len <= 127)
			check_cipher(word, name, "plain64", 1);
		else
			check_no_cipher(word, NO_ENTRY, "Cannot allocate cipher string");

		sprintf(word, "capi:%s-essiv:sha256", name);
		sprintf(want, "essiv(%s,sha256)", name);
		if (strlen(want) <= 127)
			check_cipher(word, want, "plain64", 1);
		else
			check_no_cipher(word, NO_MEMORY, "Cannot allocate cipher string");

		sprintf(word, "capi:xts(aes)-%s", name);
		if (len <= 127)
			check_cipher(word, "xts(aes)", name, 1);
		else
			check_no_cipher(word, NO_MEMORY, "Cannot allocate cipher string");

		/* What is not used may be as long as it likes. */
		sprintf(word, "aes-xts-plain64:%s", name);
		check_cipher(word, "xts(aes)", "plain64", 1);
		free(name);
	}
}

static void modes_of_later_say_so(void)
{
	check_no_cipher("aes:64-cbc-lmk", NOT_VALID, "IV mode lmk is not supported yet");
	check_no_cipher("aes-cbc-tcw", NOT_VALID, "IV mode tcw is not supported yet");
	check_no_cipher("aes-cbc-elephant", NOT_VALID, "IV mode elephant is not supported yet");
	check_no_cipher("aes-cbc-random", NOT_VALID, "IV mode random is not supported yet");
	check_no_cipher("capi:cbc(aes)-lmk", NOT_VALID, "IV mode lmk is not supported yet");
	check_no_cipher("capi:cbc(aes)-tcw", NOT_VALID, "IV mode tcw is not supported yet");
	check_no_cipher("capi:cbc(aes)-elephant", NOT_VALID, "IV mode elephant is not supported yet");
	check_no_cipher("capi:xts(aes)-random", NOT_VALID, "IV mode random is not supported yet");
}

static void authenticated_encryption_says_so(void)
{
	static const struct fdecrypt_options aead = {
		.unit_size = 512, .integrity = FDECRYPT_INTEGRITY_AEAD, .tag_size = 16
	};
	static const struct fdecrypt_options none = {
		.unit_size = 512, .integrity = FDECRYPT_INTEGRITY_NONE, .tag_size = 16
	};
	struct fdecrypt_cipher cipher;
	const char *error;

	CHECK(parse_cipher("aes-gcm-random", &aead, &cipher, &error) == NOT_VALID, "old form");
	CHECK(error && strstr(error, "not supported yet"), "%s", error ?: "");
	CHECK(parse_cipher("capi:gcm(aes)-random", &aead, &cipher, &error) == NOT_VALID, "capi form");
	CHECK(error && strstr(error, "not supported yet"), "%s", error ?: "");
	CHECK(!parse_cipher("aes-xts-plain64", &none, &cipher, &error), "%s", error ?: "");
}

int main(void)
{
	property("numbers: all of 64 bits, digits only, nothing wraps", numbers);
	property("numbers: any number reads back", any_number_reads_back);
	property("numbers: of all characters only digits are digits", only_digits_are_digits);

	property("key: hex digits in either case, up to the limit", hex_keys);
	property("key: '-' is the key of no bytes", a_dash_is_the_empty_key);
	property("key: an empty word is no key", no_key_word_is_not_a_key);
	property("key: odd, foreign or white characters are refused", bad_hex_keys);
	property("key: of all characters only hex digits are hex digits", only_hex_digits_are_hex_digits);
	property("key: keyring form is taken apart at its colons", keyring_keys);
	property("key: keyring form with a bad size is refused", bad_keyring_sizes);
	property("key: keyring form with a bad type or description is refused", bad_keyring_names);
	property("key: more bytes than any cipher takes is ENOMEM", huge_keys);

	property("options: none, and a count of 0", no_options);
	property("options: each alone sets its own field only", each_option_alone);
	property("options: case does not matter", case_does_not_matter);
	property("options: all subsets of all ten, in any order", all_subsets_in_any_order);
	property("options: a repeated one is refused by name", a_repeated_option_is_refused);
	property("options: no other word, no prefix, no value for a flag", other_words_are_refused);
	property("options: the count is exact", counts);
	property("options: cpus keeps its list", cpus_are_kept);
	property("options: the first error counts", the_first_error_counts);
	property("options: a version of dm-crypt's knows its own and older ones", versions_know_their_options);
	property("options: a version of dm-crypt's counts as far as it knows", versions_count_their_options);
	property("options: our own do not show as crypt", own_options_do_not_show_as_crypt);
	property("rules: are read", rules_are_read);
	property("rules: bad ones are refused", bad_rules_are_refused);
	property("rules: patterns match names and beginnings", patterns_match);
	property("sector_size: 512, 1024, 2048, 4096 of all up to 140000", sector_sizes);
	property("integrity: 1 to 480 of all up to 70000", tag_sizes);
	property("integrity: half an option is refused", half_an_integrity_option);
	property("integrity_key_size: from 1, 32 bits", integrity_key_sizes);

	property("print: TABLE text is dm-crypt's, for all subsets", table_text_is_dm_crypts);
	property("print: what equals the default is not printed", defaults_are_not_printed);
	property("print: TABLE text loads again and prints the same, for all subsets", printed_text_loads_again);
	property("print: IMA text is dm-crypt's, for all subsets", ima_text_is_dm_crypts);
	property("print: TABLE text never leaves a small buffer, always ends", table_text_into_small_buffers);
	property("print: IMA text never leaves a small buffer, always ends", ima_text_into_small_buffers);

	property("cipher: old form", old_form);
	property("cipher: forms of the first dm-crypt", first_dm_crypts_forms);
	property("cipher: only ecb goes without IV mode", ecb_needs_no_iv_mode);
	property("cipher: essiv becomes the essiv template, with its digest only", essiv);
	property("cipher: capi form", capi_form);
	property("cipher: capi form without IV mode", capi_form_without_iv_mode);
	property("cipher: '(' needs the capi form", parentheses_need_the_capi_form);
	property("cipher: key counts are powers of two up to 128", key_counts);
	property("cipher: a name of 127 characters is taken, of 128 is refused with dm-crypt's errno", long_names);
	property("cipher: IV modes that come later say so", modes_of_later_say_so);
	property("cipher: authenticated encryption says so", authenticated_encryption_says_so);
	return tap_end();
}
