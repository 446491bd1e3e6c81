/* A clock for an unmodified slurmctld, and identities for its clients; preloaded with LD_PRELOAD.
 *
 * slurmctld sleeps most of the time. This library lets it sleep in no time: when every thread of the daemon is asleep, no
 * thread waits for a peer, and the laboratory is not at work, the clock jumps to the next instant at which anything is due:
 * the earliest deadline of a sleeping thread, or the limit that the laboratory has set (its own next event).
 *
 *   hybrid   virtual time = real time + offset: while Slurm computes, time passes as on a real machine.
 *   frozen   virtual time = offset: time stands still while Slurm computes, and after a jump sleepers wake one at a time,
 *            in the order of (deadline, when they lay down, age of the thread). Two runs of the same input are then equal to the bit.
 *
 * Environment of the daemon: SCHEDLAB_CLOCK (file of the shared page), SCHEDLAB_CLOCK_MODE (frozen or hybrid),
 * SCHEDLAB_USERS (file with lines name:uid:gid; the users of the laboratory, who need no account on this machine).
 * Environment of a client: SCHEDLAB_NOW (virtual nanoseconds at its start), SCHEDLAB_USERS, SCHEDLAB_UID and SCHEDLAB_GID
 * (who it claims to be).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define FAR_AWAY (3600 * SECOND)  /* real time after which a frozen sleeper looks at the clock again by itself */
#define NEVER INT64_MAX           /* deadline of who sleeps until another thread or a peer wakes it */
#define SLEEPERS 4096
#define SILENCE 3000              /* ns of CPU time: reading two clocks costs less, waking a thread costs more */
#define NAP 20000                 /* ns between two looks */
#define PATIENCE 2000000          /* ns at most until the next look while the laboratory is at work */
#define LIVING 256
#define KEPT 512                  /* files of thread states that are kept open */
#define MANY 64                   /* threads: with more, the CPU clock takes too long to read to tell that none of them runs */
#define SMALL 1032                /* bytes: what glibc keeps for the thread that frees it */
#define THROTTLE 1000000          /* ns: naps up to this are request throttling inside an RPC, not scheduling time */

struct page {                     /* mirrored by schedlab.slurm.clock.Clock */
	_Atomic int64_t offset;   /*  0 ns */
	_Atomic int64_t limit;    /*  8 ns, virtual: never jump beyond */
	_Atomic int32_t hold;     /* 16 the laboratory is at work: no jump while > 0 */
	_Atomic int32_t enabled;  /* 20 jumps are allowed */
	_Atomic int64_t jumps;    /* 24 */
	_Atomic int64_t skipped;  /* 32 ns */
	_Atomic int64_t looks;    /* 40 how often the daemon was found at work */
	_Atomic int32_t peers;    /* 48 threads that wait for a peer, or nap */
	_Atomic int32_t at_limit; /* 52 futex: counts arrivals at the limit */
	_Atomic int32_t kicks;    /* 56 futex: the laboratory has changed the limit or let go */
	_Atomic int32_t jumping;  /* 60 a jump is under way: the laboratory may not act yet */
};

struct sleeper {
	_Atomic int taken;
	_Atomic int64_t deadline; /* ns, virtual; 0: up. Set last: from then on it is counted as asleep */
	_Atomic int32_t signal;   /* futex of a plain sleep */
	_Atomic int woken;
	_Atomic int roused;       /* its condition was signalled: it may be on its way, or wait for a mutex */
	_Atomic int settled;      /* it was seen asleep: a broadcast reaches it */
	pid_t thread;
	void *condition;          /* or the thread that is waited for */
	int64_t since;            /* ns, virtual: when it lay down */
	uintptr_t ticket;         /* of its thread: older threads have lower ones */
};

static struct page *page;
static int64_t client_offset;
static int daemon_role, frozen;
static __thread int has_no_work;
static pid_t jumper;
static struct sleeper sleepers[SLEEPERS];
static _Atomic int used;          /* sleepers behind this one are free */
static __thread uintptr_t own_ticket;  /* 0: the first thread */
static _Atomic int threads = 1;   /* that the daemon has, the clock's apart */
static _Atomic int64_t changes;   /* of who is up */
static _Atomic int64_t writes;    /* what may wake a thread that waits for a file, */
static _Atomic int64_t writes_seen;      /* and how many of them were over when all threads were last seen asleep */
static _Atomic int32_t rests;     /* futex: how often all threads had lain down */
static pthread_key_t ending;

