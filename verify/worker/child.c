#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "child_internal.h"
#include "verify/sandbox/sandbox.h"
#include "verify/sandbox/forbid.h"
#include "verify/device/cuda_visible.h"
#include "verify/util/clock.h"

/* Starting and opening the device are the runner's own work; if they take longer, it hangs. */
#define START_TIMEOUT 30.0

static void open_log(struct child *child, const char *path)
{
    struct stat status;
    child->log = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;
    if (child->log >= 0 && fstat(child->log, &status) == 0)
        child->logged = (size_t)status.st_size;
}

static enum child_status request_load(struct child *child, const struct child_options *options,
                                      const char *object, double timeout, char *text, size_t text_size)
{
    struct request request = {.kind = REQUEST_LOAD,
                              .backend = options->backend,
                              .device = cuda_visible_ordinal(options->device),
                              .control = options->control};
    struct reply reply;
    if (strlen(object) >= sizeof request.path || strlen(options->symbol) >= sizeof request.symbol) {
        snprintf(text, text_size,
                 "the path %s is too long; at most %zu bytes are possible\n"
                 "---> set TMPDIR to a shorter path",
                 object, sizeof request.path - 1);
        return CHILD_SPAWN;
    }
    strcpy(request.path, object);
    strcpy(request.symbol, options->symbol);
    if (options->python) {
        snprintf(request.entry, sizeof request.entry, "%s", options->python->entry);
        snprintf(request.adapter, sizeof request.adapter, "%s", options->python->adapter);
        snprintf(request.names, sizeof request.names, "%s", options->python->names);
        request.own = options->own;
    }
    const enum child_status status = child_exchange(child, &request, -1, timeout, &reply, text, text_size);
    reply.launched[CHANNEL_TEXT - 1] = '\0';
    if (status == CHILD_OK && *object && child->forbid && child->backend == BACKEND_CUDA)
        forbid_launches(*reply.launched ? reply.launched : NULL);
    return status;
}

/* Tests whether the child can map memory of this process. A driver in a user namespace may start and still
 * refuse to import. */
static enum child_status try_mapping(struct child *child, char *text, size_t text_size)
{
    struct region region;
    enum child_status status = CHILD_MEMORY;
    if (region_create(&region, child->backend, 1, REGION_ALIGN, text, text_size) == 0) {
        status = child_map(child, 0, 0, &region, text, text_size);
        if (status == CHILD_OK)
            status = child_unmap(child, 0, text, text_size);
        region_destroy(&region);
    }
    return status;
}

/* Receives the runner's first message and opens its device. The candidate is not loaded yet, so it cannot
 * cause a failure here. */
static enum child_status greet(struct child *child, const struct child_options *options, char *text,
                               size_t text_size)
{
    struct reply reply;
    char why[200];
    enum child_status status = child_wait(child, 0, REPLY_DONE, START_TIMEOUT, &reply, why, sizeof why);
    if (status == CHILD_OVER)
        return status;
    if (status == CHILD_KILLED) {
        snprintf(text, text_size, "%s", why);
        return status;
    }
    if (status != CHILD_OK) {
        child->head[strcspn(child->head, "\n")] = 0;
        snprintf(text, text_size,
                 "the runner did not start: %s%s%s\n---> UNSEEN_NO_SANDBOX=1 "
                 "tries it without bubblewrap",
                 why, *child->head ? ": " : "", child->head);
        return CHILD_SPAWN;
    }
    child->arena.awaited = true;
    status = request_load(child, options, "", START_TIMEOUT, text, text_size);
    child->arena.awaited = false;
    if (status == CHILD_OK && child->sandboxed && !sandbox_confirmed(options->backend)) {
        status = try_mapping(child, text, text_size);
        if (status == CHILD_OK)
            sandbox_confirm(options->backend);
    }
    return status;
}

struct child *child_begin(const struct child_options *options, bool sandboxed, char *text, size_t text_size)
{
    struct child *child = calloc(1, sizeof *child);
    if (!child) {
        snprintf(text, text_size, "out of memory");
        return NULL;
    }
    child->backend = options->backend;
    child->sandboxed = sandboxed;
    child->forked = options->python != NULL;
    child->fault.slot = -1;
    child->log = -1;
    if (child_spawn(&child->process, options, sandboxed, text, text_size)) {
        free(child);
        return NULL;
    }
    open_log(child, options->log_path);
    return child;
}

enum child_status child_greet(struct child *child, const struct child_options *options, char *text,
                              size_t text_size)
{
    const enum child_status status = greet(child, options, text, text_size);
    child->forbid = forbid_watch_start(options->object, child->process.pid);
    return status;
}

