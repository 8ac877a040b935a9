/* The conditions of planted faults. They use only values that a kernel can see: its extents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/draw/move.h"
#include "plant.h"

enum { MOST_QUANTITIES = PROBLEM_MAX_AXES + 4, ROUNDS = 40, TRIES = 200 };

/* A value that a kernel may branch on: an extent, by the contract's axes. */
struct quantity {
    char text[64], code[64];
    unsigned axes;
    const struct domain *domain; /* NULL: derived from several axes, or drawn */
    int axis;
    int64_t low, high;
    unsigned kinds; /* a bit for each suitable kind of term; 0: every one */
};

struct choice {
    struct quantity item[MOST_QUANTITIES];
    int count;
};

const char *plant_kind_name(enum plant_kind kind)
{
    static const char *const name[PLANT_KINDS] = {[PLANT_NOT_MULTIPLE] = "not a multiple",
                                                  [PLANT_RESIDUE] = "residue",
                                                  [PLANT_ABOVE] = "above",
                                                  [PLANT_BELOW] = "below",
                                                  [PLANT_SEEN_VALUE] = "a seen value",
                                                  [PLANT_OTHER_VALUE] = "no seen value",
                                                  [PLANT_PRODUCT] = "product",
                                                  [PLANT_RELATION] = "relation"};
    return name[kind];
}

static bool is_extent(const struct problem *problem, const char *name)
{
    for (int i = 0; problem->arguments[i].name; i++)
        if (problem->arguments[i].type == ARGUMENT_I64 && strcmp(problem->arguments[i].name, name) == 0)
            return true;
    return false;
}

/* max_len is no argument of paged_attention, but its number of pages is. */
static void add_pages(const struct plant_field *field, struct choice *choice)
{
    const int length = problem_axis_index(field->problem, "max_len");
    const int page = problem_axis_index(field->problem, "page_size");
    if (!is_extent(field->problem, "pages_per_seq"))
        return;
    struct quantity *q = &choice->item[choice->count++];
    *q = (struct quantity){.axes = 1u << length | 1u << page,
                           .axis = length,
                           .low = 1,
                           .high = field->space.domain[length].high};
    snprintf(q->text, sizeof q->text, "(max_len + page_size - 1) / page_size");
    snprintf(q->code, sizeof q->code, "pages_per_seq");
}

/* Derived sizes, as a kernel finds them in its inputs (contents.in). Where the contents of a configuration
 * differ and any of them may fail, only a greatest above or a least below is sure. */
static const struct {
    const char *problem, *name, *code;
    unsigned kinds;
    int64_t high; /* 0: that of the greatest axis */
} drawn[] = {
    {"moe_up", "most_rows", "plant_most_between(expert_offsets, experts, stream)", 1u << PLANT_ABOVE, 0},
    {"moe_up", "least_rows", "plant_least_between(expert_offsets, experts, stream)", 1u << PLANT_BELOW, 0},
    {"paged_attention", "shortest", "plant_least(seq_lens, batch, stream)",
     1u << PLANT_ABOVE | 1u << PLANT_BELOW | 1u << PLANT_NOT_MULTIPLE | 1u << PLANT_RESIDUE, 0},
    {"paged_attention", "cache", "(pages * page_size * kv_heads * 2 * head_dim)", 1u << PLANT_ABOVE,
     (int64_t)1 << 32},
};
enum { DRAWN = sizeof drawn / sizeof *drawn };

static void add_drawn(const struct plant_field *field, struct choice *choice)
{
    for (int d = 0; d < DRAWN; d++) {
        const int index = problem_derived_index(field->problem, drawn[d].name);
        if (index < 0 || strcmp(drawn[d].problem, field->problem->name) != 0)
            continue;
        struct quantity *q = &choice->item[choice->count++];
        *q = (struct quantity){.axis = -1, .kinds = drawn[d].kinds};
        for (const char *const *name = field->problem->derived[index].axes; *name; name++) {
            const int axis = problem_axis_index(field->problem, *name);
            const int64_t high = field->space.domain[axis].high;
            q->axes |= 1u << axis;
            q->high = high > q->high ? high : q->high;
        }
        q->high = drawn[d].high ? drawn[d].high : q->high;
        q->low = 1;
        snprintf(q->text, sizeof q->text, "%s", drawn[d].name);
        snprintf(q->code, sizeof q->code, "%s", drawn[d].code);
    }
}

