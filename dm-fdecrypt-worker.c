// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU workers: one queue for each CPU and mapping, reads before writes, only on allowed CPUs.
 *
 * It must not know bios, ciphers or device mapper.
 *
 * The threads are the kernel's workqueue threads: they are bound to their CPU, move away when it goes offline
 * and come back, have a rescuer for when no thread can be made, and carry the queue's name in top and ps
 * (kworker/3:1+fdecrypt/253:0). What is ours is the order of jobs and the choice of CPUs.
 */

#include "dm-fdecrypt-worker.h"

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>

/* After so many reads a write that waits has its turn, or it could wait as long as there are reads. */
#define READS_IN_A_ROW	8

/* After so many jobs a work item makes room for others: a rescuer thread has them all. */
#define JOBS_AT_ONCE	64

/* The jobs of one class of a mapping that wait for one CPU. */
struct fdecrypt_queue {
	struct fdecrypt_worker *worker;
	struct list_head jobs;				/* protected by the worker's lock */
	struct work_struct work;			/* does these jobs, and what comes before them */
};

/* All of them. */
struct fdecrypt_worker {
	spinlock_t lock;				/* for the queues */
	struct fdecrypt_queue queue[FDECRYPT_JOB_CLASSES];
	unsigned int reads_in_a_row;			/* protected by lock */
	struct fdecrypt_workers *all;
	unsigned int cpu;
};

/* Of many CPUs it is enough to look at some: the best of these is good, reading all counters is slow. */
#define CPUS_LOOKED_AT	16

/* Jobs queued or running on a CPU, of all mappings: 0 means idle as far as we know. */
static DEFINE_PER_CPU(atomic_t, fdecrypt_load);

static int fdecrypt_cpu_load(unsigned int cpu)
{
	return atomic_read(per_cpu_ptr(&fdecrypt_load, cpu));
}

/* Take the next job of the classes up to @last off a queue of @w. */
static struct fdecrypt_job *fdecrypt_worker_take(struct fdecrypt_worker *w, enum fdecrypt_job_class last)
{
	struct fdecrypt_job *job = NULL;
	unsigned int class = FDECRYPT_JOB_READ;
	unsigned long flags;

	spin_lock_irqsave(&w->lock, flags);
	if (w->reads_in_a_row >= READS_IN_A_ROW && last == FDECRYPT_JOB_WRITE &&
	    !list_empty(&w->queue[FDECRYPT_JOB_WRITE].jobs))
		class = FDECRYPT_JOB_WRITE;
	for (; class <= last && !job; class++) {
		job = list_first_entry_or_null(&w->queue[class].jobs, struct fdecrypt_job, list);
		if (job) {
			list_del(&job->list);
			w->reads_in_a_row = class == FDECRYPT_JOB_READ ? w->reads_in_a_row + 1 : 0;
		}
	}
	spin_unlock_irqrestore(&w->lock, flags);
	return job;
}

static bool fdecrypt_worker_has(const struct fdecrypt_worker *w, enum fdecrypt_job_class last)
{
	unsigned int class;

	/* Without the lock: a wrong answer costs a look, or leaves the job to the CPU that has it. */
	for (class = 0; class <= last; class++) {
		if (!list_empty(&w->queue[class].jobs))
			return true;
	}
	return false;
}

/* With nothing left to do, do what waits for another CPU: it may be busy with more than our jobs. */
static struct fdecrypt_job *fdecrypt_worker_steal(struct fdecrypt_worker *w, enum fdecrypt_job_class last)
{
	struct fdecrypt_workers *ws = w->all;
	unsigned int cpu, looked_at = 0;

	/* Not w->cpu: when that goes offline, its jobs are done anywhere. */
	if (ws->stay || !fdecrypt_workers_may_run_here(ws))
		return NULL;
	for_each_cpu_wrap(cpu, &ws->cpus, w->cpu) {
		struct fdecrypt_worker *other = per_cpu_ptr(ws->worker, cpu);
		struct fdecrypt_job *job = NULL;

		if (cpu == w->cpu || !cpu_online(cpu))
			continue;
		if (fdecrypt_worker_has(other, last))
			job = fdecrypt_worker_take(other, last);
		if (job) {
			atomic_dec(per_cpu_ptr(&fdecrypt_load, cpu));
			atomic_inc(per_cpu_ptr(&fdecrypt_load, w->cpu));
			return job;
		}
		if (++looked_at == CPUS_LOOKED_AT)
			break;
	}
	return NULL;
}

