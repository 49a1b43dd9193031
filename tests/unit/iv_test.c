// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guarantee: the IV generators make the on-disk format, for every sector number there is, and nothing but it.
 *
 * The expected bytes are computed here a second time, in another way: 128-bit numbers as arrays of bytes, added
 * and multiplied by hand as on paper, so that no shift, cast, wrap or byte swap is shared with the product.
 */

#include "dm-fdecrypt-iv.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- arithmetic on paper ------------------------------------------------------------------------ */

/* Lowest byte first. */
struct number {
	unsigned char byte[16];
};

static struct number number_of(unsigned long long value)
{
	struct number n = { { 0 } };

	for (int i = 0; i < 8; i++, value /= 256)
		n.byte[i] = value % 256;
	return n;
}

static struct number plus(struct number a, struct number b)
{
	unsigned int carry = 0;

	for (int i = 0; i < 16; i++) {
		carry += a.byte[i] + b.byte[i];
		a.byte[i] = carry % 256;
		carry /= 256;
	}
	return a;
}

static struct number times(struct number a, unsigned long long factor)
{
	struct number sum = number_of(0);

	for (; factor; factor /= 2) {
		if (factor % 2)
			sum = plus(sum, a);
		a = plus(a, a);
	}
	return sum;
}

/* Modulo 256 ^ @bytes. */
static struct number wrapped(struct number a, unsigned int bytes)
{
	memset(a.byte + bytes, 0, sizeof(a.byte) - bytes);
	return a;
}

static struct number iv_sector(const struct fdecrypt_iv_range *range, unsigned int unit)
{
	return wrapped(plus(number_of(range->first), times(number_of(unit), range->step)), 8);
}

/* -- the formats -------------------------------------------------------------------------------- */

static void little_endian(unsigned char *iv, struct number n, unsigned int bytes)
{
	memcpy(iv, n.byte, bytes);
}

static void big_endian_at_end(unsigned char *iv, unsigned int iv_size, struct number n)
{
	for (unsigned int i = 0; i < 8; i++)
		iv[iv_size - 1 - i] = n.byte[i];
}

static void expect_iv(unsigned char *iv, const char *mode, const struct fdecrypt_iv_layout *layout,
		      const struct fdecrypt_iv_range *range, unsigned int unit)
{
	struct number s = iv_sector(range, unit);

	if (!layout->iv_size)
		return;
	memset(iv, 0, layout->iv_size);
	if (!strcmp(mode, "plain"))
		little_endian(iv, s, 4);
	else if (!strcmp(mode, "plain64"))
		little_endian(iv, s, 8);
	else if (!strcmp(mode, "plain64be"))
		big_endian_at_end(iv, layout->iv_size, s);
	else if (!strcmp(mode, "benbi"))	/* cipher blocks of a sector: 512 / block size */
		big_endian_at_end(iv, layout->iv_size,
				  wrapped(plus(times(s, 512 / (1u << layout->block_shift)), number_of(1)), 8));
	else if (!strcmp(mode, "eboiv"))
		little_endian(iv, wrapped(times(s, range->unit_size), 8), 8);
}

static const char *const modes[] = { "null", "plain", "plain64", "plain64be", "benbi", "eboiv" };
static const unsigned int unit_sizes[] = { 512, 1024, 2048, 4096 };
static const unsigned int iv_sizes[] = { 8, 16, 32, 12, 24 };

/* Numbers where something may wrap. */
static const unsigned long long edges[] = {
	0, 1, 7, 255, 256, 65535, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff, 0x100000000, 0x1ffffffff,
	0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffff0, 0xffffffffffffffff,
	(1ull << 55) - 1, 1ull << 55, (1ull << 52) - 1, 1ull << 52, (1ull << 59) - 1, (1ull << 59),
	0x0123456789abcdef, 0xfedcba9876543210,
};

/*
 * Fill @nr IVs into memory of exactly that size, at an odd address if @odd, with a mark before and behind for the
 * builds without address sanitizer, and compare each of them.
 */
