/* Reads a lowered graph from JSON. A process that runs a task's code sends it, so it may be hostile. The
 * checks ensure that nothing outside of the memory is read and that no element depends on itself. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "exact_internal.h"

static const char *const names[EXACT_OPS] = {
    "input", "map", "join", "abs", "exp", "log", "sqrt", "tanh",  "erf",    "sin",     "cos", "add",
    "sub",   "mul", "div",  "max", "min", "sum", "most", "least", "cumsum", "cumprod", "mm",  "conv"};

static int64_t number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* Reads the number of an operand. It must be an earlier node, which rules out cycles. */
static bool read_operand(const json_t *object, const char *key, int self, int *out)
{
    const int64_t number = number_of(object, key);
    *out = (int)number;
    return number >= 0 && number < self;
}

static bool read_numbers(const json_t *array, int64_t *out, int most, int *count)
{
    *count = (int)json_array_size(array);
    if (!json_is_array(array) || *count > most)
        return false;
    for (int i = 0; i < *count; i++) {
        out[i] = json_integer_value(json_array_get(array, (size_t)i));
        if (out[i] < 0 || out[i] > INT32_MAX)
            return false;
    }
    return true;
}

static bool read_place(const json_t *object, const char *memory, size_t numbers, struct exact_node *node)
{
    const int64_t at = number_of(object, "at");
    if (at < 0 || at % 8 || (uint64_t)at > numbers || (uint64_t)node->n > (numbers - (uint64_t)at) / 8)
        return false;
    node->place = memory + at;
    return true;
}

static int64_t product(const int64_t *numbers, int count)
{
    int64_t all = 1;
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(all, numbers[i], &all))
            return -1;
    return all;
}

static bool read_mm(const struct exact *e, const json_t *object, struct exact_node *node)
{
    int count;
    const int64_t *s = node->size;
    if (!read_numbers(json_object_get(object, "sizes"), node->size, 4, &count) || count != 4)
        return false;
    return product((int64_t[]){s[0], s[1], s[2]}, 3) == node->n &&
           product((int64_t[]){s[0], s[1], s[3]}, 3) == e->node[node->a].n &&
           product((int64_t[]){s[0], s[3], s[2]}, 3) == e->node[node->b].n;
}

static bool read_conv(const struct exact *e, const json_t *object, struct exact_node *node)
{
    struct exact_conv *c = node->conv = calloc(1, sizeof *c);
    int rank[3], more[3];
    if (!c || !read_numbers(json_object_get(object, "x"), c->x, EXACT_RANK, rank) ||
        !read_numbers(json_object_get(object, "w"), c->w, EXACT_RANK, rank + 1) ||
        !read_numbers(json_object_get(object, "y"), c->y, EXACT_RANK, rank + 2) ||
        !read_numbers(json_object_get(object, "stride"), c->stride, EXACT_RANK, more) ||
        !read_numbers(json_object_get(object, "padding"), c->padding, EXACT_RANK, more + 1) ||
        !read_numbers(json_object_get(object, "dilation"), c->dilation, EXACT_RANK, more + 2))
        return false;
    c->rank = rank[0] - 2;
    c->groups = number_of(object, "groups");
    c->transposed = number_of(object, "transposed") == 1;
    for (int i = 0; i < 3; i++)
        if (rank[i] != rank[0] || more[i] != c->rank)
            return false;
    for (int d = 0; d < c->rank; d++)
        if (c->stride[d] < 1)
            return false;
    const int64_t in = c->transposed ? c->w[0] : c->w[1] * c->groups,
                  out = c->transposed ? c->w[1] * c->groups : c->w[0];
    return c->rank >= 1 && c->groups >= 1 && c->x[0] == c->y[0] && c->x[1] == in && c->y[1] == out &&
           in % c->groups == 0 && out % c->groups == 0 && product(c->x, rank[0]) == e->node[node->a].n &&
           product(c->w, rank[0]) == e->node[node->b].n && product(c->y, rank[0]) == node->n;
}

