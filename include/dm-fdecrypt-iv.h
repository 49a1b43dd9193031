/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IV generators and the self-describing IV of a batch: numbers in, IVs out.
 *
 * Pure arithmetic: it must not know bios, device mapper, the crypto API or memory allocation.
 */
#ifndef DM_FDECRYPT_IV_H
#define DM_FDECRYPT_IV_H

#include <linux/types.h>

#define FDECRYPT_IV_HEADER_SIZE	16	/* the fdiv template's ivsize */
#define FDECRYPT_IV_SIZE_MAX	32	/* largest child IV: adiantum, hctr2 */
#define FDECRYPT_IV_SIZE_MIN	8	/* generators write at least a 64-bit number */

/**
 * struct fdecrypt_iv_range - the data units of a batch, as their IVs see them
 * @first: IV sector of the first unit
 * @unit_size: bytes of a unit: 512, 1024, 2048 or 4096
 * @step: what the IV sector grows by from unit to unit: 1, or @unit_size / 512
 *
 * All arithmetic on IV sectors wraps at 64 bits.
 */
struct fdecrypt_iv_range {
	u64 first;
	u32 unit_size;
	u32 step;
};

/**
 * struct fdecrypt_iv_layout - the form of the IVs that a cipher wants
 * @iv_size: bytes of an IV, 0 or FDECRYPT_IV_SIZE_MIN to FDECRYPT_IV_SIZE_MAX
 * @block_shift: binary logarithm of the cipher's block size, 0 to 9
 */
struct fdecrypt_iv_layout {
	unsigned int iv_size;
	unsigned int block_shift;
};

/**
 * struct fdecrypt_iv_mode - an IV generator
 * @name: as in the table line and in the template's name
 * @fits: may this mode be used with a cipher of this IV size and block size (bytes)?
 * @fill: write one IV's bytes for the unit of IV sector @sector; @iv holds zeros
 * @encrypted: the IV is what @fill writes, encrypted with the data key
 */
struct fdecrypt_iv_mode {
	const char *name;
	bool (*fits)(unsigned int iv_size, unsigned int block_size);
	void (*fill)(const struct fdecrypt_iv_layout *layout, u64 sector, u32 unit_size, u8 *iv);
	bool encrypted;
};

const struct fdecrypt_iv_mode *fdecrypt_iv_find(const char *name);
void fdecrypt_iv_fill(const struct fdecrypt_iv_mode *mode, const struct fdecrypt_iv_layout *layout,
		      const struct fdecrypt_iv_range *range, unsigned int first, unsigned int nr, u8 *ivs);
unsigned int fdecrypt_iv_key_index(const struct fdecrypt_iv_range *range, unsigned int unit,
				   unsigned int key_count);

int fdecrypt_iv_header_read(const u8 *header, struct fdecrypt_iv_range *range);
void fdecrypt_iv_header_write(u8 *header, const struct fdecrypt_iv_range *range);

#endif
