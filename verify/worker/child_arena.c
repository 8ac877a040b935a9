/* The judge's side of the arena (arena.h): allows or refuses mappings into it. */
#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verify/runner/arena.h"
#include "child_internal.h"
#include "verify/util/packet.h"

ssize_t child_arena_receive(struct child *child, struct reply *reply)
{
    int listener;
    if (!child->arena.awaited) /* drops descriptors that a candidate sends */
        return recv(child->process.channel, reply, sizeof *reply, MSG_DONTWAIT | MSG_TRUNC);
    const ssize_t got =
        packet_receive(child->process.channel, reply, sizeof *reply, &listener, 1, MSG_DONTWAIT | MSG_TRUNC);
    const bool whole = got == (ssize_t)sizeof *reply;
    if (whole && listener >= 0) {
        child->arena.listener = listener;
        child->arena.base = reply->distance;
    }
    if (listener >= 0 && !(whole && child->arena.base))
        close(listener);
    return got;
}

void child_arena_permit(struct child *child, unsigned slot, uint64_t mapped)
{
    child->arena.place = arena_address(child->arena.base, slot);
    child->arena.mapped = mapped;
}

/* Must match the call of map_host in runner.c exactly, including all flags. */
static bool is_permitted(const struct arena *arena, const struct seccomp_data *call)
{
    return arena->mapped > 0 && call->args[0] == arena->place && call->args[1] == arena->mapped &&
           call->args[2] == (PROT_READ | PROT_WRITE) && call->args[3] == (MAP_SHARED | MAP_FIXED) &&
           call->args[5] == 0;
}

void child_arena_answer(struct child *child)
{
    struct seccomp_notif asked;
    memset(&asked, 0, sizeof asked); /* the kernel requires a zeroed struct */
    if (ioctl(child->arena.listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
        if (errno != EINTR && errno != ENOENT) /* the processes are gone */
            child_arena_close(child);
        return;
    }
    struct seccomp_notif_resp answer = {.id = asked.id, .error = -EPERM};
    if (is_permitted(&child->arena, &asked.data)) {
        answer.error = 0;
        answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        child->arena.mapped = 0; /* permits one mapping only */
    }
    /* fails if the process was killed meanwhile */
    ioctl(child->arena.listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

void child_arena_close(struct child *child)
{
    if (child->arena.base)
        close(child->arena.listener);
    child->arena.base = 0;
}
