#include "oracle.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/candidate.h"

void oracle_open(struct oracle *o, const char *name, const char *line, int content, int capability)
{
    const struct problem *problem = problem_find(name);
    ck_assert_ptr_nonnull(problem);
    oracle_open_output(o, problem, problem_first_output(problem), line, content, capability);
}

void oracle_open_output(struct oracle *o, const struct problem *problem, int output, const char *line,
                        int content, int capability)
{
    struct space_error error = {""};
    *o = (struct oracle){.output = output, .tensors = problem_tensor_count(problem)};
    ck_assert_msg(config_parse(&o->config, problem, line, "test", &error) == 0, "%s", error.text);
    ck_assert_int_eq(layout_open(&o->layout, memory_of(BACKEND_HOST), &o->config, content), 0);
    o->instance = o->layout.instance;
    o->reference = reference_find(problem, output);
    ck_assert_ptr_nonnull(o->reference);
    for (int t = 0; t < o->tensors; t++) {
        o->tensor[t] = o->layout.held[t] ? o->layout.held[t] : o->layout.got[t];
        o->bytes[t] = (int64_t)o->layout.bytes[t];
    }
    o->got = o->layout.got[output];
    o->elements = instance_tensor_count(&o->instance.tensor[output]);
    o->width = instance_tensor_width(&o->instance.tensor[output]);
    o->dtype = problem->tensors[output].dtype;
    layout_request(&o->layout, output, capability, &o->request);
    omp_set_num_threads(1); /* instances are small, and a second thread would spin between them */
}

void oracle_close(struct oracle *o)
{
    layout_close(&o->layout);
}

const char *const *oracle_inputs(const char *name)
{
    return oracle_choices(name, "input");
}

const char *const *oracle_choices(const char *name, const char *axis)
{
    enum { PROBLEMS = 32, CHOICES = 32 };
    static const char *lists[PROBLEMS][PROBLEM_MAX_AXES][CHOICES];
    const struct problem *problem = problem_find(name);
    const int index = problem_axis_index(problem, axis);
    int number = 0, count = 0;
    while (problem_registry[number] != problem)
        number++;
    ck_assert(number < PROBLEMS && index >= 0);
    const char **list = lists[number][index];
    while ((list[count] = problem_choice(problem, index, count)) != NULL)
        ck_assert_int_lt(++count, CHOICES);
    return list;
}

void oracle_line(char *out, size_t size, const char *line, const char *input, int seed)
{
    snprintf(out, size, "%s input=%s seed=%d", line, input, seed);
}

/* --- elements --- */

double oracle_get(const struct oracle *o, int64_t i)
{
    uint32_t bits;
    return dtype_load(o->dtype, o->got, i, &bits);
}

uint32_t oracle_bits(const struct oracle *o, int64_t i)
{
    return (uint32_t)dtype_word(dtype_row(o->dtype)->bits, o->got, i);
}

void oracle_put_bits(struct oracle *o, int64_t i, uint32_t bits)
{
    dtype_put_word(dtype_row(o->dtype)->bits, o->got, i, bits);
}

/* Through single: a double that rounds to a bf16 midpoint in single may end on the wrong side of it, by 2^-17
 * of half an ulp. The allowed error has room for that wherever it is not exactly zero. */
void oracle_put(struct oracle *o, int64_t i, double value)
{
    dtype_store(o->dtype, o->got, i, value);
}

double oracle_f32(const struct oracle *o, int tensor, int64_t i)
{
    return ((const float *)o->tensor[tensor])[i];
}

double oracle_bf16(const struct oracle *o, int tensor, int64_t i)
{
    return bf16_to_float(((const uint16_t *)o->tensor[tensor])[i]);
}

double oracle_e4m3(const struct oracle *o, int tensor, int64_t i)
{
    return e4m3_to_float(((const uint8_t *)o->tensor[tensor])[i]);
}

double oracle_number(const struct oracle *o, int tensor, int64_t i)
{
    uint32_t bits;
    return dtype_load(o->config.problem->tensors[tensor].dtype, o->tensor[tensor], i, &bits);
}

int oracle_nibble(const struct oracle *o, int tensor, int64_t row, int64_t column, int64_t columns)
{
    const uint8_t byte = ((const uint8_t *)o->tensor[tensor])[row / 2 * columns + column];
    return row % 2 ? byte / 16 : byte % 16;
}

int32_t oracle_i32(const struct oracle *o, int tensor, int64_t i)
{
    return ((const int32_t *)o->tensor[tensor])[i];
}

/* kv_cache is [pages, P, Hkv, 2 D]: a page holds P slots, a slot Hkv heads, a head key and value. */
int64_t oracle_key(const struct oracle *o, int64_t b, int64_t h, int64_t t)
{
    const int64_t *e = o->instance.extent;
    const int64_t heads = e[1], kv_heads = e[2], dim = e[3], size = e[4], per_seq = e[6];
    const int64_t page = oracle_i32(o, 2, b * per_seq + t / size), slot = t % size;
    const int64_t kv_head = h / (heads / kv_heads);
    const int64_t slot_size = kv_heads * 2 * dim;
    return page * size * slot_size + slot * slot_size + kv_head * 2 * dim;
}

/* --- judging --- */

void oracle_judge(struct oracle *o, struct judge_report *report)
{
    ck_assert_int_eq(o->reference->judge_host(&o->request, report), 0);
    report->elements = o->elements;
}

struct judged oracle_enclosure(struct oracle *o, int64_t index)
{
    static struct judge_report report;
    o->request.sample[0] = index;
    oracle_judge(o, &report);
    o->request.sample[0] = -1;
    ck_assert_int_eq(report.sample[0].index, index);
    return report.sample[0];
}

struct witnessed oracle_witness(const struct oracle *o, const struct judged *element)
{
    struct witnessed answer;
    ck_assert_int_eq(o->reference->witness(&o->request, element, &answer), 0);
    return answer;
}
