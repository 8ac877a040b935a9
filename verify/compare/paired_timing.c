#include "paired_timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/random/pcg.h"
#include "paired_test.h"
#include "gate.h"
#include "verify/score/score.h"
#include "verify/util/budget.h"
#include "verify/util/interrupt.h"

enum { PAIRS = 4 }; /* per configuration and sweep: A B B A twice */

struct rounds {
    struct session *session[2];
    bool python;
};

/* Samples of one configuration: a value per sweep. */
struct sampled {
    int count, pairs, vain; /* vain: sweeps that lacked memory for both candidates */
    double log_ratio[MOST_SWEEPS], ms[2][MOST_SWEEPS];
};

/* State of one sampling over all configurations. */
struct sampling {
    struct rounds *rounds;
    const struct paired_timing_options *options;
    struct comparison *comparison;
    struct sampled *sampled;
    int *order;
    struct pcg *random;
    int sweep, first_sweeps; /* number of sweeps in the first round */
    enum session_status status;
};

struct rounds *paired_timing_open(const struct task *old, const struct task *new,
                                  const struct run_options *options)
{
    const struct session_options side[2] = {run_session_options(old, options),
                                            run_session_options(new, options)};
    struct rounds *rounds = calloc(1, sizeof *rounds);
    for (int i = 0; rounds && i < 2; i++) {
        rounds->session[i] = session_open(&side[i]);
        rounds->python = rounds->python || side[i].python;
    }
    if (rounds && rounds->session[0] && rounds->session[1])
        return rounds;
    paired_timing_close(rounds);
    return NULL;
}

void paired_timing_close(struct rounds *rounds)
{
    if (!rounds)
        return;
    for (int i = 0; i < 2; i++)
        session_close(rounds->session[i]);
    free(rounds);
}

bool paired_timing_pairs(struct rounds *rounds, const struct pair_job *job, struct pairs *pairs)
{
    struct config_result *result = calloc(2, sizeof *result);
    struct config_result *const both[2] = {result, result ? result + 1 : NULL};
    const bool ok =
        result && session_pairs(rounds->session, job, pairs, both) == SESSION_OK && pairs->count > 0;
    free(result);
    return ok;
}

/* --- one configuration in one sweep --- */

/* A timeout or a signal from outside proves nothing. */
static bool is_doubtful(const struct config_result *result)
{
    return result->outcome == OUTCOME_TIMEOUT || result->reason.cause == CAUSE_KILLED;
}

static void note_outcomes(struct compared *item, const struct config_result *result)
{
    for (int i = 0; i < 2; i++) {
        if (result[i].outcome == OUTCOME_PASS || result[i].outcome == OUTCOME_SKIPPED ||
            is_doubtful(&result[i]))
            continue;
        item->outcome[i] = result[i].outcome;
        item->shift = (struct shift){.slower = 1, .faster = 1, .adjusted = 1};
        if (i == 1)
            memcpy(item->detail, result[i].detail, sizeof item->detail);
    }
}

