/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fdiv crypto API template: its registration; everything else about it goes through the crypto API.
 *
 * It must not know bios or device mapper.
 */
#ifndef DM_FDECRYPT_FDIV_H
#define DM_FDECRYPT_FDIV_H

int fdecrypt_fdiv_register(void);
void fdecrypt_fdiv_unregister(void);

#endif
