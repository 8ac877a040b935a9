/* The runs so far, with the quantities that rules are made of. */
#include "evidence.h"

#include <stdlib.h>

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
