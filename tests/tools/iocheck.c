// SPDX-License-Identifier: GPL-2.0-only
/*
 * iocheck: seeded random I/O, to compare what two block devices read and write.
 *
 *	iocheck write  [-u UNIT] [-n OPS] DEVICE SEED
 *	iocheck verify [-u UNIT] [-n OPS] DEVICE SEED
 *	iocheck both   [-u UNIT] [-n OPS] DEVICE DEVICE2 SEED
 *
 * "write" fills the device with a pattern, then overwrites parts of it, again
 * and again.  "verify" works out, from the same seed, what must be there, and
 * reads all of it in other pieces.  Nothing passes from one to the other but
 * the device, so it may be read through another target than it was written.
 * "both" writes one, verifies the other, writes that with the next seed, and
 * verifies the first: two devices over the same sectors, in one process because
 * page faults are what costs time in the guest.
 *
 * The device is cut into zones, one thread each, so that several requests are in
 * flight and the result does not depend on their order.  Offsets and lengths
 * are whole units, from one unit to 1 MiB.  Memory is aligned to what the
 * device asks for and to no more: buffers that start in the middle of a page,
 * vectors of many small pieces in shuffled places, FUA writes, and buffered
 * writes at any byte.  After each write the caller's buffer must be unchanged.
 *
 * Exit status: 0 right, 1 a wrong byte or an I/O error, 2 usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_ZONES	4
#define PAGE		4096u
#define MAX_IO		(1u << 20)
#define MAX_VECS	512
#define ARENA		((2u << 20) + 65536)	/* memory that buffers are cut from */

enum kind { DIRECT, VECTOR, FUA, BUFFERED, KINDS };
static const char *const kind_name[KINDS] = {
	"direct", "vector", "fua", "buffered"
};

struct rng {
	uint64_t s;
};

