/* SPDX-License-Identifier: GPL-2.0-only */
/* Only the error codes that the pure files return. */
#ifndef SHIM_LINUX_ERRNO_H
#define SHIM_LINUX_ERRNO_H

#define ENOENT 2
#define ENOMEM 12
#define EINVAL 22
#define ENAMETOOLONG 36

#endif
