// SPDX-License-Identifier: GPL-2.0-only
/*
 * What applies to a mapping whose table line does not say: messages, rules, parameters.
 *
 * It must not know bios or device mapper.
 *
 * Tools that know only dm-crypt make a new table for resize and refresh, and cannot repeat in it what they do
 * not know. So what a message said is kept with the device, not with the table, and rules say it beforehand
 * for a mapping that is still to be made. The order: the message, the first rule that fits, the parameter.
 */

#include "dm-fdecrypt-settings.h"
#include "dm-fdecrypt-table.h"
#include "dm-fdecrypt-worker.h"

#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

/*
 * struct fdecrypt_settings - what was said of a device by message
 *
 * Lives as long as the device has a table.
 */
struct fdecrypt_settings {
	struct list_head list;
	const void *device;
	struct list_head users;
	char *cpus;			/* as it was said; NULL if it was not */
	struct cpumask cpumask;		/* the same */
};

/* Settings, users and their lists. Nothing is allocated inside: a message to a suspended device takes it. */
static LIST_HEAD(all_settings);
static DEFINE_MUTEX(settings_lock);

/* The parameters: texts that have been checked. */
static char *default_cpus;		/* NULL: all */
static char *rules;			/* NULL: none */
static DEFINE_MUTEX(parameters_lock);

/* -- parameters --------------------------------------------------------------------------------- */

static int check_cpus(char *list, const char **error)
{
	struct cpumask *cpus = kmalloc(sizeof(*cpus), GFP_KERNEL);
	int err = -ENOMEM;

	*error = "no memory";
	if (cpus)
		err = fdecrypt_cpus_parse(list, cpus, error);
	kfree(cpus);
	return err;
}

static int check_rules(char *text, const char **error)
{
	struct fdecrypt_options opts;
	const char *pattern;
	int ret;

	while ((ret = fdecrypt_parse_rule(&text, &pattern, &opts, error)) > 0) {
		ret = opts.cpus ? check_cpus((char *)opts.cpus, error) : 0;
		if (ret)
			break;
	}
	return ret;
}

/* echo ends its text with a newline; any other is a part of the text. */
static bool ends_in_newline(const char *text)
{
	size_t len = strlen(text);

	return len && text[len - 1] == '\n';
}

/* Replace *@parameter if @check, which may cut its argument up, finds no fault with @value. */
static int set_parameter(char **parameter, const char *value, int (*check)(char *text, const char **error))
{
	size_t len = strlen(value) - ends_in_newline(value);
	char *text = kstrndup(value, len, GFP_KERNEL);
	char *scratch = kstrndup(value, len, GFP_KERNEL);
	const char *error = "no memory";
	int err = text && scratch ? check(scratch, &error) : -ENOMEM;

	if (err) {
		pr_err("dm-fdecrypt: %s\n", error);
	} else {
		mutex_lock(&parameters_lock);
		swap(*parameter, text);
		mutex_unlock(&parameters_lock);
	}
	kfree(scratch);
	kfree(text);
	return err;
}

static int get_parameter(char **parameter, char *buffer, const char *unset)
{
	int n;

	mutex_lock(&parameters_lock);
	n = scnprintf(buffer, PAGE_SIZE, "%s\n", *parameter ?: unset);
	mutex_unlock(&parameters_lock);
	return n;
}

static int set_default_cpus(const char *value, const struct kernel_param *kp)
{
	return set_parameter(&default_cpus, value, check_cpus);
}

static int get_default_cpus(char *buffer, const struct kernel_param *kp)
{
	return get_parameter(&default_cpus, buffer, "all");
}

static int set_rules(const char *value, const struct kernel_param *kp)
{
	return set_parameter(&rules, value, check_rules);
}

static int get_rules(char *buffer, const struct kernel_param *kp)
{
	return get_parameter(&rules, buffer, "");
}

static void free_parameter(void *arg)
{
	char **parameter = arg;

	kfree(*parameter);
}

static const struct kernel_param_ops default_cpus_ops = {
	.set = set_default_cpus,
	.get = get_default_cpus,
	.free = free_parameter,
};

static const struct kernel_param_ops rules_ops = {
	.set = set_rules,
	.get = get_rules,
	.free = free_parameter,
};

module_param_cb(cpus, &default_cpus_ops, &default_cpus, 0644);
MODULE_PARM_DESC(cpus, "CPUs that encrypt and decrypt, as in 0-3,8, for mappings made from now on (default all: all but isolated ones)");
module_param_cb(rules, &rules_ops, &rules, 0644);
MODULE_PARM_DESC(rules, "Options for mappings made from now on, by name or UUID, as in \"luks-* cpus:0-3; swap cpus:4\"");

/* -- devices ------------------------------------------------------------------------------------ */

static struct fdecrypt_settings *find_settings(const void *device)
{
	struct fdecrypt_settings *s;

	list_for_each_entry(s, &all_settings, list) {
		if (s->device == device)
			return s;
	}
	return NULL;
}