static bool read_join(const struct exact *e, const json_t *object, int self, struct exact_node *node)
{
    const json_t *of = json_object_get(object, "of");
    node->joined = (int)json_array_size(of);
    if (node->joined < 1 || node->joined > EXACT_JOINED)
        return false;
    node->of = calloc((size_t)node->joined, sizeof *node->of);
    node->start = calloc((size_t)node->joined + 1, sizeof *node->start);
    for (int i = 0; node->of && node->start && i < node->joined; i++) {
        const json_t *number = json_array_get(of, (size_t)i);
        if (!json_is_integer(number) || json_integer_value(number) < 0 || json_integer_value(number) >= self)
            return false;
        node->of[i] = (int)json_integer_value(number);
        node->start[i + 1] = node->start[i] + e->node[node->of[i]].n;
    }
    return node->of && node->start;
}

static bool read_terms(const struct exact *e, const json_t *object, struct exact_node *node)
{
    int64_t all;
    const bool scans = node->op == EXACT_CUMSUM || node->op == EXACT_CUMPROD;
    node->terms = number_of(object, "terms");
    /* no terms: only a sum, or a scan without elements, is defined */
    if (node->terms < 0 || (node->terms == 0 && node->op != EXACT_SUM && !(scans && node->n == 0)))
        return false;
    if (scans)
        return e->node[node->a].n == node->n;
    return !__builtin_mul_overflow(node->n, node->terms, &all) && all == e->node[node->a].n;
}

static bool read_op(const json_t *object, enum exact_op *op)
{
    const char *name = json_string_value(json_object_get(object, "op"));
    for (int i = 0; name && i < EXACT_OPS; i++)
        if (strcmp(name, names[i]) == 0) {
            *op = (enum exact_op)i;
            return true;
        }
    return false;
}

static bool read_node(struct exact *e, int self, const json_t *object, const char *memory, size_t numbers)
{
    struct exact_node *node = &e->node[self];
    node->n = number_of(object, "n");
    if (!read_op(object, &node->op) || node->n < 0 || node->n > INT64_MAX / 64)
        return false;
    const bool binary = (node->op >= EXACT_ADD && node->op <= EXACT_MIN) || node->op >= EXACT_MM;
    if (node->op != EXACT_INPUT && node->op != EXACT_JOIN && !read_operand(object, "a", self, &node->a))
        return false;
    if (binary && !read_operand(object, "b", self, &node->b))
        return false;
    switch (node->op) {
    case EXACT_INPUT: return read_place(object, memory, numbers, node);
    case EXACT_MAP:
        return read_place(object, memory, numbers, node) && read_operand(object, "fill", self, &node->fill) &&
               (e->node[node->fill].n > 0 || node->n == 0);
    case EXACT_JOIN: return read_place(object, memory, numbers, node) && read_join(e, object, self, node);
    case EXACT_SUM:
    case EXACT_MOST:
    case EXACT_LEAST:
    case EXACT_CUMSUM:
    case EXACT_CUMPROD: return read_terms(e, object, node);
    case EXACT_MM: return read_mm(e, object, node);
    case EXACT_CONV: return read_conv(e, object, node);
    default: return e->node[node->a].n == node->n && (!binary || e->node[node->b].n == node->n);
    }
}

bool exact_read(struct exact *e, const char *memory, size_t numbers, const char *text, size_t length)
{
    json_error_t error;
    json_t *root = json_loadb(text, length, 0, &error);
    const json_t *nodes = json_object_get(root, "nodes"), *outputs = json_object_get(root, "outputs");
    bool ok = json_is_array(nodes) && json_is_array(outputs) && json_array_size(nodes) < INT32_MAX;
    const size_t count = ok ? json_array_size(nodes) : 0;
    e->node = calloc(count + 1, sizeof *e->node);
    e->output = calloc(json_array_size(outputs) + 1, sizeof *e->output);
    ok = ok && e->node && e->output;
    for (size_t i = 0; ok && i < count; i++) {
        e->nodes = (int)i + 1;
        ok = read_node(e, (int)i, json_array_get(nodes, i), memory, numbers);
    }
    for (size_t i = 0; ok && i < json_array_size(outputs); i++) {
        const json_t *number = json_array_get(outputs, i);
        e->output[e->outputs++] = (int)json_integer_value(number);
        ok = json_is_integer(number) && json_integer_value(number) >= -1 &&
             json_integer_value(number) < e->nodes;
    }
    json_decref(root);
    return ok;
}