static enum child_status start(struct child **out, const struct child_options *options, bool sandboxed,
                               char *text, size_t text_size)
{
    struct child *const child = child_begin(options, sandboxed, text, text_size);
    const enum child_status status = child ? child_greet(child, options, text, text_size) : CHILD_SPAWN;
    if (status == CHILD_OK)
        *out = child;
    else
        child_stop(child);
    return status;
}

/* Starts a child, inside the sandbox if that works. Until a start inside has succeeded once, it also tries
 * outside. Too little memory for the trial is not the sandbox's fault. */
static enum child_status attempt(struct child **out, const struct child_options *options, bool is_first,
                                 char *text, size_t text_size)
{
    char why[200];
    bool inside = sandbox_use(options->backend);
    if (!inside && sandbox_required()) {
        snprintf(text, text_size, "no sandbox: %s\n---> install bubblewrap, or leave out --require-sandbox",
                 child_no_sandbox());
        return CHILD_SPAWN;
    }
    enum child_status status = start(out, options, inside, text, text_size);
    if (status == CHILD_KILLED) /* a kill says nothing about the sandbox */
        status = start(out, options, inside, text, text_size);
    if (status == CHILD_DEVICE && is_first &&
        /* the driver may need device nodes of more than one GPU, or not accept that UUID */
        cuda_visible_uuid()) {
        cuda_visible_all();
        status = start(out, options, inside, text, text_size);
    }
    if (status == CHILD_OK || status == CHILD_KILLED || status == CHILD_MEMORY || status == CHILD_OVER ||
        !inside || sandbox_required() || sandbox_confirmed(options->backend))
        return status;
    snprintf(why, sizeof why, "%s", text);
    status = start(out, options, false, text, text_size);
    if (status == CHILD_OK) /* otherwise the sandbox was not the reason */
        sandbox_reject(options->backend, why);
    return status;
}

/* The first child decides what processes on a GPU may see, so no other child starts at the same time. */
static atomic_bool settled;

static enum child_status start_anywhere(struct child **out, const struct child_options *options, char *text,
                                        size_t text_size)
{
    static pthread_mutex_t settling = PTHREAD_MUTEX_INITIALIZER;
    if (options->backend != BACKEND_CUDA || atomic_load(&settled))
        return attempt(out, options, false, text, text_size);
    pthread_mutex_lock(&settling);
    const enum child_status status = attempt(out, options, !atomic_load(&settled), text, text_size);
    if (status == CHILD_OK)
        atomic_store(&settled, true);
    pthread_mutex_unlock(&settling);
    return status;
}

void child_settle_again(void)
{
    atomic_store(&settled, false);
}

bool child_is_settled(enum backend backend, bool inside)
{
    return (!inside || sandbox_confirmed(backend)) && (backend != BACKEND_CUDA || atomic_load(&settled));
}

enum child_status child_load(struct child *child, const struct child_options *options, char *text,
                             size_t text_size)
{
    if (options->memory > 0 && !child_watch(child, options->memory)) {
        snprintf(text, text_size, "cannot watch what the candidate holds: no thread\n---> check ulimit -u");
        return CHILD_SPAWN;
    }
    return request_load(child, options, options->object, options->load_timeout, text, text_size);
}

/* No object can be loaded from such a file system, whoever wrote it. */
static bool is_unexecutable(const char *path)
{
    struct statvfs place;
    return statvfs(path, &place) == 0 && (place.f_flag & ST_NOEXEC) != 0;
}

/* Does the object have a C++ function of that name? In mangled form the parameters follow the name:
 * _Z7softmaxPKfPfllPv. */