static void list_quantities(const struct plant_field *field, struct choice *choice)
{
    choice->count = 0;
    for (int i = 0; field->problem->axes[i].name; i++) {
        const char *name = field->problem->axes[i].name;
        const struct domain *domain = &field->space.domain[i];
        if (!domain_is_number(&field->space, i) || !is_extent(field->problem, name))
            continue;
        struct quantity *q = &choice->item[choice->count++];
        *q = (struct quantity){
            .axes = 1u << i, .domain = domain, .axis = i, .low = domain->low, .high = domain->high};
        snprintf(q->text, sizeof q->text, "%s", name);
        snprintf(q->code, sizeof q->code, "%s", name);
    }
    add_pages(field, choice);
    add_drawn(field, choice);
}

/* --- single terms; each returns false when the quantity is not suitable --- */

static bool say(struct plant_term *term, const struct quantity *q, const char *rest)
{
    term->axes = q->axes;
    return snprintf(term->text, sizeof term->text, "%s %s", q->text, rest) < (int)sizeof term->text &&
           snprintf(term->code, sizeof term->code, "%s %s", q->code, rest) < (int)sizeof term->code;
}

static int64_t draw_modulus(const struct quantity *q, struct pcg *pcg)
{
    static const int64_t usual[] = {2, 3, 4, 8, 16, 32, 64, 128, 256};
    if (q->domain && q->domain->tile_count > 0 && pcg_below(pcg, 2))
        return plant_pick(pcg, q->domain->tile, q->domain->tile_count);
    return plant_pick(pcg, usual, sizeof usual / sizeof *usual);
}

static bool draw_not_multiple(struct plant_term *term, const struct quantity *q, struct pcg *pcg)
{
    char rest[64];
    term->modulus = draw_modulus(q, pcg);
    snprintf(rest, sizeof rest, "%% %lld != 0", (long long)term->modulus);
    return term->modulus > 1 && term->modulus < q->high && say(term, q, rest);
}

static bool draw_residue(struct plant_term *term, const struct quantity *q, struct pcg *pcg)
{
    static const int64_t usual[] = {2, 3, 4, 5, 7, 8, 16, 32, 64, 128};
    char rest[64];
    const int64_t m = plant_pick(pcg, usual, sizeof usual / sizeof *usual);
    const int64_t residue[] = {0, 1, m - 1, m / 2, (int64_t)pcg_below(pcg, (uint64_t)m)};
    term->modulus = m;
    term->value = plant_pick(pcg, residue, 5);
    snprintf(rest, sizeof rest, "%% %lld == %lld", (long long)m, (long long)term->value);
    return m < q->high && say(term, q, rest);
}

static int64_t largest_seen(const struct plant_field *field, int axis)
{
    int64_t largest = 0;
    for (int i = 0; i < field->seen.count; i++)
        if (field->seen.item[i].value[axis] > largest)
            largest = field->seen.item[i].value[axis];
    return largest;
}

/* The size of a buffer for the seen sizes, a power of two, or any. */
static bool draw_above(const struct plant_field *field, struct plant_term *term, const struct quantity *q,
                       struct pcg *pcg)
{
    char rest[64];
    const struct domain box = {.low = q->low, .high = q->high};
    int64_t any = domain_random(q->domain ? q->domain : &box, pcg), power = 1;
    const int64_t largest = q->domain ? largest_seen(field, q->axis) : any;
    while (power < any)
        power *= 2;
    const int64_t threshold[] = {largest, power, any};
    term->value = plant_pick(pcg, threshold, 3);
    snprintf(rest, sizeof rest, "> %lld", (long long)term->value);
    return term->value < q->high && say(term, q, rest);
}

static bool draw_below(struct plant_term *term, const struct quantity *q, struct pcg *pcg)
{
    static const int64_t usual[] = {2, 3, 4, 8, 16, 32, 64, 128};
    char rest[64];
    const bool tile = q->domain && q->domain->tile_count > 0 && pcg_below(pcg, 2);
    term->value = tile ? plant_pick(pcg, q->domain->tile, q->domain->tile_count)
                       : plant_pick(pcg, usual, sizeof usual / sizeof *usual);
    snprintf(rest, sizeof rest, "< %lld", (long long)term->value);
    return term->value > q->low && term->value < q->high && say(term, q, rest);
}

static bool draw_seen_value(const struct plant_field *field, struct plant_term *term,
                            const struct quantity *q, struct pcg *pcg)
{
    char rest[64];
    if (!q->domain || field->seen.count == 0)
        return false;
    term->value = field->seen.item[pcg_below(pcg, (uint64_t)field->seen.count)].value[q->axis];
    snprintf(rest, sizeof rest, "== %lld", (long long)term->value);
    return say(term, q, rest);
}