static int (*real_poll)(struct pollfd *, nfds_t, int);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_signal)(pthread_cond_t *);
static int (*real_broadcast)(pthread_cond_t *);

extern void *__libc_calloc(size_t, size_t), *__libc_malloc(size_t);

static int64_t real_now(void)
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}
static int64_t now(void)
{
	int64_t offset = page ? atomic_load(&page->offset) : client_offset;
	return page && frozen ? offset : real_now() + offset;
}
static struct timespec as_timespec(int64_t ns)
{
	struct timespec t = { ns / SECOND, ns % SECOND };
	return t;
}
static void real_sleep(int64_t ns)
{
	struct timespec t = as_timespec(ns);
	syscall(SYS_nanosleep, &t, NULL);
}

/* ---------------------------------------------------------------- reading the clock */

time_t time(time_t *out)
{
	time_t t = now() / SECOND;
	if (out) *out = t;
	return t;
}
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	int64_t t = now();
	(void)zone;
	tv->tv_sec = t / SECOND;
	tv->tv_usec = t % SECOND / 1000;
	return 0;
}
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	/* The monotonic clock, too: slurmctld refills the rates of nodes that it may boot by it. */
	int shown = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC;
	if ((page || client_offset) && shown) {
		*ts = as_timespec(now());
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, clock, ts);
}

/* ---------------------------------------------------------------- sleeping */

static int who_is_up(void)
{
	/* Threads that neither sleep in a place of ours nor could have been woken by another one. Counted again if anything has
	 * changed meanwhile: a thread that was seen asleep may have been signalled by one that is seen asleep afterwards. */
	int64_t before;
	int up;
	do {
		before = atomic_load(&changes);
		up = atomic_load(&threads);
		for (int i = 0; i < atomic_load(&used); i++) {
			struct sleeper *s = &sleepers[i];
			up -= atomic_load(&s->deadline) && !atomic_load(&s->roused) && !atomic_load(&s->woken);
		}
	} while (atomic_load(&changes) != before);
	return up;
}
static void tell_the_clock(void)
{
	if (!frozen || who_is_up()) return;
	atomic_fetch_add(&rests, 1);
	syscall(SYS_futex, &rests, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static struct sleeper *lie_down(int64_t deadline, void *condition)
{
	for (int i = 0; i < SLEEPERS; i++) {
		int nobody = 0;
		struct sleeper *s = &sleepers[i];
		if (!atomic_compare_exchange_strong(&s->taken, &nobody, 1)) continue;
		s->condition = condition;
		s->thread = syscall(SYS_gettid);
		s->since = now();
		s->ticket = own_ticket;
		atomic_store(&s->woken, 0);
		atomic_store(&s->roused, 0);
		atomic_store(&s->settled, 0);
		atomic_store(&s->signal, 0);
		int top = atomic_load(&used);
		while (top <= i && !atomic_compare_exchange_weak(&used, &top, i + 1)) ;
		atomic_store(&s->deadline, deadline);
		atomic_fetch_add(&changes, 1);
		tell_the_clock();
		return s;
	}
	return NULL;
}
static void get_up(struct sleeper *s)
{
	if (!s) return;
	atomic_store(&s->deadline, 0);
	atomic_fetch_add(&changes, 1);
	s->condition = NULL;
	atomic_store(&s->taken, 0);
}
static int jumps_itself(int64_t end)
{
	/* Most jumps are those of the main loop, which sleeps every second. Where all others lie already, and it is due before
	 * them, it needs nobody for the jump. */
	int64_t t = now();
	if (!frozen || syscall(SYS_gettid) != getpid() || end >= atomic_load(&page->limit) || who_is_up() != 1) return 0;
	for (int i = 0; i < atomic_load(&used); i++) {
		int64_t deadline = atomic_load(&sleepers[i].deadline);
		if (deadline && deadline <= end) return 0;
	}
	if (atomic_load(&writes) != atomic_load(&writes_seen) || atomic_load(&page->peers)) return 0;
	if (!atomic_load(&page->enabled) || atomic_load(&page->hold)) return 0;
	if (!atomic_compare_exchange_strong(&page->offset, &t, end)) return 0;
	atomic_fetch_add(&page->jumps, 1);
	atomic_fetch_add(&page->skipped, end - t);
	return 1;
}
static void sleep_for(int64_t ns)
{
	if (!daemon_role || !page) {
		if (ns > 0) real_sleep(ns);
		return;
	}
	if (ns <= THROTTLE) {
		atomic_fetch_add(&page->peers, 1);  /* it is seen asleep, and will go on by itself */
		if (ns > 0) real_sleep(ns);
		atomic_fetch_sub(&page->peers, 1);
		return;
	}
	int64_t end = now() + ns, left;
	if (jumps_itself(end)) return;
	struct sleeper *s = lie_down(end, NULL);
	while ((left = end - now()) > 0) {
		struct timespec t = as_timespec(frozen ? FAR_AWAY : left);
		if (!s) { real_sleep(left < THROTTLE ? left : THROTTLE); continue; }
		syscall(SYS_futex, &s->signal, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
		atomic_store(&s->signal, 0);
	}
	get_up(s);
}
int usleep(useconds_t us)
{
	/* slurmctld's main loop sleeps ten times 0.1 s and looks at nothing but its shutdown flag in between: one second */
	static int tenths;
	if (daemon_role && page && us == 100000 && syscall(SYS_gettid) == getpid()) {
		if (++tenths % 10 == 0) sleep_for(SECOND);
		return 0;
	}
	sleep_for((int64_t)us * 1000);
	return 0;
}
unsigned sleep(unsigned seconds)
{
	sleep_for(seconds * SECOND);
	return 0;
}
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	sleep_for(wanted->tv_sec * SECOND + wanted->tv_nsec);
	if (left) left->tv_sec = left->tv_nsec = 0;
	return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
	int64_t ns = wanted->tv_sec * SECOND + wanted->tv_nsec;
	if (flags & TIMER_ABSTIME) {
		struct timespec t;
		clock_gettime(clock, &t);
		ns -= t.tv_sec * SECOND + t.tv_nsec;
	}
	sleep_for(ns);
	if (left) left->tv_sec = left->tv_nsec = 0;
	return 0;
}
int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict until)
{
	if (!real_timedwait) real_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (!daemon_role || !page) {
		struct timespec real = as_timespec(until->tv_sec * SECOND + until->tv_nsec - (page ? 0 : client_offset));
		return real_timedwait(c, m, &real);
	}
	int64_t deadline = until->tv_sec * SECOND + until->tv_nsec, left = deadline - now();
	struct timespec t = as_timespec(left <= 0 ? 0 : real_now() + (frozen ? FAR_AWAY : left));
	if (left <= 0) return real_timedwait(c, m, &t);
	if (has_no_work) deadline = NEVER;
	struct sleeper *s = lie_down(deadline, c);
	int rc = real_timedwait(c, m, &t);
	get_up(s);
	return now() >= deadline ? ETIMEDOUT : rc == ETIMEDOUT ? 0 : rc;
}
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (!real_wait) real_wait = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
	if (!daemon_role || !page) return real_wait(c, m);
	struct sleeper *s = lie_down(NEVER, c);
	int rc = real_wait(c, m);
	get_up(s);
	return rc;
}
int sigwait(const sigset_t *signals, int *signal)
{
	static int (*real)(const sigset_t *, int *);
	if (!real) real = dlsym(RTLD_NEXT, "sigwait");
	if (!daemon_role || !page) return real(signals, signal);
	struct sleeper *s = lie_down(NEVER, NULL);
	int rc = real(signals, signal);
	get_up(s);
	return rc;
}

