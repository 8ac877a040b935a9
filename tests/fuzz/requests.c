#include "requests.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SHORT = 0x40, CARRIES = 0x80, KINDS = 7, HEAD = 4 };
enum { MOST_MAPPED = 1 << 20 }; /* of mapped memory whose pages exist and are flushed */

/* A region has as many bytes as its request says. A shorter one would end the mapping in a fault that is not
 * the runner's. */
static int make_region(struct request *request)
{
    const int fd = memfd_create("region", MFD_CLOEXEC);
    if (request->mapped > MOST_MAPPED)
        request->mapped %= MOST_MAPPED + 1;
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, (off_t)request->mapped) == 0);
    return fd;
}

static bool send_packet(int channel, const struct request *request, size_t bytes, int fd)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.space = {0}};
    struct iovec part = {(void *)request, bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    }
    return sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

bool requests_send(int channel, const uint8_t **data, size_t *size)
{
    static struct request request;
    uint8_t head[HEAD] = {0};
    const size_t used = *size < HEAD ? *size : HEAD;
    memcpy(head, *data, used);
    *data += used;
    *size -= used;
    size_t length = (size_t)head[2] << 8 | head[3];
    length = length < *size ? length : *size;
    memset(&request, 0, sizeof request);
    memcpy(&request, *data, length < sizeof request ? length : sizeof request);
    *data += length;
    *size -= length;
    request.kind = head[0] % SHORT % KINDS;
    request.slot = head[1];
    const int fd = head[0] & CARRIES ? make_region(&request) : -1;
    const bool sent =
        send_packet(channel, &request, head[0] & SHORT ? length % sizeof request : sizeof request, fd);
    if (fd >= 0)
        close(fd);
    return sent;
}
