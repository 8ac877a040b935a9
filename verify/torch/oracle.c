#include "oracle_internal.h"
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exact.h"
#include "verify/sandbox/python_program.h"
#include "verify/problem/paths.h"

enum { ALIGNMENT = 64 };

struct oracle *oracle_begin(const struct oracle_options *options)
{
    struct oracle *oracle = calloc(1, sizeof *oracle);
    if (!oracle)
        return NULL;
    oracle->options = *options;
    oracle->fd = -1;
    if (!options->answers)
        oracle->options.answers = oracle->own = answer_store_open(0, 0);
    if (oracle->options.answers)
        return oracle;
    free(oracle);
    return NULL;
}

static void forget_memory(struct oracle *o)
{
    if (o->memory)
        munmap(o->memory, (size_t)o->capacity);
    if (o->fd >= 0)
        close(o->fd);
    o->memory = NULL;
    o->fd = -1;
    o->capacity = 0;
    o->handed = o->fresh = false;
}

void oracle_end(struct oracle *o)
{
    if (!o)
        return;
    oracle_forget_graph(o);
    oracle_stop(&o->process);
    forget_memory(o);
    answer_store_close(o->own);
    free(o->identity);
    free(o->packet);
    free(o);
}

void oracle_rest(struct oracle *o)
{
    static const int64_t much = 64 << 20;
    if (o->capacity > much &&
        fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, o->capacity) == 0)
        o->fresh = false;
}

static bool is_same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool oracle_serves(const struct oracle *o, const struct oracle_options *options)
{
    const struct oracle_options *const own = &o->options;
    return own->problem == options->problem && is_same_name(own->python, options->python) &&
           own->cuda == options->cuda && own->threads == options->threads && own->memory == options->memory &&
           own->seconds == options->seconds;
}