/* ---------------------------------------------------------------- what a laboratory has no use for */

int prctl(int option, ...)
{
	/* A thread asks every 5 s for the numbers of all running jobs in the database, which is not there. */
	va_list list;
	unsigned long given[4];
	va_start(list, option);
	for (int i = 0; i < 4; i++) given[i] = va_arg(list, unsigned long);
	va_end(list);
	if (daemon_role && option == PR_SET_NAME && !strcmp((const char *)given[0], "dbinx")) has_no_work = 1;
	return (int)syscall(SYS_prctl, option, given[0], given[1], given[2], given[3]);
}
void *calloc(size_t count, size_t size)
{
	/* slurmctld asks for all its memory with calloc, which takes nothing from what its thread has just freed; malloc does. */
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SMALL) return __libc_calloc(count, size);
	void *memory = __libc_malloc(bytes);
	return memory ? memset(memory, 0, bytes) : NULL;
}
int fsync(int file)
{
	return daemon_role && page ? 0 : (int)syscall(SYS_fsync, file);  /* no state is needed after a crash */
}

/* ---------------------------------------------------------------- waking others, and new threads */

static _Atomic int32_t rousings = 1;

static void rouse(void *c)
{
	if (!daemon_role || !page) return;
	int32_t number = atomic_fetch_add(&rousings, 1) & INT32_MAX;
	for (int i = 0; i < atomic_load(&used); i++) {
		struct sleeper *s = &sleepers[i];
		if (atomic_load(&s->deadline) && s->condition == c) atomic_store(&s->roused, number ? number : 1);
	}
	atomic_fetch_add(&changes, 1);
}
int pthread_cond_signal(pthread_cond_t *c)
{
	if (!real_signal) real_signal = dlvsym(RTLD_NEXT, "pthread_cond_signal", "GLIBC_2.3.2");
	rouse(c);
	return real_signal(c);
}
int pthread_cond_broadcast(pthread_cond_t *c)
{
	if (!real_broadcast) real_broadcast = dlvsym(RTLD_NEXT, "pthread_cond_broadcast", "GLIBC_2.3.2");
	rouse(c);
	return real_broadcast(c);
}
ssize_t write(int f, const void *buffer, size_t n)
{
	/* A thread may wait at the other end of a pipe. What is sent to a peer wakes nobody here. */
	struct stat status;
	if (daemon_role && page && !fstat(f, &status) && S_ISFIFO(status.st_mode)) atomic_fetch_add(&writes, 1);
	return syscall(SYS_write, f, buffer, n);
}
int pthread_kill(pthread_t t, int signal)
{
	static int (*real)(pthread_t, int);
	if (!real) real = (typeof(real))dlsym(RTLD_NEXT, "pthread_kill");
	atomic_fetch_add(&writes, 1);
	return real(t, signal);
}