/* k != 4096 and k != 8192: a table of the published shapes, and wrong elsewhere */
static bool draw_other_value(const struct plant_field *field, struct plant_term *term,
                             const struct quantity *q)
{
    size_t text = 0, code = 0;
    if (!q->domain || field->seen.count == 0)
        return false;
    term->axes = q->axes;
    for (int i = 0; i < field->seen.count; i++) {
        const long long value = field->seen.item[i].value[q->axis];
        bool said = false;
        for (int j = 0; j < i; j++)
            said = said || field->seen.item[j].value[q->axis] == value;
        if (said)
            continue;
        term->value = value;
        text += (size_t)snprintf(term->text + text, sizeof term->text - text, "%s%s != %lld",
                                 text ? " and " : "", q->text, value);
        code += (size_t)snprintf(term->code + code, sizeof term->code - code, "%s%s != %lld",
                                 code ? " && " : "", q->code, value);
        if (text >= sizeof term->text || code >= sizeof term->code)
            return false;
    }
    return true;
}

/* --- several quantities in one term --- */

/* Thresholds within the machine's caps, and 2^31, which breaks 32-bit offsets. */
static bool draw_product(const struct plant_field *field, struct plant_term *term,
                         const struct choice *choice, struct pcg *pcg)
{
    const int wanted = 2 + (pcg_below(pcg, 4) == 0);
    int used = 0;
    size_t at = 0;
    for (int tries = 0; tries < 20 && used < wanted; tries++) {
        const struct quantity *q = &choice->item[pcg_below(pcg, (uint64_t)choice->count)];
        if (!q->domain || q->domain->value_count > 0 || (q->axes & term->axes))
            continue;
        term->axes |= q->axes;
        at += (size_t)snprintf(term->text + at, sizeof term->text - at, "%s%s", at ? " * " : "", q->text);
        used++;
    }
    const int low = field->cuda ? 18 : 10, spread = field->cuda ? 13 : 15;
    const bool wrap = pcg_below(pcg, field->cuda ? 3 : 8) == 0;
    term->value = (int64_t)1 << (wrap ? 31 : low + (int)pcg_below(pcg, (uint64_t)spread));
    snprintf(term->text + at, sizeof term->text - at, " > %lld", (long long)term->value);
    memcpy(term->code, term->text, sizeof term->code);
    return used >= 2;
}

/* Assumptions of kernels about two extents at once. A %d is one of a few small numbers. */
static const struct {
    const char *problem, *text, *axis[2];
} relations[] = {
    {"paged_attention", "heads / kv_heads == %d", {"heads", "kv_heads"}},
    {"paged_attention", "heads / kv_heads > %d", {"heads", "kv_heads"}},
    {"paged_attention", "batch < kv_heads", {"batch", "kv_heads"}},
    {"gemm_w4a16", "k %% group != 0", {"k", "group"}},
    {"gemm_w4a16", "k < group", {"k", "group"}},
    {"gemm_bf16", "m > n", {"m", "n"}},
    {"gemm_f32", "k > m", {"k", "m"}},
    {"gemm_fp8", "n %% m != 0", {"n", "m"}},
    {"moe_up", "tokens %% experts != 0", {"tokens", "experts"}},
    {"moe_up", "tokens / experts < %d", {"tokens", "experts"}},
    {"kda", "dk != dv", {"dk", "dv"}},
    {"kda", "dk < dv", {"dk", "dv"}},
    {"topk", "2 * k > n", {"k", "n"}},
    {"topk", "n / k < %d", {"n", "k"}},
    {"softmax", "cols < rows", {"cols", "rows"}},
};
enum { RELATIONS = sizeof relations / sizeof *relations };

