/* Checks dependences: shapes and work depend on the configuration only, input values also on the seed and the
 * number of the draw. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "prove_internal.h"

/* Fewer elements than this may be equal by chance. */
enum { ENOUGH = 64 };

/* --- shapes and work --- */

static void compare_shapes(struct proof *p, const struct config *config, const struct instance *a,
                           const struct instance *b, const char *other)
{
    const char *const expected = "the same shapes, arguments and work whoever asks";
    if (a->flops != b->flops || a->bytes != b->bytes)
        prove_fail(p, PROVE_INSTANCES, config, expected, "%.17g flops and %.17g bytes, by %s %.17g and %.17g",
                   a->flops, a->bytes, other, b->flops, b->bytes);
    for (int i = 0; p->problem->arguments[i].name; i++)
        if (a->extent[i] != b->extent[i])
            prove_fail(p, PROVE_INSTANCES, config, expected, "argument %s is %lld, by %s %lld",
                       p->problem->arguments[i].name, (long long)a->extent[i], other,
                       (long long)b->extent[i]);
    for (int t = 0; p->problem->tensors[t].name; t++) {
        const struct instance_tensor *x = &a->tensor[t], *y = &b->tensor[t];
        if (x->rank != y->rank || memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim) != 0)
            prove_fail(p, PROVE_INSTANCES, config, expected,
                       "%s has %lld elements, by %s %lld, or other dimensions", p->problem->tensors[t].name,
                       (long long)instance_tensor_count(x), other, (long long)instance_tensor_count(y));
    }
}

/* Floating-point arguments may depend on the input class, but not on the draw. */
static void compare_scalars(struct proof *p, const struct config *config, const struct instance *a,
                            const struct instance *b)
{
    for (int i = 0; p->problem->arguments[i].name; i++)
        if (a->scalar[i] != b->scalar[i])
            prove_fail(p, PROVE_INSTANCES, config, "the same arguments in every content",
                       "argument %s is %.17g, in another content %.17g", p->problem->arguments[i].name,
                       a->scalar[i], b->scalar[i]);
}

static bool is_empty(const struct config *config)
{
    for (int i = 0; config->problem->axes[i].name; i++)
        if (config->problem->axes[i].kind == AXIS_NUMBER && config->value[i] == 0)
            return true;
    return false;
}

static void look_at_shapes(struct proof *p, const struct config *config, const struct instance *instance)
{
    const int64_t least = is_empty(config) ? 0 : 1;
    for (int t = 0; p->problem->tensors[t].name; t++) {
        const struct instance_tensor *x = &instance->tensor[t];
        if (x->rank < 1 || x->rank > PROBLEM_MAX_RANK)
            prove_fail(p, PROVE_INSTANCES, config, "a rank from 1 on", "%s has rank %d",
                       p->problem->tensors[t].name, x->rank);
        for (int d = 0; d < x->rank; d++)
            if (x->dim[d] < least)
                prove_fail(p, PROVE_INSTANCES, config, "dimensions above 0", "dimension %d of %s is %lld", d,
                           p->problem->tensors[t].name, (long long)x->dim[d]);
    }
    if (least > 0 &&
        !(instance->flops > 0 && instance->bytes > 0 && isfinite(instance->flops + instance->bytes)))
        prove_fail(p, PROVE_INSTANCES, config, "flops and bytes above 0", "%g flops, %g bytes",
                   instance->flops, instance->bytes);
}

/* Doubling an axis must not reduce the work. */
static bool grow(struct proof *p, const struct config *config, const struct instance *instance)
{
    for (int i = 0; p->problem->axes[i].name; i++) {
        struct config twice = *config;
        struct instance larger;
        twice.value[i] *= 2;
        if (p->problem->axes[i].kind != AXIS_NUMBER || p->space.domain[i].value_count > 0 ||
            !space_contains(&p->space, &twice, NULL))
            continue;
        if (config_measure(&twice, &larger) != 0)
            return prove_broke(p, "measuring a configuration", -1);
        if (larger.flops < instance->flops || larger.bytes < instance->bytes)
            prove_fail(p, PROVE_INSTANCES, &twice, "no less work with twice as much along an axis",
                       "with %s doubled %.17g flops and %.17g bytes, before %.17g and %.17g",
                       p->problem->axes[i].name, larger.flops, larger.bytes, instance->flops,
                       instance->bytes);
        instance_clear(&larger);
    }
    return true;
}

static bool measure(struct proof *p, const struct config *config)
{
    struct instance first = {0}, second = {0}, measured = {0};
    bool ok = config_instantiate(config, 0, &first) == 0 && config_instantiate(config, 1, &second) == 0 &&
              config_measure(config, &measured) == 0;
    prove_threads(p, measured.flops);
    if (ok) {
        look_at_shapes(p, config, &first);
        compare_shapes(p, config, &first, &measured, "`measure`");
        compare_shapes(p, config, &first, &second, "another content");
        compare_scalars(p, config, &first, &second);
        ok = grow(p, config, &first);
    } else {
        prove_broke(p, "drawing a configuration", -1);
    }
    instance_clear(&first);
    instance_clear(&second);
    instance_clear(&measured);
    return ok;
}

/* --- input values --- */

/* Over all configurations of one class: is any tensor large enough to check, do a floating-point tensor's
 * elements differ among themselves, and which tensors differ between draws? */
struct variety {
    bool large, varies, drawn[PROBLEM_MAX_TENSORS], differs[PROBLEM_MAX_TENSORS];
    struct config config;
};

