#include "explain_planted.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gen/draw/cost.h"
#include "gen/draw/move.h"

/* --- the ground --- */

static bool within_caps(const struct ground *ground, const struct config *config)
{
    struct costing costing = costing_of(&ground->space, &ground->caps);
    struct cost cost;
    return draw_cost(&costing, config, &cost);
}

/* Shrinks one range after another until the caps hold. Far above them the cost model is not asked. */
static bool shrink_into_caps(const struct ground *ground, struct config *config, struct pcg *stream)
{
    for (int i = 0; i < 400; i++) {
        const int axis = (int)pcg_below(stream, (uint64_t)problem_axis_count(config->problem));
        if (draw_box_size(&ground->space, config) < 1 << 27 && within_caps(ground, config))
            return space_contains(&ground->space, config, NULL);
        if (domain_is_number(&ground->space, axis))
            config->value[axis] = domain_shrink(&ground->space.domain[axis], config->value[axis], stream);
        if (draw_repair(&ground->space, config, -1) == REPAIR_FAILED)
            return false;
    }
    return false;
}

static void draw_fresh(struct ground *ground, uint64_t seed, int count)
{
    struct pcg *stream = pcg_new(seed, "planted/fresh");
    while (ground->fresh.count < count) {
        struct config config;
        draw_least(&ground->space, &config);
        for (int i = 0; config.problem->axes[i].name; i++)
            config.value[i] = domain_random(&ground->space.domain[i], stream);
        if (draw_repair(&ground->space, &config, -1) != REPAIR_FAILED &&
            shrink_into_caps(ground, &config, stream))
            ck_assert_int_eq(config_list_add(&ground->fresh, &config), 0);
    }
    pcg_free(stream);
}

/* The runs of a verification: the seen set, as far as the caps allow, and the unseen one. */
static void draw_known(struct ground *ground, uint64_t seed, int unseen, int scouts)
{
    struct drawn_list seen, drawn;
    struct space_error error;
    ck_assert_int_eq(draw_seen(&seen, &ground->seen, seed), 0);
    ck_assert_msg(draw_unseen(&drawn, &ground->space, &ground->seen, NULL, unseen, seed, &ground->caps, NULL,
                              &error) == 0,
                  "%s", error.text);
    ck_assert_int_eq(draw_scouts(&drawn, &ground->space, &ground->seen, scouts, seed, &ground->caps), 0);
    for (int i = 0; i < seen.count; i++)
        if (within_caps(ground, &seen.item[i].config))
            ck_assert_int_eq(config_list_add(&ground->known, &seen.item[i].config), 0);
    for (int i = 0; i < drawn.count; i++)
        ck_assert_int_eq(config_list_add(&ground->known, &drawn.item[i].config), 0);
    drawn_list_clear(&seen);
    drawn_list_clear(&drawn);
}

void ground_open(struct ground *ground, const char *problem, uint64_t seed, int unseen, int scouts, int fresh)
{
    struct space_error error;
    char path[64];
    *ground = (struct ground){.caps = {128e6, 2e8}};
    snprintf(path, sizeof path, "shapes/%s.space", problem);
    ck_assert_msg(space_read(&ground->space, problem_find(problem), path, &error) == 0, "%s", error.text);
    snprintf(path, sizeof path, "shapes/%s.host.seen", problem);
    if (access(path, R_OK))
        snprintf(path, sizeof path, "shapes/%s.seen", problem);
    ck_assert_msg(config_list_read(&ground->seen, &ground->space, path, false, &error) == 0, "%s",
                  error.text);
    draw_known(ground, seed, unseen, scouts);
    draw_fresh(ground, seed, fresh);
}

void ground_close(struct ground *ground)
{
    config_list_clear(&ground->seen);
    config_list_clear(&ground->fresh);
    config_list_clear(&ground->known);
    space_clear(&ground->space);
}

/* --- the truth --- */

