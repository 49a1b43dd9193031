// SPDX-License-Identifier: GPL-2.0-only
/*
 * IV generators: the number of a data unit in, its IV out.
 *
 * It must not know bios, device mapper, the crypto API or memory allocation. ESSIV is not here: it is
 * the crypto API's essiv template over what plain64 makes. To add a mode, add a row to iv_modes[].
 *
 * The formulas are dm-crypt's on-disk formats, which fix them for ever: below, S is the IV sector.
 */

#include "dm-fdecrypt-iv.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/unaligned.h>

/* null: the IV is zero. */
static void fill_null(const struct fdecrypt_iv_layout *layout, u64 sector, u32 unit_size, u8 *iv)
{
}

/* plain: LE32(S). It repeats after 2^32 sectors, which is why plain64 exists; volumes depend on it. */
static void fill_plain(const struct fdecrypt_iv_layout *layout, u64 sector, u32 unit_size, u8 *iv)
{
	put_unaligned_le32(sector, iv);
}

/* plain64: LE64(S). */
static void fill_plain64(const struct fdecrypt_iv_layout *layout, u64 sector, u32 unit_size, u8 *iv)
{
	put_unaligned_le64(sector, iv);
}

/* plain64be: BE64(S) at the end of the IV. */
static void fill_plain64be(const struct fdecrypt_iv_layout *layout, u64 sector, u32 unit_size, u8 *iv)
{
	put_unaligned_be64(sector, iv + layout->iv_size - sizeof(u64));
}

/* benbi: BE64 at the end of the IV: the number of the cipher block that the unit begins with, from 1. */
static void fill_benbi(const struct fdecrypt_iv_layout *layout, u64 sector, u32 unit_size, u8 *iv)
{
	put_unaligned_be64((sector << (9 - layout->block_shift)) + 1, iv + layout->iv_size - sizeof(u64));
}

/* eboiv: the byte offset S * unit size, LE64, encrypted with the data key. */
static void fill_eboiv(const struct fdecrypt_iv_layout *layout, u64 sector, u32 unit_size, u8 *iv)
{
	put_unaligned_le64(sector * unit_size, iv);
}

static bool fits_all(unsigned int iv_size, unsigned int block_size)
{
	return true;
}

static bool fits_benbi(unsigned int iv_size, unsigned int block_size)
{
	return is_power_of_2(block_size) && block_size <= 512;
}

static bool fits_eboiv(unsigned int iv_size, unsigned int block_size)
{
	return iv_size == block_size;
}

static const struct fdecrypt_iv_mode iv_modes[] = {
	{ .name = "null",	.fits = fits_all,	.fill = fill_null },
	{ .name = "plain",	.fits = fits_all,	.fill = fill_plain },
	{ .name = "plain64",	.fits = fits_all,	.fill = fill_plain64 },
	{ .name = "plain64be",	.fits = fits_all,	.fill = fill_plain64be },
	{ .name = "benbi",	.fits = fits_benbi,	.fill = fill_benbi },
	{ .name = "eboiv",	.fits = fits_eboiv,	.fill = fill_eboiv,	.encrypted = true },
};

/**
 * fdecrypt_iv_find - look an IV mode up by name
 * @name: name, case matters
 *
 * Context: any.
 * Return: the mode, or NULL if there is none of that name.
 */
const struct fdecrypt_iv_mode *fdecrypt_iv_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(iv_modes); i++) {
		if (!strcmp(iv_modes[i].name, name))
			return &iv_modes[i];
	}
	return NULL;
}

/**
 * fdecrypt_iv_fill - compute the IVs of some units of a batch
 * @mode: IV mode; its @fits has been asked
 * @layout: form of the IVs
 * @range: the batch
 * @first: index in the batch of the first unit wanted
 * @nr: number of units wanted
 * @ivs: result: @nr IVs of @layout->iv_size bytes, one behind the other
 *
 * A mode whose IVs are encrypted leaves that to the caller, who has the key.
 *
 * Context: any.
 */
void fdecrypt_iv_fill(const struct fdecrypt_iv_mode *mode, const struct fdecrypt_iv_layout *layout,
		      const struct fdecrypt_iv_range *range, unsigned int first, unsigned int nr, u8 *ivs)
{
	u64 sector = range->first + (u64)first * range->step;

	if (!layout->iv_size)
		return;
	memset(ivs, 0, (size_t)nr * layout->iv_size);
	for (; nr; nr--) {
		mode->fill(layout, sector, range->unit_size, ivs);
		sector += range->step;
		ivs += layout->iv_size;
	}
}

/**
 * fdecrypt_iv_key_index - say which key a unit uses
 * @range: the batch
 * @unit: index of the unit in the batch
 * @key_count: number of keys, a power of two
 *
 * The keys take turns by 512-byte sector, whatever the size of a unit and whatever the IV counts.
 *
 * Context: any.
 * Return: 0 to @key_count - 1.
 */
unsigned int fdecrypt_iv_key_index(const struct fdecrypt_iv_range *range, unsigned int unit,
				   unsigned int key_count)
{
	u64 sector = range->first + (u64)unit * range->step;

	if (range->step == 1)
		sector *= range->unit_size / 512;
	return sector & (key_count - 1);
}

/**
 * fdecrypt_iv_header_read - read and check the self-describing IV of a batch
 * @header: FDECRYPT_IV_HEADER_SIZE bytes: LE64 first IV sector, LE32 unit size, LE32 step
 * @range: result
 *
 * Anybody can send a header over AF_ALG: nothing in it is trusted.
 *
 * Context: any.
 * Return: 0, or -EINVAL if the unit size is none of 512, 1024, 2048 and 4096, or the step is neither 1
 * nor unit size / 512.
 */
int fdecrypt_iv_header_read(const u8 *header, struct fdecrypt_iv_range *range)
{
	range->first = get_unaligned_le64(header);
	range->unit_size = get_unaligned_le32(header + 8);
	range->step = get_unaligned_le32(header + 12);

	if (range->unit_size < 512 || range->unit_size > 4096 || !is_power_of_2(range->unit_size))
		return -EINVAL;
	if (range->step != 1 && range->step != range->unit_size / 512)
		return -EINVAL;
	return 0;
}

/**
 * fdecrypt_iv_header_write - write the self-describing IV of a batch
 * @header: FDECRYPT_IV_HEADER_SIZE bytes
 * @range: the batch
 *
 * Context: any.
 */
void fdecrypt_iv_header_write(u8 *header, const struct fdecrypt_iv_range *range)
{
	put_unaligned_le64(range->first, header);
	put_unaligned_le32(range->unit_size, header + 8);
	put_unaligned_le32(range->step, header + 12);
}
