/* The words of the reports; every writer and the exit message share them. */
#include "result.h"

#include <stdarg.h>
#include <string.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const name[OUTCOME_COUNT] = {
        [OUTCOME_PASS] = "pass",       [OUTCOME_WRONG] = "wrong",       [OUTCOME_UNWRITTEN] = "unwritten",
        [OUTCOME_OVERRUN] = "overrun", [OUTCOME_MODIFIED] = "modified", [OUTCOME_UNSTABLE] = "unstable",
        [OUTCOME_REFUSED] = "refused", [OUTCOME_CRASH] = "crash",       [OUTCOME_TIMEOUT] = "timeout",
        [OUTCOME_SKIPPED] = "skipped",
    };

    return (unsigned)outcome < OUTCOME_COUNT ? name[outcome] : "unknown";
}

const char *verdict_name(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_GENERAL: return "general";
    case VERDICT_LIMITED: return "limited";
    case VERDICT_SPECIALIZED: return "specialized";
    case VERDICT_BROKEN: return "broken";
    case VERDICT_CHEATING: return "cheating";
    case VERDICT_INCONCLUSIVE: return "inconclusive";
    }
    return "unknown";
}

void result_note(struct result *result, const char *format, ...)
{
    size_t used = strlen(result->notes);
    va_list arguments;

    if (used > 0 && result->notes[used - 1] != '\n' && used + 1 < sizeof result->notes)
        result->notes[used++] = '\n';
    va_start(arguments, format);
    vsnprintf(result->notes + used, sizeof result->notes - used, format, arguments);
    va_end(arguments);
}