/*
 * Each class has a work item, since a write may have to wait while it is sent down: then the reads' item goes
 * on. The writes' item looks for reads first.
 *
 * The last thing that is done for a job is to run it: it may end the last bio of the mapping, and the queues
 * may be gone as soon as the work item has returned, which destroy_workqueue() waits for.
 */
static void fdecrypt_worker_work(struct work_struct *work)
{
	struct fdecrypt_queue *q = container_of(work, struct fdecrypt_queue, work);
	struct fdecrypt_worker *w = q->worker;
	enum fdecrypt_job_class last = q - w->queue;
	unsigned int nr = 0;
	struct fdecrypt_job *job;

	while ((job = fdecrypt_worker_take(w, last)) || (job = fdecrypt_worker_steal(w, last))) {
		job->run(job);
		atomic_dec(per_cpu_ptr(&fdecrypt_load, w->cpu));
		if (++nr == JOBS_AT_ONCE) {
			queue_work_on(w->cpu, w->all->wq, work);
			break;
		}
		cond_resched();
	}
}

/**
 * fdecrypt_workers_queue - let a CPU do a job
 * @ws: the workers
 * @job: the job
 * @class: what comes first
 * @cpu: which CPU; one that is not online (any more) leaves the job to another
 *
 * Context: any.
 */
void fdecrypt_workers_queue(struct fdecrypt_workers *ws, struct fdecrypt_job *job,
			    enum fdecrypt_job_class class, unsigned int cpu)
{
	struct fdecrypt_worker *w = per_cpu_ptr(ws->worker, cpu);
	struct fdecrypt_queue *q = &w->queue[class];
	unsigned long flags;

	atomic_inc(per_cpu_ptr(&fdecrypt_load, cpu));
	/*
	 * Queued under the lock: as soon as a worker can see the job it may end the last bio of the mapping,
	 * and the mapping with it. Nothing here is touched after that.
	 */
	spin_lock_irqsave(&w->lock, flags);
	list_add_tail(&job->list, &q->jobs);
	queue_work_on(cpu, ws->wq, &q->work);
	spin_unlock_irqrestore(&w->lock, flags);
}

/**
 * fdecrypt_workers_may_run_here - may this CPU work for the mapping?
 * @ws: the workers
 *
 * Context: any; where the caller can move to another CPU, the answer is only a good guess.
 * Return: true if it is among the allowed CPUs.
 */
bool fdecrypt_workers_may_run_here(const struct fdecrypt_workers *ws)
{
	return cpumask_test_cpu(raw_smp_processor_id(), &ws->cpus);
}

/**
 * fdecrypt_workers_pick_idle - find other CPUs that have nothing to do for us
 * @ws: the workers
 * @cpus: result
 * @max: how many are wanted
 *
 * Begins behind the current CPU, so that submitters on different CPUs find different ones.
 *
 * Context: any.
 * Return: number of CPUs in @cpus, 0 to @max; the current one is not among them.
 */
unsigned int fdecrypt_workers_pick_idle(const struct fdecrypt_workers *ws, unsigned int *cpus,
					unsigned int max)
{
	unsigned int here = raw_smp_processor_id(), cpu, nr = 0, looked_at = 0;

	if (!max)
		return 0;
	for_each_cpu_wrap(cpu, &ws->cpus, here) {
		if (cpu == here || !cpu_online(cpu))
			continue;
		if (!fdecrypt_cpu_load(cpu))
			cpus[nr++] = cpu;
		if (nr == max || ++looked_at == CPUS_LOOKED_AT)
			break;
	}
	return nr;
}

/**
 * fdecrypt_workers_pick_one - say where a job is best done
 * @ws: the workers
 *
 * Looks at the current CPU and some behind it.
 *
 * Context: any.
 * Return: the allowed CPU with the fewest jobs of ours, the current one if it is among those; with all
 * allowed CPUs offline, the current one.
 */
