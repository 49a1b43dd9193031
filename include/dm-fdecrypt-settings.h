/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What applies to a mapping whose table line does not say: messages, rules, parameters.
 *
 * It must not know bios or device mapper: a device is a pointer that stays the same, with a name and a UUID.
 */
#ifndef DM_FDECRYPT_SETTINGS_H
#define DM_FDECRYPT_SETTINGS_H

#include <linux/list.h>

struct fdecrypt_settings;
struct fdecrypt_workers;

/**
 * struct fdecrypt_settings_user - a table of a device
 * @list: all tables of the device
 * @settings: what was said of the device by message
 * @workers: what follows the settings
 * @cpus: list of CPUs that the table line has; NULL if it has none, or if a message has said otherwise since
 *
 * All of it is protected by a lock inside.
 */
struct fdecrypt_settings_user {
	struct list_head list;
	struct fdecrypt_settings *settings;
	struct fdecrypt_workers *workers;
	char *cpus;
};

int fdecrypt_settings_join(struct fdecrypt_settings_user *user, const void *device,
			   struct fdecrypt_workers *workers, const char *cpus, const char **error);
void fdecrypt_settings_leave(struct fdecrypt_settings_user *user);
int fdecrypt_settings_apply(struct fdecrypt_settings_user *user, const char *name, const char *uuid,
			    const char **error);
int fdecrypt_settings_say_cpus(struct fdecrypt_settings_user *user, const char *list, const char **error);
const char *fdecrypt_settings_read_cpus(struct fdecrypt_settings_user *user);
void fdecrypt_settings_read_end(void);

#endif
