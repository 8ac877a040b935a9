#include "mixture.h"

#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "gen/contract/instantiate.h"
#include "gen/inputs/fill.h"

#define REF_FN static inline
#include "reference/element.h"

/* --- boxes --- */

int64_t box_count(const struct instance *instance, const struct box *box)
{
    int64_t count = 1;
    for (int d = 0; d < instance->tensor[box->tensor].rank; d++)
        count *= box->high[d] - box->low[d];
    return count;
}

bool box_has(const struct instance *instance, const struct box *box, int64_t element)
{
    const struct instance_tensor *tensor = &instance->tensor[box->tensor];
    for (int d = tensor->rank - 1; d >= 0; d--) {
        const int64_t at = element % tensor->dim[d];
        if (at < box->low[d] || at >= box->high[d])
            return false;
        element /= tensor->dim[d];
    }
    return true;
}

struct box box_of_element(const struct instance *instance, int tensor, int64_t element)
{
    struct box box = {.tensor = tensor};
    for (int d = instance->tensor[tensor].rank - 1; d >= 0; d--) {
        box.low[d] = element % instance->tensor[tensor].dim[d];
        box.high[d] = box.low[d] + 1;
        element /= instance->tensor[tensor].dim[d];
    }
    return box;
}

/* --- which tensors are blended --- */

/* Is every element drawn from one distribution? Then a blend of two draws has that distribution, too. */
static bool is_alike(const struct fill *fill)
{
    return fill_period(fill) == 1;
}

/* Integers in another order than drawn may refer to things that do not exist; floats may have any order. */
static bool is_free(const struct problem *problem, const struct instance *instance, int t)
{
    const struct fill *fill = &instance->tensor[t].fill;
    return fill->kind != FILL_GIVEN && fill->kind != FILL_GATHER &&
           !content_is_gathered_from(problem, instance, t) &&
           (is_alike(fill) || !dtype_is_whole(problem->tensors[t].dtype));
}

static bool is_drawn(const struct problem *problem, int t)
{
    return problem->tensors[t].role != TENSOR_OUTPUT;
}

static bool have_one_shape(const struct problem *problem, const struct instance *a, const struct instance *b)
{
    for (int t = 0; problem->tensors[t].name; t++) {
        const struct instance_tensor *one = &a->tensor[t], *other = &b->tensor[t];
        if (one->rank != other->rank || one->pitch != other->pitch ||
            memcmp(one->dim, other->dim, (size_t)one->rank * sizeof *one->dim) != 0)
            return false;
    }
    return true;
}

static void *values_of(const struct config *config, const struct instance *instance, int content, int t)
{
    const size_t bytes =
        (size_t)dtype_bytes(config->problem->tensors[t].dtype, instance_tensor_span(&instance->tensor[t]));
    void *values = calloc(1, bytes);
    if (values)
        fill_host(config->problem, instance, t, config->seed, content, values);
    return values;
}

int mixture_open(struct mixture *m, const struct config *own, int own_content, const struct config *other,
                 int other_content)
{
    const struct problem *problem = own->problem;
    *m = (struct mixture){.own_config = *own,
                          .other_config = *other,
                          .own_content = own_content,
                          .other_content = other_content};
    if (config_instantiate(own, own_content, &m->own) != 0 ||
        config_instantiate(other, other_content, &m->other) != 0 ||
        !have_one_shape(problem, &m->own, &m->other))
        return -1;
    for (int t = 0; problem->tensors[t].name; t++) {
        if (!is_drawn(problem, t) || !is_free(problem, &m->own, t) || !is_free(problem, &m->other, t) ||
            instance_tensor_count(&m->own.tensor[t]) == 0)
            continue;
        m->own_values[t] = values_of(own, &m->own, own_content, t);
        m->other_values[t] = values_of(other, &m->other, other_content, t);
        if (!m->own_values[t] || !m->other_values[t])
            return -1;
    }
    return 0;
}

void mixture_close(struct mixture *m)
{
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++) {
        free(m->own_values[t]);
        free(m->other_values[t]);
    }
    instance_clear(&m->own);
    instance_clear(&m->other);
    *m = (struct mixture){0};
}

int64_t mixture_elements(const struct mixture *m)
{
    int64_t elements = 0;
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        elements += m->own_values[t] ? instance_tensor_count(&m->own.tensor[t]) : 0;
    return elements;
}

struct box mixture_whole(const struct mixture *m, int t)
{
    struct box box = {.tensor = t};
    memcpy(box.high, m->own.tensor[t].dim, (size_t)m->own.tensor[t].rank * sizeof *box.high);
    return box;
}

