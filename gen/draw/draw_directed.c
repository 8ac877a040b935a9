/* Draws configurations that the candidate's own code suggests: each condition of the code holds, and each of
 * its boundaries is met. Conditions that the other draws meet often enough get none. */
#include "clue_aims.h"
#include "draw_internal.h"

#include <stdio.h>
#include <string.h>

/* HELD_WORTH: so many draws of others that meet a condition count as one that was drawn for it, since their
 * other values are seldom telling. */
enum { RESTARTS = 10, RESTARTS_GUESSED = 5, MOST_VAIN = 2, ROUNDS = 8, HELD_WORTH = 4 };

/* Some conditions need more than a scout's size: each size is so many times the one before, and the last one
 * is that of any configuration. All that are larger than scouts cost at most LARGE_CAPS of these. */
enum { SIZES = 4, SIZE_STEP = 16, LARGE_CAPS = 3 };

struct directing {
    struct drawing drawing;
    struct costing size[SIZES]; /* the first is a scout's */
    struct cost large;          /* of those that are larger than scouts */
    struct clue_aims aims;
    struct pcg *stream;
    int made;
    bool reached; /* try_aim */
};

int effort_directed(enum effort effort)
{
    static const int count[] = {
        [EFFORT_QUICK] = 128, [EFFORT_STANDARD] = 400, [EFFORT_DEEP] = 1000, [EFFORT_REWARD] = 64};
    return count[effort];
}

int effort_directed_few(void)
{
    return 24;
}

int drawn_directed(const struct drawn_list *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->item[i].directed;
    return count;
}

/* --- one draw --- */

/* Every other draw of an aim has the class that shows most. */
static void choose_class(const struct space *space, struct config *config, int drawn, struct pcg *stream)
{
    const int axis = problem_input_axis(space->problem);
    const int64_t sharpest = draw_sharpest(space);
    if (axis < 0)
        return;
    config->value[axis] = drawn % 2 == 0 && sharpest >= 0
                              ? sharpest
                              : draw_input(space, axis, space->domain[axis].value[0], stream);
}

/* Shrinks axes that the aim does not name, those in `spared` last. */
static bool fit(struct directing *d, const struct aim *aim, unsigned spared, struct config *config,
                struct cost *cost)
{
    d->drawing.held = aim->axes;
    const bool fits = draw_shrink_to_fit(&d->drawing, config, -1, spared, false, d->stream, cost);
    d->drawing.held = 0;
    return fits && aim_holds(aim, config) && draw_is_new(&d->drawing, config);
}

/* Begins at a small configuration, since most conditions hold at some small size. Axes in `spared` stay
 * large if that is possible: a fault may need a second block of another axis. */
static void begin_small(struct directing *d, unsigned spared, struct config *config)
{
    struct cost cost;
    draw_random_values(d->drawing.space, config, d->stream);
    if (draw_repair(d->drawing.space, config, -1) != REPAIR_FAILED)
        draw_shrink_to_fit(&d->drawing, config, -1, spared, false, d->stream, &cost);
}

/* Returns an axis that the aim does not name, as a bit; 0: there is none. */
static unsigned another_axis(const struct directing *d, const struct aim *aim)
{
    unsigned axes[PROBLEM_MAX_AXES];
    uint64_t count = 0;
    for (int i = 0; d->drawing.space->problem->axes[i].name; i++)
        if (!(aim->axes >> i & 1) && domain_is_number(d->drawing.space, i))
            axes[count++] = 1u << i;
    return count > 0 ? axes[pcg_below(d->stream, count)] : 0;
}

/* Attempts that meet the aim at no size show that more of them, and larger sizes, are in vain. */
static bool try_aim(struct directing *d, struct clue_aim *aim, struct config *config, struct cost *cost)
{
    const int most = aim->kind == AIM_KNOWN ? RESTARTS : RESTARTS_GUESSED;
    d->reached = false;
    for (int i = 0; i < (d->reached ? most : most / 2); i++) {
        const unsigned spared = aim->drawn % 3 > 0 ? another_axis(d, &aim->aim) : 0;
        begin_small(d, spared, config);
        choose_class(d->drawing.space, config, aim->drawn, d->stream);
        const bool reached = aim_reach(&aim->aim, d->drawing.space, config, d->stream);
        d->reached = d->reached || reached;
        if (reached && fit(d, &aim->aim, spared, config, cost))
            return true;
    }
    return false;
}

static bool may_be_larger(const struct directing *d, const struct clue_aim *aim)
{
    const struct cost *const cap = &d->size[SIZES - 1].cap;
    return aim->kind == AIM_KNOWN && d->large.bytes < LARGE_CAPS * cap->bytes &&
           d->large.flops < LARGE_CAPS * cap->flops;
}

/* The least size at which the aim can be met. */
static bool draw_aim(struct directing *d, struct clue_aim *aim)
{
    struct config config;
    struct cost cost;
    bool drawn = false;
    d->reached = true;
    for (int i = 0; i < SIZES && !drawn && d->reached && (i == 0 || may_be_larger(d, aim)); i++) {
        d->drawing.costing = d->size[i];
        drawn = try_aim(d, aim, &config, &cost);
        d->size[i] = d->drawing.costing;
        if (drawn && i > 0)
            d->large = (struct cost){d->large.bytes + cost.bytes, d->large.flops + cost.flops};
    }
    if (!drawn)
        return false;
    draw_accept(&d->drawing, &config, &cost, "");
    return !d->drawing.no_memory;
}

