#include "layout.h"

#include <string.h>

#include "gen/contract/instantiate.h"

/* Spare bytes after the last element, for code that reads whole vectors. */
enum { SLACK = 16 };

static int lay_tensor(struct layout *l, int t)
{
    const struct tensor *tensor = &l->problem->tensors[t];
    int error = 0;
    l->bytes[t] = (size_t)dtype_bytes(tensor->dtype, instance_tensor_span(&l->instance.tensor[t]));
    if (tensor->role != TENSOR_OUTPUT) {
        error = l->memory->take(&l->held[t], l->bytes[t] + SLACK);
        if (!error)
            error = l->memory->poison(l->held[t], l->bytes[t], dtype_row(tensor->dtype)->poison);
        if (!error)
            error = l->memory->fill(l->problem, &l->instance, t, l->config.seed, l->content, l->held[t]);
    }
    if (tensor->role != TENSOR_INPUT && !error) {
        error = l->memory->take(&l->got[t], l->bytes[t] + SLACK);
        if (!error)
            error = l->held[t] ? l->memory->copy(l->got[t], l->held[t], l->bytes[t])
                               : l->memory->poison(l->got[t], l->bytes[t], dtype_row(tensor->dtype)->poison);
    }
    return error;
}

int layout_open(struct layout *l, const struct memory *memory, const struct config *config, int content)
{
    int error = 0;
    *l = (struct layout){.problem = config->problem, .memory = memory, .config = *config, .content = content};
    if (config_instantiate(config, content, &l->instance) != 0)
        return -1;
    for (int t = 0; l->problem->tensors[t].name && !error; t++)
        error = lay_tensor(l, t);
    return error;
}

void layout_close(struct layout *l)
{
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++) {
        if (l->held[t])
            l->memory->release(l->held[t]);
        if (l->got[t])
            l->memory->release(l->got[t]);
    }
    instance_clear(&l->instance);
    *l = (struct layout){0};
}

void layout_request(const struct layout *l, int output, int capability, struct judge_request *r)
{
    *r = (struct judge_request){.problem = l->problem,
                                .output = output,
                                .got = l->got[output],
                                .width = instance_tensor_width(&l->instance.tensor[output]),
                                .pitch = l->instance.tensor[output].pitch,
                                .poison = memory_poison_element(l->problem->tensors[output].dtype),
                                .atol = l->problem->published_atol,
                                .rtol = l->problem->published_rtol};
    memcpy(r->context.extent, l->instance.extent, sizeof r->context.extent);
    memcpy(r->context.scalar, l->instance.scalar, sizeof r->context.scalar);
    for (int t = 0; l->problem->tensors[t].name; t++)
        r->context.tensor[t] = l->held[t] ? l->held[t] : l->got[t];
    r->context.data = l->instance.data;
    r->context.e4m3 = reference_e4m3();
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        r->sample[s] = -1;
    error_arithmetics(l->problem, capability, &r->arithmetics);
}

static bool is_cuda(const struct layout *l)
{
    return l->memory != memory_of(BACKEND_HOST);
}

int layout_judge(const struct layout *l, const struct reference *reference,
                 const struct judge_request *request, struct judge_report *report)
{
    return is_cuda(l) ? reference->judge_cuda(request, report) : reference->judge_host(request, report);
}

int layout_witness(const struct layout *l, const struct reference *reference,
                   const struct judge_request *given, const struct judged *const *element,
                   struct witnessed *answer, int count)
{
    struct judge_request request = *given;
    struct device_pages *fetcher = NULL;
    int64_t bytes[PROBLEM_MAX_TENSORS];
    const int tensors = problem_tensor_count(l->problem);
    for (int t = 0; t < tensors; t++)
        bytes[t] = (int64_t)l->bytes[t];
    if (is_cuda(l)) {
        fetcher = device_pages_open(&request, bytes, tensors, l->memory->to_host, l->memory->gather);
        if (!fetcher)
            return -1;
    }
    const int error = reference->witness_list(&request, element, answer, count);
    device_pages_close(fetcher);
    return error;
}
