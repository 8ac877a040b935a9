#include "python_exception.h"

#include <stdio.h>
#include <string.h>

#include "gen/random/mix.h"

bool exception_is(const struct config_result *result)
{
    return result->outcome == OUTCOME_CRASH && strncmp(result->detail, "raised ", strlen("raised ")) == 0;
}

void exception_words(const struct config_result *result, char *text, size_t text_size)
{
    const char *const line = strstr(result->detail, " (line ");
    size_t length = strcspn(result->detail, ":(");
    length -= length > 0 && result->detail[length - 1] == ' ';
    snprintf(text, text_size, "%.*s%s", (int)length, result->detail, line ? line : "");
}

uint64_t exception_kind(const struct config_result *result)
{
    char words[sizeof result->detail];
    uint64_t kind = 0;
    exception_words(result, words, sizeof words);
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
static bool tells_where(const struct python_exceptions *e, const struct config_result *result)
{
    const bool raised = (e->now && exception_is(result)) || result->outcome == OUTCOME_REFUSED;
    return raised && strstr(result->detail, " (line ");
}

bool exception_is_known(const struct python_exceptions *e, const struct config_result *result)
{
    const uint64_t kind = kind_of_words(result);
    for (int i = 0; i < e->kinds && tells_where(e, result); i++)
        if (e->kind[i] == kind)
            return true;
    return false;
}

void exception_keep(struct python_exceptions *e, const struct config_result *result)
{
    if (tells_where(e, result) && !exception_is_known(e, result) && e->kinds < EXCEPTION_KINDS)
        e->kind[e->kinds++] = kind_of_words(result);
}
