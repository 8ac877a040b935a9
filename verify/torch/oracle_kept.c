/* Questions by their hash, and answers that are kept by it (answer_store.h). */
#include "oracle_internal.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"

/* The first part of a kept answer. The others are `want` and `allowed` of each output. */
struct kept_head {
    enum oracle_status status;
    struct oracle_answer answer;
};

enum { PARTS = 1 + 2 * PROBLEM_MAX_TENSORS };

/* --- the question --- */

static bool is_whole(enum dtype dtype)
{
    return dtype_is_whole(dtype) && dtype != DTYPE_BOOL;
}

bool oracle_brings(const struct oracle *o, int t)
{
    const struct tensor *const tensor = &o->options.problem->tensors[t];
    return tensor->role != TENSOR_OUTPUT || is_whole(tensor->dtype) || o->layout.returned;
}

bool oracle_brings_after(const struct oracle *o, int t)
{
    const struct tensor *const tensor = &o->options.problem->tensors[t];
    return tensor->role == TENSOR_INOUT && (is_whole(tensor->dtype) || o->layout.returned);
}

/* The task and everything else that decides an answer's bits, except the question. */
static char *identity_of(const struct oracle_options *options)
{
    const struct problem *const problem = options->problem;
    const struct problem_oracle *const own = problem->oracle;
    char *description =
        problem->task ? json_dumps(imported_description(problem->task), JSON_COMPACT) : strdup("");
    char *text = NULL;
    if (description &&
        asprintf(&text, "%p\n%s\n%s\n%s\n%s\n%d %d\n%s\n", (const void *)problem, own->folder,
                 own->description, own->script ? own->script : "", options->python ? options->python : "",
                 options->cuda, options->threads, description) < 0)
        text = NULL;
    free(description);
    return text;
}

static void add_tensor(struct question_hash *hash, const struct oracle *o, const struct instance *instance,
                       int t, int64_t at)
{
    question_hash_add(hash, o->memory + at,
                      (size_t)dtype_bytes(o->options.problem->tensors[t].dtype,
                                          instance_tensor_count(&instance->tensor[t])));
}

/* Hashes the question in the memory: the task, the packet, and all tensors that it brings. False: out of
 * memory. */
static bool hash_question(struct oracle *o, const struct instance *instance, const char *packet,
                          struct answer_key *key)
{
    const struct problem *const problem = o->options.problem;
    if (!o->identity)
        o->identity = identity_of(&o->options);
    struct question_hash *const hash = o->identity ? question_hash_open(o->options.answers) : NULL;
    if (!hash)
        return false;
    question_hash_add(hash, o->identity, strlen(o->identity) + 1);
    question_hash_add(hash, packet, strlen(packet) + 1);
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        if (oracle_brings(o, t))
            add_tensor(hash, o, instance, t, o->layout.at[t]);
        if (oracle_brings_after(o, t))
            add_tensor(hash, o, instance, t, o->layout.after[t]);
    }
    *key = question_hash_close(hash);
    return true;
}

bool oracle_set_question(struct oracle *o, const struct instance *instance, bool *same)
{
    struct answer_key key;
    char *const packet = oracle_packet(o->options.problem, instance, &o->layout);
    const bool ok = packet && hash_question(o, instance, packet, &key);
    *same = ok && o->fresh && answer_key_is(&key, &o->key);
    if (!ok || *same) {
        free(packet);
        return ok;
    }
    free(o->packet);
    o->packet = packet;
    o->key = key;
    return true;
}

/* --- kept answers --- */

static int list_parts(const struct oracle *o, const struct instance *instance, struct kept_head *head,
                      struct iovec part[PARTS])
{
    int count = 0;
    part[count++] = (struct iovec){head, sizeof *head};
    for (int t = 0; t < problem_tensor_count(o->options.problem); t++) {
        if (o->options.problem->tensors[t].role == TENSOR_INPUT)
            continue;
        const size_t bytes = (size_t)instance_tensor_count(&instance->tensor[t]) * sizeof(double);
        part[count++] = (struct iovec){o->memory + o->layout.want[t], bytes};
        part[count++] = (struct iovec){o->memory + o->layout.allowed[t], bytes};
    }
    return count;
}

bool oracle_recall(struct oracle *o, const struct instance *instance, struct oracle_answer *answer,
                   enum oracle_status *status)
{
    struct kept_head head;
    struct iovec part[PARTS];
    const int parts = list_parts(o, instance, &head, part);
    if (answer_store_take(o->options.answers, &o->key, part, parts) < sizeof head)
        return false;
    *answer = head.answer;
    *status = head.status;
    return true;
}

void oracle_remember(struct oracle *o, const struct instance *instance, const struct oracle_answer *answer,
                     enum oracle_status status)
{
    struct kept_head head = {.status = status, .answer = *answer};
    struct iovec part[PARTS];
    const int parts = list_parts(o, instance, &head, part);
    if (status == ORACLE_OK || status == ORACLE_UNTOLD)
        answer_store_keep(o->options.answers, &o->key, part, status == ORACLE_OK ? parts : 1);
}
