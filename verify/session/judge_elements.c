#include "judge_elements.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/space.h"
#include "witness.h"

int judge_compute(const struct judge *judge, const struct judging *j, int k,
                  const struct judge_request *request, struct judge_report *report)
{
    const struct reference *reference = judge->judgement[k].reference;
    if (judge_backend(judge, j) == BACKEND_CUDA)
        return reference->judge_cuda(request, report);
    const int threads = omp_get_max_threads();
    if (j->on_host) /* it is small, and the other cores judge other candidates */
        omp_set_num_threads(1);
    const int error = reference->judge_host(request, report);
    omp_set_num_threads(threads);
    return error;
}

/* --- enclosures of earlier judgements --- */

/* Fewer terms of an element are computed faster than its enclosure is read. */
static const double least_terms = 64;

enum { KEY_SIZE = RESULT_LINE_SIZE + 64 * PROBLEM_MAX_ARGUMENTS + 64 * PROBLEM_MAX_TENSORS + 400 };

struct key {
    char text[KEY_SIZE];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct key *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(key->text + key->used, sizeof key->text - key->used, format, arguments);
    va_end(arguments);
    key->used += more > 0 ? (size_t)more : 0;
    if (key->used >= sizeof key->text)
        key->used = sizeof key->text - 1;
}

/* Names all values that the enclosures follow from: the definition, the configuration, and the draw. */
static void name_inputs(const struct judge *judge, const struct judging *j, int k,
                        const struct judge_request *request, struct key *key)
{
    const struct content *const drawn = j->drawn;
    key->used = 0;
    add(key, "%p %d ", (const void *)judge->judgement[k].reference, k);
    config_format(j->config, key->text + key->used, sizeof key->text - key->used);
    key->used = strlen(key->text);
    add(key, " draw %d data %d", drawn->base, (int)request->context.data);
    for (int i = 0; i < PROBLEM_MAX_ARGUMENTS; i++)
        add(key, " %lld %a", (long long)request->context.extent[i], request->context.scalar[i]);
    for (int t = 0; t < judge->tensors; t++)
        add(key, " %lld", (long long)drawn->turn[t]);
    if (!drawn->near.present)
        return;
    add(key, " near %d %lld", drawn->near.tensor, (long long)drawn->near.element);
    for (size_t i = 0; i < sizeof drawn->near.value; i++)
        add(key, " %02x", drawn->near.value[i]);
}

/* Looks for enclosures of these inputs, or for room to keep new ones. If none are stored, the cache still
 * knows whether they were audited. */
static void look_up(struct judge *judge, const struct judging *j, int k, struct judge_request *request,
                    int64_t elements)
{
    const struct reference *const reference = judge->judgement[k].reference;
    const bool pays = reference->stored_doubles > 0 && reference->witness_cost(request) >= least_terms;
    const int doubles = pays ? reference->stored_doubles : 0;
    struct enclosure_cache *const cache = judge->cache[judge_backend(judge, j)];
    struct key *const key = cache && j->drawn ? malloc(sizeof *key) : NULL;
    judge->in_cache = NULL;
    if (!key)
        return;
    name_inputs(judge, j, k, request, key);
    judge->in_cache = enclosure_cache_take(cache, key->text, (size_t)(elements * doubles) * sizeof(double));
    free(key);
    if (judge->in_cache && judge->in_cache->filled)
        request->stored = judge->in_cache->memory; /* NULL if nothing is stored */
    else if (judge->in_cache)
        request->store = judge->in_cache->memory;
    request->elements = elements;
}

void judge_elements_end(struct judge *judge, const struct judging *j, bool heard)
{
    enclosure_cache_give(judge->cache[judge_backend(judge, j)], judge->in_cache, heard, heard && j->thorough);
    judge->in_cache = NULL;
}

/* --- the judgement --- */

/* If one element is expensive, its row is judged again for the samples' enclosures. */
static int judge_row(const struct judge *judge, const struct judging *j, int k, struct judge_request *request,
                     struct judge_report *report)
{
    const int64_t elements = instance_tensor_count(&j->instance->tensor[request->output]);
    struct judge_report *again = malloc(sizeof *again);
    struct judge_request row = *request;
    row.store = NULL;
    row.stored = NULL;
    row.only_row = judge->judgement[k].reference->row_of(request, report->worst.index) + 1;
    witness_choose(judge, j, k, report->worst.index, elements, &row);
    const int error = again ? judge_compute(judge, j, k, &row, again) : -1;
    if (!error)
        memcpy(report->sample, again->sample, sizeof report->sample);
    free(again);
    /* the witness is asked about the same samples, and the same terms of a fold */
    memcpy(request->sample, row.sample, sizeof request->sample);
    request->context = row.context;
    return error;
}

int judge_elements(struct judge *judge, struct judging *j, int k, struct judge_request *request,
                   struct judge_report *report)
{
    const int64_t elements = instance_tensor_count(&j->instance->tensor[request->output]);
    look_up(judge, j, k, request, elements);
    j->thorough = j->thorough && !(judge->in_cache && judge->in_cache->audited);
    const bool expensive = witness_is_expensive(judge, k, request);
    if (j->thorough && !expensive)
        witness_choose(judge, j, k, -1, elements, request);
    int error = judge_compute(judge, j, k, request, report);
    if (!error && j->thorough && expensive && !j->brief && report->worst.index >= 0)
        error = judge_row(judge, j, k, request, report);
    report->elements = elements;
    if (error)
        judge_elements_end(judge, j, false);
    return error;
}
