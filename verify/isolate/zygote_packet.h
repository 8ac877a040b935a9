/* Between the judge and a zygote: the interpreter of a candidate with its libraries loaded, which becomes a new process for each
 * start by a fork. Packets over a SOCK_SEQPACKET socketpair, descriptor 3 in there. */
#ifndef UNSEEN_ZYGOTE_PACKET_H
#define UNSEEN_ZYGOTE_PACKET_H

#include <stdint.h>

enum zygote_kind {
    ZYGOTE_READY = 1, /* from it: libraries are loaded */
    ZYGOTE_START,     /* to it, with two descriptors: the new process's channel and output */
    ZYGOTE_STARTED,   /* from it, with a descriptor: the process (pidfd); value: 0, or an errno without one */
    ZYGOTE_END,       /* to it: that process and all that it has started are to end */
    ZYGOTE_ENDED      /* from it; value: the wait status */
};

struct zygote_packet {
    uint32_t kind;
    int32_t value;
};

enum { ZYGOTE_DESCRIPTORS = 2 };

#endif