static bool all_equal(const struct instance_tensor *tensor, enum dtype dtype, const char *data)
{
    const int64_t count = instance_tensor_count(tensor);
    int64_t i = 1;
    while (i < count && dtype_same(dtype, data, 0, data, instance_tensor_place(tensor, i)))
        i++;
    return i >= count;
}

/* A class may have one number in all of a row (a softmax of equal logits), so a tensor of one row may be
 * constant. */
static bool is_large(const struct instance_tensor *tensor)
{
    for (int d = 0; d < tensor->rank; d++)
        if (tensor->dim[d] < 2)
            return false;
    return instance_tensor_count(tensor) >= ENOUGH;
}

/* Fills one input three times: the same draw twice, which must have equal bits, and another draw. */
static bool compare_fills(struct proof *p, const struct layout *l, const struct instance *other, int t,
                          char *const buffer[3], struct variety *v)
{
    const int64_t count = instance_tensor_count(&l->instance.tensor[t]);
    const uint64_t seed = l->config.seed;
    void *device = NULL;
    int error = l->memory->take(&device, l->bytes[t] + 16);
    error = error ? error
                  : l->memory->poison(device, l->bytes[t], dtype_row(p->problem->tensors[t].dtype)->poison);
    error = error ? error : l->memory->fill(p->problem, &l->instance, t, seed, l->content, device);
    error = error ? error : l->memory->to_host(buffer[0], l->held[t], 0, (int64_t)l->bytes[t]);
    error = error ? error : l->memory->to_host(buffer[1], device, 0, (int64_t)l->bytes[t]);
    error = error ? error : l->memory->fill(p->problem, other, t, seed, 1 - l->content, device);
    error = error ? error : l->memory->to_host(buffer[2], device, 0, (int64_t)l->bytes[t]);
    if (device)
        l->memory->release(device);
    if (error)
        return prove_broke(p, "filling an input", error);
    if (memcmp(buffer[0], buffer[1], l->bytes[t]) != 0)
        prove_fail(p, PROVE_INSTANCES, &l->config, "the same bits from the same seed and content",
                   "other bits of %s", p->problem->tensors[t].name);
    v->differs[t] = v->differs[t] || memcmp(buffer[0], buffer[2], l->bytes[t]) != 0;
    v->large = v->large || is_large(&l->instance.tensor[t]);
    if (count >= ENOUGH) {
        v->drawn[t] = v->drawn[t] || (l->instance.tensor[t].fill.kind != FILL_CONSTANT &&
                                      l->instance.tensor[t].fill.kind != FILL_GIVEN);
        v->varies = v->varies || dtype_is_whole(p->problem->tensors[t].dtype) ||
                    !all_equal(&l->instance.tensor[t], p->problem->tensors[t].dtype, buffer[0]);
        v->config = l->config;
    }
    return true;
}

static bool compare_contents(struct proof *p, const struct config *config, struct variety *v)
{
    struct layout layout;
    struct instance other = {0};
    char *buffer[3] = {NULL, NULL, NULL};
    size_t most = 1;
    const int error = layout_open(&layout, p->memory, config, 0);
    bool ok = !error || prove_broke(p, "laying out a configuration", error);
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        most = layout.bytes[t] > most ? layout.bytes[t] : most;
    for (int i = 0; i < 3; i++)
        buffer[i] = malloc(most);
    ok = ok && ((buffer[0] && buffer[1] && buffer[2] && config_instantiate(config, 1, &other) == 0) ||
                prove_broke(p, "laying out a configuration", -1));
    for (int t = 0; ok && p->problem->tensors[t].name; t++)
        if (p->problem->tensors[t].role != TENSOR_OUTPUT)
            ok = compare_fills(p, &layout, &other, t, buffer, v);
    for (int i = 0; i < 3; i++)
        free(buffer[i]);
    instance_clear(&other);
    layout_close(&layout);
    return ok;
}

/* One tensor may be constant (a query that weighs all keys alike), but not all of them. */
static void judge_variety(struct proof *p, int class, const struct variety *v)
{
    const char *name = p->classes ? p->problem->classes[class].name : "the only one";
    prove_ask(p, PROVE_CLASSES, 1);
    for (int t = 0; p->problem->tensors[t].name; t++)
        if (v->drawn[t] && !v->differs[t])
            prove_fail(p, PROVE_CLASSES, &v->config, "other values in every content",
                       "class %s: %s is the same in contents 0 and 1", name, p->problem->tensors[t].name);
    if (v->large && !v->varies)
        prove_fail(p, PROVE_CLASSES, &v->config, "values that vary",
                   "class %s: every floating-point input is one number all over", name);
}

bool prove_instances(struct proof *p)
{
    const int classes = p->classes ? p->classes : 1;
    struct variety *variety = calloc((size_t)classes, sizeof *variety);
    bool ok = variety || prove_broke(p, "comparing contents", -1);
    for (int i = 0; i < p->case_count && ok; i++) {
        const struct prove_case *c = &p->cases[i];
        prove_progress(p, "instances", i, p->case_count);
        prove_ask(p, PROVE_INSTANCES, 1);
        ok = !prove_interrupted(p) && measure(p, &c->config) &&
             compare_contents(p, &c->config, &variety[c->class]);
    }
    for (int c = 0; c < classes && ok; c++)
        judge_variety(p, c, &variety[c]);
    prove_says(p, PROVE_INSTANCES, "configurations, two contents of each");
    prove_says(p, PROVE_CLASSES, "input classes");
    free(variety);
    return ok;
}
