/* The runs so far, with the quantities that rules are made of. They tell how many runs support a term, and
 * which thresholds they leave open. */
#include "evidence.h"

#include <math.h>
#include <stdlib.h>

#include "gen/draw/cost.h"
#include "gen/draw/move.h"

/* Moduli tested on products and quotients: small numbers, and sizes of vectors and tiles in kernels. */
static const int usual_moduli[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
/* Moduli tested on axes only: sizes of blocks of many tiles. Only divisibility by them is tested. */
static const int block_moduli[] = {320,  384,  512,  640,  768,  896,  1024,
                                   1280, 1536, 1792, 2048, 2560, 3072, 4096};
enum { BLOCKS = sizeof block_moduli / sizeof *block_moduli };
enum { USUAL = sizeof usual_moduli / sizeof *usual_moduli, SMALL_USUAL = 11 };

static int usual_count(const struct quantity *quantity)
{
    switch (quantity->kind) {
    case QUANTITY_CHOICE:
    case QUANTITY_OFFSET:
    case QUANTITY_SIZE_ORDER:
    case QUANTITY_SIZE_PRODUCT:
    case QUANTITY_SIZE_OFFSET:
    case QUANTITY_TILED_PRODUCT:
    case QUANTITY_GRID:
    case QUANTITY_EXPRESSION:
    case QUANTITY_ORDER: return 0;
    case QUANTITY_REMAINDER: return SMALL_USUAL;
    case QUANTITY_PRODUCT: return quantity->count <= 3 ? USUAL : 0;
    default: return SMALL_USUAL;
    }
}

static void list_single(struct evidence *evidence, int q)
{
    const struct vocabulary *const vocabulary = evidence->vocabulary;
    const struct quantity *const quantity = &vocabulary->quantity[q];
    for (int m = 2; m <= LARGEST_MODULUS; m++)
        evidence->modulus[evidence->moduli++] = (struct modulus){q, m};
    for (int i = 0; i < BLOCKS && quantity_is_axis(quantity); i++)
        if (vocabulary->space->domain[quantity->axis[0]].high >= 2 * block_moduli[i])
            evidence->modulus[evidence->moduli++] = (struct modulus){q, block_moduli[i]};
}

static int list_moduli(struct evidence *evidence)
{
    const struct vocabulary *const vocabulary = evidence->vocabulary;
    const int most = vocabulary->quantities * (LARGEST_MODULUS + BLOCKS);
    evidence->modulus = calloc((size_t)most, sizeof *evidence->modulus);
    if (!evidence->modulus)
        return -1;
    for (int q = 0; q < vocabulary->quantities; q++)
        if (quantity_is_single(&vocabulary->quantity[q]))
            list_single(evidence, q);
        else
            for (int i = 0; i < usual_count(&vocabulary->quantity[q]); i++)
                evidence->modulus[evidence->moduli++] = (struct modulus){q, usual_moduli[i]};
    return 0;
}

int evidence_open(struct evidence *evidence, const struct vocabulary *vocabulary, int trials)
{
    const size_t capacity = (size_t)trials, words = (capacity + 63) / 64;
    *evidence = (struct evidence){.vocabulary = vocabulary, .capacity = trials, .words = (int)words};
    if (list_moduli(evidence))
        return -1;
    evidence->config = calloc(capacity, sizeof *evidence->config);
    evidence->value = calloc(capacity * (size_t)vocabulary->quantities + 1, sizeof *evidence->value);
    evidence->residue = calloc(capacity * (size_t)evidence->moduli + 1, sizeof *evidence->residue);
    evidence->challenge = calloc(capacity, sizeof *evidence->challenge);
    evidence->fails = calloc(5 * words, sizeof *evidence->fails);
    if (!evidence->config || !evidence->value || !evidence->residue || !evidence->challenge ||
        !evidence->fails)
        return -1;
    evidence->passes = evidence->fails + words;
    evidence->unpublished = evidence->passes + words;
    evidence->scratch = evidence->unpublished + words;
    evidence->lucky = evidence->scratch + words;
    return 0;
}

void evidence_close(struct evidence *evidence)
{
    free(evidence->modulus);
    free(evidence->config);
    free(evidence->value);
    free(evidence->residue);
    free(evidence->challenge);
    free(evidence->fails);
}

void evidence_add(struct evidence *evidence, const struct config *config, bool fails, bool published)
{
    const int trial = evidence->trials++;
    int64_t *value = evidence->value + (size_t)trial * (size_t)evidence->vocabulary->quantities;
    evidence->config[trial] = *config;
    vocabulary_values(evidence->vocabulary, config, true, value);
    for (int i = 0; i < evidence->moduli; i++)
        evidence->residue[(size_t)i * (size_t)evidence->capacity + (size_t)trial] =
            (uint16_t)(value[evidence->modulus[i].quantity] % evidence->modulus[i].modulus);
    bit_set(fails ? evidence->fails : evidence->passes, trial);
    if (fails || !published)
        bit_set(evidence->unpublished, trial);
}

/* --- sizes --- */

int config_size_bits(const struct space *space, const struct config *config)
{
    int bits = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i) && space->domain[i].value_count == 0)
            bits += 63 - __builtin_clzll((unsigned long long)config->value[i] | 1);
    return bits;
}

