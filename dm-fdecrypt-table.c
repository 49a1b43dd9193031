// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grammar of the table line: one option table drives parsing, counting, TABLE and IMA text.
 *
 * It must not know device mapper, the crypto API or memory allocation: strings in, strings out.
 */

#include "dm-fdecrypt-table.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#define TAG_SIZE_MAX	480u
#define WHITE_SPACE	" \t\n\v\f\r"

/*
 * Strict on purpose: sscanf("%llu") would wrap or saturate a number of more than 64 bits, and a volume
 * would then be written with IVs that the user never asked for.
 */
/**
 * fdecrypt_parse_u64 - read an unsigned decimal number that is the whole word
 * @text: the word
 * @value: result
 *
 * Context: any.
 * Return: 0; -EINVAL for an empty word, any other character than a digit, or more than 64 bits.
 */
int fdecrypt_parse_u64(const char *text, u64 *value)
{
	u64 sum = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		unsigned int digit = *text - '0';

		/* Constants: 32-bit kernels cannot divide 64 bits. */
		if (digit > 9 || sum > U64_MAX / 10 || (sum == U64_MAX / 10 && digit > U64_MAX % 10))
			return -EINVAL;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return 0;
}

static int parse_u32(const char *text, u32 *value)
{
	u64 wide;

	if (fdecrypt_parse_u64(text, &wide) || wide > U32_MAX)
		return -EINVAL;
	*value = wide;
	return 0;
}

/* Copy the @len bytes at @from as a string; -ENAMETOOLONG if they do not fit a crypto API name. */
static int copy_name(char to[FDECRYPT_NAME_SIZE], const char *from, size_t len)
{
	if (len >= FDECRYPT_NAME_SIZE)
		return -ENAMETOOLONG;
	memcpy(to, from, len);
	to[len] = '\0';
	return 0;
}

/* -- the key word ------------------------------------------------------------------------------- */

static bool is_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int parse_hex_key(const char *word, struct fdecrypt_key_word *key, const char **error)
{
	size_t len = strlen(word), i;

	key->form = FDECRYPT_KEY_HEX;
	if (!strcmp(word, "-")) {
		key->hex = word + 1;
		return 0;
	}
	for (i = 0; i < len; i++) {
		if (!is_hex_digit(word[i])) {
			*error = "Error decoding and setting key: not a hex digit";
			return -EINVAL;
		}
	}
	if (!len || len % 2) {
		*error = "Error decoding and setting key: an odd number of hex digits, or none";
		return -EINVAL;
	}
	if (len / 2 > FDECRYPT_KEY_SIZE_MAX) {
		*error = "Cannot allocate encryption context: key too long";
		return -ENOMEM;
	}
	key->hex = word;
	key->size = len / 2;
	return 0;
}

/**
 * fdecrypt_parse_key - take the key word of a table line or message apart
 * @word: the word
 * @key: result; points into @word
 * @error: on failure, what was wrong
 *
 * Context: any.
 * Return: 0; -EINVAL if it is malformed, -ENOMEM if the key is too long to be any cipher's.
 */
int fdecrypt_parse_key(const char *word, struct fdecrypt_key_word *key, const char **error)
{
	char digits[sizeof("4294967295")];
	const char *size_end, *type_end;
	size_t len;

	memset(key, 0, sizeof(*key));
	if (word[0] != ':')
		return parse_hex_key(word, key, error);

	key->form = FDECRYPT_KEY_RING;
	*error = "Cannot parse key size";
	word++;
	size_end = strchr(word, ':');
	if (!size_end)
		return -EINVAL;
	len = size_end - word;
	if (len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, word, len);
	digits[len] = '\0';
	if (parse_u32(digits, &key->size) || !key->size || key->size > INT_MAX)
		return -EINVAL;
	if (key->size > FDECRYPT_KEY_SIZE_MAX) {
		*error = "Cannot allocate encryption context: key too long";
		return -ENOMEM;
	}

	*error = "Error decoding and setting key: expected :<size>:<type>:<description>";
	key->type = size_end + 1;
	type_end = strchr(key->type, ':');
	if (!type_end || type_end == key->type || !type_end[1])
		return -EINVAL;
	key->type_len = type_end - key->type;
	key->description = type_end + 1;
	/* White space cannot be escaped in the TABLE text, which could then not be loaded again. */
	if (strpbrk(word, WHITE_SPACE)) {
		*error = "Error decoding and setting key: white space in key description";
		return -EINVAL;
	}
	*error = NULL;
	return 0;
}

