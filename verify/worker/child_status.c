#include "child.h"

static const struct {
    const char *name;
    enum owner owner;
} statuses[CHILD_STATUSES] = {
    [CHILD_OK] = {"ok", OWNER_NOBODY},
    [CHILD_LOAD] = {"load", OWNER_CANDIDATE},
    [CHILD_SYMBOL] = {"symbol", OWNER_CANDIDATE},
    [CHILD_MEMORY] = {"memory", OWNER_MACHINE},
    [CHILD_DEVICE] = {"device", OWNER_MACHINE},
    [CHILD_OVERRUN] = {"overrun", OWNER_CANDIDATE},
    [CHILD_CRASH] = {"crash", OWNER_CANDIDATE},
    [CHILD_RAISED] = {"raised", OWNER_CANDIDATE},
    [CHILD_KILLED] = {"killed", OWNER_CANDIDATE},
    [CHILD_TIMEOUT] = {"timeout", OWNER_CANDIDATE},
    [CHILD_EXCEEDED] = {"exceeded", OWNER_CANDIDATE},
    [CHILD_OVER] = {"over", OWNER_SETTINGS},
    [CHILD_GARBAGE] = {"garbage", OWNER_CANDIDATE},
    [CHILD_SPAWN] = {"spawn", OWNER_MACHINE},
    [CHILD_SHORT] = {"short", OWNER_MACHINE},
};

const char *child_status_name(enum child_status status)
{
    return statuses[status].name;
}

enum owner child_status_owner(enum child_status status)
{
    return statuses[status].owner;
}
