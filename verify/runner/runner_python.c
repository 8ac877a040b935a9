/* The runner as a library of an interpreter. A candidate in Python gets tensors as views of the mapped memory
 * (DLPack); its results are copied to the outputs here. unseen_torch.runner is the interpreter's part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "runner_internal.h"
#include "runner_python.h"
#include "verify/util/defence.h"

#define EXPORTED __attribute__((visibility("default")))

static struct python_plan plan;
static struct python_callbacks callbacks;
static double ended_ms;

/* --- for the interpreter --- */

EXPORTED struct python_plan *unseen_plan(void);
EXPORTED int unseen_audit(int argc, char **argv);
EXPORTED int unseen_serve(const struct python_callbacks *table, const char *without);
EXPORTED void unseen_ended(void);
EXPORTED void *unseen_view(int tensor);
EXPORTED int unseen_poison(uint64_t address, uint64_t bytes);

struct python_plan *unseen_plan(void)
{
    return &plan;
}

/* Call it before the interpreter loads anything else. */
int unseen_audit(int argc, char **argv)
{
    audit_begin(argc, argv);
    return 0;
}

/* Descriptor 3 is the channel. The parent process cannot be inspected; this one can (--forbid). */
int unseen_serve(const struct python_callbacks *table, const char *without)
{
    callbacks = *table;
    runner.python = true;
    prctl(PR_SET_DUMPABLE, 1);
    return runner_serve(without);
}

/* The candidate has returned; the interpreter's further work is not part of its time. */
void unseen_ended(void)
{
    ended_ms = call_clock_ms();
}

/* Poisons a free block of the interpreter's device allocator before a call. 1: done; 0: disabled; -1:
 * failed. */
int unseen_poison(uint64_t address, uint64_t bytes)
{
    if (plan.backend != BACKEND_CUDA || !defence_is_on(DEFENCE_POISON))
        return 0;
    return python_poison_device(address, bytes) ? 1 : -1;
}

/* --- DLPack: the exchange format for tensors --- */

enum { DL_CPU = 1, DL_CUDA = 2 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4 };

struct dl_tensor {
    void *data;
    int32_t device_type, device;
    int32_t rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
};

struct view {
    struct dl_managed managed;
    int64_t shape[PROBLEM_MAX_RANK], strides[PROBLEM_MAX_RANK];
};

static void drop_view(struct dl_managed *managed)
{
    free(managed->context);
}

/* Formats that some versions of libraries do not know are passed as bytes; the interpreter sets their
 * dtype. */
static void set_format(struct dl_tensor *tensor, enum dtype dtype, int size)
{
    tensor->lanes = 1;
    tensor->bits = (uint8_t)(8 * size);
    static const uint8_t code[] = {[DTYPE_FLOAT] = DL_FLOAT,
                                   [DTYPE_BFLOAT] = DL_BFLOAT,
                                   [DTYPE_MINIFLOAT] = DL_UINT,
                                   [DTYPE_SIGNED] = DL_INT,
                                   [DTYPE_UNSIGNED] = DL_UINT};
    tensor->code = code[dtype_row(dtype)->kind];
}

/* Creates a DLPack managed tensor for tensor `number` of the prepared call; its consumer frees it. NULL: out
 * of memory. */
void *unseen_view(int number)
{
    const struct python_tensor *from = &plan.tensor[number];
    struct view *view = calloc(1, sizeof *view);
    if (!view)
        return NULL;
    memcpy(view->shape, from->dim, sizeof view->shape);
    memcpy(view->strides, from->stride, sizeof view->strides);
    view->managed =
        (struct dl_managed){.tensor = {.data = from->data,
                                       .device_type = plan.backend == BACKEND_CUDA ? DL_CUDA : DL_CPU,
                                       .device = plan.backend == BACKEND_CUDA ? (int32_t)plan.device : 0,
                                       .rank = from->rank,
                                       .shape = view->shape,
                                       .strides = view->strides},
                            .context = view,
                            .deleter = drop_view};
    set_format(&view->managed.tensor, (enum dtype)from->dtype, from->size);
    return &view->managed;
}

/* --- for the runner --- */

static void take_names(const char *names)
{
    char copy[CHANNEL_TEXT], *rest = copy;
    int n = 0;
    snprintf(copy, sizeof copy, "%s", names);
    for (char *name; (name = strsep(&rest, " ")) && n < CHANNEL_ARGUMENTS;)
        snprintf(plan.argument[n++].name, CHANNEL_NAME, "%.*s", CHANNEL_NAME - 1, name);
}

int python_load(const struct request *request, char *text)
{
    *plan.text = '\0';
    plan.backend = request->backend;
    plan.device = request->device;
    plan.own = request->own;
    runner.own = request->own != 0;
    plan.stream = runner.backend == BACKEND_CUDA ? device_stream() : NULL;
    take_names(request->names);
    const int failure = callbacks.load(request->path, request->symbol, request->entry, request->adapter);
    snprintf(text, CHANNEL_TEXT, "%s", plan.text);
    return failure;
}