/* -- the optional parameters -------------------------------------------------------------------- */

enum option_kind {
	OPTION_FLAG,		/* <name> */
	OPTION_NUMBER,		/* <name>:<n> */
	OPTION_INTEGRITY,	/* <name>:<n>:<type> */
	OPTION_TEXT,		/* <name>:<anything> */
};

/* Known to no version of dm-crypt. */
#define OUR_OWN		FDECRYPT_OPTIONS_ALL

/*
 * One row for each option, in the order of TABLE and IMA text: dm-crypt's, then our own. @offset is the bool
 * of a flag, the string of a text, the unsigned int of the others. A number that equals @unset is the same as
 * no option at all. @since is the minor version of dm-crypt's target that brought the option.
 */
static const struct option {
	const char *name;
	const char *twice;	/* error texts must outlive the constructor: literals */
	const char *bad;
	size_t offset;
	enum option_kind kind;
	unsigned int unset;
	unsigned int since;
} options[] = {
#define ROW(kind, name, field, unset, from, bad) \
	{ name, "Feature argument given twice: " name, bad, \
	  offsetof(struct fdecrypt_options, field), kind, unset, from }
	ROW(OPTION_FLAG, "allow_discards", allow_discards, 0, 0, NULL),
	ROW(OPTION_FLAG, "same_cpu_crypt", same_cpu_crypt, 0, 0, NULL),
	ROW(OPTION_FLAG, "high_priority", high_priority, 0, 26, NULL),
	ROW(OPTION_FLAG, "submit_from_crypt_cpus", submit_from_crypt_cpus, 0, 0, NULL),
	ROW(OPTION_FLAG, "no_read_workqueue", no_read_workqueue, 0, 0, NULL),
	ROW(OPTION_FLAG, "no_write_workqueue", no_write_workqueue, 0, 0, NULL),
	ROW(OPTION_INTEGRITY, "integrity", tag_size, 0, 0,
	    "Invalid integrity arguments: expected integrity:<1 to 480>:<none|aead>"),
	ROW(OPTION_NUMBER, "sector_size", unit_size, FDECRYPT_UNIT_SIZE_MIN, 0,
	    "Invalid feature value for sector_size: expected 512, 1024, 2048 or 4096"),
	ROW(OPTION_FLAG, "iv_large_sectors", iv_large_sectors, 0, 0, NULL),
	ROW(OPTION_NUMBER, "integrity_key_size", integrity_key_size, 0, 28,
	    "Invalid integrity_key_size argument: expected a number of bytes from 1"),
	ROW(OPTION_TEXT, "cpus", cpus, 0, OUR_OWN,
	    "Invalid cpus: expected a list of CPU numbers such as 0-3,8, or all"),
#undef ROW
};

static bool is_known(const struct option *o, const struct fdecrypt_options *opts)
{
	return o->since <= opts->version;
}

static bool *flag_of(const struct option *o, const struct fdecrypt_options *opts)
{
	return (bool *)((char *)opts + o->offset);
}

static unsigned int *number_of(const struct option *o, const struct fdecrypt_options *opts)
{
	return (unsigned int *)((char *)opts + o->offset);
}

static const char **text_of(const struct option *o, const struct fdecrypt_options *opts)
{
	return (const char **)((char *)opts + o->offset);
}

/* Does @word name @o? If so, *@value is what follows the name: ":..." or "". */
static bool option_matches(const struct option *o, const char *word, const char **value)
{
	size_t len = strlen(o->name);

	if (strncasecmp(word, o->name, len))
		return false;
	*value = word + len;
	return o->kind == OPTION_FLAG ? !**value : **value == ':';
}