static void compare(const char *name, const struct fdecrypt_iv_layout *layout, const struct fdecrypt_iv_range *range,
		    unsigned int first, unsigned int nr, unsigned int odd)
{
	const struct fdecrypt_iv_mode *mode = fdecrypt_iv_find(name);
	size_t size = (size_t)nr * layout->iv_size;
	unsigned char want[FDECRYPT_IV_SIZE_MAX];
	unsigned char *exact = malloc(odd + size);
	unsigned char *marked = malloc(8 + size + 8);

	CHECK(mode, "%s", name);
	if (!mode || !exact || !marked)
		abort();

	memset(exact, 0xaa, odd + size);
	fdecrypt_iv_fill(mode, layout, range, first, nr, exact + odd);

	memset(marked, 0x55, 8 + size + 8);
	fdecrypt_iv_fill(mode, layout, range, first, nr, marked + 8);
	for (unsigned int i = 0; i < 8; i++)
		CHECK(marked[i] == 0x55 && marked[8 + size + i] == 0x55, "%s writes outside", name);
	for (unsigned int i = 0; i < odd; i++)
		CHECK(exact[i] == 0xaa, "%s writes in front", name);

	for (unsigned int i = 0; i < nr; i++) {
		expect_iv(want, name, layout, range, first + i);
		CHECK(!memcmp(want, exact + odd + (size_t)i * layout->iv_size, layout->iv_size) &&
		      !memcmp(want, marked + 8 + (size_t)i * layout->iv_size, layout->iv_size),
		      "%s: first %#llx, unit %u of size %u, step %u, iv size %u, block shift %u", name,
		      range->first, first + i, range->unit_size, range->step, layout->iv_size,
		      layout->block_shift);
	}
	free(exact);
	free(marked);
}

/* One mode over every unit size, step, IV size and edge; benbi also over every block size. */
static void check_mode(const char *name)
{
	unsigned int shifts = strcmp(name, "benbi") ? 1 : 10;
	unsigned long long seed = 2;

	for (unsigned int u = 0; u < COUNT(unit_sizes); u++)
	for (unsigned int large = 0; large < 2; large++)
	for (unsigned int v = 0; v < COUNT(iv_sizes); v++)
	for (unsigned int shift = 0; shift < shifts; shift++)
	for (unsigned int e = 0; e < COUNT(edges) + 8; e++) {
		struct fdecrypt_iv_range range = {
			.first = e < COUNT(edges) ? edges[e] : tap_random(&seed),
			.unit_size = unit_sizes[u],
			.step = large ? 1 : unit_sizes[u] / 512,
		};
		struct fdecrypt_iv_layout layout = {
			.iv_size = iv_sizes[v],
			.block_shift = shifts == 1 ? 4 : shift,
		};

		compare(name, &layout, &range, 0, 18, e % 2);
		compare(name, &layout, &range, 1 + tap_random(&seed) % 300, 3, 0);
	}
}

static void null_is_zero(void) { check_mode("null"); }
static void plain_is_le32(void) { check_mode("plain"); }
static void plain64_is_le64(void) { check_mode("plain64"); }
static void plain64be_is_be64(void) { check_mode("plain64be"); }
static void benbi_counts_blocks(void) { check_mode("benbi"); }
static void eboiv_is_byte_offset(void) { check_mode("eboiv"); }