/* Who is alive: a thread by its handle, or by an odd number before it has one. There is nothing to say of others. */
static _Atomic uintptr_t alive[LIVING];

struct task { void *(*function)(void *); void *argument; uintptr_t ticket; };

static int replace_alive(uintptr_t old, uintptr_t new)
{
	for (int i = 0; old != new && i < LIVING; i++) {
		uintptr_t expected = old;
		if (atomic_compare_exchange_strong(&alive[i], &expected, new)) return 1;
	}
	return 0;
}
static int is_alive(uintptr_t thread)
{
	for (int i = 0; i < LIVING; i++) {
		if (atomic_load(&alive[i]) == thread) return 1;
	}
	return 0;
}
static void *run_task(void *given)
{
	struct task task = *(struct task *)given;
	free(given);
	own_ticket = task.ticket;
	replace_alive(task.ticket, pthread_self());
	pthread_setspecific(ending, &threads);  /* what matters is that it is set: its destructor runs at the end */
	return task.function(task.argument);
}
static void end_task(void *unused)
{
	(void)unused;
	replace_alive(pthread_self(), 0);
	rouse((void *)pthread_self());
	atomic_fetch_sub(&threads, 1);
	atomic_fetch_add(&changes, 1);
	tell_the_clock();
}
int pthread_create(pthread_t *restrict t, const pthread_attr_t *restrict a, void *(*f)(void *), void *restrict x)
{
	static _Atomic uintptr_t tickets = 1;
	if (!real_create) real_create = (typeof(real_create))dlsym(RTLD_NEXT, "pthread_create");
	struct task *task = daemon_role && page ? malloc(sizeof *task) : NULL;
	if (!task) return real_create(t, a, f, x);
	uintptr_t ticket = atomic_fetch_add(&tickets, 2);
	*task = (struct task){ f, x, ticket };
	atomic_fetch_add(&threads, 1);
	atomic_fetch_add(&changes, 1);
	replace_alive(0, ticket);
	int rc = real_create(t, a, run_task, task);
	replace_alive(ticket, rc ? 0 : *t);  /* whoever comes first, we or the thread */
	if (!rc) return 0;
	atomic_fetch_sub(&threads, 1);
	atomic_fetch_add(&changes, 1);
	free(task);
	return rc;
}
int pthread_join(pthread_t t, void **result)
{
	static int (*real)(pthread_t, void **);
	if (!real) real = (typeof(real))dlsym(RTLD_NEXT, "pthread_join");
	struct sleeper *s = daemon_role && page ? lie_down(NEVER, (void *)t) : NULL;
	if (s && !is_alive(t)) {  /* it may have ended before it could rouse us */
		get_up(s);
		s = NULL;
	}
	int rc = real(t, result);
	get_up(s);
	return rc;
}

/* ---------------------------------------------------------------- waiting for a peer: no jump meanwhile */