static int set_integrity(struct fdecrypt_options *opts, const char *value, const char **error)
{
	const char *type = strchr(value, ':');
	char digits[sizeof("4294967295")];
	size_t len = type ? type - value : sizeof(digits);

	if (len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, value, len);
	digits[len] = '\0';
	if (parse_u32(digits, &opts->tag_size) || !opts->tag_size || opts->tag_size > TAG_SIZE_MAX)
		return -EINVAL;

	type++;
	if (!strcasecmp(type, "none")) {
		opts->integrity = FDECRYPT_INTEGRITY_NONE;
	} else if (!strcasecmp(type, "aead")) {
		opts->integrity = FDECRYPT_INTEGRITY_AEAD;
	} else {
		*error = "Unknown integrity profile: expected none or aead";
		return -EINVAL;
	}
	return 0;
}

static int set_number(const struct option *o, struct fdecrypt_options *opts, const char *value)
{
	unsigned int *number = number_of(o, opts);

	if (parse_u32(value, number))
		return -EINVAL;
	if (number == &opts->unit_size)
		return *number >= FDECRYPT_UNIT_SIZE_MIN && *number <= FDECRYPT_UNIT_SIZE_MAX &&
		       is_power_of_2(*number) ? 0 : -EINVAL;
	return *number ? 0 : -EINVAL;
}

static int set_option(const struct option *o, struct fdecrypt_options *opts, const char *value,
		      const char **error)
{
	*error = o->bad;
	switch (o->kind) {
	case OPTION_FLAG:
		*flag_of(o, opts) = true;
		return 0;
	case OPTION_NUMBER:
		return set_number(o, opts, value + 1);
	case OPTION_INTEGRITY:
		return set_integrity(opts, value + 1, error);
	case OPTION_TEXT:
		*text_of(o, opts) = value + 1;
		/* dm lets white space through if it is escaped, but TABLE text cannot escape it. */
		return value[1] && !strpbrk(value, WHITE_SPACE) ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static unsigned int count_known(const struct fdecrypt_options *opts)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		nr += is_known(&options[i], opts);
	return nr;
}

static void clear_options(struct fdecrypt_options *opts, unsigned int version)
{
	memset(opts, 0, sizeof(*opts));
	opts->unit_size = FDECRYPT_UNIT_SIZE_MIN;
	opts->version = version;
}

static int parse_option(const char *word, struct fdecrypt_options *opts, unsigned long *seen,
			const char **error)
{
	const char *value;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!is_known(&options[i], opts) || !option_matches(&options[i], word, &value))
			continue;
		if (*seen & (1ul << i)) {
			*error = options[i].twice;
			return -EINVAL;
		}
		*seen |= 1ul << i;
		err = set_option(&options[i], opts, value, error);
		if (!err)
			*error = NULL;
		return err;
	}
	/* "integrity:16" without its second colon crashes dm-crypt; here it is an unfinished option. */
	*error = "Invalid feature arguments";
	return -EINVAL;
}

/**
 * fdecrypt_parse_options - read what follows the five fixed words of a table line
 * @argc: number of words
 * @argv: the words: a count, then that many options; no word at all is the same as a count of 0
 * @version: which options there are: those of that minor version of dm-crypt's target, or
 *           FDECRYPT_OPTIONS_ALL
 * @opts: result
 * @error: on failure, what was wrong
 *
 * Names are compared without regard to case, in any order. Unlike dm-crypt this accepts all options
 * at once, and refuses repeated ones and words after the counted ones.
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int fdecrypt_parse_options(unsigned int argc, char *const *argv, unsigned int version,
			   struct fdecrypt_options *opts, const char **error)
{
	unsigned long seen = 0;
	unsigned int count, i;
	int err;

	clear_options(opts, version);
	if (!argc)
		return 0;
	if (parse_u32(argv[0], &count) || count > count_known(opts)) {
		*error = "Invalid number of feature args";
		return -EINVAL;
	}
	if (count > argc - 1) {
		*error = "Not enough feature arguments";
		return -EINVAL;
	}
	if (count < argc - 1) {
		*error = "Words after the last feature argument";
		return -EINVAL;
	}
	for (i = 0; i < count; i++) {
		err = parse_option(argv[i + 1], opts, &seen, error);
		if (err)
			return err;
	}
	return 0;
}

/**
 * fdecrypt_parse_rule - take the first rule off a text of rules
 * @rules: the text, which is cut up; set to what follows the rule, NULL behind the last one
 * @pattern: result: names or UUIDs of the mappings that the rule is for
 * @opts: result: our own options; nothing else can be said in a rule
 * @error: on failure, what was wrong
 *
 * A text is rules separated by ';', a rule is a pattern and one option or more, separated by white space:
 * "luks-* cpus:0-3; CRYPT-LUKS2-0123* cpus:4". Results are parts of the text.
 *
 * Context: any.
 * Return: 1; 0 if there is no further rule; -EINVAL.
 */
