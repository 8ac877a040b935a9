/* Judges outputs that we construct: the right one, right ones with changed elements, and null outputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prove_trial.h"

enum { MOST_ROUNDS = 3 };

/* Terms that MPFR may use per configuration. */
static const double witness_terms = 1e5;

/* Largest radius of an enclosure relative to the allowed error; then a verdict rarely depends on the
 * radius. */
static const double narrow = 0x1p-8;

/* --- choice of elements --- */

/* Finds the largest and the smallest nonzero element. */
static void find_extremes(const struct trial *t, int64_t extreme[2])
{
    double most = -1, least = INFINITY;
    extreme[0] = extreme[1] = 0;
    for (int64_t i = 0; i < t->elements; i++) {
        const double size = fabs(trial_get(t, t->right, i));
        if (size > most && isfinite(size)) {
            most = size;
            extreme[0] = i;
        }
        if (size < least && size > 0) {
            least = size;
            extreme[1] = i;
        }
    }
}

static int64_t any_element(struct trial *t)
{
    return (int64_t)pcg_below(t->p->pcg, (uint64_t)t->elements);
}

/* Chooses ends, extremes and four random elements; if a witness is expensive, all in one row. The last six
 * are not chosen by value. */
static void choose_elements(struct trial *t, int64_t index[LOOKED_AT])
{
    const struct reference *r = t->j->reference;
    find_extremes(t, index);
    index[2] = 0;
    index[3] = t->elements - 1;
    for (int i = 4; i < LOOKED_AT; i++)
        index[i] = any_element(t);
    if (r->row_of(&t->request, 0) < 0 || r->witness_cost(&t->request) * LOOKED_AT <= witness_terms)
        return;
    for (int i = 5; i < LOOKED_AT; i++)
        index[i] = r->same_row(&t->request, index[4], (uint64_t)index[i]);
}

/* --- the right output --- */

static void hear(struct trial *t, const struct judged *e, const struct witnessed *answer)
{
    const char *name = t->p->problem->tensors[t->j->output].name;
    prove_ask(t->p, PROVE_ENCLOSURE, 1);
    if (!answer->inside && t->layout->instance.data == DATA_EXACT && e->rad == 0)
        prove_fail(t->p, PROVE_EXACT, &t->c->config, PROMISED,
                   "class %s: MPFR has %.17g for %s[%lld], the sum as doubles have it is %.17g",
                   t->p->classes ? t->p->problem->classes[t->c->class].name : "of all", answer->value, name,
                   (long long)e->index, e->mid);
    if (!answer->inside)
        prove_fail(t->p, PROVE_ENCLOSURE, &t->c->config, "the value by MPFR inside the enclosure",
                   "%s[%lld]: MPFR %.17g, enclosure %.17g +- %.3g", name, (long long)e->index, answer->value,
                   e->mid, e->rad);
    else if (isfinite(e->mid) && e->allowed > 0 && !(e->rad <= e->allowed * narrow))
        prove_fail(t->p, PROVE_ENCLOSURE, &t->c->config, "an enclosure far narrower than what is allowed",
                   "%s[%lld]: %.17g +- %.3g, %.3g being allowed", name, (long long)e->index, e->mid, e->rad,
                   e->allowed);
    else if (!answer->ok)
        prove_fail(t->p, PROVE_RIGHT, &t->c->config, "the right output accepted",
                   "%s[%lld]: %.9g rejected by MPFR, whose value is %.17g; allowed %.3g", name,
                   (long long)e->index, e->got, answer->value, e->allowed);
}

/* Asks MPFR about as many elements as it has time for, worst first, and about all open ones. */
static bool witness(struct trial *t)
{
    const struct judged *element[LOOKED_AT + 1 + JUDGE_OPEN];
    struct witnessed answer[LOOKED_AT + 1 + JUDGE_OPEN];
    const double room = witness_terms / t->j->reference->witness_cost(&t->request);
    const bool shared = t->j->reference->row_of(&t->request, 0) >= 0;
    int count = 0;
    if (t->report->worst.index >= 0)
        element[count++] = &t->report->worst;
    for (int64_t i = 0; i < t->report->open && i < JUDGE_OPEN && count < room; i++)
        element[count++] = &t->report->opens[i];
    for (int i = LOOKED_AT - 1; i >= 0 && (count < room || (shared && i > 4)); i--)
        element[count++] = &t->at[i];
    if (layout_witness(t->layout, t->j->reference, &t->request, element, answer, count) != 0)
        return prove_broke(t->p, "the MPFR witness", -1);
    for (int i = 0; i < count; i++)
        hear(t, element[i], &answer[i]);
    return true;
}

