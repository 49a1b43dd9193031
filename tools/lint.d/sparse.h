/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read by sparse before each file: what Debian 12's sparse lacks. No header that a shadow header asks for in this
 * way is in the 6.1 kernel, whose headers sparse reads.
 */
#define __has_include_next(header) 0
