#include "packet.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    struct cmsghdr header;
    char space[CMSG_SPACE(PACKET_DESCRIPTORS * sizeof(int))];
};

ssize_t packet_send(int channel, const void *data, size_t size, const int *descriptor, int count, int flags)
{
    union control control = {.space = {0}};
    struct iovec part = {(void *)(uintptr_t)data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    const size_t bytes = (size_t)count * sizeof *descriptor;
    ssize_t sent;
    if (count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(bytes);
        control.header =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), descriptor, bytes);
    }
    do
        sent = sendmsg(channel, &message, MSG_NOSIGNAL | flags);
    while (sent < 0 && errno == EINTR);
    return sent;
}

/* Copies the descriptors that came, or closes them. */
static void take_descriptors(struct msghdr *message, int *descriptor, int count)
{
    int came[PACKET_DESCRIPTORS];
    const struct cmsghdr *const header = CMSG_FIRSTHDR(message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return;
    const int number = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof *came);
    memcpy(came, CMSG_DATA(header), (size_t)number * sizeof *came);
    for (int i = 0; i < number; i++)
        if (number == count)
            descriptor[i] = came[i];
        else
            close(came[i]);
}

ssize_t packet_receive(int channel, void *data, size_t size, int *descriptor, int count, int flags)
{
    union control control = {.space = {0}};
    struct iovec part = {data, size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    ssize_t got;
    for (int i = 0; i < count; i++)
        descriptor[i] = -1;
    do
        got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC | flags);
    while (got < 0 && errno == EINTR);
    if (got >= 0) /* an empty packet may carry some, too */
        take_descriptors(&message, descriptor, count);
    return got;
}
