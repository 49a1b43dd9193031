/* SPDX-License-Identifier: GPL-2.0-only */
/* Formatting; the C library does the work. */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <linux/limits.h>
#include <linux/types.h>
#include <stdarg.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

int snprintf(char *buf, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *buf, size_t size, const char *format, va_list args);

/* snprintf() that returns what it wrote, not what it would have liked to write. */
__attribute__((format(printf, 3, 4)))
static inline int scnprintf(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	if (!size)
		return 0;
	va_start(args, format);
	n = vsnprintf(buf, size, format, args);
	va_end(args);
	return (size_t)n < size ? n : (int)size - 1;
}

#endif