struct planted plant(const struct ground *ground, const char *text)
{
    char why[200];
    struct planted planted = {.ground = ground, .state = 1};
    planted.condition = condition_parse(ground->space.problem, text, why, sizeof why);
    ck_assert_msg(planted.condition != NULL, "%s: %s", text, why);
    return planted;
}

void planted_clear(struct planted *planted)
{
    condition_free(planted->condition);
}

int planted_answer(void *data, const struct config *config)
{
    struct planted *planted = data;
    planted->asked++;
    if (planted->strict)
        planted->outside +=
            !space_contains(&planted->ground->space, config, NULL) || !within_caps(planted->ground, config);
    if (planted->answer)
        return planted->answer(planted, config);
    return condition_holds(planted->condition, config);
}

struct config ground_config(const struct ground *ground, const char *line)
{
    struct space_error error;
    struct config config;
    ck_assert_msg(config_parse(&config, ground->space.problem, line, "unexplained", &error) == 0, "%s", line);
    return config;
}

bool planted_explain(struct planted *planted, int runs, uint64_t seed, struct rule *rule)
{
    const struct ground *ground = planted->ground;
    struct explain_trial *known = calloc((size_t)ground->known.count, sizeof *known);
    int count = 0, fails = 0;
    ck_assert_ptr_nonnull(known);
    for (int i = 0; i < ground->known.count; i++) {
        const int answer = planted_answer(planted, &ground->known.item[i]);
        if (answer >= 0)
            known[count++] = (struct explain_trial){ground->known.item[i], answer == 1};
        fails += answer == 1;
    }
    planted->asked = planted->outside = 0;
    if (fails > 0)
        ck_assert_int_eq(explain(&ground->space, &ground->caps, &ground->seen, planted->clues, known, count,
                                 runs, seed, planted_answer, planted, rule),
                         0);
    free(known);
    return fails > 0;
}

/* --- agreement --- */

/* Walks axis by axis from one configuration to another with the other truth, and bisects the axis that
 * changed it. *a and *b end as two neighbours on the edge. False: both have the same truth. */
static bool find_edge(const struct planted *planted, struct config *a, struct config *b)
{
    const struct space *space = &planted->ground->space;
    struct config from = *a, to = *a;
    int axis = 0;
    for (; space->problem->axes[axis].name; axis++) {
        to.value[axis] = b->value[axis];
        if (condition_holds(planted->condition, &to) != condition_holds(planted->condition, &from))
            break;
        from = to;
    }
    if (!space->problem->axes[axis].name)
        return false;
    const bool range = domain_is_number(space, axis) && space->domain[axis].value_count == 0;
    while (range && llabs(from.value[axis] - to.value[axis]) > 1) {
        struct config middle = from;
        middle.value[axis] = (from.value[axis] + to.value[axis]) / 2;
        if (condition_holds(planted->condition, &middle) == condition_holds(planted->condition, &from))
            from = middle;
        else
            to = middle;
    }
    *a = from;
    *b = to;
    return true;
}

struct error_stats {
    int agreed, asked;
    int right[2], side[2]; /* where the rule does not hold, where it does */
};

static void compare(const struct planted *planted, const struct condition *rule, const struct config *config,
                    struct error_stats *tally)
{
    if (!space_contains(&planted->ground->space, config, NULL))
        return;
    tally->asked++;
    const bool says = condition_holds(rule, config),
               right = says == condition_holds(planted->condition, config);
    tally->agreed += right;
    tally->side[says]++;
    tally->right[says] += right;
}

