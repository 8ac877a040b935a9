#include "summary.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_BRIEF = 1 };

void summary_branch(char *text, size_t size, const struct result_branch *branch)
{
    snprintf(text, size, "%s:%d \"%s\" %s", branch->file, branch->line, branch->text, branch->outcome);
}

bool summary_branches(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct result_branches *const b = &result->branches;
    const int never = b->count - b->taken, shown = never < SHOWN_BRIEF ? never : SHOWN_BRIEF;
    size_t used;

    if (!b->present)
        return false;
    used = (size_t)snprintf(text, SUMMARY_SIZE, "%d of %d branches of its code reached%s", b->taken, b->count,
                            never > 0 ? "; never taken: " : "");
    for (int i = 0; i < shown && i < b->nevers && used < SUMMARY_SIZE; i++) {
        summary_branch(text + used, SUMMARY_SIZE - used, &b->never[i]);
        used += strlen(text + used);
    }
    if (never > shown && used < SUMMARY_SIZE)
        snprintf(text + used, SUMMARY_SIZE - used, ", and %d more (-v)", never - shown);
    return true;
}
