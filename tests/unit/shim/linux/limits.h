/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits that the kernel has for its own types, and the one of int. */
#ifndef SHIM_LINUX_LIMITS_H
#define SHIM_LINUX_LIMITS_H

#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#endif

#define U32_MAX ((u32)~0u)
#define U64_MAX ((u64)~0ull)

#endif
