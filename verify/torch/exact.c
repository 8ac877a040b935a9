#include "exact_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* --- known elements --- */

enum { CHUNK = 4096, LIMBS = (EXACT_BITS + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS };

struct cell {
    __mpfr_struct value;
    mp_limb_t limb[LIMBS];
};

struct chunk {
    struct chunk *next;
    int used;
    struct cell cell[CHUNK];
};

static mpfr_ptr new_value(struct exact *e)
{
    if (!e->chunk || e->chunk->used == CHUNK) {
        struct chunk *chunk = malloc(sizeof *chunk);
        if (!chunk) {
            e->out_of_memory = true;
            return NULL;
        }
        chunk->next = e->chunk;
        chunk->used = 0;
        e->chunk = chunk;
    }
    struct cell *cell = &e->chunk->cell[e->chunk->used++];
    mpfr_custom_init(cell->limb, EXACT_BITS);
    mpfr_custom_init_set(&cell->value, MPFR_ZERO_KIND, 0, EXACT_BITS, cell->limb);
    return &cell->value;
}

/* --- evaluation --- */

/* The functions below write element `index` of `node` to `out`. False: too many terms, no memory, or an index
 * out of range. */

static mpfr_srcptr element(struct exact *e, int node, int64_t index);

static bool spend(struct exact *e, int64_t terms)
{
    e->terms += terms;
    return e->terms <= EXACT_TERMS;
}

static bool moved(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    const int64_t at = ((const int64_t *)node->place)[index];
    mpfr_srcptr from = at < 0 ? element(e, node->fill, 0) : element(e, node->a, at);
    return from && mpfr_set(out, from, MPFR_RNDN) == 0;
}

static bool joined(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    const int64_t at = ((const int64_t *)node->place)[index];
    int i = 0;
    while (i < node->joined && at >= node->start[i + 1])
        i++;
    if (at < 0 || i == node->joined)
        return false;
    mpfr_srcptr from = element(e, node->of[i], at - node->start[i]);
    return from && mpfr_set(out, from, MPFR_RNDN) == 0;
}

static bool unary(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    mpfr_srcptr a = element(e, node->a, index);
    if (!a)
        return false;
    switch (node->op) {
    case EXACT_ABS: mpfr_abs(out, a, MPFR_RNDN); break;
    case EXACT_EXP: mpfr_exp(out, a, MPFR_RNDN); break;
    case EXACT_LOG: mpfr_log(out, a, MPFR_RNDN); break;
    case EXACT_SQRT: mpfr_sqrt(out, a, MPFR_RNDN); break;
    case EXACT_TANH: mpfr_tanh(out, a, MPFR_RNDN); break;
    case EXACT_ERF: mpfr_erf(out, a, MPFR_RNDN); break;
    case EXACT_SIN: mpfr_sin(out, a, MPFR_RNDN); break;
    default: mpfr_cos(out, a, MPFR_RNDN); break;
    }
    return true;
}

/* The extreme of NaN and a number is NaN, as in torch. */
static void extreme(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr b, bool greatest)
{
    if (mpfr_nan_p(a) || mpfr_nan_p(b))
        mpfr_set_nan(out);
    else if (greatest)
        mpfr_max(out, a, b, MPFR_RNDN);
    else
        mpfr_min(out, a, b, MPFR_RNDN);
}

static bool binary(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    mpfr_srcptr a = element(e, node->a, index), b = a ? element(e, node->b, index) : NULL;
    if (!b)
        return false;
    switch (node->op) {
    case EXACT_ADD: mpfr_add(out, a, b, MPFR_RNDN); break;
    case EXACT_SUB: mpfr_sub(out, a, b, MPFR_RNDN); break;
    case EXACT_MUL: mpfr_mul(out, a, b, MPFR_RNDN); break;
    case EXACT_DIV: mpfr_div(out, a, b, MPFR_RNDN); break;
    default: extreme(out, a, b, node->op == EXACT_MAX); break;
    }
    return true;
}

static bool reduced(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    const int64_t first = index * node->terms;
    bool ok = spend(e, node->terms);
    mpfr_set_zero(out, 1); /* an empty sum */
    for (int64_t i = 0; ok && i < node->terms; i++) {
        mpfr_srcptr term = element(e, node->a, first + i);
        ok = term != NULL;
        if (ok && i == 0)
            mpfr_set(out, term, MPFR_RNDN);
        else if (ok && node->op == EXACT_SUM)
            mpfr_add(out, out, term, MPFR_RNDN);
        else if (ok)
            extreme(out, out, term, node->op == EXACT_MOST);
    }
    return ok;
}

/* Computes a scan's element from the one before it. `element` has computed that already, so recursion stays
 * shallow. */
static bool scanned(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    mpfr_srcptr own = element(e, node->a, index);
    if (!own || !spend(e, 1))
        return false;
    if (index % node->terms == 0)
        mpfr_set(out, own, MPFR_RNDN);
    else if (node->op == EXACT_CUMSUM)
        mpfr_add(out, node->known[index - 1], own, MPFR_RNDN);
    else
        mpfr_mul(out, node->known[index - 1], own, MPFR_RNDN);
    return true;
}

static bool add_product(struct exact *e, const struct exact_node *node, int64_t a, int64_t b, mpfr_ptr out)
{
    mpfr_srcptr x = element(e, node->a, a), y = x ? element(e, node->b, b) : NULL;
    return y && (mpfr_fma(out, x, y, out, MPFR_RNDN), true);
}

static bool multiplied(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    const int64_t m = node->size[1], n = node->size[2], k = node->size[3];
    const int64_t batch = index / (m * n), row = index / n % m, column = index % n;
    bool ok = spend(e, k);
    mpfr_set_zero(out, 1);
    for (int64_t i = 0; ok && i < k; i++)
        ok = add_product(e, node, (batch * m + row) * k + i, (batch * k + i) * n + column, out);
    return ok;
}

/* Returns the input index that kernel tap `tap` reads for output index `at`, in one dimension; -1: none. */
static int64_t meet(const struct exact_conv *c, int d, int64_t at, int64_t tap)
{
    const int64_t moved = c->transposed ? at + c->padding[d] - tap * c->dilation[d]
                                        : at * c->stride[d] - c->padding[d] + tap * c->dilation[d];
    if (moved < 0 || (c->transposed && moved % c->stride[d]))
        return -1;
    const int64_t place = c->transposed ? moved / c->stride[d] : moved;
    return place < c->x[2 + d] ? place : -1;
}

/* Adds the products of all taps for one input and one output channel. `x` and `w` are the indices of the
 * first elements of their planes. */
static bool add_plane(struct exact *e, const struct exact_node *node, const int64_t *at, int64_t x, int64_t w,
                      mpfr_ptr out)
{
    const struct exact_conv *c = node->conv;
    int64_t taps = 1;
    bool ok = true;
    for (int d = 0; d < c->rank; d++)
        taps *= c->w[2 + d];
    for (int64_t tap = 0; ok && tap < taps; tap++) {
        int64_t rest = tap, place = 0, scale = 1;
        for (int d = c->rank - 1; d >= 0 && place >= 0; d--) {
            const int64_t there = meet(c, d, at[d], rest % c->w[2 + d]);
            rest /= c->w[2 + d];
            place = there < 0 ? -1 : place + there * scale;
            scale *= c->x[2 + d];
        }
        ok = place < 0 || add_product(e, node, x + place, w + tap, out);
    }
    return ok && spend(e, taps);
}

static bool convolved(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    const struct exact_conv *c = node->conv;
    int64_t at[EXACT_RANK], plane = 1, taps = 1;
    for (int d = c->rank - 1; d >= 0; d--) {
        at[d] = index % c->y[2 + d];
        index /= c->y[2 + d];
        plane *= c->x[2 + d];
        taps *= c->w[2 + d];
    }
    const int64_t channel = index % c->y[1], batch = index / c->y[1];
    const int64_t in = c->x[1] / c->groups, of = c->y[1] / c->groups, group = channel / of;
    bool ok = true;
    mpfr_set_zero(out, 1);
    for (int64_t i = 0; ok && i < in; i++) {
        const int64_t from = group * in + i;
        const int64_t w = c->transposed ? from * of + channel % of : channel * in + i;
        ok = add_plane(e, node, at, (batch * c->x[1] + from) * plane, w * taps, out);
    }
    return ok;
}

static bool compute(struct exact *e, const struct exact_node *node, int64_t index, mpfr_ptr out)
{
    switch (node->op) {
    case EXACT_INPUT: mpfr_set_d(out, ((const double *)node->place)[index], MPFR_RNDN); return true;
    case EXACT_MAP: return moved(e, node, index, out);
    case EXACT_JOIN: return joined(e, node, index, out);
    case EXACT_SUM:
    case EXACT_MOST:
    case EXACT_LEAST: return reduced(e, node, index, out);
    case EXACT_CUMSUM:
    case EXACT_CUMPROD: return scanned(e, node, index, out);
    case EXACT_MM: return multiplied(e, node, index, out);
    case EXACT_CONV: return convolved(e, node, index, out);
    default: return node->op <= EXACT_COS ? unary(e, node, index, out) : binary(e, node, index, out);
    }
}

static bool know(struct exact *e, struct exact_node *node, int64_t index)
{
    mpfr_ptr value = node->known[index] ? NULL : new_value(e);
    if (node->known[index])
        return true;
    if (!value || !spend(e, 1) || !compute(e, node, index, value))
        return false;
    node->known[index] = value;
    return true;
}

static mpfr_srcptr element(struct exact *e, int number, int64_t index)
{
    struct exact_node *node = &e->node[number];
    if (index < 0 || index >= node->n)
        return NULL;
    if (!node->known && !(node->known = calloc((size_t)node->n, sizeof *node->known))) {
        e->out_of_memory = true;
        return NULL;
    }
    const bool scans = node->op == EXACT_CUMSUM || node->op == EXACT_CUMPROD;
    for (int64_t i = scans ? index / node->terms * node->terms : index; i <= index; i++)
        if (!know(e, node, i))
            return NULL;
    return node->known[index];
}

/* --- public functions --- */

struct exact *exact_open(const char *memory, size_t numbers, size_t text, char *why, size_t size)
{
    struct exact *e = calloc(1, sizeof *e);
    if (e && exact_read(e, memory, numbers, memory + numbers, text))
        return e;
    snprintf(why, size, e ? "the graph is malformed" : "memory ran out");
    exact_close(e);
    return NULL;
}

void exact_close(struct exact *e)
{
    if (!e)
        return;
    for (int i = 0; e->node && i < e->nodes; i++) {
        free(e->node[i].known);
        free(e->node[i].conv);
        free(e->node[i].of);
        free(e->node[i].start);
    }
    while (e->chunk) {
        struct chunk *next = e->chunk->next;
        free(e->chunk);
        e->chunk = next;
    }
    free(e->node);
    free(e->output);
    free(e);
}

bool exact_element(struct exact *e, int output, int64_t index, double *value, char *why, size_t size)
{
    if (output < 0 || output >= e->outputs || e->output[output] < 0) {
        snprintf(why, size, "it is of whole numbers");
        return false;
    }
    e->terms = 0;
    mpfr_srcptr exact = element(e, e->output[output], index);
    if (exact) {
        *value = mpfr_get_d(exact, MPFR_RNDN);
        return true;
    }
    snprintf(why, size, "%s",
             e->out_of_memory         ? "memory ran out"
             : e->terms > EXACT_TERMS ? "it has too many terms"
                                      : "a place in the graph is out of range");
    return false;
}
