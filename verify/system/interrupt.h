/* The user's wish to stop: what runs is killed, what is finished is kept. */
#ifndef UNSEEN_INTERRUPT_H
#define UNSEEN_INTERRUPT_H

#include <stdbool.h>

bool is_interrupted(void);

/* SIGINT and SIGTERM: interrupted from then on; `end`, which must be async-signal-safe, ends what runs. */
void catch_signals(void (*end)(void));

/* The same for a command that can be ended anywhere but while it has children. False: they are caught already. */
bool catch_signals_here(void (*end)(void));
void release_signals(void); /* as they were before catch_signals_here */

#endif
