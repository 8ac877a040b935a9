/* From the bytes of a corpus to what a judge sends. */
#ifndef UNSEEN_TESTS_FUZZ_REQUESTS_H
#define UNSEEN_TESTS_FUZZ_REQUESTS_H

#include <stdbool.h>

#include "fuzz.h"
#include "verify/isolate/channel.h"

/* Sends one packet over the channel; *data and *size go on behind it. False: nobody is there any more. */
bool requests_send(int channel, const uint8_t **data, size_t *size);

#endif
