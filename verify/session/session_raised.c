/* Errors that a module raises: which are those of the configuration, and which may be an earlier error's doing. */
#include <string.h>

#include "gen/random/mix.h"
#include "session_internal.h"

/* Its type and the candidate's line: the words between may name sizes. */
static uint64_t kind_of_error(const char *detail)
{
    const char *const line = strstr(detail, " (line ");
    uint64_t kind = 0;
    for (const char *p = detail; *p && *p != ':'; p++)
        kind = mix64(kind ^ (uint64_t)(unsigned char)*p);
    for (const char *p = line ? line : ""; *p; p++)
        kind = mix64(kind ^ (uint64_t)(unsigned char)*p);
    return kind;
}

bool raised_is_known(const struct session *s, const struct config_result *result)
{
    const uint64_t kind = kind_of_error(result->detail);
    for (int i = 0; i < s->raised.kinds && s->raised.now; i++)
        if (s->raised.kind[i] == kind)
            return true;
    return false;
}

void raised_keep(struct session *s, const struct config_result *result)
{
    if (s->raised.now && !raised_is_known(s, result) && s->raised.kinds < SESSION_RAISES)
        s->raised.kind[s->raised.kinds++] = kind_of_error(result->detail);
}
