/* The damage of a planted fault to the output, and its place. */
#include <stdio.h>
#include <string.h>

#include "plant.h"

/* Places, with the skeletons' names: row, column and i of an output that is [rows, columns]. Every place has
 * at least one element of any output. */
static const struct {
    const char *name, *code;
    bool contiguous; /* neighbours of most of its elements belong to it */
} places[] = {
    {"whole output", "1", true},
    {"last row", "row == rows - 1", true},
    {"last column", "column == columns - 1", false},
    {"first tile", "row < 16 && column < 16", true},
    {"last corner", "row >= rows - 8 && column >= columns - 8", true},
    {"one element in 1000", "i % 1000 == last % 1000", false},
    {"first element", "i == 0", false},
    {"last element", "i == last", false},
    {"middle element", "i == last / 2", false},
    {"tail of 64 columns", "column >= (columns - 1) / 64 * 64", true},
    {"tail of 8 columns", "column >= (columns - 1) / 8 * 8", true},
};
enum { PLACES = sizeof places / sizeof *places, WHOLE = 0 };

static const struct {
    const char *code, *name, *outcomes;
} damages[PLANT_DAMAGES] = {
    [PLANT_UNWRITTEN] = {"PLANT_UNWRITTEN", "not written", "unwritten"},
    [PLANT_LATE] = {"PLANT_LATE", "one element late", "unwritten wrong"},
    [PLANT_STALE] = {"PLANT_STALE", "of an earlier call", "unwritten wrong unstable"},
    [PLANT_SCALED] = {"PLANT_SCALED", "wrong scale", "wrong"},
    [PLANT_NAN] = {"PLANT_NAN", "NaN", "wrong"},
    [PLANT_LOW_BITS] = {"PLANT_LOW_BITS", "low bits lost", "wrong"},
    [PLANT_OVERRUN] = {"PLANT_OVERRUN", "overrun", "overrun"},
    [PLANT_RACE] = {"PLANT_RACE", "adds without atomics", "wrong unstable"},
    [PLANT_REFUSED] = {"PLANT_REFUSED", "refusal", "refused"},
};

const char *plant_damage_code(enum plant_damage damage)
{
    return damages[damage].code;
}

const char *plant_place_code(const struct plant *plant)
{
    return places[plant->place].code;
}

void plant_describe(const struct plant *plant, char *text, size_t size)
{
    const char *name = damages[plant->damage].name;
    if (plant->damage == PLANT_REFUSED)
        snprintf(text, size, "%s", name);
    else if (plant->damage == PLANT_OVERRUN)
        snprintf(text, size, "%s by %d bytes", name, plant->bytes);
    else
        snprintf(text, size, "%s, %s", name, places[plant->place].name);
}

/* For a problem that writes only in place, the output that it writes there. */
static int draw_output(const struct problem *problem, struct pcg *pcg)
{
    static const enum tensor_role role[] = {TENSOR_OUTPUT, TENSOR_INOUT};
    int output[PROBLEM_MAX_TENSORS], count = 0;
    for (int i = 0; i < 2 && count == 0; i++)
        for (int t = 0; problem->tensors[t].name; t++)
            if (problem->tensors[t].role == role[i])
                output[count++] = t;
    return output[pcg_below(pcg, (uint64_t)count)];
}

static bool is_float(const struct plant *plant)
{
    return plant->problem->tensors[plant->output].dtype != DTYPE_I64;
}

/* Damage by a value is sure to show: a value without bounds, or NaN against a number. A stale value may be
 * right by chance, so every other call leaves the place unwritten. Lost bits may be zeros, so they go all
 * over the output, and count only where values are drawn as published. An exact result shows every bit. */
void plant_draw_damage(struct plant *plant, const struct plant_field *field, struct pcg *pcg)
{
    bool fits;
    do {
        plant->damage = (enum plant_damage)pcg_below(pcg, PLANT_DAMAGES);
        plant->place = (int)pcg_below(pcg, PLACES);
        plant->output = draw_output(plant->problem, pcg);
        fits = plant->damage != PLANT_LATE || places[plant->place].contiguous;
        fits = fits && (plant->damage != PLANT_LOW_BITS || is_float(plant));
    } while (!fits);
    if (plant->damage == PLANT_LOW_BITS && plant->problem->arithmetic_class != ARITHMETIC_EXACT) {
        plant->place = WHOLE;
        plant->by_bits = true;
    }
    plant->bytes = 1 + (int)pcg_below(pcg, 64);
    /* an old value in place is right where nothing changes it: a rotation by no angle */
    const bool in_place = plant->problem->tensors[plant->output].role == TENSOR_INOUT;
    const bool leaves =
        plant->damage == PLANT_UNWRITTEN || plant->damage == PLANT_LATE || plant->damage == PLANT_STALE;
    plant->intermittent = plant->damage == PLANT_RACE || (in_place && leaves);
    plant->outcomes = damages[plant->damage].outcomes;
    /* the old value may be a number that is no longer right */
    if (plant->damage == PLANT_UNWRITTEN && in_place)
        plant->outcomes = "unwritten wrong";
    const bool refuses = plant->damage == PLANT_REFUSED;
    plant->verdict = plant_on_seen(plant, field) ? "broken" : refuses ? "limited" : "specialized";
}