int fdecrypt_parse_rule(char **rules, const char **pattern, struct fdecrypt_options *opts,
			const char **error)
{
	unsigned long seen = 0;
	char *rule, *word;
	unsigned int i;
	int err;

	clear_options(opts, FDECRYPT_OPTIONS_ALL);
	do {
		rule = strsep(rules, ";");
		if (!rule)
			return 0;
		rule += strspn(rule, WHITE_SPACE);
	} while (!*rule);

	*pattern = strsep(&rule, WHITE_SPACE);
	*error = "Invalid rule: '*' can only be the end of a name";
	word = strchr(*pattern, '*');
	if (word && word[1])
		return -EINVAL;
	while ((word = strsep(&rule, WHITE_SPACE))) {
		if (!*word)
			continue;
		err = parse_option(word, opts, &seen, error);
		if (err)
			return err;
	}
	*error = "Invalid rule: expected a name or UUID and options of our own, as in luks-* cpus:0-3";
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (seen & (1ul << i) && options[i].since != OUR_OWN)
			return -EINVAL;
	}
	if (!seen)
		return -EINVAL;
	*error = NULL;
	return 1;
}

/**
 * fdecrypt_pattern_matches - is this what the pattern of a rule means?
 * @pattern: a text, or its beginning and a '*'
 * @text: name or UUID
 *
 * Context: any.
 * Return: true if so; an empty text is never meant.
 */
bool fdecrypt_pattern_matches(const char *pattern, const char *text)
{
	size_t len = strcspn(pattern, "*");

	if (!*text)
		return false;
	return pattern[len] ? !strncmp(pattern, text, len) : !strcmp(pattern, text);
}

static bool is_set(const struct option *o, const struct fdecrypt_options *opts)
{
	if (!is_known(o, opts))
		return false;
	if (o->kind == OPTION_FLAG)
		return *flag_of(o, opts);
	if (o->kind == OPTION_TEXT)
		return *text_of(o, opts);
	return *number_of(o, opts) != o->unset;
}

static const char *integrity_name(const struct fdecrypt_options *opts)
{
	return opts->integrity == FDECRYPT_INTEGRITY_AEAD ? "aead" : "none";
}

/**
 * fdecrypt_print_options - print the optional parameters as TABLE text
 * @opts: the options
 * @buf: where to; @size bytes, always terminated if @size is not 0
 * @size: size of @buf
 *
 * Prints " <count> <option>..." in dm-crypt's order, nothing if no option is set.
 *
 * Context: any.
 * Return: number of characters printed, without the terminating NUL.
 */
size_t fdecrypt_print_options(const struct fdecrypt_options *opts, char *buf, size_t size)
{
	unsigned int count = 0, i;
	size_t n = 0;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		count += is_set(&options[i], opts);
	if (size)
		*buf = '\0';
	if (!count)
		return 0;

	n += scnprintf(buf + n, size - n, " %u", count);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];

		if (!is_set(o, opts))
			continue;
		n += scnprintf(buf + n, size - n, " %s", o->name);
		if (o->kind == OPTION_TEXT)
			n += scnprintf(buf + n, size - n, ":%s", *text_of(o, opts));
		else if (o->kind != OPTION_FLAG)
			n += scnprintf(buf + n, size - n, ":%u", *number_of(o, opts));
		if (o->kind == OPTION_INTEGRITY)
			n += scnprintf(buf + n, size - n, ":%s", integrity_name(opts));
	}
	return n;
}