/* splitmix64: small, seedable by anything */
static uint64_t rnd(struct rng *r)
{
	uint64_t z = (r->s += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t below(struct rng *r, uint64_t n)
{
	return n ? rnd(r) % n : 0;
}

static struct rng seeded(uint64_t a, uint64_t b, uint64_t c)
{
	struct rng r = { a };

	r.s = rnd(&r) ^ b;
	r.s = rnd(&r) ^ c;
	return r;
}

struct op {
	enum kind kind;
	uint64_t off;
	uint32_t len;
};

struct zone {
	int nr;
	uint64_t start, end;
	pthread_t thread;
	bool failed;
	uint8_t *arena;
	uint8_t *check;
};

static const char *dev;
static uint64_t seed, dev_size;
static uint32_t unit, align_mem;
static unsigned int nr_ops = 16;
static bool writing;
static int fd_direct, fd_buffered;
static uint8_t *model;		/* what the device must hold */
static uint16_t *owner;		/* per sector: 1 + the op that wrote it last */

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("iocheck: ", stderr);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static void content(uint8_t *to, uint64_t len, struct rng r)
{
	uint64_t v = 0;

	for (; len >= 8; len -= 8, to += 8) {
		v = rnd(&r);
		memcpy(to, &v, 8);
	}
	if (len) {
		v = rnd(&r);
		memcpy(to, &v, len);
	}
}

static uint32_t random_len(struct rng *r, uint64_t room)
{
	static const uint32_t most[] = { 1, 2, 16, 256, 65536, MAX_IO };
	uint32_t cap = most[below(r, 6)];
	uint64_t len;

	if (cap < 65536)
		cap *= unit;
	if (cap > MAX_IO)
		cap = MAX_IO;
	len = (1 + below(r, cap / unit)) * unit;
	/* the largest I/O is a corner of its own */
	if (cap == MAX_IO && below(r, 4) == 0)
		len = MAX_IO;
	return len < room ? len : room;
}

/* The i-th operation of a zone.  Both write and verify call this. */
static struct op next_op(const struct zone *z, struct rng *r)
{
	uint64_t size = z->end - z->start;
	struct op op;

	op.kind = below(r, KINDS);
	op.off = z->start + below(r, size / unit) * unit;
	op.len = random_len(r, z->end - op.off);
	if (op.kind == BUFFERED) {
		if (op.len > 65536)
			op.len = 65536;
		if (op.len > 2) {
			uint32_t cut = below(r, op.len / 2);

			op.off += cut;
			op.len -= cut + below(r, op.len / 2 - 1);
		}
	}
	return op;
}

static void apply(const struct zone *z, const struct op *op, unsigned int i)
{
	content(model + op->off, op->len, seeded(seed, 100 + z->nr, i));
	for (uint64_t s = op->off / 512; s <= (op->off + op->len - 1) / 512; s++)
		owner[s] = i + 1;
}

static bool fail(struct zone *z, const char *what, const struct op *op)
{
	fprintf(stderr, "iocheck: %s: %s of %u bytes at %llu (%s): %s\n", dev,
		what, op->len, (unsigned long long)op->off, kind_name[op->kind],
		strerror(errno));
	z->failed = true;
	return false;
}

static void hex(const char *name, const uint8_t *p, uint64_t n)
{
	fprintf(stderr, "iocheck:   %s", name);
	for (uint64_t i = 0; i < n && i < 16; i++)
		fprintf(stderr, " %02x", p[i]);
	fputc('\n', stderr);
}

static bool same(struct zone *z, const struct op *op, const char *what,
		 const uint8_t *got)
{
	const uint8_t *want = model + op->off;
	uint64_t i, bad = 0;

	if (!memcmp(got, want, op->len))
		return true;
	for (i = 0; got[i] == want[i]; i++)
		;
	for (uint64_t k = i; k < op->len; k++)
		bad += got[k] != want[k];
	fprintf(stderr, "iocheck: %s: wrong data at byte %llu (sector %llu, %llu bytes in all)\n",
		dev, (unsigned long long)(op->off + i), (unsigned long long)((op->off + i) / 512),
		(unsigned long long)bad);
	fprintf(stderr, "iocheck: %s of %u bytes at %llu (%s), last written by ",
		what, op->len, (unsigned long long)op->off, kind_name[op->kind]);
	if (owner[(op->off + i) / 512])
		fprintf(stderr, "operation %u of zone %d, seed %llu\n",
			owner[(op->off + i) / 512] - 1u, z->nr,
			(unsigned long long)seed);
	else
		fprintf(stderr, "the fill, seed %llu\n", (unsigned long long)seed);
	hex("expected", want + i, op->len - i);
	hex("got     ", got + i, op->len - i);
	z->failed = true;
	return false;
}

/*
 * Cut the memory for an operation out of the arena: one piece, or many small
 * ones in places that do not follow each other.
 */
static int layout(struct zone *z, const struct op *op, struct rng *r,
		  struct iovec *iov)
{
	uint32_t slots, piece, pos, left = op->len;
	int n = 0;

	if (op->kind != VECTOR) {
		uint32_t a = op->kind == BUFFERED ? 1 : align_mem;

		iov[0].iov_base = z->arena + below(r, 2 * PAGE / a) * a;
		iov[0].iov_len = op->len;
		return 1;
	}
	/* pieces as small as the device lets us, more of them than a page holds */
	piece = unit > align_mem ? unit : align_mem;
	piece *= 1 + below(r, 3);
	while (op->len / piece >= MAX_VECS)
		piece *= 2;
	slots = ARENA / (2 * piece);
	slots -= slots % 7 == 0;
	pos = below(r, slots);
	for (; left; n++) {
		uint32_t len = left < piece ? left : piece;

		/* 7 is coprime to the slot count: no slot is used twice */
		pos = (pos + 7) % slots;
		iov[n].iov_base = z->arena + (uint64_t)pos * 2 * piece +
				  below(r, piece / align_mem + 1) * align_mem;
		iov[n].iov_len = len;
		left -= len;
	}
	return n;
}

static void gather(uint8_t *to, const struct iovec *iov, int n)
{
	for (int i = 0; i < n; to += iov[i++].iov_len)
		memcpy(to, iov[i].iov_base, iov[i].iov_len);
}

static void scatter(const uint8_t *from, const struct iovec *iov, int n)
{
	for (int i = 0; i < n; from += iov[i++].iov_len)
		memcpy(iov[i].iov_base, from, iov[i].iov_len);
}

/* One read or write, all of it; short transfers are an error of their own. */
static bool transfer(struct zone *z, const struct op *op, bool wr,
		     const struct iovec *iov, int n)
{
	int fd = op->kind == BUFFERED ? fd_buffered : fd_direct;
	ssize_t done;

	if (wr)
		done = pwritev2(fd, iov, n, op->off,
				op->kind == FUA ? RWF_DSYNC : 0);
	else
		done = preadv(fd, iov, n, op->off);
	if (done < 0)
		return fail(z, wr ? "write" : "read", op);
	if (done != op->len) {
		errno = EIO;
		return fail(z, wr ? "short write" : "short read", op);
	}
	return true;
}

static bool do_write(struct zone *z, const struct op *op, struct rng *r,
		     uint8_t *check)
{
	struct iovec iov[MAX_VECS];
	int n = layout(z, op, r, iov);

	scatter(model + op->off, iov, n);
	if (!transfer(z, op, true, iov, n))
		return false;
	gather(check, iov, n);
	return same(z, op, "in the caller's buffer after a write", check);
}

static bool do_read(struct zone *z, const struct op *op, struct rng *r,
		    uint8_t *got)
{
	struct iovec iov[MAX_VECS];
	int n = layout(z, op, r, iov);

	for (int i = 0; i < n; i++)
		memset(iov[i].iov_base, 0xa5, iov[i].iov_len);
	if (!transfer(z, op, false, iov, n))
		return false;
	gather(got, iov, n);
	return same(z, op, "in a read", got);
}

/* Cover [start, end) by pieces of random length, in random order. */
static unsigned int pieces(const struct zone *z, struct rng *r, struct op **out)
{
	unsigned int n = 0, room = 16;
	struct op *list = malloc(room * sizeof(*list));
	uint64_t pos = z->start;

	while (pos < z->end) {
		if (n == room)
			list = realloc(list, (room *= 2) * sizeof(*list));
		list[n].kind = below(r, KINDS);
		list[n].off = pos;
		list[n].len = random_len(r, z->end - pos);
		/* small ones only now and then, or there would be thousands */
		if (list[n].len < 32768 && below(r, 3))
			list[n].len = z->end - pos < 131072 ? z->end - pos : 131072;
		pos += list[n++].len;
	}
	for (unsigned int i = n; i > 1; i--) {
		unsigned int k = below(r, i);
		struct op t = list[k];

		list[k] = list[i - 1];
		list[i - 1] = t;
	}
	*out = list;
	return n;
}

static void *run_zone(void *arg)
{
	struct zone *z = arg;
	struct rng ops = seeded(seed, 1, z->nr);
	struct rng mem = seeded(seed, writing ? 2 : 3, z->nr);
	uint8_t *check = z->check;
	struct op *list, op;
	unsigned int n;

	content(model + z->start, z->end - z->start, seeded(seed, 4, z->nr));
	if (writing) {
		n = pieces(z, &mem, &list);
		for (unsigned int i = 0; i < n; i++)
			if (!do_write(z, &list[i], &mem, check))
				goto out;
		free(list);
	}
	for (unsigned int i = 0; i < nr_ops; i++) {
		op = next_op(z, &ops);
		apply(z, &op, i);
		if (writing && !do_write(z, &op, &mem, check))
			goto out;
	}
	if (!writing) {
		n = pieces(z, &mem, &list);
		for (unsigned int i = 0; i < n; i++)
			if (!do_read(z, &list[i], &mem, check))
				goto out;
		free(list);
		/* and some that overlap, at places of their own */
		for (unsigned int i = 0; i < nr_ops / 4; i++) {
			op = next_op(z, &mem);
			if (!do_read(z, &op, &mem, check))
				goto out;
		}
	}
out:
	return NULL;
}

/* Memory with its pages in place: faults are slow in a guest. */
static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	return p;
}

static uint32_t dma_alignment(const struct stat *st)
{
	char path[128];
	unsigned int mask = 511;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/queue/dma_alignment",
		 major(st->st_rdev), minor(st->st_rdev));
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%u", &mask) != 1)
			mask = 511;
		fclose(f);
	}
	/* the pieces of a vector are whole units in any case */
	return mask + 1 < 4 ? 4 : mask + 1;
}

