/* Packets over a socket of kind SOCK_SEQPACKET, with descriptors beside them (SCM_RIGHTS, unix(7)). */
#ifndef UNSEEN_PACKET_H
#define UNSEEN_PACKET_H

#include <sys/types.h>

enum { PACKET_DESCRIPTORS = 4 }; /* the most that one packet carries */

/* Sends `size` bytes and `count` descriptors, 0 to PACKET_DESCRIPTORS, which stay open here. `flags` as of
 * sendmsg; MSG_NOSIGNAL is always set, and a signal restarts the call. Returns as sendmsg does. */
ssize_t packet_send(int channel, const void *data, size_t size, const int *descriptor, int count, int flags);

/* Receives a packet and exactly `count` descriptors, which are closed by exec; all are -1 where it came with
 * another number of them, and those are closed. `flags` as of recvmsg; a signal restarts the call. Returns as
 * recvmsg does. */
ssize_t packet_receive(int channel, void *data, size_t size, int *descriptor, int count, int flags);

#endif
