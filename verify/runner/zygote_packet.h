/* Protocol between the judge and a zygote: an interpreter with loaded libraries that forks a new process for
 * each start of a candidate. Packets go over a SOCK_SEQPACKET socketpair, which is descriptor 3 in the
 * zygote. */
#ifndef UNSEEN_ZYGOTE_PACKET_H
#define UNSEEN_ZYGOTE_PACKET_H

#include <stdint.h>

enum zygote_kind {
    ZYGOTE_READY = 1, /* from the zygote: its libraries are loaded */
    ZYGOTE_START,     /* to the zygote, with two descriptors: the new process's channel and output */
    /* from the zygote, with a descriptor: the process (pidfd); value: 0, or an errno without one */
    ZYGOTE_STARTED,
    ZYGOTE_END,  /* to the zygote: kill that process and its descendants */
    ZYGOTE_ENDED /* from the zygote; value: the wait status */
};

struct zygote_packet {
    uint32_t kind;
    int32_t value;
};

enum { ZYGOTE_DESCRIPTORS = 2 };

#endif
