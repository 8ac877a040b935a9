/* What stands between a candidate and a verdict that it did not earn, each by a name: `verify --without NAME` takes one away,
 * so that tests show what it catches. One table for the process; the runner gets the same by its command line. */
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

enum { DEFENCE_TEXT = 192 }; /* all names with commas between them */

/* "fresh", and what it is: half a line. */
const char *defence_name(enum defence defence);
const char *defence_meaning(enum defence defence);

/* All are on until they are taken away; from any thread, once those that are to go are gone. */
bool defence_is_on(enum defence defence);

/* Take away those that a list names, as in "fresh,moved". NULL, or where in the list there is no such name; then nothing is
 * taken. */
const char *defence_remove(const char *list);
void defence_restore(void); /* all */

/* Those that were taken away, in the order of the table and as defence_remove reads them; empty: none. */
void defence_removed(char *text, size_t size);

#endif
