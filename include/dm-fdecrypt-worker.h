/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU workers: jobs, and the CPUs that may do them.
 *
 * It must not know bios, ciphers or device mapper: a job is a function to call.
 */
#ifndef DM_FDECRYPT_WORKER_H
#define DM_FDECRYPT_WORKER_H

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* In the order in which a worker takes them: somebody waits for a read. */
enum fdecrypt_job_class {
	FDECRYPT_JOB_READ,
	FDECRYPT_JOB_WRITE,
	FDECRYPT_JOB_CLASSES,
};

/**
 * struct fdecrypt_job - something to do on some CPU
 * @list: its place in a worker's queue
 * @run: what to do; the job may be freed or queued again in it
 *
 * Lives in what it works on; queued at most once at a time.
 */
struct fdecrypt_job {
	struct list_head list;
	void (*run)(struct fdecrypt_job *job);
};

struct fdecrypt_worker;

/**
 * struct fdecrypt_workers - the workers of a mapping, one for each CPU
 * @wq: their threads: bound to CPUs, safe when one goes offline, with a rescuer, never frozen
 * @worker: their queues
 * @cpus: CPUs that may work for this mapping; each bit may change at any time
 * @stay: jobs are done on the CPU they are queued for, even if others are idle
 */
struct fdecrypt_workers {
	struct workqueue_struct *wq;
	struct fdecrypt_worker __percpu *worker;
	struct cpumask cpus;
	bool stay;
};

int fdecrypt_workers_init(struct fdecrypt_workers *ws, const char *name, bool high_priority);
void fdecrypt_workers_exit(struct fdecrypt_workers *ws);
void fdecrypt_workers_set_cpus(struct fdecrypt_workers *ws, const struct cpumask *cpus);
bool fdecrypt_workers_may_run_here(const struct fdecrypt_workers *ws);
unsigned int fdecrypt_workers_pick_idle(const struct fdecrypt_workers *ws, unsigned int *cpus,
					unsigned int max);
unsigned int fdecrypt_workers_pick_one(const struct fdecrypt_workers *ws);
void fdecrypt_workers_queue(struct fdecrypt_workers *ws, struct fdecrypt_job *job,
			    enum fdecrypt_job_class class, unsigned int cpu);

int fdecrypt_cpus_parse(const char *list, struct cpumask *cpus, const char **error);

#endif
