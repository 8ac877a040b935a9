/* Turns the bytes of a corpus into a judge's packets. */
#ifndef UNSEEN_TESTS_FUZZ_REQUESTS_H
#define UNSEEN_TESTS_FUZZ_REQUESTS_H

#include <stdbool.h>

#include "fuzz.h"
#include "verify/runner/channel.h"

/* Sends one packet over the channel; *data and *size move past it. False: the other end is gone. */
bool requests_send(int channel, const uint8_t **data, size_t *size);

#endif