static int are_pipes(const struct pollfd *files, nfds_t count)
{
	/* The daemon's own helper (slurmscriptd) is at the other end: it says nothing that it was not asked for. */
	struct stat status;
	for (nfds_t i = 0; i < count; i++) {
		if (files[i].fd >= 0 && (fstat(files[i].fd, &status) || !S_ISFIFO(status.st_mode))) return 0;
	}
	return count > 0;
}
int epoll_wait(int set, struct epoll_event *events, int most, int ms)
{
	/* conmgr, since 23.11: one thread waits for all connections. */
	static int (*real)(int, struct epoll_event *, int, int);
	if (!real) real = (typeof(real))dlsym(RTLD_NEXT, "epoll_wait");
	if (!daemon_role || !page || ms == 0) return real(set, events, most, ms);
	struct sleeper *s = ms < 0 ? lie_down(NEVER, NULL) : NULL;
	if (ms > 0) atomic_fetch_add(&page->peers, 1);
	int ready = real(set, events, most, ms), error = errno;
	if (ms > 0) atomic_fetch_sub(&page->peers, 1);
	get_up(s);
	errno = error;
	return ready;
}
int timer_settime(timer_t timer, int flags, const struct itimerspec *wanted, struct itimerspec *old)
{
	/* conmgr, since 23.11, for work that is put off: none was seen in a laboratory, and in real time it would come late. */
	static int (*real)(timer_t, int, const struct itimerspec *, struct itimerspec *);
	if (!real) real = (typeof(real))dlsym(RTLD_NEXT, "timer_settime");
	if (daemon_role && page && (wanted->it_value.tv_sec || wanted->it_value.tv_nsec))
		fprintf(stderr, "fatal: the clock of the laboratory does not know timers\n"), abort();
	return real(timer, flags, wanted, old);
}
int poll(struct pollfd *files, nfds_t count, int ms)
{
	if (!real_poll) real_poll = dlsym(RTLD_NEXT, "poll");
	if (!daemon_role || !page || ms == 0) return real_poll(files, count, ms);
	if (ms < 0 || (ms >= 60000 && are_pipes(files, count))) {  /* a thread that waits for ever for connections is no reason to hold the clock */
		struct sleeper *s = lie_down(NEVER, NULL);
		int ready = real_poll(files, count, ms), error = errno;
		get_up(s);
		errno = error;
		return ready;
	}
	if (count == 0) { sleep_for((int64_t)ms * 1000000); return 0; }
	atomic_fetch_add(&page->peers, 1);
	int rc = real_poll(files, count, ms), error = errno;
	atomic_fetch_sub(&page->peers, 1);
	errno = error;
	return rc;
}
#define WAITS_FOR_A_PEER(type, name, parameters, arguments)                     \
	type name parameters                                                    \
	{                                                                       \
		static type (*real) parameters;                                 \
		if (!real) real = (type (*) parameters)dlsym(RTLD_NEXT, #name); \
		if (!daemon_role || !page) return real arguments;               \
		atomic_fetch_add(&page->peers, 1);                              \
		type rc = real arguments;                                       \
		int error = errno;                                              \
		atomic_fetch_sub(&page->peers, 1);                              \
		errno = error;                                                  \
		return rc;                                                      \
	}
WAITS_FOR_A_PEER(ssize_t, read, (int f, void *buffer, size_t n), (f, buffer, n))
WAITS_FOR_A_PEER(ssize_t, recv, (int f, void *buffer, size_t n, int flags), (f, buffer, n, flags))
WAITS_FOR_A_PEER(ssize_t, __read_chk, (int f, void *buffer, size_t n, size_t size), (f, buffer, n, size))
WAITS_FOR_A_PEER(pid_t, waitpid, (pid_t p, int *status, int options), (p, status, options))

/* ---------------------------------------------------------------- jumping */

static int64_t cpu_of_others(void)
{
	struct timespec all, own;
	syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &all);
	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &own);
	return (all.tv_sec - own.tv_sec) * SECOND + all.tv_nsec - own.tv_nsec;
}
static int is_own(int file, pid_t thread, char *stat, size_t size)
{
	/* A file of states says whose state it is. At its start slurmctld closes all descriptors that it does not know, and may
	 * have opened something else under the number since. */
	ssize_t n = syscall(SYS_pread64, file, stat, size - 1, 0);
	if (n <= 0) return n < 0 && errno == ESRCH ? -1 : 0;
	stat[n] = 0;
	return atoi(stat) == thread;
}
static int asleep(pid_t thread)
{
	/* Kept open: opening and closing took half of the time of a look. */
	static struct { pid_t thread; int file; } kept[KEPT];
	char path[64], stat[256];
	typeof(&kept[0]) k = &kept[thread % KEPT];
	int own = k->thread ? is_own(k->file, k->thread, stat, sizeof stat) : 0;
	if (own != 1 || k->thread != thread) {
		if (own) syscall(SYS_close, k->file);
		snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
		k->file = open(path, O_RDONLY | O_CLOEXEC);
		k->thread = k->file < 0 ? 0 : thread;
		if (k->file < 0 || is_own(k->file, thread, stat, sizeof stat) != 1) return 0;
	}
	char *state = strrchr(stat, ')');
	return state && state[2] == 'S';
}
static int asleep_since(pid_t thread, int64_t *switches)
{
	/* Adds how often it was given the processor, or had it taken away: a thread that has run meanwhile has another number. */
	char path[64], text[4096];
	snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? 0 : syscall(SYS_read, file, text, sizeof text - 1);
	if (file >= 0) syscall(SYS_close, file);
	if (n <= 0) return 0;
	text[n] = 0;
	char *state = strstr(text, "State:\t");
	for (char *at = text; (at = strstr(at, "voluntary_ctxt_switches:\t")); at++) *switches += atoll(at + 25);
	return state && state[7] == 'S';
}
static int all_asleep(int64_t *switches)
{
	char entries[4096];
	int seen = 0, ok = 1;
	long n;
	/* Opened each time: at its start slurmctld closes all descriptors that it does not know. */
	int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0) return 0;
	while (ok && (n = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
		for (long at = 0; ok && at < n; at += *(unsigned short *)(entries + at + 16)) {
			pid_t thread = atoi(entries + at + 19);
			if (!thread || thread == jumper) continue;  /* . and .. */
			ok = switches ? asleep_since(thread, switches) : asleep(thread);
			seen++;
		}
	}
	syscall(SYS_close, directory);
	return ok && seen > 0;
}
static int all_settled(void)
{
	/* A condition is waited for once its mutex is released; a broadcast before that wakes nobody. */
	for (int i = 0; i < atomic_load(&used); i++) {
		struct sleeper *s = &sleepers[i];
		if (!atomic_load(&s->deadline) || !s->condition || atomic_load(&s->settled)) continue;
		if (!asleep(s->thread)) return 0;
		atomic_store(&s->settled, 1);
	}
	return 1;
}
static int all_rest(void)
{
	/* Each thread was seen asleep twice, and has not run in between: between the two looks, all slept. */
	int64_t written = atomic_load(&writes), first = 0, second = 0;
	if (atomic_load(&page->peers) || !all_asleep(&first) || !all_asleep(&second) || first != second) return 0;
	if (atomic_load(&page->peers) || atomic_load(&page->hold)) return 0;
	atomic_store(&writes_seen, written);
	return 1;
}
static int32_t roused_before[SLEEPERS];