struct planted_agreement planted_agree(const struct planted *planted, const char *text, uint64_t seed)
{
    const struct ground *ground = planted->ground;
    const struct config_list *fresh = &ground->fresh;
    struct planted rule = plant(ground, text);
    struct pcg *stream = pcg_new(seed, "planted/agreement");
    struct error_stats tally = {0};
    for (int i = 0; i < fresh->count; i++)
        compare(planted, rule.condition, &fresh->item[i], &tally);
    for (int i = 0; i < 20 * fresh->count && tally.asked < 2 * fresh->count; i++) {
        struct config a = fresh->item[pcg_below(stream, (uint64_t)fresh->count)];
        struct config b = fresh->item[pcg_below(stream, (uint64_t)fresh->count)];
        if (pcg_below(stream, 2)) /* rare failures: a threshold from those met */
            b = ground->known.item[pcg_below(stream, (uint64_t)ground->known.count)];
        if (find_edge(planted, &a, &b)) {
            compare(planted, rule.condition, &a, &tally);
            compare(planted, rule.condition, &b, &tally);
        }
    }
    pcg_free(stream);
    planted_clear(&rule);
    struct planted_agreement agreement = {.all = (double)tally.agreed / tally.asked};
    for (int side = 0; side < 2; side++)
        agreement.side[side] = tally.side[side] ? (double)tally.right[side] / tally.side[side] : 1;
    return agreement;
}

struct rule planted_rule(const struct ground *ground, const char *condition,
                         int (*answer)(struct planted *, const struct config *))
{
    struct planted planted = plant(ground, condition);
    struct rule rule;
    planted.answer = answer;
    ck_assert(planted_explain(&planted, PLANTED_RUNS, 3, &rule));
    ck_assert_int_eq(planted.asked, rule.runs);
    ck_assert_int_eq(rule.closest[0] != '\0', strstr(rule.reason, "; closest: ") != NULL);
    planted_clear(&planted);
    return rule;
}

double planted_agreement(const struct planted *planted, const char *text, uint64_t seed)
{
    return planted_agree(planted, text, seed).all;
}

/* --- random conditions --- */

static const char *const kinds[PLANTED_KINDS] = {"axis % m != 0", "axis % m == r", "axis > t", "axis == seen",
                                                 "axis unseen",   "product > t",   "choice",   "quotient",
                                                 "tile count",    "two by and",    "two by or"};

const char *planted_kind_name(int kind)
{
    return kinds[kind];
}

static int pick_axis(const struct space *space, bool number, bool range, struct pcg *stream)
{
    int list[PROBLEM_MAX_AXES], count = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (number ? domain_is_number(space, i) && (!range || space->domain[i].value_count == 0)
                   : space->problem->axes[i].kind == AXIS_CHOICE && space->domain[i].value_count > 1)
            list[count++] = i;
    return list[pcg_below(stream, (uint64_t)count)];
}

static int64_t pick_modulus(const struct domain *domain, bool round, struct pcg *stream)
{
    const uint64_t how = pcg_below(stream, round ? 3 : 4);
    if (how == 0 && domain->tile_count > 0) {
        const int64_t tile = domain->tile[pcg_below(stream, (uint64_t)domain->tile_count)];
        if (tile > 1 && tile <= 256)
            return tile;
    }
    return how < 3 ? (int64_t)2 << pcg_below(stream, 8) : 2 + (int64_t)pcg_below(stream, 255);
}

/* A threshold of a quantity that reaches from 1 to about `most`: a round one, or any. */
static int64_t pick_threshold(int64_t most, struct pcg *stream)
{
    const int64_t any = domain_random(&(struct domain){.low = 1, .high = most}, stream);
    return pcg_below(stream, 2) ? any : (int64_t)1 << (63 - __builtin_clzll((unsigned long long)any));
}

static void unseen_text(const struct ground *ground, int axis, char *text, size_t size)
{
    const char *name = ground->space.problem->axes[axis].name;
    size_t length = 0;
    for (int i = 0; i < ground->seen.count; i++) {
        bool again = false;
        for (int j = 0; j < i; j++)
            again = again || ground->seen.item[j].value[axis] == ground->seen.item[i].value[axis];
        if (!again)
            length += (size_t)snprintf(text + length, size - length, "%s%s != %lld", i ? " and " : "", name,
                                       (long long)ground->seen.item[i].value[axis]);
    }
}

