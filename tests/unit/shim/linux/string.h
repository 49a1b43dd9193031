/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library has them all, under the same names. */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <linux/types.h>

void *memchr(const void *from, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int strcasecmp(const char *a, const char *b);
char *strchr(const char *text, int c);
int strcmp(const char *a, const char *b);
size_t strcspn(const char *text, const char *stop);
size_t strlen(const char *text);
int strncasecmp(const char *a, const char *b, size_t size);
int strncmp(const char *a, const char *b, size_t size);
char *strpbrk(const char *text, const char *any);
char *strrchr(const char *text, int c);
char *strsep(char **text, const char *separators);
size_t strspn(const char *text, const char *accept);

#endif
