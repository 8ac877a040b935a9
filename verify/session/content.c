#include "content.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/inputs/fill.h"

#define REF_FN static inline
#include "reference/element.h"

static bool is_drawn(const struct problem *problem, int t)
{
    return problem->tensors[t].role != TENSOR_OUTPUT;
}

/* Rotating such a tensor would separate it from the tensor that is gathered from it. */
bool content_is_gathered_from(const struct problem *problem, const struct instance *instance, int t)
{
    for (int other = 0; problem->tensors[other].name; other++)
        if (is_drawn(problem, other) && instance->tensor[other].fill.kind == FILL_GATHER &&
            instance->tensor[other].fill.source == t)
            return true;
    return false;
}

/* A rotation may begin at multiples of this number of elements, at a whole byte; 0: no rotation. */
static int64_t step_of(const struct problem *problem, const struct instance *instance, int t)
{
    const struct instance_tensor *tensor = &instance->tensor[t];
    const bool dense = tensor->pitch == 0 || tensor->pitch == instance_tensor_width(tensor);
    if (!is_drawn(problem, t) || !dense || tensor->fill.valid ||
        content_is_gathered_from(problem, instance, t))
        return 0;
    const int64_t period = fill_period(&tensor->fill), packed = dtype_packed(problem->tensors[t].dtype);
    return period % packed == 0 ? period : period * packed;
}

bool content_turns(const struct problem *problem, const struct instance *instance)
{
    double turned = 0, drawn = 0;
    for (int t = 0; problem->tensors[t].name; t++) {
        const int64_t step = step_of(problem, instance, t),
                      count = instance_tensor_count(&instance->tensor[t]);
        const double bytes = is_drawn(problem, t) ? (double)dtype_bytes(problem->tensors[t].dtype, count) : 0;
        drawn += bytes;
        turned += step > 0 && count > step && instance->tensor[t].fill.kind != FILL_CONSTANT ? bytes : 0;
    }
    return 2 * turned > drawn;
}

double content_given_bytes(const struct problem *problem, const struct instance *instance)
{
    double bytes = 0;
    for (int t = 0; problem->tensors[t].name; t++)
        if (is_drawn(problem, t) && instance->tensor[t].fill.kind == FILL_GIVEN)
            bytes +=
                (double)dtype_bytes(problem->tensors[t].dtype, instance_tensor_count(&instance->tensor[t]));
    return bytes;
}

void content_turn(const struct problem *problem, const struct instance *instance, struct pcg *random,
                  struct content *content)
{
    for (int t = 0; problem->tensors[t].name; t++) {
        const int64_t step = step_of(problem, instance, t);
        const int64_t count = instance_tensor_count(&instance->tensor[t]);
        content->turn[t] =
            step > 0 && count > step ? step * (int64_t)pcg_below(random, (uint64_t)(count / step)) : 0;
    }
}

/* Number of elements that may be replaced by others of the same distribution. */
static int64_t replaceable(const struct problem *problem, const struct instance *instance, int t)
{
    const struct instance_tensor *tensor = &instance->tensor[t];
    const bool alike = is_drawn(problem, t) && !tensor->fill.steady && fill_period(&tensor->fill) == 1 &&
                       tensor->fill.kind != FILL_CONSTANT && tensor->fill.kind != FILL_NANS;
    return alike ? instance_tensor_count(tensor) : 0;
}

void content_choose_near(const struct problem *problem, const struct instance *instance, struct pcg *random,
                         struct near *near)
{
    enum { TRIES = 64 }; /* most of the storage may be undefined */
    int64_t all = 0;
    near->present = false;
    for (int t = 0; problem->tensors[t].name; t++)
        all += replaceable(problem, instance, t);
    for (int i = 0; i < TRIES && all > 0 && !near->present; i++) {
        int64_t at = (int64_t)pcg_below(random, (uint64_t)all);
        int t = 0;
        while (at >= replaceable(problem, instance, t))
            at -= replaceable(problem, instance, t++);
        near->tensor = t;
        near->element = at;
        near->place = instance_tensor_place(&instance->tensor[t], at);
        near->present = fill_is_real(&instance->tensor[t].fill, at);
    }
}

