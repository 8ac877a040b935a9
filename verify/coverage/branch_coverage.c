#include "branch_coverage_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "steering.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

/* Measured with the problems' baselines, roughly. */
#define SECONDS_PER_CALL 3e-4
#define SECONDS_PER_FLOP 2e-8
#define SECONDS_PER_HIT 1e-8
#define SECONDS_PER_BYTE 5e-9
enum { MOST_ENDED = 16 };

struct branch_limits branch_limits(enum effort effort, bool alone)
{
    static const struct branch_limits by_effort[] = {[EFFORT_QUICK] = {0.4, 0.4, 10, 32},
                                                     [EFFORT_STANDARD] = {2, 2, 60, 100},
                                                     [EFFORT_DEEP] = {8, 8, 240, 250},
                                                     [EFFORT_REWARD] = {0.1, 0.1, 5, 16}};
    struct branch_limits limits = by_effort[effort];
    if (alone) {
        limits.work *= 20;
        limits.seconds *= 10;
    }
    return limits;
}

/* --- one call --- */

/* Work of a call: a fixed part, the bytes, and the operations or what was reached. */
static double work_of(const struct config *config, double hits)
{
    struct instance instance;
    if (config_measure(config, &instance) != 0)
        return HUGE_VAL;
    const double work = SECONDS_PER_CALL +
                        SECONDS_PER_BYTE * instance_total_bytes(config->problem, &instance) +
                        (hits < 0 ? SECONDS_PER_FLOP * instance.flops : SECONDS_PER_HIT * hits);
    instance_clear(&instance);
    return work;
}

/* How many times as dear as their sizes suggest calls were so far; at least 1. */
static double dearness(const struct covering_calls *calls)
{
    return calls->work > calls->guessed ? calls->work / calls->guessed : 1;
}

double call_work(const struct covering_calls *calls, const struct config *config)
{
    return dearness(calls) * work_of(config, -1);
}

/* Counts the work of the last call. Hits are the same on any machine, unlike seconds. */
static void count_work(struct covering_calls *calls, const struct config *config)
{
    calls->work += work_of(config, tracing_hits(&calls->tracing));
    calls->guessed += work_of(config, -1);
}

static bool is_taken(const struct branch *branch, const struct coverage_point *point)
{
    if (branch->is_switch)
        return point->cases >> branch->at & 1;
    return point->next[0] == branch->to || point->next[1] == branch->to;
}

bool covering_took(const struct covering_calls *calls, int branch)
{
    const struct branch *const wanted = &calls->coverage->branches.branch[branch];
    struct coverage_point point;
    return tracing_point(&calls->tracing, wanted->place, &point) && is_taken(wanted, &point);
}

static int count_new(struct covering_calls *calls)
{
    struct branches *const all = &calls->coverage->branches;
    struct coverage_point point = {.place = 0};
    bool reached = false;
    int added = 0;
    for (int i = 0; i < all->count; i++) {
        struct branch *const branch = &all->branch[i];
        if (i == 0 || branch->place != branch[-1].place)
            reached = tracing_point(&calls->tracing, branch->place, &point);
        if (branch->taken || !reached || !is_taken(branch, &point))
            continue;
        branch->taken = true;
        calls->newest = i;
        added++;
    }
    for (int i = 0; i < all->blocks; i++)
        all->block[i].reached =
            all->block[i].reached || tracing_point(&calls->tracing, all->block[i].place, &point);
    return added;
}

static void add_note(struct branch_coverage *coverage, const char *words)
{
    const size_t used = strlen(coverage->note);
    snprintf(coverage->note + used, sizeof coverage->note - used, "%s%s", used ? "; " : "", words);
}

int covering_call(struct covering_calls *calls, const struct config *config)
{
    char words[320], line[160];
    if (calls->stopped)
        return -1;
    const enum trace_status status = tracing_call(&calls->tracing, config);
    count_work(calls, config);
    const int added = count_new(calls);
    const bool ended = status == TRACE_ENDED || status == TRACE_HUNG;
    if (ended && calls->coverage->ended++ == 0) {
        config_format(config, line, sizeof line);
        snprintf(words, sizeof words, "the instrumented build did not return from %.120s: %.150s", line,
                 calls->tracing.why);
        add_note(calls->coverage, words);
    } else if (status == TRACE_BROKEN) {
        add_note(calls->coverage, calls->tracing.why);
    }
    calls->coverage->cut = calls->coverage->cut || clock_seconds() > calls->deadline;
    calls->stopped = status == TRACE_BROKEN || status == TRACE_HUNG || calls->coverage->ended >= MOST_ENDED ||
                     calls->coverage->cut || budget_is_over() || is_interrupted();
    return status == TRACE_BROKEN ? -1 : added;
}

/* --- the drawn configurations --- */

struct priced {
    const struct config *config;
    double work;
    int at;
};