/**
 * fdecrypt_print_options_ima - print the optional parameters as IMA measurement text
 * @opts: the options
 * @buf: where to; @size bytes, always terminated if @size is not 0
 * @size: size of @buf
 *
 * The fields, names and order are dm-crypt's, so that a policy written for it still matches:
 * flags first, then integrity, then sector_size.
 *
 * Context: any.
 * Return: number of characters printed, without the terminating NUL.
 */
size_t fdecrypt_print_options_ima(const struct fdecrypt_options *opts, char *buf, size_t size)
{
	unsigned int i;
	size_t n = 0;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i].kind == OPTION_FLAG && is_known(&options[i], opts))
			n += scnprintf(buf + n, size - n, ",%s=%c", options[i].name,
				       is_set(&options[i], opts) ? 'y' : 'n');
	}
	if (opts->integrity != FDECRYPT_INTEGRITY_ABSENT)
		n += scnprintf(buf + n, size - n, ",integrity_tag_size=%u,cipher_auth=%s",
			       opts->tag_size, integrity_name(opts));
	if (opts->unit_size != FDECRYPT_UNIT_SIZE_MIN)
		n += scnprintf(buf + n, size - n, ",sector_size=%u", opts->unit_size);
	return n;
}

/* -- the cipher word ---------------------------------------------------------------------------- */

/* dm-crypt's modes that alter data, or need a second key or metadata. */
static const struct {
	const char *name;
	const char *error;
} modes_to_come[] = {
	{ "lmk", "IV mode lmk is not supported yet" },
	{ "tcw", "IV mode tcw is not supported yet" },
	{ "elephant", "IV mode elephant is not supported yet" },
	{ "random", "IV mode random is not supported yet" },
};

/* The parts of a cipher word; each points into the word and has a length. */
struct part {
	const char *text;	/* NULL: not there */
	size_t len;
};

/* Cut the text up to the first @delimiter off *@rest; with no text left, a part that is not there. */
static struct part cut(struct part *rest, char delimiter)
{
	struct part first = *rest;
	const char *end = first.text ? memchr(first.text, delimiter, first.len) : NULL;

	if (end) {
		first.len = end - first.text;
		rest->text = end + 1;
		rest->len -= first.len + 1;
	} else {
		*rest = (struct part){ };
	}
	return first;
}

static bool part_is(struct part p, const char *word)
{
	return p.text && p.len == strlen(word) && !memcmp(p.text, word, p.len);
}

static int parse_key_count(struct part p, unsigned int *count)
{
	char digits[sizeof("4294967295")];

	if (p.len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, p.text, p.len);
	digits[p.len] = '\0';
	if (parse_u32(digits, count) || !is_power_of_2(*count) || *count > FDECRYPT_KEY_COUNT_MAX)
		return -EINVAL;
	return 0;
}

/* Write @cipher->skcipher and @cipher->iv_mode for @base, a crypto API name without ESSIV. */
static int compose(struct fdecrypt_cipher *cipher, const char *base, struct part iv_mode,
		   struct part iv_opts, const char **error)
{
	int n;

	if (part_is(iv_mode, "essiv")) {
		if (!iv_opts.text || !iv_opts.len) {
			*error = "Digest algorithm missing for ESSIV mode";
			return -EINVAL;
		}
		n = snprintf(cipher->skcipher, FDECRYPT_NAME_SIZE, "essiv(%s,%.*s)", base,
			     (int)iv_opts.len, iv_opts.text);
		/* The essiv template encrypts what plain64 makes. */
		iv_mode = (struct part){ "plain64", strlen("plain64") };
	} else {
		n = snprintf(cipher->skcipher, FDECRYPT_NAME_SIZE, "%s", base);
	}
	if (iv_mode.text && !iv_mode.len) {
		*error = "Invalid IV mode: it is empty";
		return -EINVAL;
	}
	if (n >= FDECRYPT_NAME_SIZE ||
	    copy_name(cipher->iv_mode, iv_mode.text ?: "", iv_mode.len)) {
		*error = "Cannot allocate cipher strings: name too long";
		return -ENOMEM;
	}
	return 0;
}

