/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers in a fixed byte order at any address. */
#ifndef SHIM_LINUX_UNALIGNED_H
#define SHIM_LINUX_UNALIGNED_H

#include <linux/types.h>

static inline void put_unaligned_le32(u32 value, void *to)
{
	for (int i = 0; i < 4; i++)
		((u8 *)to)[i] = value >> 8 * i;
}

static inline void put_unaligned_le64(u64 value, void *to)
{
	for (int i = 0; i < 8; i++)
		((u8 *)to)[i] = value >> 8 * i;
}

static inline void put_unaligned_be64(u64 value, void *to)
{
	for (int i = 0; i < 8; i++)
		((u8 *)to)[7 - i] = value >> 8 * i;
}

static inline u64 get_unaligned_le64(const void *from)
{
	u64 value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | ((const u8 *)from)[i];
	return value;
}

static inline u32 get_unaligned_le32(const void *from)
{
	u32 value = 0;

	for (int i = 3; i >= 0; i--)
		value = value << 8 | ((const u8 *)from)[i];
	return value;
}

#endif
