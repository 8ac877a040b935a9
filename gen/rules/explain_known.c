/* The runs so far, with the quantities that rules are made of. */
#include "explain_internal.h"
#include "gen/contract/instantiate.h"

#include <stdio.h>
#include <stdlib.h>

/* Moduli tested on products and quotients: small numbers, and sizes of vectors and tiles in kernels. */
static const int usual_moduli[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
/* Moduli tested on axes only: sizes of blocks of many tiles. Only divisibility by them is tested. */
static const int block_moduli[] = {320,  384,  512,  640,  768,  896,  1024,
                                   1280, 1536, 1792, 2048, 2560, 3072, 4096};
enum { BLOCKS = sizeof block_moduli / sizeof *block_moduli };
enum { USUAL = sizeof usual_moduli / sizeof *usual_moduli, SMALL_USUAL = 11, RESEEDS = 64 };

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
    case QUANTITY_ORDER: return 0;
    case QUANTITY_REMAINDER: return SMALL_USUAL;
    case QUANTITY_PRODUCT: return quantity->count <= 3 ? USUAL : 0;
    default: return SMALL_USUAL;
    }
}

static void list_single(struct explainer *ex, int q)
{
    for (int m = 2; m <= LARGEST_MODULUS; m++)
        ex->modulus[ex->moduli++] = (struct modulus){q, m};
    for (int i = 0; i < BLOCKS && quantity_is_axis(&ex->quantity[q]); i++)
        if (ex->space->domain[ex->quantity[q].axis[0]].high >= 2 * block_moduli[i])
            ex->modulus[ex->moduli++] = (struct modulus){q, block_moduli[i]};
}

static int list_moduli(struct explainer *ex)
{
    const int most = ex->quantities * (LARGEST_MODULUS + BLOCKS);
    ex->modulus = calloc((size_t)most, sizeof *ex->modulus);
    if (!ex->modulus)
        return -1;
    for (int q = 0; q < ex->quantities; q++)
        if (quantity_is_single(&ex->quantity[q]))
            list_single(ex, q);
        else
            for (int i = 0; i < usual_count(&ex->quantity[q]); i++)
                ex->modulus[ex->moduli++] = (struct modulus){q, usual_moduli[i]};
    return 0;
}

/* Opens the set of points that are not run again, with the published ones. */
static int open_asked(struct explainer *ex)
{
    const size_t points = (size_t)ex->capacity + (size_t)(ex->seen ? ex->seen->count : 0);
    if (point_set_open(&ex->used, points) != 0)
        return -1;
    for (int i = 0; ex->seen && i < ex->seen->count; i++)
        point_set_add(&ex->used, &ex->seen->item[i]);
    return 0;
}

int explainer_open(struct explainer *ex, const struct space *space, const struct draw_caps *caps,
                   const struct config_list *seen, int known, int runs, uint64_t seed)
{
    char purpose[96];
    ex->space = space;
    ex->seen = seen;
    ex->most_runs = runs;
    ex->extra_runs = runs * 3 / 4;
    ex->sided_runs = runs;
    ex->capacity = known + runs + ex->extra_runs + ex->sided_runs + 1;
    ex->words = (ex->capacity + 63) / 64;
    ex->costing = costing_of(space, caps);
    ex->quantities = quantity_list(space, seen, ex->quantity);
    snprintf(purpose, sizeof purpose, "%s/explain", space->problem->name);
    ex->stream = pcg_new(seed, purpose);
    if (!ex->stream || list_moduli(ex) || open_asked(ex))
        return -1;
    const size_t capacity = (size_t)ex->capacity, words = (size_t)ex->words;
    ex->config = calloc(capacity, sizeof *ex->config);
    ex->value = calloc(capacity * (size_t)ex->quantities + 1, sizeof *ex->value);
    ex->residue = calloc(capacity * (size_t)ex->moduli + 1, sizeof *ex->residue);
    ex->published = calloc(capacity, sizeof *ex->published);
    ex->challenge = calloc(capacity, sizeof *ex->challenge);
    ex->fails = calloc(5 * words, sizeof *ex->fails);
    if (!ex->config || !ex->value || !ex->residue || !ex->published || !ex->challenge || !ex->fails)
        return -1;
    ex->passes = ex->fails + words;
    ex->unpublished = ex->passes + words;
    ex->scratch = ex->unpublished + words;
    ex->lucky = ex->scratch + words;
    return 0;
}

void explainer_close(struct explainer *ex)
{
    pcg_free(ex->stream);
    config_list_clear(&ex->fresh);
    point_set_close(&ex->used);
    free(ex->modulus);
    free(ex->config);
    free(ex->value);
    free(ex->residue);
    free(ex->published);
    free(ex->challenge);
    free(ex->fails);
}

static bool is_published(const struct explainer *ex, const struct config *config)
{
    for (int i = 0; ex->seen && i < ex->seen->count; i++)
        if (config_same_point(&ex->seen->item[i], config))
            return true;
    return false;
}

void explainer_values(const struct explainer *ex, const struct config *config, bool derived, int64_t *value)
{
    const struct derived *table = ex->space->problem->derived;
    int64_t size[MOST_DERIVED] = {0};
    for (int i = 0; table && table[i].name && i < MOST_DERIVED; i++)
        if (derived || table[i].of_axes)
            size[i] = config_derived(config, i);
    for (int q = 0; q < ex->quantities; q++)
        value[q] = quantity_is_drawn(&ex->quantity[q])
                       ? quantity_value_of_sizes(&ex->quantity[q], config, size)
                       : quantity_value(&ex->quantity[q], config);
}

bool guesses_ask_derived(const struct explainer *ex, const struct guesses *guesses)
{
    for (int i = 0; ex->space->problem->derived && i < guesses->count; i++)
        for (int a = 0; guesses->item[i].alive && a < guesses->item[i].count; a++)
            if (quantity_is_drawn(&ex->quantity[guesses->item[i].atom[a].quantity]))
                return true;
    return false;
}

static bool same_derived(const struct config *a, const struct config *b)
{
    const struct derived *derived = a->problem->derived;
    for (int i = 0; derived && derived[i].name; i++)
        if (config_derived(a, i) != config_derived(b, i))
            return false;
    return true;
}

bool explainer_reseed(struct explainer *ex, struct config *config)
{
    for (int i = 0; i < RESEEDS; i++) {
        struct config other = *config;
        other.seed = draw_config_seed(ex->stream);
        if (same_derived(config, &other)) {
            *config = other;
            return true;
        }
    }
    return false;
}

void explainer_learn(struct explainer *ex, const struct config *config, bool fails)
{
    const int trial = ex->trials++;
    int64_t *value = ex->value + (size_t)trial * (size_t)ex->quantities;
    ex->config[trial] = *config;
    ex->published[trial] = is_published(ex, config);
    explainer_values(ex, config, true, value);
    for (int i = 0; i < ex->moduli; i++)
        ex->residue[(size_t)i * (size_t)ex->capacity + (size_t)trial] =
            (uint16_t)(value[ex->modulus[i].quantity] % ex->modulus[i].modulus);
    bit_set(fails ? ex->fails : ex->passes, trial);
    if (fails || !ex->published[trial])
        bit_set(ex->unpublished, trial);
    point_set_add(&ex->used, config);
}
