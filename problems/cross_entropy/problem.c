#include <math.h>
#include <stdlib.h>

#include "problems/problem.h"

static const char *const ignore[] = {"published", "minus_one", "inside", NULL};
static const char *const ignored[] = {"none", "some", "most", "all", NULL};
static const char *const places[] = {"spread", "edges", NULL};

static const struct axis axes[] = {
    {"rows", AXIS_NUMBER, NULL, "independent rows: tokens"},
    {"vocab", AXIS_NUMBER, NULL, "logits of a row: the vocabulary"},
    {"pad", AXIS_NUMBER, NULL, "elements between two rows of logits: pitch = vocab + pad"},
    {"ignore", AXIS_CHOICE, ignore, "ignore_index: -100, -1, or a label of the vocabulary"},
    {"ignored", AXIS_CHOICE, ignored, "rows with that label: none, a quarter, all but an eighth, all"},
    {"labels", AXIS_CHOICE, places, "labels of the other rows: anywhere, or ends and tile edges"},
    {"input", AXIS_CHOICE, NULL, "how the logits are drawn"},
    {0}};

static const struct tensor tensors[] = {
    {"logits", DTYPE_BF16, TENSOR_INPUT, "[rows, vocab]", "rows lie pitch apart"},
    {"labels", DTYPE_I64, TENSOR_INPUT, "[rows]"},
    {"loss", DTYPE_F32, TENSOR_OUTPUT, "[1]"},
    {"row_loss", DTYPE_F32, TENSOR_OUTPUT, "[rows]"},
    {"lse", DTYPE_F32, TENSOR_OUTPUT, "[rows]"},
    {0}};

static const struct argument arguments[] = {{"rows", ARGUMENT_I64},
                                            {"vocab", ARGUMENT_I64},
                                            {"pitch", ARGUMENT_I64},
                                            {"ignore_index", ARGUMENT_I64},
                                            {0}};

enum { LOGITS, LABELS };
enum { ROWS, VOCAB, PITCH, IGNORE_INDEX };

/* --- labels --- */

/* A column that faulty kernels tend to drop: the last, the first, the first after whole vectors and tiles,
 * any. */
static int64_t edge(int64_t turn, int64_t vocab, struct random *random)
{
    const int64_t last = vocab - 1;
    switch (turn % 5) {
    case 0: return last;
    case 1: return 0;
    case 2: return last / 8 * 8;
    case 3: return last / 1024 * 1024;
    default: return (int64_t)random_below(random, (uint64_t)vocab);
    }
}

static bool is_ignored(const struct config *config, struct random *random)
{
    if (config_chose(config, "ignored", "some"))
        return random_below(random, 4) == 0;
    if (config_chose(config, "ignored", "most"))
        return random_below(random, 8) != 0;
    return config_chose(config, "ignored", "all");
}

/* Draws a label other than the ignored one. */
static int64_t counted_label(const struct config *config, const struct instance *out, struct random *random)
{
    const int64_t vocab = out->extent[VOCAB];
    const bool edges = config_chose(config, "labels", "edges");
    const int64_t label = edges ? edge((int64_t)random_below(random, 5), vocab, random)
                                : (int64_t)random_below(random, (uint64_t)vocab);
    return label == out->extent[IGNORE_INDEX] ? (label + 1) % vocab : label;
}

/* With "some", at least one row counts, and at least one of two or more rows is ignored. If the vocabulary
 * has only the ignored label, all rows are ignored. */
static int draw_labels(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t rows = out->extent[ROWS], ignore_index = out->extent[IGNORE_INDEX];
    const int64_t counted = (int64_t)random_below(random, (uint64_t)rows);
    const bool some = config_chose(config, "ignored", "some"), all = config_chose(config, "ignored", "all");
    int32_t *label = malloc((size_t)rows * sizeof *label);
    if (!label)
        return -1;
    for (int64_t r = 0; r < rows; r++) {
        bool skipped = is_ignored(config, random);
        if (r == counted && !all)
            skipped = false;
        else if (some && r == (counted + 1) % rows)
            skipped = true;
        label[r] = (int32_t)(skipped ? ignore_index : counted_label(config, out, random));
    }
    out->tensor[LABELS].fill = (struct fill){.kind = FILL_GIVEN, .given = label};
    return 0;
}

static int64_t choose_ignore_index(const struct config *config, struct random *random, int64_t vocab)
{
    if (config_chose(config, "ignore", "inside"))
        return edge((int64_t)random_below(random, 5), vocab, random);
    return config_chose(config, "ignore", "minus_one") ? -1 : -100;
}

/* --- input classes --- */

static void plant(struct instance *out, int64_t row, int64_t column, float value)
{
    struct fill *fill = &out->tensor[LOGITS].fill;
    fill->planted[fill->planted_count++] = (struct fill_planted){row * out->extent[VOCAB] + column, value};
}

/* The last row, the first, then any row. */
static int64_t needle_row(int i, int64_t rows, struct random *random)
{
    return i == 0 ? rows - 1 : i == 1 ? 0 : (int64_t)random_below(random, (uint64_t)rows);
}

/* Half of the needles are logits far below all others, at the rows' labels: each contributes noticeably to
 * the loss of any number of rows, and so would an ignored row. The other needles make up nearly all of their
 * rows' sums. */