bool mixture_is_used(const struct mixture *m, int t, int64_t element)
{
    return fill_is_real(&m->own.tensor[t].fill, element) && fill_is_real(&m->other.tensor[t].fill, element);
}

bool mixture_differs(const struct mixture *m, int t, int64_t element)
{
    const int64_t at = instance_tensor_place(&m->own.tensor[t], element);
    return mixture_is_used(m, t, element) &&
           !dtype_same(m->own_config.problem->tensors[t].dtype, m->own_values[t], at, m->other_values[t], at);
}

bool mixture_box_differs(const struct mixture *m, const struct box *box)
{
    const int64_t count = instance_tensor_count(&m->own.tensor[box->tensor]);
    for (int64_t i = 0; i < count; i++)
        if (box_has(&m->own, box, i) && mixture_differs(m, box->tensor, i))
            return true;
    return false;
}

double mixture_value(const struct mixture *m, bool own, int t, int64_t element)
{
    uint32_t bits;
    return dtype_load(m->own_config.problem->tensors[t].dtype, own ? m->own_values[t] : m->other_values[t],
                      instance_tensor_place(&m->own.tensor[t], element), &bits);
}

const char *mixture_next_structure(const struct mixture *m, int *t)
{
    const struct problem *problem = m->own_config.problem;
    for (; problem->tensors[*t].name; (*t)++) {
        const struct instance_tensor *own = &m->own.tensor[*t], *other = &m->other.tensor[*t];
        const size_t given = (size_t)instance_tensor_count(own) * sizeof *own->fill.given;
        if (!is_drawn(problem, *t) || m->own_values[*t] || instance_tensor_count(own) == 0)
            continue;
        if (own->fill.kind != FILL_GIVEN || other->fill.kind != FILL_GIVEN ||
            memcmp(own->fill.given, other->fill.given, given) != 0)
            return problem->tensors[*t].name;
    }
    return NULL;
}

bool mixture_is_structured(const struct mixture *m)
{
    int t = 0;
    return mixture_next_structure(m, &t) != NULL;
}

/* --- one blend --- */

static bool is_kept(const struct mix *mix, int t, int64_t element)
{
    for (int i = 0; i < mix->keeps; i++)
        if (mix->keep[i].tensor == t && box_has(&mix->of->own, &mix->keep[i], element))
            return true;
    return false;
}

static void clip_values(const struct mixture *m, const struct clip *clip, void *memory)
{
    const struct instance_tensor *tensor = &m->own.tensor[clip->tensor];
    const enum dtype dtype = m->own_config.problem->tensors[clip->tensor].dtype;
    const int64_t count = instance_tensor_count(tensor);
    uint32_t bits;
    for (int64_t i = 0; i < count; i++) {
        const int64_t place = instance_tensor_place(tensor, i);
        const double value = dtype_load(dtype, memory, place, &bits);
        if (mixture_is_used(m, clip->tensor, i) && (value < clip->low || value > clip->high))
            dtype_store(dtype, memory, place, value < clip->low ? clip->low : clip->high);
    }
}

void mix_make(const struct mix *mix, int t, void *memory)
{
    const struct mixture *m = mix->of;
    const struct instance_tensor *tensor = &m->own.tensor[t];
    const enum dtype dtype = m->own_config.problem->tensors[t].dtype;
    const int64_t count = instance_tensor_count(tensor);
    if (!m->own_values[t])
        return;
    for (int64_t i = 0; i < count; i++)
        if (mixture_is_used(m, t, i) && !is_kept(mix, t, i))
            dtype_copy(dtype, memory, instance_tensor_place(tensor, i), m->other_values[t],
                       instance_tensor_place(&m->own.tensor[t], i));
    for (int i = 0; i < mix->sets; i++)
        if (mix->set[i].tensor == t)
            dtype_store(dtype, memory, instance_tensor_place(tensor, mix->set[i].element), mix->set[i].value);
    if (mix->clip && mix->clip->tensor == t)
        clip_values(m, mix->clip, memory);
}

enum data_kind mix_data(const struct mix *mix)
{
    const struct mixture *m = mix->of;
    if (mix->sets > 0 || mix->clip || m->own.data != m->other.data)
        return DATA_ANY;
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        if (m->own_values[t] && (!is_alike(&m->own.tensor[t].fill) || !is_alike(&m->other.tensor[t].fill)))
            return DATA_ANY;
    return m->own.data;
}
