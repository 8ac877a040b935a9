/* unseen-runner: the process in which a candidate runs. It reads requests from descriptor 3 (channel.h). */
#include <dlfcn.h>
#include <link.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

#include "arena.h"
#include "runner_internal.h"
#include "verify/util/defence.h"
#include "verify/util/packet.h"

struct runner runner;

static void fail(struct reply *reply, enum reply_failure failure, const char *format, const char *detail)
{
    reply->kind = REPLY_FAILED;
    reply->value = failure;
    snprintf(reply->text, sizeof reply->text, format, detail);
}

/* Calling a variable would look like a crash of the kernel. */
static bool is_data(void *symbol)
{
    Dl_info info;
    void *entry = NULL;
    return dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) != 0 && entry &&
           ELF64_ST_TYPE(((const ElfW(Sym) *)entry)->st_info) == STT_OBJECT;
}

/* Replaces the candidate in a control process. */
static int nothing(void)
{
    return 0;
}

/* The loader's message without the path of the judge's copy of the object. */
static const char *without_path(const char *words, const char *path)
{
    const size_t length = strlen(path);
    if (!words)
        return "the object cannot be loaded";
    return strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0 ? words + length + 2
                                                                                      : words;
}

/* Opens the device first: its context must be current before the object's constructors run, so that a
 * candidate's CUDA runtime finds the primary context of the right device. *listener: a descriptor for the
 * reply to carry. */
static void load(const struct request *request, struct reply *reply, int *listener)
{
    static bool opened;
    runner.backend = request->backend;
    if (runner.backend == BACKEND_CUDA && !opened) {
        int failure = device_open(request->device, reply->text);
        if (failure) {
            reply->kind = REPLY_FAILED;
            reply->value = failure;
            return;
        }
        opened = true;
    }
    if (!*request->path) {
        if (request->control)
            runner.candidate = (void (*)(void))nothing;
        if (runner.backend == BACKEND_HOST && defence_is_on(DEFENCE_GUARDS) && defence_is_on(DEFENCE_ARENA))
            *listener = arena_begin(&reply->distance);
        return;
    }
    if (runner.backend == BACKEND_CUDA)
        launches_begin(reply->launched);
    state_keep();
    if (runner.python) {
        const int failure = python_load(request, reply->text);
        if (failure) {
            reply->kind = REPLY_FAILED;
            reply->value = failure;
        }
        return;
    }
    launches_listen(true);
    void *object = dlopen(request->path, RTLD_NOW | RTLD_LOCAL);
    launches_listen(false);
    if (!object) {
        fail(reply, FAILURE_LOAD, "the candidate cannot be loaded: %s",
             without_path(dlerror(), request->path));
        return;
    }
    void *found = dlsym(object, request->symbol);
    if (!found)
        fail(reply, FAILURE_SYMBOL, "the object exports no function '%s'", request->symbol);
    else if (is_data(found))
        fail(reply, FAILURE_SYMBOL, "the object exports '%s' as a variable; expected a function",
             request->symbol);
    /* ISO C has no cast from an object to a function pointer; POSIX guarantees equal representations. */
    memcpy(&runner.candidate, &found, sizeof found);
}

