/* The defences against an undeserved verdict, by name. `verify --disable-defence NAME` disables one, so that
 * tests show what it catches. One table per process; the runner gets the list by its command line. */
#ifndef UNSEEN_DEFENCE_H
#define UNSEEN_DEFENCE_H

#include <stdbool.h>
#include <stddef.h>

enum defence {
    DEFENCE_FRESH,
    DEFENCE_MOVED,
    DEFENCE_POISON,
    DEFENCE_GUARDS,
    DEFENCE_ARENA,
    DEFENCE_INPUTS,
    DEFENCE_NEAR,
    DEFENCE_TWIN,
    DEFENCE_JUDGED,
    DEFENCE_LATE,
    DEFENCE_RING,
    DEFENCE_FLUSH,
    DEFENCE_PERSISTING,
    DEFENCE_CLOCKS,
    DEFENCE_CHANNEL,
    DEFENCE_FILTER,
    DEFENCE_SANDBOX,
    DEFENCE_SWEEP,
    DEFENCE_STATE,
    DEFENCE_REPLAY,
    DEFENCE_FINGERPRINTS,
    DEFENCE_COUNT
};

enum { DEFENCE_TEXT = 192 }; /* room for all names, separated by commas */

/* The name, such as "fresh", and its meaning in half a line. */
const char *defence_name(enum defence defence);
const char *defence_meaning(enum defence defence);

/* All defences are on until they are removed. Thread-safe, after the last removal. */
bool defence_is_on(enum defence defence);

/* Disables the defences of a list such as "fresh,moved". Returns NULL, or the position of an unknown name in
 * the list; then nothing is disabled. */
const char *defence_remove(const char *list);
void defence_restore(void); /* enables all */

/* Lists the disabled defences in the order of the table, as defence_remove reads them; empty: none. */
void defence_removed(char *text, size_t size);

#endif
