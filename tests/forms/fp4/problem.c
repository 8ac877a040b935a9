/* An update of quantized weights, whose elements of 4 bits share bytes: both an input and the output. */
#include "problems/problem.h"

static const struct axis axes[] = {{"rows", AXIS_NUMBER, NULL, "rows of w"},
                                   {"blocks", AXIS_NUMBER, NULL, "blocks of 16 elements in a row"},
                                   {"input", AXIS_CHOICE, NULL, "how w is drawn"},
                                   {0}};

static const struct tensor tensors[] = {{"w", DTYPE_E2M1, TENSOR_INPUT, "[rows, 16 blocks]"},
                                        {"scale", DTYPE_E4M3, TENSOR_INPUT, "[rows, blocks]"},
                                        {"step", DTYPE_F32, TENSOR_INPUT, "[rows, 16 blocks]"},
                                        {"q", DTYPE_E2M1, TENSOR_OUTPUT, "[rows, 16 blocks]"},
                                        {0}};

static const struct argument arguments[] = {{"rows", ARGUMENT_I64}, {"blocks", ARGUMENT_I64}, {0}};

enum { W, SCALE, STEP };

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "values of every magnitude",
     .fill = {[W] = {.kind = FILL_NORMAL, .b = 2},
              [SCALE] = {.kind = FILL_UNIFORM, .a = 0.25f, .b = 1.5f},
              [STEP] = {.kind = FILL_NORMAL, .b = 0.5f}}},
    {"large", DATA_ANY, "results that saturate",
     .fill = {[W] = {.kind = FILL_NORMAL, .b = 6},
              [SCALE] = {.kind = FILL_UNIFORM, .a = 1, .b = 3},
              [STEP] = {.kind = FILL_NORMAL, .b = 1}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), blocks = config_value(config, "blocks");
    const double elements = 16.0 * (double)rows * (double)blocks;
    (void)shape_random, (void)content_random;
    *out = (struct instance){.extent = {rows, blocks},
                             .tensor = {{.rank = 2, .dim = {rows, 16 * blocks}},
                                        {.rank = 2, .dim = {rows, blocks}},
                                        {.rank = 2, .dim = {rows, 16 * blocks}},
                                        {.rank = 2, .dim = {rows, 16 * blocks}}},
                             .flops = 2 * elements,
                             .bytes = 5 * elements};
    return 0;
}

const struct problem problem_fp4 = {.name = "fp4",
                                    .summary = "a step added to weights in fp4",
                                    .arithmetic = "fp32, rounded to e2m1 once",
                                    .axes = axes,
                                    .tensors = tensors,
                                    .arguments = arguments,
                                    .classes = classes,
                                    .arithmetic_class = ARITHMETIC_F32,
                                    .peak = PEAK_MEMORY,
                                    .host_ns = 5,
                                    .instantiate = instantiate};