bool axis_is_least(const struct space *space, const struct config *config, int axis)
{
    const struct domain *domain = &space->domain[axis];
    return domain_is_number(space, axis) ? config->value[axis] <= domain_least(domain)
                                         : config->value[axis] == domain->value[0];
}

int simplest_failure(const struct evidence *evidence)
{
    const struct space *const space = evidence->vocabulary->space;
    int best = -1, most = 0, least = 0;
    for (int t = 0; t < evidence->trials; t++) {
        const int bits = config_size_bits(space, &evidence->config[t]);
        int axes = 0;
        for (int i = 0; space->problem->axes[i].name; i++)
            axes += axis_is_least(space, &evidence->config[t], i);
        if (bit_of(evidence->fails, t) && (best < 0 || axes > most || (axes == most && bits < least))) {
            best = t;
            most = axes;
            least = bits;
        }
    }
    return best;
}

/* --- support of terms --- */

enum { TERM_RUNS = 20 };

static bool is_alone(const struct hypothesis *rule, int at)
{
    return rule->starts[at] && (at + 1 == rule->count || rule->starts[at + 1]);
}

/* Returns the number of runs on which the rule and the rule without this term differ. A clause of one term is
 * removed as a whole. */
static int term_runs(const struct evidence *evidence, const struct hypothesis *rule, int at)
{
    const bool without = !is_alone(rule, at);
    int runs = 0;
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t *value = trial_values(evidence, t);
        runs += hypothesis_holds_if(evidence->vocabulary, rule, value, at, without) !=
                hypothesis_holds(evidence->vocabulary, rule, value);
    }
    return runs;
}

int weakest_term(const struct evidence *evidence, const struct hypothesis *rule, bool *inside)
{
    int weakest = -1, least = TERM_RUNS;
    for (int at = 0; at < rule->count && rule->count > 1; at++) {
        const int runs = term_runs(evidence, rule, at);
        if (runs < least) {
            least = runs;
            weakest = at;
            *inside = is_alone(rule, at);
        }
    }
    return weakest;
}

int drop_weak_terms(const struct evidence *evidence, struct hypothesis *rule)
{
    int dropped = 0;
    bool inside;
    for (int at; (at = weakest_term(evidence, rule, &inside)) >= 0; dropped++)
        hypothesis_remove_term(rule, at);
    return dropped;
}

/* --- thresholds that the runs leave open --- */

enum { MOST_CANDIDATES = 9 + SPACE_MAX_TILES + MOST_VALUES };

struct gap {
    int64_t low, high; /* every threshold in low..high fits all trials */
};

/* Finds the gap. A rule's truth is monotone in the truth of each predicate, so a trial restricts the
 * threshold if its outcome depends on this predicate. Returns false if no trial needs the predicate to be
 * false, or none needs it to be true. */
static bool find_gap(const struct evidence *evidence, const struct hypothesis *hypothesis, int at,
                     bool forgive, struct gap *gap)
{
    const struct predicate *predicate = &hypothesis->term[at];
    *gap = (struct gap){INT64_MIN, INT64_MAX};
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t *value = trial_values(evidence, t), v = value[predicate->quantity];
        const bool fails = bit_of(evidence->fails, t);
        if ((forgive && !bit_of(evidence->unpublished, t)) || bit_of(evidence->lucky, t) ||
            !hypothesis_holds_if(evidence->vocabulary, hypothesis, value, at, true) ||
            hypothesis_holds_if(evidence->vocabulary, hypothesis, value, at, false))
            continue;
        if (fails != predicate->negated) { /* v > threshold must hold */
            if (v - 1 < gap->high)
                gap->high = v - 1;
        } else if (v > gap->low) {
            gap->low = v;
        }
    }
    return gap->low != INT64_MIN && gap->high != INT64_MAX && gap->low <= gap->high;
}