/* --- what the set has --- */

static void count_held(struct directing *d, const struct config *config)
{
    for (int i = 0; i < d->aims.count; i++)
        d->aims.item[i].held += aim_holds(&d->aims.item[i].aim, config);
}

/* "line 88: pad_w == 12 and stride_w == 1" */
static void give_reason(struct drawn *drawn, const struct clue *clue)
{
    char text[CLUE_MOST_TERMS * (2 * CLUE_TEXT_SIZE + 8)];
    clue_format(clue, text, sizeof text);
    snprintf(drawn->why, sizeof drawn->why, "%.16s%sline %d: %.56s", clue->file, *clue->file ? " " : "",
             clue->line, text);
    drawn->directed = true;
}

static bool is_open(const struct clue_aim *aim, int round)
{
    const int met = aim->drawn + (aim->held - aim->drawn) / HELD_WORTH;
    if (aim->vain >= (aim->kind == AIM_KNOWN ? MOST_VAIN : 1) || aim->drawn >= round)
        return false;
    return aim->drawn < aim->least || (met < aim->wanted && aim->held < HELD_WORTH * aim->wanted);
}

static void draw_one(struct directing *d, struct clue_aim *aim)
{
    const struct drawn_list *const out = d->drawing.out;
    if (!draw_aim(d, aim)) {
        aim->vain++;
        return;
    }
    give_reason(&out->item[out->count - 1], &aim->clue);
    count_held(d, &out->item[out->count - 1].config);
    aim->drawn++;
    d->made++;
}

/* One draw for every aim of the kind that lacks one, then a second for those that lack one more, until
 * the set has `most`. */
static void draw_rounds(struct directing *d, enum clue_aim_kind kind, int most)
{
    for (int round = 1; round <= ROUNDS; round++)
        for (int i = 0; i < d->aims.count && d->made < most && !d->drawing.no_memory; i++)
            if (d->aims.item[i].kind == kind && is_open(&d->aims.item[i], round))
                draw_one(d, &d->aims.item[i]);
}

/* Each kind has its share. A share that is not used goes to the next kinds, and then to the first two. */
static void draw_kinds(struct directing *d, int most)
{
    static const int percent[AIM_KINDS] = {
        [AIM_KNOWN] = 50, [AIM_JOINED] = 70, [AIM_GUESSED] = 90, [AIM_INCLUDED] = 100};
    for (int kind = 0; kind < AIM_KINDS; kind++)
        draw_rounds(d, (enum clue_aim_kind)kind, most * percent[kind] / 100);
    for (int kind = 0; kind < AIM_GUESSED; kind++)
        draw_rounds(d, (enum clue_aim_kind)kind, most);
}

/* --- all of them --- */

static bool start(struct directing *d, const struct clue_list *clues)
{
    struct drawing *const drawing = &d->drawing;
    const struct config_list *const seen = drawing->seen;
    d->stream = draw_stream(drawing, "directed");
    if (!d->stream || point_set_open(&drawing->used, (size_t)seen->count + (size_t)drawing->count) != 0 ||
        clue_aims_open(&d->aims, clues, drawing->space, d->stream) != 0)
        return false;
    for (int i = 0; i < seen->count; i++)
        point_set_add(&drawing->used, &seen->item[i]);
    for (int i = 0; i < drawing->out->count; i++) {
        point_set_add(&drawing->used, &drawing->out->item[i].config);
        count_held(d, &drawing->out->item[i].config);
    }
    return true;
}

static void open_sizes(struct directing *d, const struct space *space, const struct draw_caps *caps)
{
    struct draw_caps cap = draw_scout_caps(caps);
    for (int i = 0; i < SIZES; i++, cap.bytes *= SIZE_STEP, cap.flops *= SIZE_STEP) {
        const bool last = i + 1 == SIZES || (caps && (cap.bytes > caps->bytes || cap.flops > caps->flops));
        d->size[i] = costing_of(space, last ? caps : &cap);
    }
}

int draw_directed(struct drawn_list *list, const struct clue_list *clues, const struct space *space,
                  const struct config_list *seen, int count, uint64_t seed, const struct draw_caps *caps)
{
    struct directing d = {.made = 0};
    if (count <= 0 || clues->count == 0)
        return 0;
    open_sizes(&d, space, caps);
    d.drawing = (struct drawing){.mix = &draw_usual,
                                 .space = space,
                                 .seen = seen,
                                 .out = list,
                                 .seed = seed,
                                 .count = list->count + count,
                                 .costing = d.size[0],
                                 .total = {HUGE_COST, HUGE_COST},
                                 .budget = {1, 1}};
    const bool made = start(&d, clues);
    if (made)
        draw_kinds(&d, count);
    bool whole = made && !d.drawing.no_memory;
    for (int i = 0; i < SIZES; i++)
        whole = whole && !d.size[i].no_memory;
    pcg_free(d.stream);
    clue_aims_close(&d.aims);
    point_set_close(&d.drawing.used);
    return whole ? 0 : -1;
}