static unsigned long number(const char *s)
{
	char *end;
	unsigned long v = strtoul(s, &end, 0);

	if (!*s || *end)
		die("'%s' is not a number", s);
	return v;
}

static struct zone zones[MAX_ZONES];

/* Write or verify one device. */
static bool run(const char *path, uint64_t with_seed, bool write)
{
	int nr_zones, lbs = 512;
	bool good = true;
	uint64_t size, step;
	struct stat st;

	dev = path;
	seed = with_seed;
	writing = write;
	fd_direct = open(dev, (writing ? O_RDWR : O_RDONLY) | O_DIRECT);
	fd_buffered = open(dev, writing ? O_RDWR : O_RDONLY);
	if (fd_direct < 0 || fd_buffered < 0 || fstat(fd_direct, &st))
		die("%s: %s", dev, strerror(errno));
	if (ioctl(fd_direct, BLKGETSIZE64, &size) ||
	    ioctl(fd_direct, BLKSSZGET, &lbs))
		die("%s is not a block device", dev);
	if (!unit)
		unit = lbs;
	if (unit < 512 || unit > PAGE || unit & (unit - 1))
		die("unit %u is none of 512, 1024, 2048, 4096", unit);
	if ((uint32_t)lbs > unit)
		die("%s has blocks of %d bytes, units are %u", dev, lbs, unit);
	if (!size || size % unit)
		die("%s: %llu bytes are not whole units", dev,
		    (unsigned long long)size);
	align_mem = dma_alignment(&st);
	if (align_mem > PAGE)
		align_mem = PAGE;
	/* readahead of one zone must not look into the next */
	posix_fadvise(fd_buffered, 0, 0, POSIX_FADV_RANDOM);

	/* zones large enough for the largest I/O, where there is room */
	nr_zones = size < 8 * PAGE ? 1 : size < 4 * MAX_IO ? 2 : MAX_ZONES;
	step = size / nr_zones / PAGE * PAGE;
	if (!model) {
		dev_size = size;
		model = memory(size);
		owner = memory((size / 512 + 1) * sizeof(*owner));
		for (int i = 0; i < nr_zones; i++) {
			zones[i].arena = memory(ARENA + 4 * PAGE);
			zones[i].check = memory(MAX_IO);
		}
	} else if (size != dev_size) {
		die("%s has another size", dev);
	}
	memset(owner, 0, (size / 512 + 1) * sizeof(*owner));
	for (int i = 0; i < nr_zones; i++) {
		struct zone *z = &zones[i];

		z->nr = i;
		z->start = i * step;
		z->end = i == nr_zones - 1 ? size : z->start + step;
		z->failed = false;
	}
	for (int i = 0; i < nr_zones; i++)
		if (pthread_create(&zones[i].thread, NULL, run_zone, &zones[i]))
			die("no thread");
	for (int i = 0; i < nr_zones; i++) {
		pthread_join(zones[i].thread, NULL);
		good &= !zones[i].failed;
	}
	if (writing && fsync(fd_buffered)) {
		fprintf(stderr, "iocheck: %s: fsync: %s\n", dev, strerror(errno));
		good = false;
	}
	/* nothing may stay in the page cache for the other target to miss */
	if (ioctl(fd_buffered, BLKFLSBUF) || close(fd_buffered) ||
	    close(fd_direct)) {
		fprintf(stderr, "iocheck: %s: close: %s\n", dev, strerror(errno));
		good = false;
	}
	return good;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	bool both = !strcmp(what, "both"), write = !strcmp(what, "write");
	uint64_t s;
	bool good;
	int c;

	if (!both && !write && strcmp(what, "verify"))
		die("usage: iocheck write|verify|both [-u UNIT] [-n OPS] DEVICE [DEVICE2] SEED");
	optind = 2;
	while ((c = getopt(argc, argv, "u:n:")) != -1) {
		if (c == 'u')
			unit = number(optarg);
		else if (c == 'n')
			nr_ops = number(optarg);
		else
			return 2;
	}
	if (argc - optind != (both ? 3 : 2))
		die("a device and a seed are needed");
	if (nr_ops > 60000)
		die("too many operations");
	argv += optind;
	s = number(argv[both ? 2 : 1]);
	if (both)
		good = run(argv[0], s, true) && run(argv[1], s, false) &&
		       run(argv[1], s + 1, true) && run(argv[0], s + 1, false);
	else
		good = run(argv[0], s, write);
	return good ? 0 : 1;
}