static bool has_mangled(const char *object, const char *symbol)
{
    char name[200];
    struct stat status;
    const int length = snprintf(name, sizeof name, "_Z%zu%s", strlen(symbol), symbol);
    const int fd = open(object, O_RDONLY | O_CLOEXEC);
    bool found = false;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *const bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            found = memmem(bytes, (size_t)status.st_size, name, (size_t)length) != NULL;
            munmap(bytes, (size_t)status.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static void add_advice(enum child_status status, const struct child_options *options, char *text, size_t size)
{
    const size_t used = strlen(text);
    if (status == CHILD_SYMBOL && has_mangled(options->object, options->symbol))
        snprintf(
            text + used, size - used,
            ", but a C++ function of that name\n---> in CUDA and C++ declare it extern \"C\": include what "
            "`unseen describe %s --header` prints",
            options->symbol);
    else if (status == CHILD_SYMBOL)
        snprintf(text + used, size - used,
                 "\n---> define it, not static, as `unseen describe %s --header` declares it",
                 options->symbol);
    else if (status == CHILD_LOAD)
        snprintf(text + used, size - used,
                 "\n---> define or link what is missing: the sandbox shows the system's libraries and "
                 "LD_LIBRARY_PATH");
}

enum child_status child_start(struct child **out, const struct child_options *options, char *text,
                              size_t text_size)
{
    struct child *child = NULL;
    *out = NULL;
    if (access(options->object, R_OK)) { /* otherwise bubblewrap would fail and appear broken */
        snprintf(text, text_size, "cannot read %s: %s\n---> build the candidate again", options->object,
                 strerror(errno));
        return CHILD_SPAWN;
    }
    if (!options->python && is_unexecutable(options->object)) {
        snprintf(
            text, text_size,
            "%s lies on a file system that is mounted noexec; expected one that objects can be loaded from\n"
            "---> set TMPDIR to a directory on another",
            options->object);
        return CHILD_SPAWN;
    }
    enum child_status status = start_anywhere(&child, options, text, text_size);
    if (status != CHILD_OK)
        return status;
    if (!options->control)
        status = child_load(child, options, text, text_size);
    if (status == CHILD_MEMORY)
        status = CHILD_SHORT;
    if (!options->python)
        add_advice(status, options, text, text_size);
    if (status == CHILD_OK)
        *out = child;
    else
        child_stop(child);
    return status;
}

/* The runner never sends such times, so they are forged by the candidate. */
static bool plausible(const struct reply *reply)
{
    const double ms[] = {reply->event_ms, reply->wall_ms, reply->tail_ms};
    for (int i = 0; i < 3; i++)
        if (!(ms[i] >= 0 && isfinite(ms[i])))
            return false;
    return true;
}

/* Checks a reply for plausibility. The runner has loaded the candidate and mapped its tensors, so a call on
 * the host needs nothing more. A reply that claims otherwise does not come from the runner. If accepted, it
 * would turn the candidate's failure into one of the environment. A wild write into the runner's memory has
 * the same effect, so the outcome is a crash, not an accusation. */
static enum child_status believed(const struct child *child, enum child_status status, char *text,
                                  size_t text_size)
{
    char words[200];
    const bool needless = status == CHILD_LOAD || status == CHILD_SYMBOL ||
                          (status == CHILD_MEMORY && child->backend == BACKEND_HOST);
    if (!needless)
        return status;
    snprintf(words, sizeof words, "%s", text);
    snprintf(text, text_size, "in place of its return came what the runner says of no call: %s", words);
    return CHILD_CRASH;
}

/* The candidate process wrote this text, so it may be incomplete or false. */
static void hear_launches(const struct child *child, struct reply *reply)
{
    reply->launched[CHANNEL_TEXT - 1] = '\0';
    if (child->forbid)
        forbid_launched(reply->launched);
}

enum child_status child_call(struct child *child, const struct call *call, double timeout,
                             struct child_answer *answer, char *text, size_t text_size)
{
    struct request request = {.kind = REQUEST_CALL,
                              .set = (uint32_t)call->set,
                              .tensors = (uint32_t)call->tensors,
                              .arguments = (uint32_t)call->arguments,
                              .flush_bytes = call->flush_bytes,
                              .mode = call->mode};
    struct reply reply;
    memcpy(request.offset, call->offset, sizeof request.offset);
    memcpy(request.argument, call->argument, sizeof request.argument);
    const double start = clock_seconds();
    const enum child_status status = child_exchange(child, &request, -1, timeout, &reply, text, text_size);
    const double judge_ms = 1e3 * (clock_seconds() - start);
    if (status == CHILD_OK || status == CHILD_RAISED) {
        forbid_watch_look(child->forbid);
        hear_launches(child, &reply);
    }
    if (status != CHILD_OK)
        return believed(child, status, text, text_size);
    if (!plausible(&reply)) {
        snprintf(text, text_size, "an answer with impossible times; expected zero or more milliseconds");
        child_unwatch(child, NULL, 0);
        child_reap(&child->process, 0);
        return CHILD_GARBAGE;
    }
    *answer = (struct child_answer){.returned = reply.value,
                                    .outside = reply.outside != 0,
                                    .event_ms = reply.event_ms,
                                    .wall_ms = reply.wall_ms,
                                    .tail_ms = reply.tail_ms,
                                    .judge_ms = judge_ms};
    if (answer->returned != 0)
        child_copy_words(&reply, answer->words, sizeof answer->words);
    return CHILD_OK;
}

struct child_fault child_fault(const struct child *child)
{
    return child->fault;
}

void child_stop(struct child *child)
{
    if (!child)
        return;
    child_unwatch(child, NULL, 0);
    if (child->process.pid)
        child_reap(&child->process, 0);
    child_drain(child);
    forbid_watch_stop(child->forbid);
    child_arena_close(child);
    const int open_fds[] = {child->process.channel, child->process.output, child->process.pidfd, child->log};
    for (size_t i = 0; i < sizeof open_fds / sizeof *open_fds; i++)
        if (open_fds[i] >= 0)
            close(open_fds[i]);
    free(child);
}