static void add(int64_t *list, int *count, const struct gap *gap, int64_t value)
{
    if (value < gap->low || value > gap->high || *count == MOST_CANDIDATES)
        return;
    for (int i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    list[(*count)++] = value;
}

/* Returns the middle of the gap: the geometric mean in a wide gap, since sizes are spread over powers of
 * two. */
static int64_t middle(const struct gap *gap)
{
    int64_t low = gap->low > 0 ? gap->low : 1, high = gap->high;
    if (high / 4 <= low)
        return gap->low + (gap->high - gap->low) / 2;
    while (high / 4 > low) {
        low *= 2;
        high /= 2;
    }
    return low + (high - low) / 2;
}

static int list_candidates(const struct evidence *evidence, const struct predicate *predicate,
                           const struct gap *gap, int64_t *list)
{
    const struct quantity *quantity = quantity_of(evidence, predicate->quantity);
    const struct domain *domain = domain_of(evidence, quantity->axis[0]);
    int count = 0;
    add(list, &count, gap,
        vocabulary_threshold(evidence->vocabulary, predicate->quantity, gap->low, gap->high));
    add(list, &count, gap, roundest_between(gap->low, gap->high));
    add(list, &count, gap, roundest_between(gap->low + 1, gap->high + 1) - 1);
    for (int i = 0; quantity_is_axis(quantity) && i < domain->tile_count; i++) {
        add(list, &count, gap, domain->tile[i]);
        add(list, &count, gap, domain->tile[i] - 1);
    }
    for (int i = 0; i < quantity->seen_count; i++)
        add(list, &count, gap, quantity->seen[i]);
    add(list, &count, gap, gap->low);
    add(list, &count, gap, gap->high);
    add(list, &count, gap, middle(gap));
    return count;
}

static void set_threshold(const struct evidence *evidence, struct hypothesis *hypothesis, int at,
                          int64_t threshold)
{
    struct predicate *predicate = &hypothesis->term[at];
    hypothesis->cost -= predicate->cost;
    predicate->a = threshold;
    predicate->cost = vocabulary_cost(evidence->vocabulary, predicate);
    hypothesis->cost += predicate->cost;
}

/* Sets the likeliest threshold in the gap. Returns false if the predicate has no effect. */
static bool settle(const struct evidence *evidence, struct hypothesis *hypothesis, int at, bool forgive)
{
    int64_t list[MOST_CANDIDATES];
    struct hypothesis best = *hypothesis;
    struct gap gap;
    if (!find_gap(evidence, hypothesis, at, forgive, &gap))
        return false;
    best.cost = HUGE_COST;
    for (int i = 0, count = list_candidates(evidence, &hypothesis->term[at], &gap, list); i < count; i++) {
        struct hypothesis varied = *hypothesis;
        set_threshold(evidence, &varied, at, list[i]);
        if (varied.cost < best.cost)
            best = varied;
    }
    *hypothesis = best;
    return true;
}

void add_threshold_variants(const struct evidence *evidence, const struct hypothesis *hypothesis,
                            bool forgive, struct hypotheses *out)
{
    struct hypothesis settled = *hypothesis;
    for (int at = 0; at < hypothesis->count; at++)
        if (hypothesis->term[at].kind == PREDICATE_ABOVE && !settle(evidence, &settled, at, forgive))
            return;
    hypotheses_add(out, &settled);
    for (int at = 0; at < hypothesis->count; at++) {
        int64_t list[MOST_CANDIDATES];
        struct gap gap;
        if (hypothesis->term[at].kind != PREDICATE_ABOVE || !find_gap(evidence, &settled, at, forgive, &gap))
            continue;
        for (int i = 0, count = list_candidates(evidence, &hypothesis->term[at], &gap, list); i < count;
             i++) {
            struct hypothesis varied = settled;
            set_threshold(evidence, &varied, at, list[i]);
            hypotheses_add(out, &varied);
        }
    }
}

/* --- sharp thresholds --- */

enum { NEAR = 4 };
static const double LEAST_BITS = 5, SIGMAS = 2, GROWTH = 3;

/* Returns whether the value is within a factor of NEAR of the threshold, on either side. The least values of
 * derived sizes and paddings are 0, so both numbers are counted from 1. */
static bool is_near(const struct predicate *predicate, int64_t value)
{
    const int64_t a = predicate->a + 1, v = value + 1;
    return v > a / NEAR && v / NEAR <= a;
}

bool threshold_is_sharp(const struct evidence *evidence, const struct hypothesis *rule, int term)
{
    const struct predicate *const predicate = &rule->term[term];
    int beyond = 0, inside[2] = {0}, failed[2] = {0}; /* far, near */
    if (predicate->kind != PREDICATE_ABOVE)
        return true;
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t *value = trial_values(evidence, t);
        const bool holds = hypothesis_holds(evidence->vocabulary, rule, value),
                   near = is_near(predicate, value[predicate->quantity]);
        beyond += near && !holds && hypothesis_holds_if(evidence->vocabulary, rule, value, term, true);
        inside[near] += holds;
        failed[near] += holds && bit_of(evidence->fails, t);
    }
    const double rate = (failed[true] + 0.5) / (inside[true] + 1.0);
    const double far = (failed[false] + 0.5) / (inside[false] + 1.0);
    const double expected = inside[true] * far, deviation = sqrt(expected * (1 - far));
    const bool grows = failed[true] + SIGMAS * deviation < expected;
    /* If larger configurations are likelier to fail, those just beyond the threshold may fail more rarely
     * than those just before it. */
    return -beyond * log2(1 - (grows ? rate / GROWTH : rate)) >= LEAST_BITS;
}