bool oracle_is_of(const struct oracle *o, pthread_t thread)
{
    siginfo_t info = {0};
    return o->process.pid && pthread_equal(o->process.starter, thread) &&
           waitid(P_PID, (id_t)o->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* --- the shared memory --- */

static int64_t place(int64_t *used, int64_t bytes)
{
    const int64_t at = *used;
    *used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static int64_t bytes_of(const struct problem *problem, const struct instance *instance, int t)
{
    return dtype_bytes(problem->tensors[t].dtype, instance_tensor_count(&instance->tensor[t]));
}

static void lay_out(const struct problem *problem, const struct instance *instance,
                    struct oracle_layout *layout)
{
    int64_t used = 0;
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        const int64_t answer = instance_tensor_count(&instance->tensor[t]) * (int64_t)sizeof(double);
        layout->at[t] = place(&used, bytes_of(problem, instance, t));
        if (problem->tensors[t].role == TENSOR_INPUT)
            continue;
        if (problem->tensors[t].role == TENSOR_INOUT)
            layout->after[t] = place(&used, bytes_of(problem, instance, t));
        layout->want[t] = place(&used, answer);
        layout->allowed[t] = place(&used, answer);
    }
    layout->bytes = used > 0 ? used : ALIGNMENT;
}

/* Makes the shared memory large enough. If it was too small, it is replaced, and the process must be handed
 * the new one. */
static enum oracle_status make_memory(struct oracle *o, struct oracle_answer *answer)
{
    const int64_t bytes = o->layout.bytes;
    if (bytes <= o->capacity)
        return ORACLE_OK;
    forget_memory(o);
    o->fd = memfd_create("unseen-oracle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* sealed, since truncation by the other process would crash this one */
    if (o->fd >= 0 && ftruncate(o->fd, bytes) == 0 &&
        fcntl(o->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);
        o->memory = memory == MAP_FAILED ? NULL : memory;
        o->capacity = o->memory ? bytes : 0;
    }
    if (o->memory)
        return ORACLE_OK;
    snprintf(answer->text, sizeof answer->text, "no %lld bytes to share with the oracle: %s",
             (long long)bytes, strerror(errno));
    forget_memory(o);
    return ORACLE_SHORT;
}

static int put(struct oracle *o, const struct oracle_question *question, int t, const void *from, int64_t at)
{
    const int64_t bytes = bytes_of(o->options.problem, question->instance, t);
    return bytes ? question->to_host(o->memory + at, from, 0, bytes) : 0;
}

/* Copies the tensors of a question into the shared memory. */
static int put_all(struct oracle *o, const struct oracle_question *question)
{
    int error = 0;
    for (int t = 0; t < problem_tensor_count(o->options.problem) && !error; t++) {
        if (oracle_brings(o, t))
            error = put(o, question, t, question->tensor[t], o->layout.at[t]);
        if (!error && oracle_brings_after(o, t))
            error = put(o, question, t, question->after[t], o->layout.after[t]);
    }
    return error;
}

/* --- asking --- */

/* Starts the process and sends the hello packet, which names the task. */
static enum oracle_status greet(struct oracle *o, char *text, size_t size)
{
    const char *const given = o->options.problem->oracle->script;
    char script[PATH_MAX], *hello;
    if (given ? !realpath(given, script) : paths_find(script, sizeof script, PYTHON_START)) {
        snprintf(text, size,
                 "found no %.500s, which computes a task's right answers\n---> run `make install`",
                 given ? given : script);
        return ORACLE_FAILED;
    }
    if (oracle_start(&o->process, &o->options, script, text, size))
        return ORACLE_FAILED;
    o->handed = false;
    hello = oracle_hello(&o->options);
    const enum oracle_status status = hello ? oracle_send(&o->process, hello, -1, text, size) : ORACLE_SHORT;
    if (!hello)
        oracle_stop(&o->process); /* else the process would wait for ever */
    free(hello);
    o->process.greeted = status == ORACLE_OK;
    return status;
}

/* Ensures that a process runs and is ready. */
static enum oracle_status start(struct oracle *o, struct oracle_answer *answer)
{
    int with = -1;
    enum oracle_status status = o->process.pid ? ORACLE_OK : greet(o, answer->text, sizeof answer->text);
    if (status != ORACLE_OK || !o->process.greeted)
        return status;
    o->process.greeted = false;
    status = oracle_await(&o->process, &o->options, o->reply, &with, answer->text, sizeof answer->text);
    if (with >= 0)
        close(with); /* no descriptor is expected here */
    if (status == ORACLE_OK && strcmp(o->reply, "ready") != 0) {
        oracle_stop(&o->process);
        snprintf(answer->text, sizeof answer->text,
                 "the task's right answers cannot be computed: %.600s\n---> name a Python that has torch: "
                 "--python PATH",
                 strncmp(o->reply, "failed ", 7) == 0 ? o->reply + 7 : o->reply);
        return ORACLE_FAILED;
    }
    return status;
}

bool oracle_prepare(struct oracle *o)
{
    char text[1200];
    return o->process.pid || greet(o, text, sizeof text) == ORACLE_OK;
}

enum oracle_status oracle_wake(struct oracle *o, char *text, size_t size)
{
    struct oracle_answer answer = {.text = ""};
    const enum oracle_status status = start(o, &answer);
    snprintf(text, size, "%s", answer.text);
    return status;
}

static void point_at_answer(const struct oracle *o, const struct instance *instance,
                            struct oracle_answer *answer)
{
    const struct problem *problem = o->options.problem;
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        struct oracle_output *output = &answer->output[t];
        if (problem->tensors[t].role == TENSOR_INPUT)
            continue;
        output->want = (const double *)(o->memory + o->layout.want[t]);
        output->allowed = (const double *)(o->memory + o->layout.allowed[t]);
        output->elements = instance_tensor_count(&instance->tensor[t]);
    }
}

/* Sends a packet and waits for the reply. packet NULL: out of memory. */
static enum oracle_status talk(struct oracle *o, const char *packet, struct oracle_answer *answer)
{
    int with = -1;
    oracle_forget_graph(o);
    enum oracle_status status = packet ? ORACLE_OK : ORACLE_SHORT;
    if (status == ORACLE_OK)
        status = start(o, answer);
    if (status == ORACLE_OK)
        status = oracle_exchange(&o->process, &o->options, packet, o->handed ? -1 : o->fd, o->reply, &with,
                                 answer->text, sizeof answer->text);
    if (with >= 0)
        close(with);
    o->handed = status == ORACLE_OK;
    return status;
}

/* Copies tensors and asks. If the answer depends on what was returned (signs of vectors), it asks again, with
 * all outputs, and brings these from then on. */
static enum oracle_status put_and_ask(struct oracle *o, const struct oracle_question *question,
                                      struct oracle_answer *answer)
{
    const struct instance *const instance = question->instance;
    enum oracle_status status;
    bool same;
    if (put_all(o, question)) {
        snprintf(answer->text, sizeof answer->text, "reading a tensor for the oracle failed");
        return ORACLE_SHORT;
    }
    if (!oracle_set_question(o, instance, &same))
        return ORACLE_SHORT;
    if (same) {
        *answer = o->answer;
        return ORACLE_OK;
    }
    o->fresh = false;
    oracle_forget_graph(o);
    o->kept = oracle_recall(o, instance, answer, &status);
    if (o->kept)
        return status;
    status = talk(o, o->packet, answer);
    if (status == ORACLE_OK && !o->layout.returned && strcmp(o->reply, "returned") == 0) {
        o->layout.returned = true;
        return put_and_ask(o, question, answer);
    }
    if (status == ORACLE_OK)
        status = oracle_read(o->options.problem, o->reply, answer);
    oracle_remember(o, instance, answer, status);
    return status;
}

enum oracle_status oracle_ask(struct oracle *o, const struct oracle_question *question,
                              struct oracle_answer *answer)
{
    *answer = (struct oracle_answer){.text = ""};
    lay_out(o->options.problem, question->instance, &o->layout);
    enum oracle_status status = make_memory(o, answer);
    if (status != ORACLE_OK)
        return status;
    status = put_and_ask(o, question, answer);
    o->answer = *answer;
    o->fresh = status == ORACLE_OK;
    if (status == ORACLE_OK)
        point_at_answer(o, question->instance, answer);
    return status;
}

enum oracle_status oracle_tell(struct oracle *o, char *text, size_t size)
{
    struct oracle_answer answer = {.text = ""};
    if (!o->fresh || !o->kept)
        return ORACLE_OK;
    enum oracle_status status = talk(o, o->packet, &answer);
    if (status == ORACLE_OK)
        status = oracle_read(o->options.problem, o->reply, &answer);
    o->kept = status != ORACLE_OK;
    snprintf(text, size, "%s", answer.text);
    return status;
}

/* --- inputs --- */

/* Copies the made inputs. False: out of memory. */
static bool take_made(const struct oracle *o, const struct instance *instance, const int64_t *at,
                      int32_t **given)
{
    for (int t = 0; t < problem_tensor_count(o->options.problem); t++) {
        const size_t bytes =
            at[t] < 0 ? 0 : (size_t)instance_tensor_count(&instance->tensor[t]) * sizeof **given;
        given[t] = at[t] < 0 ? NULL : malloc(bytes ? bytes : 1);
        if (given[t])
            memcpy(given[t], o->memory + at[t], bytes);
        else if (at[t] >= 0)
            return false;
    }
    return true;
}

enum oracle_status oracle_make(struct oracle *o, const struct instance *instance,
                               const struct imported_wish *wish, int32_t **given, char *text, size_t size)
{
    const int count = problem_tensor_count(o->options.problem);
    struct oracle_answer answer = {.text = ""};
    int64_t at[PROBLEM_MAX_TENSORS], used = ALIGNMENT;
    for (int t = 0; t < count; t++)
        at[t] = wish->wanted[t]
                    ? place(&used, instance_tensor_count(&instance->tensor[t]) * (int64_t)sizeof **given)
                    : -1;
    o->fresh = false;
    o->layout.bytes = used;
    enum oracle_status status = make_memory(o, &answer);
    char *const packet = oracle_wish(o->options.problem, instance, wish, at);
    if (status == ORACLE_OK)
        status = talk(o, packet, &answer);
    free(packet);
    if (status == ORACLE_OK && strcmp(o->reply, "made") != 0)
        status = oracle_read(o->options.problem, o->reply, &answer);
    if (status == ORACLE_OK && strcmp(o->reply, "made") != 0)
        status = ORACLE_FAILED; /* an answer, and none was asked for */
    if (status == ORACLE_OK && !take_made(o, instance, at, given)) {
        for (int t = 0; t < count; t++)
            free(given[t]), given[t] = NULL;
        status = ORACLE_SHORT;
    }
    snprintf(text, size, "%s", answer.text);
    return status;
}

/* --- pairs --- */

enum oracle_status oracle_admits(struct oracle *o, const struct instance *before,
                                 const struct instance *after, char *text, size_t size)
{
    struct oracle_answer answer = {.text = ""};
    char *const packet = oracle_pair(o->options.problem, before, after);
    o->fresh = false;
    enum oracle_status status = talk(o, packet, &answer);
    free(packet);
    if (status == ORACLE_OK && strcmp(o->reply, "ok") != 0) {
        status = oracle_read(o->options.problem, o->reply, &answer);
        status = status == ORACLE_OK ? ORACLE_FAILED : status; /* an answer, and none was asked for */
    }
    snprintf(text, size, "%s", answer.text);
    return status;
}