/* count is at most PAIRS_MOST or MOST_SWEEPS, of which the latter is larger. */
static double median(const double *value, int count)
{
    double sorted[MOST_SWEEPS];
    int n = 0;
    for (int i = 0; i < count; i++, n++) {
        int at = n;
        for (; at > 0 && sorted[at - 1] > value[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value[i];
    }
    return score_median(sorted, count).value;
}

static void keep(struct sampled *sampled, const struct pairs *pairs)
{
    const int at = sampled->count;
    if (at == MOST_SWEEPS || pairs->count == 0 ||
        !compare_pairs(pairs->ms[0], pairs->ms[1], pairs->count, &sampled->log_ratio[at]))
        return;
    for (int i = 0; i < 2; i++)
        sampled->ms[i][at] = median(pairs->ms[i], pairs->count);
    sampled->pairs += pairs->count;
    sampled->count++;
}

/* Takes pairs of one configuration, and records the log ratio if there is one. */
static bool sample(struct sampling *s, int i, bool fresh, int fresh_ahead)
{
    struct compared *item = &s->comparison->item[i];
    struct config_result *result = calloc(2, sizeof *result);
    struct config_result *const both[2] = {result, result ? result + 1 : NULL};
    struct sampled *sampled = &s->sampled[i];
    const int before = sampled->count;
    struct pairs pairs;
    const struct pair_job job = {.config = &item->config,
                                 .pairs = PAIRS,
                                 .budget_seconds = s->options->budget_seconds,
                                 .number = s->sweep,
                                 .fresh = fresh,
                                 .fresh_ahead = fresh_ahead};
    if (!result) {
        s->status = SESSION_BROKEN;
        return false;
    }
    s->status = session_pairs(s->rounds->session, &job, &pairs, both);
    if (s->status == SESSION_OK && !is_interrupted()) {
        note_outcomes(item, result);
        keep(sampled, &pairs);
        sampled->vain +=
            pairs.count == 0 && item->outcome[0] == OUTCOME_PASS && item->outcome[1] == OUTCOME_PASS;
        item->disturbed = item->disturbed || pairs.disturbed;
        item->method = pairs.method ? pairs.method : item->method;
    }
    free(result);
    return sampled->count > before;
}

/* --- sweeps --- */

static bool both_pass(const struct compared *item)
{
    return item->outcome[0] == OUTCOME_PASS && item->outcome[1] == OUTCOME_PASS;
}

static bool is_to_be_timed(const struct compared *item)
{
    return both_pass(item) && item->serves == 0 && !item->unknown;
}

/* Do they differ only in input class and seed? Then one time serves both. */
static bool has_same_time(const struct compared *a, const struct compared *b)
{
    struct config other = b->config;
    const int input = problem_input_axis(a->config.problem);
    if (input >= 0)
        other.value[input] = a->config.value[input];
    return config_same_point(&other, &a->config);
}

static void find_same_times(struct comparison *c)
{
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < i && both_pass(&c->item[i]) && c->item[i].serves == 0; k++)
            if (is_to_be_timed(&c->item[k]) && has_same_time(&c->item[i], &c->item[k]))
                c->item[i].serves = k + 1;
}

/* A configuration that lacked memory for both candidates is not tried in every sweep. */
static bool is_in_vain(const struct sampled *sampled)
{
    enum { ENOUGH = 2 };
    return sampled->count == 0 && sampled->vain >= ENOUGH;
}

/* Lists undecided configurations in a random order, so that a candidate cannot distinguish timing from
 * checking. */
static int list_undecided(struct sampling *s)
{
    int count = 0;
    for (int i = 0; i < s->comparison->count; i++) {
        const struct compared *item = &s->comparison->item[i];
        if (!is_to_be_timed(item) || item->shift.change != CHANGE_UNDECIDED || is_in_vain(&s->sampled[i]))
            continue;
        const int at = (int)pcg_below(s->random, (uint64_t)count + 1);
        s->order[count++] = s->order[at];
        s->order[at] = i;
    }
    return count;
}

static bool goes_on(const struct sampling *s)
{
    return s->status == SESSION_OK && !is_interrupted() && !budget_is_over();
}

/* Uses one process of each candidate for a whole round if they are modules: an interpreter takes seconds to
 * start, and its kernels longer to compile. */
static void sweep(struct sampling *s, bool first_of_round, int sweeps_ahead)
{
    const int count = list_undecided(s);
    const int ahead = s->rounds->python ? 0 : sweeps_ahead;
    for (int k = 0; k < count && goes_on(s); k++)
        sample(s, s->order[k], k == 0 && (first_of_round || !s->rounds->python), ahead);
    s->sweep++;
}

/* --- results --- */

static void summarize(struct sampling *s)
{
    for (int i = 0; i < s->comparison->count; i++) {
        const struct sampled *sampled = &s->sampled[i];
        struct compared *item = &s->comparison->item[i];
        if (!is_to_be_timed(item) || sampled->count == 0)
            continue;
        const enum change before = item->shift.change;
        item->shift = compare_processes(sampled->log_ratio, sampled->count);
        if (item->reference.present)
            item->shift = compare_drift(&item->shift.log_ratio, &item->reference);
        item->shift.change = before;
        item->pairs = sampled->pairs;
        item->processes = sampled->count;
        for (int side = 0; side < 2; side++)
            item->ms[side] = median(sampled->ms[side], sampled->count);
    }
}

/* For each sweep of the first round, the mean log ratio over all configurations of the sets. Sweeps are
 * independent, since each has its own processes. */
static struct shift over_sweeps(const struct sampling *s, bool seen, bool unseen)
{
    double mean[FIRST_SWEEPS];
    int means = 0;
    for (int k = 0; k < s->first_sweeps; k++) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < s->comparison->count; i++) {
            const struct compared *item = &s->comparison->item[i];
            if ((item->unseen ? unseen : seen) && is_to_be_timed(item) && k < s->sampled[i].count) {
                sum += s->sampled[i].log_ratio[k];
                count++;
            }
        }
        if (count > 0)
            mean[means++] = sum / count;
    }
    return compare_processes(mean, means);
}

