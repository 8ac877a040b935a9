/* Stored enclosures on a backend (tests/reference/test_stored.c). */
#ifndef UNSEEN_TEST_STORED_H
#define UNSEEN_TEST_STORED_H

#include <check.h>

#include "verify/device/device.h"

/* Fails the test where a judgement that reads stored enclosures differs from one that computes them. */
void check_stored(enum backend backend);
TCase *stored_case(void);

#endif