unsigned int fdecrypt_workers_pick_one(const struct fdecrypt_workers *ws)
{
	unsigned int here = raw_smp_processor_id(), best = here, cpu, looked_at = 0;
	int least = INT_MAX;

	for_each_cpu_wrap(cpu, &ws->cpus, here) {
		if (!cpu_online(cpu))
			continue;
		if (fdecrypt_cpu_load(cpu) < least) {
			best = cpu;
			least = fdecrypt_cpu_load(cpu);
		}
		if (!least || ++looked_at == CPUS_LOOKED_AT)
			break;
	}
	return best;
}

/**
 * fdecrypt_workers_set_cpus - change which CPUs may work
 * @ws: the workers
 * @cpus: the CPUs
 *
 * Jobs that are queued already are done where they are.
 *
 * Context: any; one caller at a time.
 */
void fdecrypt_workers_set_cpus(struct fdecrypt_workers *ws, const struct cpumask *cpus)
{
	unsigned int i;

	/* Readers test single bits: between two words they may see a mix, which is as good as either. */
	for (i = 0; i < BITS_TO_LONGS(nr_cpu_ids); i++)
		WRITE_ONCE(cpumask_bits(&ws->cpus)[i], cpumask_bits(cpus)[i]);
}

/**
 * fdecrypt_cpus_parse - read a list of CPUs
 * @list: as in "0-3,8"; "all" for the default: all but isolated ones
 * @cpus: result
 * @error: on failure, what was wrong
 *
 * Context: any.
 * Return: 0; -EINVAL if it is malformed, or names no CPU that this machine can have.
 */
int fdecrypt_cpus_parse(const char *list, struct cpumask *cpus, const char **error)
{
	if (!strcmp(list, "all")) {
		/* Not there to stay: cpusets can replace it. */
		rcu_read_lock();
		cpumask_copy(cpus, housekeeping_cpumask(HK_TYPE_DOMAIN));
		rcu_read_unlock();
		return 0;
	}
	/* cpulist_parse() takes white space as well, which TABLE text could not say. */
	if (list[strspn(list, "0123456789,-:/")] || cpulist_parse(list, cpus)) {
		*error = "Invalid cpus: expected a list of CPU numbers such as 0-3,8, or all";
		return -EINVAL;
	}
	if (!cpumask_intersects(cpus, cpu_possible_mask)) {
		*error = "Invalid cpus: this machine has none of them";
		return -EINVAL;
	}
	return 0;
}

/**
 * fdecrypt_workers_init - make the workers of a mapping
 * @ws: all zero but for @cpus and @stay
 * @name: name of the mapping
 * @high_priority: run before normal tasks
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; after an error fdecrypt_workers_exit() cleans up.
 */
int fdecrypt_workers_init(struct fdecrypt_workers *ws, const char *name, bool high_priority)
{
	unsigned int flags = WQ_MEM_RECLAIM | WQ_PERCPU | WQ_CPU_INTENSIVE;
	unsigned int cpu, class;

	ws->worker = alloc_percpu(struct fdecrypt_worker);
	if (!ws->worker)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct fdecrypt_worker *w = per_cpu_ptr(ws->worker, cpu);

		spin_lock_init(&w->lock);
		for (class = 0; class < FDECRYPT_JOB_CLASSES; class++) {
			w->queue[class].worker = w;
			INIT_LIST_HEAD(&w->queue[class].jobs);
			INIT_WORK(&w->queue[class].work, fdecrypt_worker_work);
		}
		w->all = ws;
		w->cpu = cpu;
	}
	ws->wq = alloc_workqueue("fdecrypt/%s", flags | (high_priority ? WQ_HIGHPRI : 0), 0, name);
	return ws->wq ? 0 : -ENOMEM;
}

/**
 * fdecrypt_workers_exit - end the workers
 * @ws: what fdecrypt_workers_init() has been called for, or all zero
 *
 * Context: may sleep; no job is queued.
 */
void fdecrypt_workers_exit(struct fdecrypt_workers *ws)
{
	if (ws->wq)
		destroy_workqueue(ws->wq);
	free_percpu(ws->worker);
}