static void look_at_right(struct trial *t)
{
    const struct judge_report *r = t->report;
    prove_ask(t->p, PROVE_RIGHT, 1);
    if (r->wrong > 0)
        prove_fail(t->p, PROVE_RIGHT, &t->c->config, "the right output accepted",
                   "%lld of %lld elements of %s rejected, the first at %lld", (long long)r->wrong,
                   (long long)t->elements, t->p->problem->tensors[t->j->output].name,
                   (long long)r->first_wrong);
    else if (r->open > JUDGE_OPEN)
        prove_fail(
            t->p, PROVE_ENCLOSURE, &t->c->config, "an enclosure that decides all but a few elements",
            "%lld of %lld elements of %s left open%s", (long long)r->open, (long long)t->elements,
            t->p->problem->tensors[t->j->output].name,
            t->layout->instance.data == DATA_EXACT
                ? ", of a class that allows no error: its sums have a radius (does acc_num get the unit?)"
                : "");
}

/* Judges twice, since a request has room for half of the chosen elements. */
static bool judge_right(struct trial *t)
{
    int64_t index[LOOKED_AT];
    choose_elements(t, index);
    for (int half = 0; half < 2; half++) {
        memcpy(t->request.sample, index + half * JUDGE_SAMPLES, sizeof t->request.sample);
        if (!trial_judge(t, t->right))
            return false;
        memcpy(t->at + half * JUDGE_SAMPLES, t->report->sample, sizeof t->report->sample);
    }
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        t->request.sample[s] = -1;
    t->looked = LOOKED_AT;
    look_at_right(t);
    return witness(t);
}

/* --- changed elements --- */

enum move { MOVE_HALF, MOVE_FOUR_TIMES, MOVE_ZERO, MOVE_TWICE };

/* False: there is no such value. */
static bool move_element(struct trial *t, enum move move, const struct judged *e)
{
    const double sign = pcg_below(t->p->pcg, 2) ? 1 : -1;
    const enum dtype dtype = t->dtype;
    const int64_t place = instance_tensor_place(t->shape, e->index);
    if (!isfinite(e->mid)) { /* a finite number exceeds any allowed error */
        trial_set(t, e->index, 1);
        return move == MOVE_FOUR_TIMES;
    }
    switch (move) {
    case MOVE_HALF:
        if (e->kept) /* only its exact bits are right: not even the other zero is */
            return false;
        return value_set_inside(dtype, t->changed, place, e->mid, e->mid + sign * e->allowed / 2);
    case MOVE_FOUR_TIMES:
        return value_set_outside(dtype, t->changed, place, e->mid, e->mid + sign * 4 * e->allowed) ||
               value_set_outside(dtype, t->changed, place, e->mid, e->mid - sign * 4 * e->allowed);
    case MOVE_ZERO: trial_set(t, e->index, 0); return trial_tells(t, e);
    default: trial_set(t, e->index, 2 * e->mid); return trial_tells(t, e);
    }
}

static bool shares_row(const struct trial *t, int64_t index, const struct judged *const *moved, int count)
{
    const int64_t row = t->j->reference->row_of(&t->request, index);
    for (int i = 0; i < count; i++)
        if (moved[i]->index == index ||
            (row >= 0 && t->j->reference->row_of(&t->request, moved[i]->index) == row))
            return true;
    return false;
}

static void note_moved(struct trial *t, enum move move, const struct judged *e, struct prove_telling *telling)
{
    const char *name = t->p->problem->tensors[t->j->output].name;
    const bool rejected = t->mask[e->index];
    const double now = trial_get(t, t->changed, e->index);
    if (move == MOVE_ZERO || move == MOVE_TWICE) {
        telling->changed++;
        telling->accepted += !rejected;
        return;
    }
    prove_ask(t->p, move == MOVE_HALF ? PROVE_RIGHT : PROVE_OFF, 1);
    if (move == MOVE_HALF && rejected)
        prove_fail(t->p, PROVE_RIGHT, &t->c->config, "an element off by half of what is allowed accepted",
                   "%s[%lld]: %.9g for %.17g rejected, %.3g being allowed", name, (long long)e->index, now,
                   e->mid, e->allowed);
    if (move == MOVE_FOUR_TIMES && !rejected)
        prove_fail(t->p, PROVE_OFF, &t->c->config, "an element off by four times what is allowed rejected",
                   "%s[%lld]: %.9g for %.17g accepted, %.3g being allowed", name, (long long)e->index, now,
                   e->mid, e->allowed);
}

