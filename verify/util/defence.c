#include "defence.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} table[DEFENCE_COUNT] = {
    [DEFENCE_FRESH] = {"fresh", "other content at the same addresses in the second call"},
    [DEFENCE_MOVED] = {"moved", "the same content at other addresses in the third call"},
    [DEFENCE_POISON] = {"poison",
                        "outputs, slack and memory that Python freed hold poison before a call, not zeros"},
    [DEFENCE_GUARDS] = {"guards", "unmapped memory on both sides of a tensor"},
    [DEFENCE_ARENA] = {"arena", "mappings around host tensors cannot be changed"},
    [DEFENCE_INPUTS] = {"inputs", "inputs are compared after every call"},
    [DEFENCE_NEAR] = {"near", "content that differs from the last in a few elements"},
    [DEFENCE_TWIN] = {"twin", "after a configuration another that differs in one axis, in the same process"},
    [DEFENCE_JUDGED] = {"judged", "outputs of timed calls, chosen in secret, are judged"},
    [DEFENCE_LATE] = {"late", "late calls are judged like the first"},
    [DEFENCE_RING] = {"ring", "timed calls go round several sets of buffers"},
    [DEFENCE_FLUSH] = {"flush", "caches are emptied before every timed call"},
    [DEFENCE_PERSISTING] = {"persisting", "persisting L2 is set to none before every timed call"},
    [DEFENCE_CLOCKS] = {"clocks", "events are held against wall time"},
    [DEFENCE_CHANNEL] = {"channel", "anything but an answer on the runner's channel is evidence"},
    [DEFENCE_FILTER] = {"filter", "system calls that reach beyond the process are refused"},
    [DEFENCE_SANDBOX] = {"sandbox", "namespaces around the runner, and a restricted file system"},
    [DEFENCE_SWEEP] = {"sweep", "processes that a candidate leaves running are ended"},
    [DEFENCE_STATE] = {"state", "the process is put back to the same state before every call"},
    [DEFENCE_REPLAY] = {"replay", "an answer that was given before is evidence"},
    [DEFENCE_FINGERPRINTS] = {"fingerprints", "outputs of timed calls are recomputed in another process"},
};

static atomic_uint_fast64_t removed; /* bit mask of the disabled defences */

const char *defence_name(enum defence defence)
{
    return table[defence].name;
}

const char *defence_meaning(enum defence defence)
{
    return table[defence].meaning;
}

bool defence_is_on(enum defence defence)
{
    return !(atomic_load(&removed) >> defence & 1);
}

const char *defence_remove(const char *list)
{
    uint_fast64_t found = 0;
    for (const char *word = list;; word++) {
        const size_t length = strcspn(word, ",");
        int i = 0;
        while (i < DEFENCE_COUNT &&
               (strncmp(word, table[i].name, length) != 0 || table[i].name[length] != '\0'))
            i++;
        if (i == DEFENCE_COUNT)
            return word;
        found |= (uint_fast64_t)1 << i;
        word += length;
        if (*word == '\0')
            break;
    }
    atomic_fetch_or(&removed, found);
    return NULL;
}

void defence_restore(void)
{
    atomic_store(&removed, 0);
}

void defence_removed(char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < DEFENCE_COUNT && used < size; i++)
        if (!defence_is_on(i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", table[i].name);
}
