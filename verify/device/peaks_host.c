/* Ceilings of the host: copies and multiplications by pinned threads, where the best window counts, and empty
 * calls. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "peaks.h"
#include "verify/util/clock.h"

/* --- windows --- */

enum { PARTS = 4 }; /* a window may begin at any multiple of a quarter window */

/* Threads that process pieces of work until the time is up. A piece is short compared with a window, and a
 * window with a scheduler's time slice. So some windows are undisturbed even beside other processes. */
struct team {
    int threads;
    double seconds, window;
    double amount; /* bytes or operations per piece */
    void (*piece)(struct team *team, int thread, int64_t number);
    char *from, *to; /* for copies */
    size_t bytes;
    bool pinned;
    double start;
    int bins;
    double *done; /* [threads][bins]: amount of work per quarter window */
    float sink;
};

struct member {
    struct team *team;
    int number;
    pthread_t thread;
};

/* Pins to CPU `number` among the allowed ones: a scheduler that puts two threads on one core would leave
 * another core unmeasured. */
static void pin(int number)
{
    cpu_set_t may, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof may, &may) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && number-- == 0) {
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

/* Distributes a piece over the quarter windows in proportion to its time. */
static void count(const struct team *team, int number, double begin, double end)
{
    const double part = team->window / PARTS;
    double *const done = team->done + (size_t)number * (size_t)team->bins;
    const int first = (int)((begin - team->start) / part), last = (int)((end - team->start) / part);
    for (int b = first < 0 ? 0 : first; b <= last && b < team->bins; b++) {
        const double low = team->start + b * part, high = low + part;
        const double from = begin > low ? begin : low, to = end < high ? end : high;
        if (to > from)
            done[b] += team->amount * (to - from) / (end - begin);
    }
}

static void *work(void *argument)
{
    const struct member *const member = argument;
    struct team *const team = member->team;
    if (team->pinned)
        pin(member->number);
    double begin = clock_seconds();
    for (int64_t n = 0; begin < team->start + team->seconds; n++) {
        team->piece(team, member->number, n);
        const double end = clock_seconds();
        count(team, member->number, begin, end);
        begin = end;
    }
    return NULL;
}

/* The largest rate in one window, per second, over threads `first` to `last` together. */
static double best_window(const struct team *team, int first, int last)
{
    double best = 0;
    for (int b = 0; b + PARTS <= team->bins; b++) {
        double sum = 0;
        for (int t = first; t <= last; t++)
            for (int i = 0; i < PARTS; i++)
                sum += team->done[(size_t)t * (size_t)team->bins + (size_t)(b + i)];
        best = sum > best ? sum : best;
    }
    return best / team->window;
}

/* `apart`: cores share no resource, so each may have its best window at a different time. 0: it could not be
 * measured. */
static double run_team(struct team *team, bool apart)
{
    struct member *const member = calloc((size_t)team->threads, sizeof *member);
    int running = 0;
    double best = 0;
    team->bins = (int)(team->seconds / team->window * PARTS);
    team->done = calloc((size_t)team->threads * (size_t)team->bins, sizeof *team->done);
    team->start = clock_seconds() + 1e-3; /* all threads have started by then */
    for (; member && team->done && running < team->threads; running++) {
        member[running] = (struct member){.team = team, .number = running};
        if (pthread_create(&member[running].thread, NULL, work, &member[running]) != 0)
            break;
    }
    for (int t = 0; t < running; t++)
        pthread_join(member[t].thread, NULL);
    for (int t = 0; apart && t < running; t++)
        best += best_window(team, t, t);
    if (!apart && running > 0)
        best = best_window(team, 0, running - 1);
    free(team->done);
    free(member);
    return best;
}

/* --- pieces --- */

enum { CHAINS = 256, ROUNDS = 512, COPY_PIECE = 256 << 10 };

/* Independent fused multiply-adds, enough to hide their latency. Returns a value that depends on all of them,
 * so that the compiler keeps them. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static float
multiply_add(int64_t rounds, float factor)
{
    float chain[CHAINS], total = 0;
    for (int i = 0; i < CHAINS; i++)
        chain[i] = (float)i;
    for (int64_t r = 0; r < rounds; r++)
#pragma omp simd
        for (int i = 0; i < CHAINS; i++)
            chain[i] = chain[i] * factor + 0.5f;
    for (int i = 0; i < CHAINS; i++)
        total += chain[i];
    return total;
}

/* Half as many doubles fill the same registers. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static double
multiply_add_wide(int64_t rounds, double factor)
{
    double chain[CHAINS / 2], total = 0;
    for (int i = 0; i < CHAINS / 2; i++)
        chain[i] = i;
    for (int64_t r = 0; r < rounds; r++)
#pragma omp simd
        for (int i = 0; i < CHAINS / 2; i++)
            chain[i] = chain[i] * factor + 0.5;
    for (int i = 0; i < CHAINS / 2; i++)
        total += chain[i];
    return total;
}

static void piece_f32(struct team *team, int thread, int64_t number)
{
    const float total = multiply_add(ROUNDS, 0.999f);
    if (thread == 0)
        team->sink = total + (float)number;
}

static void piece_f64(struct team *team, int thread, int64_t number)
{
    const double total = multiply_add_wide(ROUNDS, 0.999);
    if (thread == 0)
        team->sink = (float)total + (float)number;
}

/* Each thread copies its share repeatedly. */
static void piece_copy(struct team *team, int thread, int64_t number)
{
    const size_t share = team->bytes / (size_t)team->threads / COPY_PIECE * COPY_PIECE;
    const size_t at = (size_t)thread * share + (size_t)number * COPY_PIECE % share;
    memcpy(team->to + at, team->from + at, COPY_PIECE);
}

static double measure_fma(const struct team *base, bool wide, double seconds)
{
    struct team team = *base;
    team.seconds = seconds;
    team.window = 2e-4;
    team.amount = 2.0 * ROUNDS * (wide ? CHAINS / 2 : CHAINS);
    team.piece = wide ? piece_f64 : piece_f32;
    return run_team(&team, true) / 1e12;
}

static double measure_copy(const struct team *base, int threads, double seconds)
{
    struct team team = *base;
    team.threads = threads;
    team.seconds = seconds;
    team.window = 1e-3;
    team.amount = 2.0 * COPY_PIECE;
    team.piece = piece_copy;
    return team.from && team.to ? run_team(&team, false) / 1e9 : 0;
}

/* --- an empty call --- */

static void empty(const void *a, const void *b, int64_t c, void *stream)
{
    (void)a, (void)b, (void)c, (void)stream;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The time of a call through a function pointer and two readings of the clock, in microseconds. It measures
 * batches, since the clock is coarse compared with one call. The low percentile is robust against other
 * processes and migrations. */
static double measure_launch(double seconds)
{
    enum { BATCH = 256, MOST = 8192, ONE_IN = 100 };
    static double sample[MOST];
    void (*volatile call)(const void *, const void *, int64_t, void *) = empty;
    volatile double sink = 0;
    int n = 0;
    for (const double end = clock_seconds() + seconds; n < MOST && (n < ONE_IN || clock_seconds() < end);
         n++) {
        const double begin = clock_seconds();
        for (int i = 0; i < BATCH; i++) {
            sink = clock_seconds();
            call(NULL, NULL, 0, NULL);
            sink = clock_seconds() - sink;
        }
        sample[n] = (clock_seconds() - begin) / BATCH;
    }
    qsort(sample, (size_t)n, sizeof *sample, ascending);
    return sample[n / ONE_IN] * 1e6;
}

/* --- all --- */

/* Uses huge pages. With small pages the figure would measure address translation, which differs between
 * processes (by half as much again on virtual machines). */
static char *take_memory(size_t bytes, int value)
{
    enum { HUGE = 2 << 20 };
    char *const memory = aligned_alloc(HUGE, bytes);
    if (!memory)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memset(memory, value, bytes);
}

static int cpus_allowed(void)
{
    cpu_set_t may;
    return sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 0;
}

/* Rounds are spread over time, and each measures everything: a disturbance does not affect all rounds of a
 * figure. */
int peaks_measure_host(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                       size_t error_size)
{
    const bool all = depth == PEAKS_ALL;
    const int rounds = all ? 5 : 2;
    struct team base = {.threads = device->processors,
                        .bytes = (size_t)64 << 20,
                        /* with a CPU quota there are more CPUs than threads; then the scheduler chooses
                         * better */
                        .pinned = cpus_allowed() == device->processors};
    base.from = take_memory(base.bytes, 1);
    base.to = take_memory(base.bytes, 2);
    for (int r = 0; r < rounds; r++) {
        figures_round(out, FIGURE_LAUNCH, measure_launch(all ? 0.06 : 0.02));
        figures_round(out, FIGURE_RATE + RATE_F32, measure_fma(&base, false, all ? 0.06 : 0.03));
        if (all)
            figures_round(out, FIGURE_RATE + RATE_F64, measure_fma(&base, true, 0.06));
        figures_round(out, FIGURE_COPY_CORE, measure_copy(&base, 1, 0.06));
        figures_round(out, FIGURE_COPY, measure_copy(&base, base.threads, all ? 0.2 : 0.06));
    }
    /* If all cores together are far slower than each alone, memory bandwidth is the limit, or other processes
     * used some cores. Distinguishing the two takes more rounds. */
    for (int r = 0;
         all && r < 6 && out->value[FIGURE_COPY] < 0.75 * base.threads * out->value[FIGURE_COPY_CORE]; r++)
        figures_round(out, FIGURE_COPY, measure_copy(&base, base.threads, 0.3));
    const bool copied = base.from && base.to;
    /* in the best window of all cores, at least one core reached the mean rate */
    if (out->value[FIGURE_COPY] > base.threads * out->value[FIGURE_COPY_CORE])
        out->value[FIGURE_COPY_CORE] = out->value[FIGURE_COPY] / base.threads;
    free(base.from);
    free(base.to);
    if (!copied)
        snprintf(error, error_size, "no memory for measuring what copies take: %zu MiB", base.bytes >> 19);
    return copied ? 0 : -1;
}