/**
 * fdecrypt_settings_join - a table of a device is being made
 * @user: the table, all zero
 * @device: the device
 * @workers: the table's workers, which stay until fdecrypt_settings_leave()
 * @cpus: what its line says of CPUs, or NULL
 * @error: on failure, what was wrong
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int fdecrypt_settings_join(struct fdecrypt_settings_user *user, const void *device,
			   struct fdecrypt_workers *workers, const char *cpus, const char **error)
{
	struct fdecrypt_settings *new = kzalloc(sizeof(*new), GFP_KERNEL), *s;
	char *copy = cpus ? kstrdup(cpus, GFP_KERNEL) : NULL;

	*error = "Cannot allocate memory for the settings";
	if (!new || (cpus && !copy)) {
		kfree(copy);
		kfree(new);
		return -ENOMEM;
	}
	user->workers = workers;
	user->cpus = copy;
	mutex_lock(&settings_lock);
	s = find_settings(device);
	if (!s) {
		s = new;
		new = NULL;
		s->device = device;
		INIT_LIST_HEAD(&s->users);
		list_add(&s->list, &all_settings);
	}
	user->settings = s;
	list_add(&user->list, &s->users);
	mutex_unlock(&settings_lock);
	kfree(new);
	return 0;
}

/**
 * fdecrypt_settings_leave - a table is gone
 * @user: the table; may never have joined
 *
 * Context: may sleep.
 */
void fdecrypt_settings_leave(struct fdecrypt_settings_user *user)
{
	struct fdecrypt_settings *s = user->settings;
	bool last;

	if (!s)
		return;
	mutex_lock(&settings_lock);
	list_del(&user->list);
	last = list_empty(&s->users);
	if (last)
		list_del(&s->list);
	mutex_unlock(&settings_lock);
	kfree(user->cpus);
	if (!last)
		return;
	kfree(s->cpus);
	kfree(s);
}

/**
 * fdecrypt_settings_say_cpus - a message says which CPUs are to work
 * @user: the table that got the message
 * @list: which, as for fdecrypt_cpus_parse()
 * @error: on failure, what was wrong
 *
 * Holds at once, for this table whatever its line says and for all others of the device whose lines say
 * nothing, and for those that are still to be made.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL or -ENOMEM; nothing has changed after an error.
 */
int fdecrypt_settings_say_cpus(struct fdecrypt_settings_user *user, const char *list, const char **error)
{
	struct cpumask *cpumask = kmalloc(sizeof(*cpumask), GFP_KERNEL);
	char *cpus = kstrdup(list, GFP_KERNEL), *line = NULL;
	struct fdecrypt_settings *s = user->settings;
	int err = -ENOMEM;

	*error = "no memory";
	if (cpus && cpumask)
		err = fdecrypt_cpus_parse(list, cpumask, error);
	if (!err) {
		mutex_lock(&settings_lock);
		swap(s->cpus, cpus);
		swap(user->cpus, line);
		cpumask_copy(&s->cpumask, cpumask);
		list_for_each_entry(user, &s->users, list) {
			if (!user->cpus)
				fdecrypt_workers_set_cpus(user->workers, cpumask);
		}
		mutex_unlock(&settings_lock);
	}
	kfree(line);
	kfree(cpus);
	kfree(cpumask);
	return err;
}

/**
 * fdecrypt_settings_read_cpus - see what table line or message say
 * @user: the table
 *
 * Context: may sleep; fdecrypt_settings_read_end() has to follow.
 * Return: a list of CPUs, until then; NULL if neither says anything.
 */
const char *fdecrypt_settings_read_cpus(struct fdecrypt_settings_user *user)
{
	mutex_lock(&settings_lock);
	return user->cpus ?: user->settings->cpus;
}

/**
 * fdecrypt_settings_read_end - end what fdecrypt_settings_read_cpus() began
 *
 * Context: may sleep.
 */
void fdecrypt_settings_read_end(void)
{
	mutex_unlock(&settings_lock);
}

/* What the first rule that fits says, or else the parameter. */
static int cpus_of_parameters(const char *name, const char *uuid, struct cpumask *cpus, const char **error)
{
	struct fdecrypt_options opts;
	const char *pattern;
	char *copy, *rest;
	int ret = 0;

	mutex_lock(&parameters_lock);
	/* The lock must not wait for a device whose table waits for the lock. */
	copy = rules ? kstrdup(rules, GFP_NOIO) : NULL;
	rest = copy;
	*error = "Cannot allocate memory for the rules";
	if (rules && !copy)
		ret = -ENOMEM;
	while (!ret && fdecrypt_parse_rule(&rest, &pattern, &opts, error) > 0) {
		if (fdecrypt_pattern_matches(pattern, name) || fdecrypt_pattern_matches(pattern, uuid))
			ret = fdecrypt_cpus_parse(opts.cpus, cpus, error) ?: 1;
	}
	if (!ret)
		ret = fdecrypt_cpus_parse(default_cpus ?: "all", cpus, error);
	mutex_unlock(&parameters_lock);
	kfree(copy);
	return min(ret, 0);
}

/**
 * fdecrypt_settings_apply - let the workers of a new table follow what is said
 * @user: the table
 * @name: the device's name
 * @uuid: its UUID, or ""
 * @error: on failure, what was wrong
 *
 * The table line counts most, then what a message said, then the first rule that fits, then the parameter.
 *
 * Context: may sleep; the workers do nothing yet.
 * Return: 0; -EINVAL if the line is wrong, -ENOMEM.
 */
int fdecrypt_settings_apply(struct fdecrypt_settings_user *user, const char *name, const char *uuid,
			    const char **error)
{
	struct cpumask *cpus = &user->workers->cpus;
	int err;

	if (user->cpus)
		return fdecrypt_cpus_parse(user->cpus, cpus, error);
	err = cpus_of_parameters(name, uuid, cpus, error);
	mutex_lock(&settings_lock);
	if (user->settings->cpus)
		cpumask_copy(cpus, &user->settings->cpumask);
	mutex_unlock(&settings_lock);
	return err;
}
