/* Rows added to a cache in place: an in-out tensor that must mostly stay unchanged. */
#include <stdlib.h>

#include "problems/problem.h"

static const struct axis axes[] = {{"tokens", AXIS_NUMBER, NULL, "rows that come; at most slots"},
                                   {"slots", AXIS_NUMBER, NULL, "rows of the cache"},
                                   {"dim", AXIS_NUMBER, NULL, "length of a row"},
                                   {"input", AXIS_CHOICE, NULL, "how the cache is drawn; x is normal"},
                                   {0}};

static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[tokens, dim]"},
                                        {"slot", DTYPE_I32, TENSOR_INPUT, "[tokens], distinct"},
                                        {"cache", DTYPE_BF16, TENSOR_INOUT, "[slots, dim]"},
                                        {0}};

static const struct argument arguments[] = {
    {"tokens", ARGUMENT_I64}, {"slots", ARGUMENT_I64}, {"dim", ARGUMENT_I64}, {0}};

enum { X, SLOT, CACHE };

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as they come",
     .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}, [CACHE] = {.kind = FILL_NORMAL, .b = 1}}},
    {"special", DATA_ANY, "a cache with NaN, infinities, zeros of both signs, subnormals",
     .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}, [CACHE] = {.kind = FILL_SPECIAL, .b = 1}}},
    {0}};

/* The first `tokens` of a permutation of the slots. */
static int32_t *draw_slots(int64_t tokens, int64_t slots, struct random *random)
{
    int32_t *all = malloc((size_t)slots * sizeof *all);
    for (int64_t i = 0; all && i < slots; i++)
        all[i] = (int32_t)i;
    for (int64_t i = 0; all && i < tokens; i++) {
        const int64_t other = i + (int64_t)random_below(random, (uint64_t)(slots - i));
        const int32_t slot = all[other];
        all[other] = all[i];
        all[i] = slot;
    }
    return all;
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t tokens = config_value(config, "tokens"), slots = config_value(config, "slots");
    const int64_t dim = config_value(config, "dim");
    int32_t *slot = draw_slots(tokens, slots, content_random);
    (void)shape_random;
    if (!slot)
        return -1;
    *out = (struct instance){.extent = {tokens, slots, dim},
                             .tensor = {{.rank = 2, .dim = {tokens, dim}},
                                        {.rank = 1, .dim = {tokens}},
                                        {.rank = 2, .dim = {slots, dim}}},
                             .flops = (double)(tokens * dim),
                             .bytes = 6.0 * (double)(tokens * dim)};
    out->tensor[SLOT].fill = (struct fill){.kind = FILL_GIVEN, .given = slot};
    return 0;
}

const struct problem problem_append = {.name = "append",
                                       .summary = "rows added to some rows of a cache, in place",
                                       .arithmetic = "fp32, rounded to bf16 once",
                                       .axes = axes,
                                       .tensors = tensors,
                                       .arguments = arguments,
                                       .classes = classes,
                                       .arithmetic_class = ARITHMETIC_F32,
                                       .peak = PEAK_MEMORY,
                                       .host_ns = 1,
                                       .instantiate = instantiate};