/* cipher[:keycount]-chainmode-ivmode[:ivopts] */
static int parse_old_form(const char *word, struct fdecrypt_cipher *cipher, const char **error)
{
	struct part rest = { word, strlen(word) };
	struct part keys = cut(&rest, '-');
	struct part name = cut(&keys, ':');
	struct part chain_mode = cut(&rest, '-');
	struct part iv_mode = cut(&rest, ':');
	char base[FDECRYPT_NAME_SIZE];

	if (strchr(word, '(')) {
		*error = "Bad cipher specification: '(' needs the form capi:<name>-<iv mode>";
		return -EINVAL;
	}
	if (keys.text && parse_key_count(keys, &cipher->key_count)) {
		*error = "Bad cipher key count specification: expected a power of two, 128 at most";
		return -EINVAL;
	}
	/* "aes" and "aes-plain" are what the first dm-crypt understood. */
	if (!chain_mode.text || (part_is(chain_mode, "plain") && !iv_mode.text)) {
		chain_mode = (struct part){ "cbc", strlen("cbc") };
		iv_mode = (struct part){ "plain", strlen("plain") };
	}
	if (!iv_mode.text && !part_is(chain_mode, "ecb")) {
		*error = "IV mechanism required";
		return -EINVAL;
	}
	if (snprintf(base, sizeof(base), "%.*s(%.*s)", (int)chain_mode.len, chain_mode.text,
		     (int)name.len, name.text) >= (int)sizeof(base)) {
		*error = "Cannot allocate cipher strings: name too long";
		return -ENOMEM;
	}
	return compose(cipher, base, iv_mode, rest, error);
}

/* capi:<crypto API name>[-ivmode[:ivopts]]; the last ':' and then the last '-' count */
static int parse_capi_form(const char *text, struct fdecrypt_cipher *cipher, const char **error)
{
	struct part name = { text, strlen(text) }, iv_mode = { }, iv_opts = { };
	char base[FDECRYPT_NAME_SIZE];
	size_t i;

	for (i = name.len; i > 0 && !iv_opts.text; i--) {
		if (text[i - 1] == ':') {
			iv_opts = (struct part){ text + i, name.len - i };
			name.len = i - 1;
		}
	}
	for (i = name.len; i > 0 && !iv_mode.text; i--) {
		if (text[i - 1] == '-') {
			iv_mode = (struct part){ text + i, name.len - i };
			name.len = i - 1;
		}
	}
	if (copy_name(base, name.text, name.len)) {
		*error = "Cannot allocate cipher string: name too long";
		return part_is(iv_mode, "essiv") ? -ENOMEM : -ENOENT;
	}
	return compose(cipher, base, iv_mode, iv_opts, error);
}

/**
 * fdecrypt_parse_cipher - take the cipher word of a table line apart
 * @word: the word, in the old form (aes-xts-plain64) or the new one (capi:xts(aes)-plain64)
 * @opts: the options of the same line; they decide whether the cipher is an AEAD
 * @cipher: result
 * @error: on failure, what was wrong
 *
 * Whether the kernel has the cipher, and whether it takes an IV, is for others to find out.
 *
 * Context: any.
 * Return: 0; -EINVAL if it is malformed or asks for a mode that is not there; -ENOMEM, or -ENOENT in the new
 * form, for names over the crypto API's limit (dm-crypt's errnos).
 */
int fdecrypt_parse_cipher(const char *word, const struct fdecrypt_options *opts,
			  struct fdecrypt_cipher *cipher, const char **error)
{
	bool capi = !strncmp(word, "capi:", strlen("capi:"));
	unsigned int i;
	int err;

	memset(cipher, 0, sizeof(*cipher));
	cipher->key_count = 1;

	if (opts->integrity == FDECRYPT_INTEGRITY_AEAD) {
		*error = "Authenticated encryption (integrity:<n>:aead) is not supported yet";
		return -EINVAL;
	}

	if (capi)
		err = parse_capi_form(word + strlen("capi:"), cipher, error);
	else
		err = parse_old_form(word, cipher, error);
	if (err)
		return err;

	for (i = 0; i < ARRAY_SIZE(modes_to_come); i++) {
		if (!strcmp(cipher->iv_mode, modes_to_come[i].name)) {
			*error = modes_to_come[i].error;
			return -EINVAL;
		}
	}
	return 0;
}