/* Changes one element per row at a time: several equal errors could pass as a row's common offset. */
static bool try_move(struct trial *t, enum move move, int from, int to, struct prove_telling *telling)
{
    bool done[LOOKED_AT] = {false};
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const struct judged *moved[LOOKED_AT];
        int count = 0;
        for (int i = to - 1; i >= from; i--) {
            if (done[i] || shares_row(t, t->at[i].index, moved, count))
                continue;
            done[i] = true;
            if (move_element(t, move, &t->at[i]))
                moved[count++] = &t->at[i];
            else
                trial_put_right(t, t->at[i].index);
        }
        if (count == 0)
            break;
        if (!trial_judge(t, t->changed))
            return false;
        for (int i = 0; i < count; i++)
            note_moved(t, move, moved[i], telling);
        for (int i = 0; i < count; i++)
            trial_put_right(t, moved[i]->index);
    }
    return true;
}

/* --- sensitivity of the class --- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct prove_telling *add_telling(struct trial *t)
{
    struct prove_report *r = t->p->report;
    struct prove_telling *grown = realloc(r->telling, (size_t)(r->telling_count + 1) * sizeof *r->telling);
    if (!grown)
        return prove_broke(t->p, "what classes tell", -1) ? NULL : NULL;
    r->telling = grown;
    grown[r->telling_count] = (struct prove_telling){.config = t->c->config,
                                                     .output = t->p->problem->tensors[t->j->output].name,
                                                     .flops = t->layout->instance.flops,
                                                     .bytes = t->layout->instance.bytes};
    return &grown[r->telling_count++];
}

/* Uses only elements that were not chosen by their size. */
static void measure_telling(const struct trial *t, struct prove_telling *telling)
{
    int count = 0;
    for (int i = LOOKED_AT - PROVE_VALUES; i < t->looked; i++)
        if (trial_tells(t, &t->at[i]))
            telling->ratio[count++] = t->at[i].allowed / fabs(t->at[i].mid);
    qsort(telling->ratio, (size_t)count, sizeof *telling->ratio, ascending);
    telling->values = count;
    telling->median = count ? telling->ratio[(count - 1) / 2] : 0;
}

/* --- discrete outputs: the baseline's output is right, and nothing else --- */

static void note_changed(struct trial *t, int tensor, int64_t index, struct prove_telling *telling)
{
    const bool rejected = t->report->wrong > 0;
    telling->changed++;
    telling->accepted += !rejected;
    if (tensor != t->j->output)
        return;
    prove_ask(t->p, PROVE_OFF, 1);
    if (!rejected)
        prove_fail(t->p, PROVE_OFF, &t->c->config, "an element with another value rejected",
                   "%s[%lld]: another value than the right one accepted", t->p->problem->tensors[tensor].name,
                   (long long)index);
}

/* Changes elements of one tensor, one at a time. */
static bool change_elements(struct trial *t, int tensor, struct prove_telling *telling)
{
    struct layout *l = t->layout;
    const enum dtype dtype = t->p->problem->tensors[tensor].dtype;
    const size_t bytes = l->bytes[tensor];
    char *const right = malloc(bytes), *const changed = malloc(bytes);
    bool ok = (right && changed) || prove_broke(t->p, "judging", -1);
    int error = ok ? l->memory->to_host(right, l->got[tensor], 0, (int64_t)bytes) : 0;
    for (int i = 0; i < JUDGE_SAMPLES && ok && !error; i++) {
        const int64_t index =
            (int64_t)pcg_below(t->p->pcg, (uint64_t)instance_tensor_count(&l->instance.tensor[tensor]));
        memcpy(changed, right, bytes);
        value_change(dtype, changed, instance_tensor_place(&l->instance.tensor[tensor], index));
        error = l->memory->from_host(l->got[tensor], changed, bytes);
        ok = error || trial_judge(t, tensor == t->j->output ? changed : t->right);
        if (ok && !error)
            note_changed(t, tensor, index, telling);
        error = error ? error : l->memory->from_host(l->got[tensor], right, bytes);
    }
    free(right);
    free(changed);
    return ok && (!error || prove_broke(t->p, "changing an output", error));
}

/* If elements are equal, another index may be right, too; so such a tensor is judged by the majority. */
static bool try_discrete(struct trial *t, struct null_count count[NULLS_TRIED])
{
    const int error =
        t->layout->memory->to_host(t->right, t->layout->got[t->j->output], 0, (int64_t)t->bytes);
    bool ok = !error || prove_broke(t->p, "reading an output", error);
    ok = ok && judge_right(t);
    struct prove_telling *telling = ok ? add_telling(t) : NULL;
    ok = telling != NULL;
    for (int tensor = 0; ok && t->p->problem->tensors[tensor].name; tensor++)
        if (t->j->tensors >> tensor & 1 && t->layout->got[tensor])
            ok = change_elements(t, tensor, telling);
    return ok && (!t->c->nulls || trial_nulls(t, count));
}

