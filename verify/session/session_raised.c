/* Python exceptions: decides which belong to the configuration, and which may be consequences of an earlier
 * exception. */
#include "raised.h"

#include <stdio.h>
#include <string.h>

#include "gen/random/mix.h"
#include "session_internal.h"

bool raised_error(const struct config_result *result)
{
    return result->outcome == OUTCOME_CRASH && strncmp(result->detail, "raised ", strlen("raised ")) == 0;
}

void raised_words(const struct config_result *result, char *text, size_t text_size)
{
    const char *const line = strstr(result->detail, " (line ");
    size_t length = strcspn(result->detail, ":(");
    length -= length > 0 && result->detail[length - 1] == ' ';
    snprintf(text, text_size, "%.*s%s", (int)length, result->detail, line ? line : "");
}

uint64_t raised_kind(const struct config_result *result)
{
    char words[sizeof result->detail];
    uint64_t kind = 0;
    raised_words(result, words, sizeof words);
    for (const char *p = words; *p; p++)
        kind = mix64(kind ^ (uint64_t)(unsigned char)*p);
    return kind;
}

/* Includes the message without digits, which may be sizes. */
static uint64_t kind_of_words(const struct config_result *result)
{
    uint64_t kind = 0;
    for (const char *p = result->detail; *p; p++)
        if (*p < '0' || *p > '9')
            kind = mix64(kind ^ (uint64_t)(unsigned char)*p);
    return kind;
}

/* Does the text name a line of the candidate? Without one, its origin is unknown. */
static bool tells_where(const struct session *s, const struct config_result *result)
{
    const bool raised = (s->raised.now && raised_error(result)) || result->outcome == OUTCOME_REFUSED;
    return raised && strstr(result->detail, " (line ");
}

bool raised_is_known(const struct session *s, const struct config_result *result)
{
    const uint64_t kind = kind_of_words(result);
    for (int i = 0; i < s->raised.kinds && tells_where(s, result); i++)
        if (s->raised.kind[i] == kind)
            return true;
    return false;
}

void raised_keep(struct session *s, const struct config_result *result)
{
    if (tells_where(s, result) && !raised_is_known(s, result) && s->raised.kinds < SESSION_RAISES)
        s->raised.kind[s->raised.kinds++] = kind_of_words(result);
}