static void product_text(const struct ground *ground, struct pcg *stream, char *text, size_t size)
{
    const struct space *space = &ground->space;
    const struct config *met = &ground->fresh.item[pcg_below(stream, (uint64_t)ground->fresh.count)];
    const int a = pick_axis(space, true, true, stream);
    int b = pick_axis(space, true, true, stream);
    while (b == a)
        b = pick_axis(space, true, false, stream);
    snprintf(text, size, "%s*%s > %lld", space->problem->axes[a].name, space->problem->axes[b].name,
             (long long)pick_threshold(met->value[a] * met->value[b] + 1, stream));
}

static void quotient_text(const struct ground *ground, struct pcg *stream, char *text, size_t size)
{
    const struct axis *axes = ground->space.problem->axes;
    const int a = pick_axis(&ground->space, true, true, stream);
    int b = pick_axis(&ground->space, true, false, stream);
    while (b == a)
        b = pick_axis(&ground->space, true, false, stream);
    if (pcg_below(stream, 2))
        snprintf(text, size, "%s %% %s != 0", axes[a].name, axes[b].name);
    else
        snprintf(text, size, "%s / %s > %d", axes[a].name, axes[b].name, 1 << pcg_below(stream, 5));
}

static void choice_text(const struct ground *ground, struct pcg *stream, char *text, size_t size)
{
    const struct axis *axes = ground->space.problem->axes;
    const int axis = pick_axis(&ground->space, false, false, stream);
    const struct domain *domain = &ground->space.domain[axis];
    snprintf(text, size, "%s%s%s", axes[axis].name, pcg_below(stream, 3) ? "=" : "!=",
             problem_choice(ground->space.problem, axis,
                            domain->value[pcg_below(stream, (uint64_t)domain->value_count)]));
}

static void number_text(const struct ground *ground, int kind, struct pcg *stream, char *text, size_t size)
{
    const struct space *space = &ground->space;
    const int axis = pick_axis(space, true, kind != 3 && kind != 4, stream);
    const char *name = space->problem->axes[axis].name;
    const long long m = pick_modulus(&space->domain[axis], kind > 4, stream);
    const struct config *seen = &ground->seen.item[pcg_below(stream, (uint64_t)ground->seen.count)];
    if (kind == 0)
        snprintf(text, size, "%s %% %lld != 0", name, m);
    else if (kind == 1)
        snprintf(text, size, "%s %% %lld == %lld", name, m, (long long)pcg_below(stream, (uint64_t)m));
    else if (kind == 2)
        snprintf(text, size, "%s %s %lld", name, pcg_below(stream, 4) ? ">" : "<",
                 (long long)pick_threshold(space->domain[axis].high, stream));
    else if (kind == 3)
        snprintf(text, size, "%s == %lld", name, (long long)seen->value[axis]);
    else if (kind == 4)
        unseen_text(ground, axis, text, size);
    else
        snprintf(text, size, "(%s + %lld) / %lld %% %d != 0", name, m - 1, m, 2 << pcg_below(stream, 2));
}

void planted_text(const struct ground *ground, int kind, struct pcg *stream, char *text, size_t size)
{
    if (kind >= 9) {
        char first[200], second[200];
        planted_text(ground, (int)pcg_below(stream, 8), stream, first, sizeof first);
        planted_text(ground, (int)pcg_below(stream, 8), stream, second, sizeof second);
        snprintf(text, size, "%s %s %s", first, kind == 9 ? "and" : "or", second);
    } else if (kind == 5) {
        product_text(ground, stream, text, size);
    } else if (kind == 6) {
        choice_text(ground, stream, text, size);
    } else if (kind == 7) {
        quotient_text(ground, stream, text, size);
    } else {
        number_text(ground, kind, stream, text, size);
    }
}