static void note_roused(void)
{
	for (int i = 0; i < atomic_load(&used); i++) roused_before[i] = atomic_load(&sleepers[i].roused);
}
static void forget_roused(void)
{
	/* A signal wakes one of those who wait, and nobody can tell which. Once all were seen asleep, the others still wait. */
	for (int i = 0; i < atomic_load(&used); i++) {
		int32_t number = roused_before[i];
		if (number && atomic_load(&sleepers[i].deadline)) atomic_compare_exchange_strong(&sleepers[i].roused, &number, 0);
	}
}
static int quiescent(int64_t *seen)
{
	*seen = atomic_load(&changes);
	if (frozen && atomic_load(&writes) == atomic_load(&writes_seen) && !who_is_up() && all_settled())
		return !atomic_load(&page->peers) && !atomic_load(&page->hold);
	/* Two equal readings of the CPU clock, and in between every thread was seen asleep: a thread on its way to wake another
	 * would have used CPU time or been seen runnable. */
	static int64_t before;
	note_roused();
	if (frozen || atomic_load(&threads) > MANY) {
		if (!all_rest()) return 0;
		forget_roused();
		return 1;
	}
	int64_t cpu = cpu_of_others(), moved = cpu - before, written = atomic_load(&writes);
	before = cpu;
	if (moved > SILENCE || atomic_load(&page->peers) || !all_asleep(NULL)) return 0;
	if (cpu_of_others() - cpu >= SILENCE || atomic_load(&page->peers) || atomic_load(&page->hold)) return 0;
	atomic_store(&writes_seen, written);
	forget_roused();
	return 1;
}
static void wake(struct sleeper *s)
{
	if (frozen) atomic_store(&s->woken, 1);
	if (s->condition) {
		rouse(s->condition);
		real_broadcast(s->condition);
	} else {
		atomic_fetch_add(&changes, 1);
		atomic_store(&s->signal, 1);
		syscall(SYS_futex, &s->signal, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}
static int wake_all(int64_t t)
{
	int count = 0;
	for (int i = 0; i < atomic_load(&used); i++) {
		int64_t deadline = atomic_load(&sleepers[i].deadline);
		if (deadline && deadline <= t) { wake(&sleepers[i]); count++; }
	}
	return count;
}
static int is_before(const struct sleeper *s, int64_t deadline, const struct sleeper *other)
{
	/* Whoever lies down first at the same instant is chance: two cores race. So the older thread comes first. */
	int64_t theirs = atomic_load(&other->deadline);
	if (deadline != theirs) return deadline < theirs;
	return s->since != other->since ? s->since < other->since : s->ticket < other->ticket;
}
static int wake_first(int64_t t)
{
	struct sleeper *first = NULL;
	for (int i = 0; i < atomic_load(&used); i++) {
		struct sleeper *s = &sleepers[i];
		int64_t deadline = atomic_load(&s->deadline);
		if (!deadline || deadline > t || atomic_load(&s->woken)) continue;
		if (!first || is_before(s, deadline, first)) first = s;
	}
	if (first) wake(first);
	return first != NULL;
}
static void wait_for_rest(int32_t seen, int64_t ns)
{
	struct timespec t = as_timespec(ns);
	syscall(SYS_futex, &rests, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
}
static void wait_for_kick(int32_t seen)
{
	struct timespec t = as_timespec(PATIENCE);
	syscall(SYS_futex, &page->kicks, FUTEX_WAIT, seen, &t, NULL, 0);
}
static void tell_the_laboratory(void)
{
	static int32_t last, times;
	int32_t kicks = atomic_load(&page->kicks);
	times = kicks == last ? times + 1 : 0;
	last = kicks;
	if (times < 3) real_sleep(NAP);
	else wait_for_kick(kicks);  /* it has been told; there is no use in telling it all the time */
}
static int move_on(int *limited)
{
	int64_t next = INT64_MAX, limit = atomic_load(&page->limit), t = now();
	for (int i = 0; i < atomic_load(&used); i++) {
		int64_t deadline = atomic_load(&sleepers[i].deadline);
		if (deadline && deadline < next) next = deadline;
	}
	*limited = next >= limit;
	if (*limited) next = limit;
	if (next > t) {
		atomic_fetch_add(&page->offset, next - t);
		atomic_fetch_add(&page->jumps, 1);
		atomic_fetch_add(&page->skipped, next - t);
	}
	int woken = frozen ? wake_first(now()) : wake_all(now());
	if (frozen && woken) *limited = 0;  /* let a sleeper finish before the laboratory acts */
	if (*limited) {
		atomic_fetch_add(&page->at_limit, 1);
		syscall(SYS_futex, &page->at_limit, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	return *limited ? 0 : woken;
}
static int jump(int64_t seen)
{
	/* All were at rest when it was asked, and this thread does not know how long ago that was. Once told, the laboratory
	 * acts: either it is seen here that it holds the clock, or it waits until this is over. */
	int limited = 0, woken = 0;
	atomic_store(&page->jumping, 1);
	if (!atomic_load(&page->hold) && !atomic_load(&page->peers) && atomic_load(&changes) == seen) woken = move_on(&limited);
	atomic_store(&page->jumping, 0);
	if (limited) tell_the_laboratory();
	return woken;
}
static void *jump_whenever_possible(void *unused)
{
	(void)unused;
	jumper = syscall(SYS_gettid);
	prctl(PR_SET_TIMERSLACK, 1000UL);
	prctl(PR_SET_NAME, "clock");
	int64_t since = 0;  /* when the daemon was first found at work, since the last jump */
	for (;;) {
		int32_t kicks = atomic_load(&page->kicks), rested = atomic_load(&rests);
		if (!atomic_load(&page->enabled) || atomic_load(&page->hold)) {
			wait_for_kick(kicks);
			since = 0;
			continue;
		}
		int may = !atomic_load(&page->peers);
		int64_t seen;
		if (may && quiescent(&seen)) {
			if (jump(seen) && frozen) wait_for_rest(rested, PATIENCE);
			since = 0;
		} else {
			/* The longer it computes, the less often it is asked: its own work needs the processor. */
			int told = frozen && atomic_load(&writes) == atomic_load(&writes_seen);  /* who lies down last will wake us */
			int64_t t = real_now(), nap = since ? (t - since) / 8 : 0, least = told ? PATIENCE : NAP;
			int64_t most = told ? 10 * PATIENCE : PATIENCE;
			if (!since) since = t;
			atomic_fetch_add(&page->looks, may);
			wait_for_rest(rested, nap < least ? least : nap > most ? most : nap);
		}
	}
	return NULL;
}

/* ---------------------------------------------------------------- identities */

static int find_user(const char *name, uid_t uid, struct passwd *entry, char *buffer, size_t size)
{
	const char *path = getenv("SCHEDLAB_USERS");
	char line[256];
	FILE *f = path ? fopen(path, "re") : NULL;
	int found = 0;
	while (f && !found && fgets(line, sizeof line, f)) {
		char *rest = strchr(line, ':');
		if (!rest) continue;
		*rest++ = 0;
		long id = strtol(rest, &rest, 10), group = *rest == ':' ? strtol(rest + 1, NULL, 10) : id;
		if (name ? strcmp(name, line) != 0 : uid != (uid_t)id) continue;
		if (strlen(line) + 1 > size) break;
		strcpy(buffer, line);
		*entry = (struct passwd){ buffer, "x", id, group, "", "/tmp", "/bin/sh" };
		found = 1;
	}
	if (f) fclose(f);
	return found;
}
#define LOOKS_UP(function, type, argument, name, uid)                                                            \
	int function##_r(type argument, struct passwd *entry, char *buffer, size_t size, struct passwd **result) \
	{                                                                                                        \
		static int (*real)(type, struct passwd *, char *, size_t, struct passwd **);                     \
		if (find_user(name, uid, entry, buffer, size)) { *result = entry; return 0; }                    \
		if (!real) real = dlsym(RTLD_NEXT, #function "_r");                                              \
		return real(argument, entry, buffer, size, result);                                              \
	}                                                                                                        \
	struct passwd *function(type argument)                                                                   \
	{                                                                                                        \
		static __thread struct passwd entry;                                                             \
		static __thread char buffer[256];                                                                \
		static struct passwd *(*real)(type);                                                             \
		if (find_user(name, uid, &entry, buffer, sizeof buffer)) return &entry;                          \
		if (!real) real = dlsym(RTLD_NEXT, #function);                                                   \
		return real(argument);                                                                           \
	}
LOOKS_UP(getpwnam, const char *, wanted, wanted, 0)
LOOKS_UP(getpwuid, uid_t, wanted, NULL, wanted)

#define CLAIMS(type, function, variable)                                                \
	type function(void)                                                             \
	{                                                                               \
		const char *claimed = daemon_role ? NULL : getenv(variable);            \
		return claimed ? (type)atol(claimed) : (type)syscall(SYS_##function);   \
	}
CLAIMS(uid_t, getuid, "SCHEDLAB_UID")
CLAIMS(uid_t, geteuid, "SCHEDLAB_UID")
CLAIMS(gid_t, getgid, "SCHEDLAB_GID")
CLAIMS(gid_t, getegid, "SCHEDLAB_GID")

/* ---------------------------------------------------------------- start */

static void in_child(void) { daemon_role = 0; }

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("SCHEDLAB_CLOCK"), *mode = getenv("SCHEDLAB_CLOCK_MODE"), *client = getenv("SCHEDLAB_NOW");
	if (client) client_offset = atoll(client) - real_now();
	if (!path) return;
	int f = open(path, O_RDWR | O_CLOEXEC);
	void *mapped = f < 0 ? MAP_FAILED : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	if (mapped == MAP_FAILED) {
		fprintf(stderr, "schedlab clock: cannot map %s: %s\n", path, strerror(errno));
		_exit(70);
	}
	close(f);
	real_poll = dlsym(RTLD_NEXT, "poll");
	real_create = (typeof(real_create))dlsym(RTLD_NEXT, "pthread_create");
	real_wait = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
	real_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	real_signal = dlvsym(RTLD_NEXT, "pthread_cond_signal", "GLIBC_2.3.2");
	real_broadcast = dlvsym(RTLD_NEXT, "pthread_cond_broadcast", "GLIBC_2.3.2");
	frozen = mode && !strcmp(mode, "frozen");
	/* What the daemon starts (its script helper) lives in real time. */
	unsetenv("SCHEDLAB_CLOCK");
	page = mapped;
	daemon_role = 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);  /* it never outlives the laboratory */
	pthread_atfork(NULL, NULL, in_child);
	pthread_t thread;
	pthread_attr_t detached;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigset_t all, old;  /* signals are for the daemon's own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	pthread_key_create(&ending, end_task);
	real_create(&thread, &detached, jump_whenever_possible, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