/* Bytes written out by hand, so that a fault that both computations share shows. */
static void known_bytes(void)
{
	static const struct {
		const char *mode;
		unsigned long long first;
		unsigned int unit_size, step, unit, block_shift;
		unsigned char iv[16];
	} known[] = {
		{ "null", 0x1234, 512, 1, 3, 4, { 0 } },
		{ "plain", 0xfffffffe, 512, 1, 1, 4, { 0xff, 0xff, 0xff, 0xff } },
		{ "plain", 0xfffffffe, 512, 1, 2, 4, { 0 } },
		{ "plain", 0x1fffffffe, 4096, 8, 1, 4, { 6 } },
		{ "plain64", 0xfffffffe, 512, 1, 2, 4, { 0, 0, 0, 0, 1 } },
		{ "plain64", 0x0102030405060708, 4096, 8, 1, 4, { 0x10, 7, 6, 5, 4, 3, 2, 1 } },
		{ "plain64", 0x0102030405060708, 4096, 1, 1, 4, { 9, 7, 6, 5, 4, 3, 2, 1 } },
		{ "plain64", 0xffffffffffffffff, 512, 1, 2, 4, { 1 } },
		{ "plain64be", 0x0102030405060708, 512, 1, 0, 4,
		  { 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
		{ "benbi", 0, 512, 1, 0, 4, { [15] = 1 } },
		{ "benbi", 0, 512, 1, 1, 4, { [15] = 33 } },		/* 512 / 16 + 1 */
		{ "benbi", 0, 4096, 8, 1, 4, { [14] = 1, [15] = 1 } },	/* 4096 / 16 + 1 */
		{ "benbi", 1, 512, 1, 0, 9, { [15] = 2 } },
		{ "eboiv", 3, 512, 1, 0, 4, { 0, 6 } },			/* 1536 */
		{ "eboiv", 3, 4096, 1, 1, 4, { 0, 0x40 } },		/* 16384 */
		{ "eboiv", 0, 4096, 8, 1, 4, { 0, 0x80 } },		/* 32768, by dm-crypt's formula */
	};

	for (unsigned int i = 0; i < COUNT(known); i++) {
		struct fdecrypt_iv_range range = { known[i].first, known[i].unit_size, known[i].step };
		struct fdecrypt_iv_layout layout = { 16, known[i].block_shift };
		const struct fdecrypt_iv_mode *mode = fdecrypt_iv_find(known[i].mode);
		unsigned char iv[16];

		CHECK(mode, "%s", known[i].mode);
		if (!mode)
			continue;
		fdecrypt_iv_fill(mode, &layout, &range, known[i].unit, 1, iv);
		CHECK(!memcmp(iv, known[i].iv, sizeof(iv)), "%s, line %u", known[i].mode, i);
	}
}

/* A batch may be filled in pieces: the pieces are the whole. Units far into a batch do not overflow 32 bits. */
static void pieces_make_the_whole(void)
{
	struct fdecrypt_iv_range range = { 0xfffffffffffffff8, 4096, 8 };
	struct fdecrypt_iv_layout layout = { 16, 4 };

	for (unsigned int m = 0; m < COUNT(modes); m++) {
		const struct fdecrypt_iv_mode *mode = fdecrypt_iv_find(modes[m]);
		unsigned char whole[256 * 16], pieces[256 * 16];

		fdecrypt_iv_fill(mode, &layout, &range, 0, 256, whole);
		for (unsigned int at = 0, nr = 1; at < 256; at += nr, nr = nr * 2 + 1) {
			if (nr > 256 - at)
				nr = 256 - at;
			fdecrypt_iv_fill(mode, &layout, &range, at, nr, pieces + at * 16);
		}
		CHECK(!memcmp(whole, pieces, sizeof(whole)), "%s", modes[m]);
		compare(modes[m], &layout, &range, 0xfffffffe, 1, 0);
		compare(modes[m], &layout, &range, 0x20000000, 2, 0);
	}
}

/* What was in the buffer before does not show: no byte of an IV is left unwritten. */
static void no_byte_is_left_unwritten(void)
{
	struct fdecrypt_iv_range range = { 0x1122334455667788, 2048, 4 };

	for (unsigned int m = 0; m < COUNT(modes); m++)
	for (unsigned int v = 0; v < COUNT(iv_sizes); v++) {
		struct fdecrypt_iv_layout layout = { iv_sizes[v], 4 };
		unsigned char a[5 * 32], b[5 * 32];

		memset(a, 0, sizeof(a));
		memset(b, 0xff, sizeof(b));
		fdecrypt_iv_fill(fdecrypt_iv_find(modes[m]), &layout, &range, 0, 5, a);
		fdecrypt_iv_fill(fdecrypt_iv_find(modes[m]), &layout, &range, 0, 5, b);
		CHECK(!memcmp(a, b, 5 * layout.iv_size), "%s, size %u", modes[m], iv_sizes[v]);
	}
}

static void a_cipher_without_iv_gets_nothing(void)
{
	struct fdecrypt_iv_range range = { 5, 512, 1 };
	struct fdecrypt_iv_layout layout = { 0, 0 };

	for (unsigned int m = 0; m < COUNT(modes); m++) {
		unsigned char *none = malloc(1);
		unsigned char mark = 0x5a;

		compare(modes[m], &layout, &range, 0, 100, 0);
		fdecrypt_iv_fill(fdecrypt_iv_find(modes[m]), &layout, &range, 0, 100, none + 1);
		fdecrypt_iv_fill(fdecrypt_iv_find(modes[m]), &layout, &range, 0, 1, &mark);
		CHECK(mark == 0x5a, "%s", modes[m]);
		free(none);
	}
}

static void zero_units_write_nothing(void)
{
	struct fdecrypt_iv_range range = { 5, 512, 1 };
	struct fdecrypt_iv_layout layout = { 16, 4 };

	for (unsigned int m = 0; m < COUNT(modes); m++)
		compare(modes[m], &layout, &range, 9, 0, 0);
}

static void names(void)
{
	static const char *const others[] = {
		"", "Plain64", "PLAIN", "plain6", "plain644", "plain64b", "plain64bee", " plain", "essiv", "lmk", "tcw",
		"random", "elephant", "benbi ", "nul", "eboiv:",
	};

	for (unsigned int m = 0; m < COUNT(modes); m++) {
		const struct fdecrypt_iv_mode *mode = fdecrypt_iv_find(modes[m]);

		CHECK(mode && !strcmp(mode->name, modes[m]), "%s", modes[m]);
		CHECK(mode && mode->encrypted == !strcmp(modes[m], "eboiv"), "%s", modes[m]);
	}
	for (unsigned int i = 0; i < COUNT(others); i++)
		CHECK(!fdecrypt_iv_find(others[i]), "\"%s\" is a mode", others[i]);
}

/* benbi: block size a power of two up to 512. eboiv: the IV is one cipher block. Others: anything. */
static void modes_say_which_ciphers_fit(void)
{
	for (unsigned int m = 0; m < COUNT(modes); m++)
	for (unsigned int iv_size = 0; iv_size <= 32; iv_size += 4)
	for (unsigned int block = 0; block <= 4096; block++) {
		const struct fdecrypt_iv_mode *mode = fdecrypt_iv_find(modes[m]);
		bool want = true;

		if (!strcmp(modes[m], "benbi"))
			want = block == 1 || block == 2 || block == 4 || block == 8 || block == 16 || block == 32 ||
			       block == 64 || block == 128 || block == 256 || block == 512;
		else if (!strcmp(modes[m], "eboiv"))
			want = block == iv_size;
		CHECK(mode->fits(iv_size, block) == want, "%s, iv size %u, block size %u", modes[m], iv_size, block);
	}
}

/* dm-crypt: cc_sector & (number of keys - 1), cc_sector in sectors of 512 bytes always. */
static void keys_take_turns_by_sector(void)
{
	unsigned long long seed = 3;

	for (unsigned int u = 0; u < COUNT(unit_sizes); u++)
	for (unsigned int large = 0; large < 2; large++)
	for (unsigned int keys = 1; keys <= 1024; keys *= 2)
	for (unsigned int e = 0; e < COUNT(edges) + 8; e++)
	for (unsigned int unit = 0; unit < 300; unit += 1 + unit / 8) {
		unsigned int sectors = unit_sizes[u] / 512;
		struct fdecrypt_iv_range range = {
			.first = e < COUNT(edges) ? edges[e] : tap_random(&seed),
			.unit_size = unit_sizes[u],
			.step = large ? 1 : sectors,
		};
		struct number cc_sector = iv_sector(&range, unit);
		unsigned int want;

		if (large)
			cc_sector = wrapped(times(cc_sector, sectors), 8);
		want = (cc_sector.byte[0] + 256 * cc_sector.byte[1]) % keys;
		CHECK(fdecrypt_iv_key_index(&range, unit, keys) == want,
		      "first %#llx, unit %u of size %u, step %u, %u keys: %u, not %u", range.first, unit,
		      range.unit_size, range.step, keys, fdecrypt_iv_key_index(&range, unit, keys), want);
	}
}

static void put(unsigned char *at, unsigned long long value, unsigned int bytes)
{
	struct number n = number_of(value);

	memcpy(at, n.byte, bytes);
}

static int read_header(unsigned long long first, unsigned int unit_size, unsigned int step,
		       struct fdecrypt_iv_range *range)
{
	unsigned char *header = malloc(FDECRYPT_IV_HEADER_SIZE + 1);
	int err;

	put(header + 1, first, 8);
	put(header + 9, unit_size, 4);
	put(header + 13, step, 4);
	err = fdecrypt_iv_header_read(header + 1, range);
	free(header);
	return err;
}

static bool header_is_good(unsigned int unit_size, unsigned int step)
{
	switch (unit_size) {
	case 512:
		return step == 1;
	case 1024:
		return step == 1 || step == 2;
	case 2048:
		return step == 1 || step == 4;
	case 4096:
		return step == 1 || step == 8;
	}
	return false;
}

static void check_header(unsigned int unit_size, unsigned int step)
{
	struct fdecrypt_iv_range range;
	unsigned long long first = 0xf00dfeed00000000 + unit_size;
	int err = read_header(first, unit_size, step, &range);

	if (!header_is_good(unit_size, step)) {
		CHECK(err == -22, "unit size %u, step %u: %d", unit_size, step, err);
		return;
	}
	CHECK(!err, "unit size %u, step %u: %d", unit_size, step, err);
	CHECK(range.first == first && range.unit_size == unit_size && range.step == step, "unit size %u, step %u",
	      unit_size, step);
}

static void only_good_headers_are_taken(void)
{
	static const unsigned int steps[] = {
		31, 32, 64, 255, 256, 512, 4096, 0x10001, 0x1000000, 0x80000000, 0xffffffff
	};
	static const unsigned int sizes[] = {
		16384, 0x10200, 0x11000, 0x1000200, 0x80000000, 0x80000200, 0x20000, 0xfffffe00, 0xffffffff
	};

	for (unsigned int size = 0; size <= 8192; size++) {
		for (unsigned int step = 0; step <= 17; step++)
			check_header(size, step);
		for (unsigned int i = 0; i < COUNT(steps); i++)
			check_header(size, steps[i]);
		check_header(size, size);
		check_header(size, size / 512);
	}
	for (unsigned int i = 0; i < COUNT(sizes); i++) {
		check_header(sizes[i], 1);
		check_header(sizes[i], sizes[i] / 512);
	}
}

static void a_header_reads_back(void)
{
	for (unsigned int u = 0; u < COUNT(unit_sizes); u++)
	for (unsigned int large = 0; large < 2; large++)
	for (unsigned int e = 0; e < COUNT(edges); e++) {
		struct fdecrypt_iv_range out, in = {
			.first = edges[e],
			.unit_size = unit_sizes[u],
			.step = large ? 1 : unit_sizes[u] / 512,
		};
		unsigned char want[FDECRYPT_IV_HEADER_SIZE];
		unsigned char *header = malloc(FDECRYPT_IV_HEADER_SIZE + 3);

		put(want, in.first, 8);
		put(want + 8, in.unit_size, 4);
		put(want + 12, in.step, 4);
		fdecrypt_iv_header_write(header + 3, &in);
		CHECK(!memcmp(header + 3, want, sizeof(want)), "bytes of first %#llx", in.first);
		CHECK(!fdecrypt_iv_header_read(header + 3, &out) && out.first == in.first &&
		      out.unit_size == in.unit_size && out.step == in.step, "first %#llx", in.first);
		free(header);
	}
}

int main(void)
{
	property("null: the IV is zero", null_is_zero);
	property("plain: LE32 of the IV sector, which wraps at 2^32", plain_is_le32);
	property("plain64: LE64 of the IV sector, which wraps at 2^64", plain64_is_le64);
	property("plain64be: BE64 of the IV sector in the last eight bytes", plain64be_is_be64);
	property("benbi: BE64 of the cipher block number from 1, for every block size", benbi_counts_blocks);
	property("eboiv: LE64 of IV sector times unit size", eboiv_is_byte_offset);
	property("bytes written out by hand", known_bytes);
	property("a batch filled in pieces is the same, and far units do not overflow", pieces_make_the_whole);
	property("no byte of an IV keeps what was there before", no_byte_is_left_unwritten);
	property("a cipher without IV gets no byte", a_cipher_without_iv_gets_nothing);
	property("no units, no byte", zero_units_write_nothing);
	property("modes are found by their exact names", names);
	property("modes refuse the ciphers they cannot serve", modes_say_which_ciphers_fit);
	property("keys take turns by 512-byte sector, whatever the IV counts", keys_take_turns_by_sector);
	property("of all headers only the good ones are taken", only_good_headers_are_taken);
	property("a header has the documented bytes and reads back", a_header_reads_back);
	return tap_end();
}
