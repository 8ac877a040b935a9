#include "run.h"

static const struct {
    const char *name;
    enum owner owner;
} statuses[RUN_STATUSES] = {
    [RUN_DONE] = {"done", OWNER_NOBODY},      [RUN_INTERRUPTED] = {"interrupted", OWNER_SETTINGS},
    [RUN_BAD] = {"bad", OWNER_CANDIDATE},     [RUN_INPUT] = {"input", OWNER_SETTINGS},
    [RUN_BROKEN] = {"broken", OWNER_MACHINE},
};

const char *run_status_name(enum run_status status)
{
    return statuses[status].name;
}

enum owner run_status_owner(enum run_status status)
{
    return statuses[status].owner;
}