void python_forget(uint32_t set, bool keep)
{
    callbacks.forget(set, keep);
}

/* Sets strides of a dense tensor, except for the pitch between rows (the last dimension). */
static void set_shape(struct python_tensor *to, const struct channel_tensor *from)
{
    to->rank = from->rank <= PROBLEM_MAX_RANK ? (int32_t)from->rank : 0;
    int64_t stride = 1;
    for (int d = to->rank - 1; d >= 0; d--) {
        to->dim[d] = from->dim[d];
        to->stride[d] = stride;
        stride = d == to->rank - 1 && from->pitch > 0 ? from->pitch : stride * from->dim[d];
    }
}

static void set_tensor(struct python_tensor *to, const struct slot *slot, uint64_t offset)
{
    const struct channel_tensor *from = &slot->tensor;
    memcpy(to->name, from->name, sizeof to->name);
    to->dtype = (int32_t)from->dtype;
    to->role = (int32_t)from->role;
    to->size = (int32_t)from->size;
    to->returned = 0;
    to->data = slot->base + offset;
    set_shape(to, from);
}

/* False: the callback failed, and `reply` says why. */
static bool is_done(int answer, struct reply *reply)
{
    if (answer == PYTHON_DONE)
        return true;
    reply->kind = answer == PYTHON_RAISED ? REPLY_FAILED : REPLY_RETURNED;
    reply->value = answer == PYTHON_RAISED  ? (int32_t)FAILURE_RAISED
                   : answer == PYTHON_SHORT ? (int32_t)RETURNED_SHORT
                                            : 1;
    snprintf(reply->text, sizeof reply->text, "%s", plan.text);
    return false;
}

bool python_prepare(const struct request *request, void *stream, struct reply *reply)
{
    plan.set = request->set;
    plan.tensors = request->tensors;
    plan.arguments = request->arguments;
    plan.stream = stream;
    *plan.text = '\0';
    for (uint32_t i = 0; i < request->tensors; i++)
        set_tensor(&plan.tensor[i], &runner.slot[request->set * CHANNEL_TENSORS + i], request->offset[i]);
    for (uint32_t i = 0; i < request->arguments; i++) {
        plan.argument[i].type = request->argument[i].type;
        plan.argument[i].whole = request->argument[i].value.whole;
        plan.argument[i].real = request->argument[i].value.real;
    }
    if (!is_done(callbacks.prepare(), reply))
        return false;
    if (plan.backend == BACKEND_HOST)
        poison_heap();
    return true;
}

int python_call(void)
{
    ended_ms = 0;
    return callbacks.call();
}

double python_ended_ms(void)
{
    return ended_ms > 0 ? ended_ms : call_clock_ms();
}

/* Copies row by row if the rows of the result are dense, else element by element. */
static void copy_host(const struct python_tensor *t)
{
    const int last = t->rank - 1;
    const size_t size = (size_t)t->size;
    const int64_t width = t->rank ? t->dim[last] : 1;
    int64_t index[PROBLEM_MAX_RANK] = {0}, rows = 1;
    for (int d = 0; d < last; d++)
        rows *= t->dim[d];
    for (int64_t row = 0; row < rows && width > 0; row++) {
        int64_t from = 0, to = 0;
        for (int d = 0; d < last; d++) {
            from += index[d] * t->back_stride[d];
            to += index[d] * t->stride[d];
        }
        const char *source = (const char *)t->back + (size_t)from * size;
        char *target = (char *)t->data + (size_t)to * size;
        const int64_t step = t->rank ? t->back_stride[last] : 1;
        if (step == 1 || width == 1)
            memcpy(target, source, (size_t)width * size);
        for (int64_t i = 0; step != 1 && width > 1 && i < width; i++)
            memcpy(target + (size_t)i * size, source + i * step * (int64_t)size, size);
        for (int d = last - 1; d >= 0 && ++index[d] == t->dim[d]; d--)
            index[d] = 0;
    }
}

static bool take_back(int number, struct reply *reply)
{
    struct python_tensor *t = &plan.tensor[number];
    if (plan.backend != BACKEND_CUDA) {
        copy_host(t);
        return true;
    }
    if (!is_done(callbacks.pack(number), reply))
        return false;
    reply->value = python_copy_device(t, reply->text);
    if (reply->value != 0)
        reply->kind = REPLY_DEVICE_ERROR;
    return reply->value == 0;
}

void python_finish(struct reply *reply)
{
    if (!is_done(reply->value, reply))
        return;
    for (int i = 0; i < plan.tensors; i++)
        if (plan.tensor[i].returned && plan.tensor[i].role != TENSOR_INPUT && !take_back(i, reply))
            return;
}