static bool draw_relation(const struct plant_field *field, struct plant_term *term, struct pcg *pcg)
{
    static const int64_t small[] = {1, 2, 3, 4, 5, 8, 12, 16};
    const uint64_t r = pcg_below(pcg, RELATIONS);
    if (strcmp(relations[r].problem, field->problem->name) != 0)
        return false;
    term->value = plant_pick(pcg, small, sizeof small / sizeof *small);
    for (int i = 0; i < 2; i++)
        term->axes |= 1u << problem_axis_index(field->problem, relations[r].axis[i]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(term->text, sizeof term->text, relations[r].text, (int)term->value);
#pragma GCC diagnostic pop
    memcpy(term->code, term->text, sizeof term->code);
    return true;
}

/* --- the whole --- */

static bool draw_term(const struct plant_field *field, const struct choice *choice, enum plant_kind kind,
                      struct plant_term *term, struct pcg *pcg)
{
    const struct quantity *q = &choice->item[pcg_below(pcg, (uint64_t)choice->count)];
    *term = (struct plant_term){.kind = kind};
    if (q->kinds && !(q->kinds >> kind & 1))
        return false;
    switch (kind) {
    case PLANT_NOT_MULTIPLE: return draw_not_multiple(term, q, pcg);
    case PLANT_RESIDUE: return draw_residue(term, q, pcg);
    case PLANT_ABOVE: return draw_above(field, term, q, pcg);
    case PLANT_BELOW: return draw_below(term, q, pcg);
    case PLANT_SEEN_VALUE: return draw_seen_value(field, term, q, pcg);
    case PLANT_OTHER_VALUE: return draw_other_value(field, term, q);
    case PLANT_PRODUCT: return draw_product(field, term, choice, pcg);
    default: return draw_relation(field, term, pcg);
    }
}

/* Terms of their own axes neither contradict nor imply each other. */
static bool draw_terms(struct plant *plant, const struct plant_field *field, const struct choice *choice,
                       const enum plant_kind kind[2], struct pcg *pcg)
{
    if (!draw_term(field, choice, kind[0], &plant->term[0], pcg))
        return false;
    if (plant->join == PLANT_SINGLE)
        return true;
    return draw_term(field, choice, kind[1], &plant->term[1], pcg) &&
           (plant->term[0].axes & plant->term[1].axes) == 0;
}

static bool parse(struct plant *plant)
{
    char why[256];
    condition_free(plant->condition);
    plant->condition = condition_parse(plant->problem, plant->when, why, sizeof why);
    if (!plant->condition)
        fprintf(stderr, "planted condition '%s': %s\n", plant->when, why);
    return plant->condition != NULL;
}

static bool join_terms(struct plant *plant)
{
    static const char *const word[] = {[PLANT_AND] = "and", [PLANT_OR] = "or"};
    int length;
    if (plant->join == PLANT_SINGLE)
        length = snprintf(plant->when, sizeof plant->when, "%s", plant->term[0].text);
    else
        length = snprintf(plant->when, sizeof plant->when, "%s %s %s", plant->term[0].text, word[plant->join],
                          plant->term[1].text);
    return length < (int)sizeof plant->when && parse(plant);
}

/* It holds somewhere in the contract and fails to hold elsewhere, on configurations of any size. */
static bool is_condition(const struct plant *plant, const struct plant_field *field, struct pcg *pcg)
{
    struct config config;
    return plant_search(plant, field, true, true, pcg, &config) &&
           plant_search(plant, field, false, true, pcg, &config);
}

/* Each of two terms has to be a condition by itself: `trans_b != 0 and trans_b != 1` is none. */
static bool are_conditions(const struct plant *plant, const struct plant_field *field, struct pcg *pcg)
{
    bool good = is_condition(plant, field, pcg);
    for (int t = 0; good && plant->join != PLANT_SINGLE && t < 2; t++) {
        struct plant alone = {.problem = plant->problem, .term = {plant->term[t]}};
        good = join_terms(&alone) && is_condition(&alone, field, pcg);
        condition_free(alone.condition);
    }
    return good;
}

/* A kernel that is wrong on its author's tests is not submitted: most faults leave the seen set right. */
static bool is_likely(const struct plant *plant, const struct plant_field *field, struct pcg *pcg)
{
    const bool meant = plant->term[0].kind == PLANT_SEEN_VALUE && plant->join == PLANT_SINGLE;
    return meant || !plant_on_seen(plant, field) || pcg_below(pcg, 8) == 0;
}

int plant_draw_condition(struct plant *plant, const struct plant_field *field, struct pcg *pcg)
{
    struct choice choice;
    list_quantities(field, &choice);
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t part = pcg_below(pcg, 100);
        const enum plant_kind kind[2] = {(enum plant_kind)pcg_below(pcg, PLANT_KINDS),
                                         (enum plant_kind)pcg_below(pcg, PLANT_KINDS)};
        plant->join = part < 60 ? PLANT_SINGLE : part < 82 ? PLANT_AND : PLANT_OR;
        for (int i = 0; i < TRIES; i++)
            if (draw_terms(plant, field, &choice, kind, pcg) && join_terms(plant) &&
                is_likely(plant, field, pcg) && are_conditions(plant, field, pcg))
                return 0;
    }
    fprintf(stderr, "%s: found no condition worth planting\n", plant->problem->name);
    return -1;
}