/* --- all steps --- */

static bool try_continuous(struct trial *t, struct null_count count[NULLS_TRIED])
{
    bool ok = trial_expect(t);
    if (ok)
        memcpy(t->changed, t->right, t->bytes);
    ok = ok && judge_right(t);
    struct prove_telling *telling = ok ? add_telling(t) : NULL;
    if (!telling)
        return false;
    measure_telling(t, telling);
    return try_move(t, MOVE_HALF, 0, LOOKED_AT, telling) &&
           try_move(t, MOVE_FOUR_TIMES, 0, LOOKED_AT, telling) && try_move(t, MOVE_ZERO, 2, 5, telling) &&
           try_move(t, MOVE_TWICE, 5, LOOKED_AT, telling) && (!t->c->nulls || trial_nulls(t, count));
}

static bool try_output(struct proof *p, const struct prove_case *c, struct layout *layout,
                       const struct judgement *j, struct null_count count[NULLS_TRIED])
{
    struct trial t = {.p = p,
                      .c = c,
                      .j = j,
                      .layout = layout,
                      .shape = &layout->instance.tensor[j->output],
                      .dtype = p->problem->tensors[j->output].dtype,
                      .elements = instance_tensor_count(&layout->instance.tensor[j->output]),
                      .bytes = layout->bytes[j->output]};
    if (t.elements == 0)
        return true;
    layout_request(layout, j->output, p->options->device->capability, &t.request);
    t.report = malloc(sizeof *t.report);
    t.right = malloc(t.bytes);
    t.changed = malloc(t.bytes);
    t.mask = malloc((size_t)t.elements);
    bool ok = t.report && t.right && t.changed && t.mask &&
              layout->memory->take(&t.device_mask, (size_t)t.elements) == 0;
    ok = ok || prove_broke(p, "judging", -1);
    ok = ok && (j->reference->discrete ? try_discrete(&t, count) : try_continuous(&t, count));
    if (t.device_mask)
        layout->memory->release(t.device_mask);
    free(t.report);
    free(t.right);
    free(t.changed);
    free(t.mask);
    return ok;
}

/* Computes the baseline's outputs; false if they are not right, as prove_kernels reports. */
static bool leave_outputs(struct proof *p, const struct prove_case *c, struct session *baseline,
                          const struct layout *layout)
{
    struct config_result result = {.config = c->config};
    session_copy(baseline, layout->got);
    if (session_check(baseline, &c->config, &result) == SESSION_BROKEN)
        return prove_break(p, PROVE_ENVIRONMENT, "%s", session_error(baseline));
    return result.outcome == OUTCOME_PASS;
}

static bool try_case(struct proof *p, const struct prove_case *c, struct session *baseline,
                     struct null_count (*count)[NULLS_TRIED])
{
    struct layout layout;
    const int error = layout_open(&layout, p->memory, &c->config, 0);
    bool ok = !error || prove_broke(p, "laying out a configuration", error);
    prove_threads(p, layout.instance.flops);
    const bool left = ok && baseline && leave_outputs(p, c, baseline, &layout);
    ok = ok && p->status == PROVE_DONE;
    for (int j = 0; j < p->judgements && ok; j++)
        if (left || !p->judgement[j].reference->discrete)
            ok = try_output(p, c, &layout, &p->judgement[j], count[j]);
    layout_close(&layout);
    return ok;
}

bool prove_outputs(struct proof *p)
{
    struct null_count count[PROBLEM_MAX_TENSORS][NULLS_TRIED] = {{{0}}};
    struct session *baseline = prove_is_discrete(p) ? prove_baseline(p) : NULL;
    bool ok = p->status == PROVE_DONE;
    for (int i = 0; i < p->case_count && ok; i++) {
        prove_progress(p, "outputs", i, p->case_count);
        ok = !prove_interrupted(p) && try_case(p, &p->cases[i], baseline, count);
    }
    session_close(baseline);
    for (int j = 0; j < p->judgements && ok; j++)
        judge_nulls(p, &p->judgement[j], count[j]);
    prove_says(p, PROVE_ENCLOSURE, "elements against MPFR");
    prove_says(p, PROVE_RIGHT, "right outputs, and elements moved by half");
    prove_says(p, PROVE_OFF, "elements moved by four times");
    prove_says(p, PROVE_NULLS, "null outputs judged");
    prove_says(p, PROVE_EXACT, "kernels");
    return ok;
}