static bool decide(struct sampling *s)
{
    struct comparison *c = s->comparison;
    summarize(s);
    if (c->kind == COMPARISON_DRIFT) {
        gate_over_configurations(c);
    } else {
        c->overall = over_sweeps(s, true, true);
        c->set[0] = over_sweeps(s, true, false).log_ratio;
        c->set[1] = over_sweeps(s, false, true).log_ratio;
    }
    return s->options->only_first || gate_decide(c, ROUNDS) == 0;
}

/* Fewer configurations need fewer processes for a decision. If the width of an interval decides, as for times
 * of another day or those taken once, all sweeps are made. */
static int first_sweeps(const struct sampling *s)
{
    enum { SPARE = 2 }; /* a factor of four: allows one or two of the lowest ranks on the other side */
    int family = 1;     /* all configurations together */
    for (int i = 0; i < s->comparison->count; i++)
        family += is_to_be_timed(&s->comparison->item[i]);
    const int least = gate_least_processes(family, ROUNDS) + SPARE;
    const bool by_width = s->options->only_first || s->comparison->kind == COMPARISON_DRIFT;
    return by_width || least > FIRST_SWEEPS ? FIRST_SWEEPS : least;
}

static void run_rounds(struct sampling *s)
{
    const int rounds = s->options->only_first ? 1 : ROUNDS;
    s->first_sweeps = first_sweeps(s);
    for (int round = 0; round < rounds && goes_on(s); round++) {
        const int sweeps = s->first_sweeps << (round > 0 ? round - 1 : 0);
        for (int i = 0; i < sweeps && goes_on(s); i++) {
            if (s->options->progress)
                s->options->progress(s->options->progress_data, round + 1, i, sweeps);
            sweep(s, i == 0, sweeps - i - 1);
        }
        if (s->status == SESSION_OK && !is_interrupted() && !decide(s))
            s->status = SESSION_BROKEN;
    }
}

static enum run_status end(const struct sampling *s, char *error, size_t size)
{
    if (is_interrupted())
        return RUN_INTERRUPTED;
    if (s->status == SESSION_OK)
        return RUN_DONE;
    const char *const first = session_error(s->rounds->session[0]), *const other =
                                                                        session_error(s->rounds->session[1]);
    snprintf(error, size, "%s", *first ? first : *other ? other : "out of memory");
    if (s->status == SESSION_BAD) /* A is the baseline, or the old candidate */
        return *first ? RUN_INPUT : RUN_BAD;
    return RUN_BROKEN;
}

/* Looks for evidence that only timed calls give. */
static void find_cheating(const struct rounds *rounds, struct comparison *c)
{
    struct result side[2] = {{.problem = NULL}, {.problem = NULL}};
    struct finding *found[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const struct finding *finding = session_findings(rounds->session[i], &side[i].finding_count);
        found[i] = calloc((size_t)side[i].finding_count + 1, sizeof *found[i]);
        if (found[i])
            memcpy(found[i], finding, (size_t)side[i].finding_count * sizeof *finding);
        side[i].finding = found[i];
    }
    if (found[0] && found[1])
        gate_find_cheating(&side[0], &side[1], c);
    for (int i = 0; i < 2; i++)
        free(found[i]);
}

static void note_times(struct comparison *c, const struct sampled *sampled)
{
    int disturbed = 0, vain = 0;
    for (int i = 0; i < c->count; i++) {
        disturbed += c->item[i].disturbed;
        vain += is_in_vain(&sampled[i]);
    }
    if (vain > 0)
        comparison_note(c, "%d configurations have no times: the tensors of two do not fit into memory",
                        vain);
    if (disturbed > 0)
        comparison_note(c,
                        "times of %d configurations were taken beside others on the device, or by clocks "
                        "that do not agree",
                        disturbed);
}

enum run_status paired_timing_run(struct rounds *rounds, const struct paired_timing_options *options,
                                  struct comparison *c, char *error, size_t error_size)
{
    struct sampling s = {.rounds = rounds,
                         .options = options,
                         .comparison = c,
                         .sampled = calloc((size_t)c->count + 1, sizeof *s.sampled),
                         .order = calloc((size_t)c->count + 1, sizeof *s.order),
                         .random = pcg_new(c->seed, "sweeps")};
    enum run_status status = RUN_BROKEN;
    if (s.sampled && s.order && s.random) {
        run_team(1);
        find_same_times(c);
        run_rounds(&s);
        find_cheating(rounds, c);
        note_times(c, s.sampled);
        status = end(&s, error, error_size);
    } else {
        snprintf(error, error_size, "out of memory");
    }
    pcg_free(s.random);
    free(s.sampled);
    free(s.order);
    return status;
}
