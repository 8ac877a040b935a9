/* The user's request to stop: running work is killed, finished work is kept. */
#ifndef UNSEEN_INTERRUPT_H
#define UNSEEN_INTERRUPT_H

#include <stdbool.h>

bool is_interrupted(void);

/* On SIGINT and SIGTERM, sets the interrupted state and calls `end` to stop running work; it must be
 * async-signal-safe. */
void catch_signals(void (*end)(void));

/* The same for a command that may be killed at any time except while it has children. False: signals are
 * already caught. */
bool catch_signals_here(void (*end)(void));
void release_signals(void); /* restores the handlers from before catch_signals_here */

#endif