void content_describe_near(const struct problem *problem, const struct instance *instance,
                           const struct near *near, char *text, size_t size)
{
    const struct instance_tensor *tensor = &instance->tensor[near->tensor];
    const enum dtype dtype = problem->tensors[near->tensor].dtype;
    uint32_t bits;
    int64_t stride = instance_tensor_count(tensor), rest = near->element;
    size_t used = (size_t)snprintf(text, size, "%s[", problem->tensors[near->tensor].name);
    for (int d = 0; d < tensor->rank && used < size; d++) {
        stride /= tensor->dim[d];
        used +=
            (size_t)snprintf(text + used, size - used, "%s%lld", d ? ", " : "", (long long)(rest / stride));
        rest %= stride;
    }
    if (used < size)
        snprintf(text + used, size - used, "]: %.9g in the place of %.9g",
                 dtype_load(dtype, near->value, 0, &bits), dtype_load(dtype, near->was, 0, &bits));
}

int content_put_near(const struct memory *memory, const struct problem *problem, const struct near *near,
                     void *base)
{
    const enum dtype dtype = problem->tensors[near->tensor].dtype;
    const int64_t packed = dtype_packed(dtype), size = dtype_bytes(dtype, packed);
    const int64_t at = near->place / packed * size;
    unsigned char unit[8] = {0};
    const int error = packed > 1 ? memory->to_host(unit, base, at, size) : 0;
    dtype_copy(dtype, unit, near->place % packed, near->value, 0);
    return error ? error : memory->from_host((char *)base + at, unit, (size_t)size);
}

static bool is_symmetric(const struct fill *fill)
{
    return (fill->kind == FILL_NORMAL && fill->a == 0) ||
           (fill->kind == FILL_UNIFORM && fill->a == -fill->b) || fill->kind == FILL_SIGNS;
}

bool content_alter(const struct fill *fill, enum dtype dtype, enum near_kind kind, void *value)
{
    const int bits = dtype_row(dtype)->bits;
    uint64_t change;
    if (kind == NEAR_SIGN && dtype_is_float(dtype) && is_symmetric(fill))
        change = UINT64_C(1) << (bits - 1);
    else if (kind == NEAR_BITS && dtype == DTYPE_F32 && fill->kind == FILL_NORMAL)
        change = 1 << 15; /* changes it by a factor of 2^-8: the first bit that bf16 drops */
    else
        return false;
    dtype_put_word(bits, value, 0, dtype_word(bits, value, 0) ^ change);
    return true;
}

static bool is_real_place(const struct instance_tensor *tensor, int64_t place)
{
    const int64_t width = instance_tensor_width(tensor), pitch = instance_tensor_pitch(tensor);
    const int64_t column = pitch > 0 ? place % pitch : 0,
                  element = pitch > 0 ? place / pitch * width + column : place;
    return column < width && fill_is_real(&tensor->fill, element);
}

/* Chooses the largest element of a stretch, since most dependencies on an element show in it. */
bool content_greatest(const struct instance_tensor *tensor, enum dtype dtype, const void *stretch,
                      int64_t from, int64_t count, void *to)
{
    uint32_t bits;
    int64_t best = -1;
    for (int64_t i = 0; i < count; i++) {
        if (!is_real_place(tensor, from + i))
            continue;
        const double value = dtype_load(dtype, stretch, i, &bits),
                     most = best < 0 ? NAN : dtype_load(dtype, stretch, best, &bits);
        if (isnan(most) || value > most)
            best = i;
    }
    if (best >= 0)
        dtype_copy(dtype, to, 0, stretch, best);
    return best >= 0;
}