static int by_work(const void *a, const void *b)
{
    const struct priced *const x = a, *const y = b;
    return x->work != y->work ? (x->work < y->work ? -1 : 1) : x->at - y->at;
}

/* The cheapest first, as far as the limit goes. */
static int call_drawn(struct covering_calls *calls, struct steering *steering, double limit)
{
    const struct drawn_list *const set[2] = {&calls->task->seen_set, &calls->task->unseen_set};
    struct branch_coverage *const coverage = calls->coverage;
    coverage->configurations = set[0]->count + set[1]->count;
    struct priced *const list = calloc((size_t)coverage->configurations + 1, sizeof *list);
    int count = 0;
    for (int s = 0; list && s < 2; s++)
        for (int i = 0; i < set[s]->count; i++, count++)
            list[count] =
                (struct priced){&set[s]->item[i].config, work_of(&set[s]->item[i].config, -1), count};
    if (list)
        qsort(list, (size_t)count, sizeof *list, by_work);
    for (int i = 0;
         list && i < count && !calls->stopped && calls->work + dearness(calls) * list[i].work <= limit; i++) {
        coverage->called++;
        if (covering_call(calls, list[i].config) >= 0)
            steering_observe(steering, &calls->tracing, list[i].config, NULL);
    }
    free(list);
    return list ? 0 : -1;
}

/* --- all of it --- */

/* The build is for C and C++; other candidates have no coverage. */
static const char *why_not(const struct task *task)
{
    const char *const language = task->build.language;
    if (task->problem->task)
        return "no coverage: so far only problems that are defined in C have one, and this is an imported "
               "task";
    if (strcmp(language, "so") == 0)
        return "no coverage: the candidate is a built object (.so), which has no text to instrument";
    if (strcmp(language, "cuda") == 0)
        return "no coverage: so far only candidates in C and C++ on the host have one, and this is CUDA";
    if (strcmp(language, "c") != 0 && strcmp(language, "c++") != 0)
        return "no coverage: so far only candidates in C and C++ have one, and this is a module in Python";
    return NULL;
}

static bool build(struct branch_coverage *coverage, const struct task *task, struct build *instrumented)
{
    char why[4096];
    const enum build_status built = task_build_coverage(task, instrumented, why, sizeof why);
    char *const end = strchr(why, '\n'); /* two lines: the compiler's, and its first error */
    if (built != BUILD_OK && end) {
        *end = ':';
        end[1 + strcspn(end + 1, "\n")] = '\0';
    }
    if (built != BUILD_OK)
        snprintf(coverage->note, sizeof coverage->note,
                 "no coverage: without optimization and with tracing, %.300s", why);
    const enum build_status read = built == BUILD_OK ? branches_open(&coverage->branches, instrumented,
                                                                     task->options.candidate, why, sizeof why)
                                                     : built;
    if (built == BUILD_OK && read != BUILD_OK)
        snprintf(coverage->note, sizeof coverage->note, "no coverage: %.300s", why);
    coverage->machine = read == BUILD_ENVIRONMENT;
    return read == BUILD_OK;
}

static int cover(struct covering_calls *calls, const struct branch_limits *limits)
{
    struct branch_coverage *const coverage = calls->coverage;
    struct steering *const steering = steering_open(calls, limits->steered);
    int status = steering ? call_drawn(calls, steering, limits->work) : -1;
    if (status == 0 && limits->steered > 0)
        status = steering_run(steering, calls->work + limits->steering);
    steering_close(steering);
    if (coverage->cut)
        add_note(coverage, "the clock ended it, so that another run may add other configurations");
    coverage->present = coverage->called > coverage->ended;
    return is_interrupted() ? -1 : status;
}

int branch_coverage_open(struct branch_coverage *coverage, struct task *task,
                         const struct branch_limits *limits)
{
    const double start = clock_seconds();
    struct build instrumented = {.language = ""};
    struct covering_calls calls = {.coverage = coverage, .task = task, .deadline = start + limits->seconds};
    const char *const reason = why_not(task);
    int status = 0;
    *coverage = (struct branch_coverage){.called = 0};
    if (reason) {
        snprintf(coverage->note, sizeof coverage->note, "%s", reason);
    } else if (build(coverage, task, &instrumented)) {
        const struct branches *const all = &coverage->branches;
        if (tracing_open(&calls.tracing, task, &instrumented, all->count + all->blocks + all->comparisons,
                         limits->memory))
            status = cover(&calls, limits);
        else {
            add_note(coverage, calls.tracing.why);
            coverage->machine = true;
        }
        tracing_close(&calls.tracing);
    }
    build_clear(&instrumented);
    coverage->seconds = clock_seconds() - start;
    return status;
}

void branch_coverage_close(struct branch_coverage *coverage)
{
    branches_close(&coverage->branches);
}