static int plant_needles(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t rows = out->extent[ROWS], vocab = out->extent[VOCAB], skip = out->extent[IGNORE_INDEX];
    int32_t *label = out->tensor[LABELS].fill.given;
    (void)config;
    for (int i = 0; i < FILL_MAX_PLANTED / 2; i++) {
        const int64_t row = needle_row(i, rows, random), column = edge(i, vocab, random);
        plant(out, row, column, -0x1p17f - 0x1p12f * (float)i);
        if (label[row] != skip && column != skip)
            label[row] = (int32_t)column;
    }
    for (int i = 0; i < FILL_MAX_PLANTED / 2; i++) {
        const int64_t row = needle_row(i, rows, random), column = edge(i + 3, vocab, random);
        plant(out, row, column, 128.0f + (float)i);
    }
    return 0;
}

/* Puts labels at the peaks of FILL_PEAK: in the last column of every fourth row, in the first column of the
 * row after it. */
static int label_peaks(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t rows = out->extent[ROWS], skip = out->extent[IGNORE_INDEX];
    int32_t *label = out->tensor[LABELS].fill.given;
    (void)config;
    (void)random;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t peak = r % 4 == 0 ? out->extent[VOCAB] - 1 : 0;
        if (r % 4 < 2 && label[r] != skip && peak != skip)
            label[r] = (int32_t)peak;
    }
    return 0;
}

#define LOGITS_BY(...) .fill = {[LOGITS] = {__VA_ARGS__}}

/* exp(-16.75) = 0.9 * 2^-24 */
static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as published: deviation 1", LOGITS_BY(.kind = FILL_NORMAL, .b = 1)},
    {"broad", DATA_ANY, "deviation 8: a few logits are most of their row's sum",
     LOGITS_BY(.kind = FILL_NORMAL, .b = 8)},
    {"needle", DATA_ANY,
     "labels with logits far below, and logits that are a row's sum: dropped, they spoil loss or row",
     .discriminating = 1, LOGITS_BY(.kind = FILL_NORMAL, .b = 1), .adjust = plant_needles},
    {"peaked", DATA_ANY,
     "one logit of a row far above the rest, the label in every second row: losses near 0, and near 20",
     LOGITS_BY(.kind = FILL_PEAK, .a = 20, .b = 1), .adjust = label_peaks},
    {"large", DATA_ANY, "around 200: exponentials overflow unless the maximum is subtracted",
     LOGITS_BY(.kind = FILL_NORMAL, .a = 200, .b = 4)},
    {"negative", DATA_ANY, "around -200: all exponentials underflow unless the maximum is subtracted",
     LOGITS_BY(.kind = FILL_NORMAL, .a = -200, .b = 4)},
    {"digits", DATA_ANY, "terms below half an ulp of the running sum, which a plain sum loses",
     LOGITS_BY(.kind = FILL_DIGITS, .a = -16.75f)},
    {"ties", DATA_ANY, "three values: many equal maxima", .discriminating = 2,
     LOGITS_BY(.kind = FILL_LEVELS, .a = -1, .b = 3)},
    {"wide", DATA_ANY, "magnitudes from 2^-20 to 2^10", LOGITS_BY(.kind = FILL_WIDE, .a = -20, .b = 9)},
    {"special", DATA_ANY, "rows with NaN, infinities, zeros of both signs, subnormals",
     LOGITS_BY(.kind = FILL_SPECIAL, .b = 4)},
    {0}};

/* --- instances --- */

static int64_t pitch_of(const struct config *config)
{
    return config_value(config, "vocab") + config_value(config, "pad");
}

static int64_t derived_pitch(const struct config *config, struct random *shape_random,
                             struct random *content_random)
{
    (void)shape_random;
    (void)content_random;
    return pitch_of(config);
}

static const struct derived derived[] = {{"pitch",
                                          DERIVED_EVERY,
                                          {"vocab", "pad"},
                                          "elements from one row of logits to the next",
                                          derived_pitch,
                                          true},
                                         {0}};

static int measure(const struct config *config, struct random *shape_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), vocab = config_value(config, "vocab");
    const int64_t pitch = pitch_of(config);
    const double elements = (double)rows * (double)vocab;
    *out =
        (struct instance){.extent = {rows, vocab, pitch, choose_ignore_index(config, shape_random, vocab)},
                          .tensor = {{.rank = 2, .dim = {rows, vocab}, .pitch = pitch == vocab ? 0 : pitch},
                                     {.rank = 1, .dim = {rows}},
                                     {.rank = 1, .dim = {1}},
                                     {.rank = 1, .dim = {rows}},
                                     {.rank = 1, .dim = {rows}}},
                          .flops = 4 * elements,
                          .bytes = 2 * elements + 16 * (double)rows + 4};
    return 0;
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    measure(config, shape_random, out);
    return draw_labels(config, content_random, out);
}

const struct problem problem_cross_entropy = {
    .name = "cross_entropy",
    .summary = "mean cross entropy of bf16 logits, with every row's loss and log sum of exponentials",
    .arithmetic =
        "fp32 exponentials after subtracting a maximum, or of logits half an ulp off; sums over the "
        "vocabulary and over rows within a relative 2^-12; losses of rows, not log sums and logits, "
        "are averaged",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .derived = derived,
    .arithmetic_class = ARITHMETIC_F32,
    .peak = PEAK_MEMORY,
    .classes = classes,
    .accumulation = {"vocab", {{"input", "digits"}}},
    .half = {0, 1, 0},
    .published_atol = 1e-2,
    .published_rtol = 1e-2,
    .host_ns = 25,
    .instantiate = instantiate,
    .measure = measure,
};