/* Reserves addresses for a tensor and its guards; NULL with errno. */
static char *reserve(size_t mapped)
{
    const int guard = defence_is_on(DEFENCE_GUARDS) ? PROT_NONE : PROT_READ | PROT_WRITE;
    char *reserved =
        mmap(NULL, mapped + 2 * ARENA_GUARD, guard, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return reserved == MAP_FAILED ? NULL : reserved + ARENA_GUARD;
}

/* The filter refuses to unmap in the arena, so its pages are replaced by inaccessible ones. */
static void unmap_host(char *base, size_t mapped)
{
    if (arena_holds(base))
        mmap(base, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else
        munmap(base - ARENA_GUARD, mapped + 2 * ARENA_GUARD);
}

static void map_host(struct slot *slot, int fd, size_t mapped, struct reply *reply)
{
    char *place = arena_place((unsigned)(slot - runner.slot), mapped);
    if (!place)
        place = reserve(mapped);
    if (!place) {
        fail(reply, FAILURE_MEMORY, "cannot reserve addresses: %s", strerror(errno));
        return;
    }
    void *base = mmap(place, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (base == MAP_FAILED) {
        fail(reply, FAILURE_MEMORY, "cannot map a tensor: %s", strerror(errno));
        unmap_host(place, mapped);
        return;
    }
    *slot = (struct slot){.base = base, .mapped = mapped, .guard = ARENA_GUARD};
}

static void unmap(struct slot *slot)
{
    if (slot->mapped == 0)
        return;
    if (slot->stays)
        ; /* in runner.kept, for the next set */
    else if (runner.backend == BACKEND_CUDA)
        device_unmap(slot);
    else
        unmap_host(slot->base, slot->mapped);
    *slot = (struct slot){0};
}

static void map(const struct request *request, int fd, struct reply *reply)
{
    struct slot *const kept = &runner.kept[request->region % CHANNEL_REGIONS];
    const bool again = request->region > 0 && kept->mapped == request->mapped;
    if ((fd < 0 && !again) || request->set >= CHANNEL_SETS || request->slot >= CHANNEL_TENSORS ||
        request->mapped == 0) {
        fail(reply, FAILURE_MEMORY, "%s", "a mapping needs a descriptor, a slot and a size");
        return;
    }
    struct slot *slot = &runner.slot[request->set * CHANNEL_TENSORS + request->slot];
    unmap(slot);
    if (again) {
        *slot = *kept;
    } else if (runner.backend == BACKEND_CUDA) {
        int failure = device_map(slot, fd, request->mapped, reply->text);
        if (failure) {
            reply->kind = REPLY_FAILED;
            reply->value = failure;
        }
    } else {
        map_host(slot, fd, request->mapped, reply);
    }
    if (request->region > 0 && reply->kind == REPLY_DONE) {
        slot->stays = true;
        *kept = *slot;
    }
    if (request->coverage && reply->kind == REPLY_DONE && runner.backend == BACKEND_HOST && !runner.python)
        coverage_attach(slot->base, slot->mapped);
    slot->tensor = request->tensor;
    slot->tensor.name[CHANNEL_NAME - 1] = '\0';
}

static void unmap_set(const struct request *request)
{
    const bool every = request->set >= CHANNEL_SETS;
    const uint32_t first = every ? 0 : request->set * CHANNEL_TENSORS;
    if (runner.python)
        python_forget(every ? CHANNEL_EVERY_SET : request->set, request->keep != 0);
    if (runner.own)
        own_release(); /* frees memory such as a model's weights, which the next configuration may need */
    for (uint32_t i = 0; i < (every ? CHANNEL_SLOTS : CHANNEL_TENSORS); i++)
        unmap(&runner.slot[first + i]);
}

static bool holds(const struct slot *slot, uint64_t offset)
{
    return slot->mapped > 0 && offset <= slot->mapped;
}

static bool callable(const struct request *request)
{
    if ((!runner.candidate && !runner.python) || request->set >= CHANNEL_SETS ||
        request->tensors > CHANNEL_TENSORS || request->arguments > CHANNEL_ARGUMENTS)
        return false;
    for (uint32_t i = 0; i < request->tensors; i++)
        if (!holds(&runner.slot[request->set * CHANNEL_TENSORS + i], request->offset[i]))
            return false;
    return true;
}

static void call(const struct request *request, struct reply *reply)
{
    void *const stream = runner.backend == BACKEND_CUDA ? device_stream() : NULL;
    if (!callable(request)) {
        fail(reply, FAILURE_LOAD, "%s", "a call needs a candidate and its tensors mapped");
        return;
    }
    if (runner.python && !python_prepare(request, stream, reply)) {
        if (runner.backend == BACKEND_CUDA) {
            device_rest(reply); /* work that the constructor launched may be the cause */
            own_excuse(reply);
        }
        return;
    }
    if (!runner.python && !call_prepare(request, stream)) {
        fail(reply, FAILURE_LOAD, "%s", "a call needs arguments of known types");
        return;
    }
    if (runner.backend == BACKEND_CUDA)
        device_call(request, reply);
    else
        call_host(request, reply);
    if (runner_is_copy())
        _exit(0); /* a forked copy must not copy outputs: by then they may be at another address */
    if (runner.python && reply->kind == REPLY_RETURNED)
        python_finish(reply);
    if (runner.python && runner.backend == BACKEND_CUDA)
        own_settle(reply);
    launches_tell(reply->launched);
}

/* Sends `fd` along if it is a descriptor, and closes it here. */
static bool send_reply(const struct reply *reply, int fd)
{
    const bool sent = packet_send(runner.channel, reply, sizeof *reply, &fd, fd >= 0, 0) == sizeof *reply;
    if (fd >= 0)
        close(fd);
    return sent;
}

static void answer(const struct request *request, int fd)
{
    int listener = -1;
    static struct reply reply; /* not on the stack, where an overrun of a local array could reach it */
    memset(&reply, 0, sizeof reply);
    reply.magic = CHANNEL_MAGIC;
    reply.kind = REPLY_DONE;
    runner.sequence = request->sequence;
    atomic_store(&runner.busy, true);
    if (defence_is_on(DEFENCE_STATE))
        state_restore();
    else
        fault_arm();
    if (request->kind == REQUEST_LOAD)
        load(request, &reply, &listener);
    else if (request->kind == REQUEST_MAP)
        map(request, fd, &reply);
    else if (request->kind == REQUEST_UNMAP)
        unmap_set(request);
    else
        call(request, &reply);
    if (runner_is_copy())
        _exit(0);
    if (runner.backend == BACKEND_HOST && defence_is_on(DEFENCE_STATE))
        state_restore(); /* so that no timer completes the work that the call has left */
    atomic_store(&runner.busy, false);
    fflush(NULL); /* so that the candidate's output is in the log even if the next call kills the process */
    reply.magic = CHANNEL_MAGIC;
    reply.sequence = runner.sequence;
    if (!send_reply(&reply, listener))
        _exit(1);
    if (reply.kind == REPLY_DEVICE_ERROR)
        _exit(1); /* CUDA errors are sticky: nothing works in this process any more */
}

/* Returns false at the end of the channel. *fd is -1 if the packet carries none. */
static bool receive(struct request *request, int *fd)
{
    const ssize_t got = packet_receive(runner.channel, request, sizeof *request, fd, 1, 0);
    request->path[sizeof request->path - 1] = '\0';
    request->symbol[sizeof request->symbol - 1] = '\0';
    request->entry[sizeof request->entry - 1] = '\0';
    request->adapter[sizeof request->adapter - 1] = '\0';
    request->names[sizeof request->names - 1] = '\0';
    return got == (ssize_t)sizeof *request;
}

/* Makes the process the OOM killer's first choice, and lets it die with its parent. Its limits are set at its
 * start (launch.h). */
static void confine(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        if (write(score, "1000", 4) < 0)
            fputs("unseen-runner: oom_score_adj stays as it is\n", stderr);
        close(score);
    }
    if (chdir("/") == 0)
        setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Duplicates the channel to a random descriptor number. Descriptor 3 stays open, so that a write to it is
 * noticed. */
static int private_channel(void)
{
    unsigned char pick = 0;
    if (getrandom(&pick, sizeof pick, GRND_NONBLOCK) != sizeof pick)
        pick = 0;
    return fcntl(CHANNEL_FD, F_DUPFD_CLOEXEC, 100 + pick);
}

int runner_serve(const char *without)
{
    static struct request request;
    int fd;
    runner.self = getpid();
    confine();
    fault_arm();
    if (without)
        defence_remove(without);
    if (defence_is_on(DEFENCE_FILTER))
        filter_calls();
    runner.channel = private_channel();
    struct reply hello = {.magic = CHANNEL_MAGIC, .kind = REPLY_DONE};
    if (send(runner.channel, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
        return 1;
    while (receive(&request, &fd)) {
        if (fd >= 0 &&
            fd < CHANNEL_FD) /* the candidate has closed one of these; state_restore puts it back */
            fd = fcntl(fd, F_DUPFD_CLOEXEC, CHANNEL_FD);
        answer(&request, fd);
        if (fd >= 0)
            close(fd);
    }
    return 0;
}

/* The judge passes the names of disabled defences (verify --disable-defence). */
int main(int argc, char **argv)
{
    int type;
    socklen_t size = sizeof type;
    if (getsockopt(CHANNEL_FD, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET) {
        fputs("unseen-runner: found no channel on descriptor 3; unseen starts this program itself\n"
              "---> run `unseen verify PROBLEM CANDIDATE`\n",
              stderr);
        return 2;
    }
    audit_begin(argc, argv);
    return runner_serve(argc > 1 ? argv[1] : NULL);
}
