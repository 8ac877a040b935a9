/* Names of outcomes, causes and verdicts, shared by every writer and the exit message. */
#include "result.h"

#include <stdarg.h>
#include <string.h>

const struct outcome_traits *outcome_traits(enum outcome outcome)
{
    static const struct outcome_traits table[OUTCOME_COUNT] = {
        [OUTCOME_PASS] = {"pass", .fails = false, .goes_on = true, PAINT_GOOD},
        [OUTCOME_WRONG] = {"wrong", .fails = true, .goes_on = true, PAINT_BAD},
        [OUTCOME_UNWRITTEN] = {"unwritten", .fails = true, .goes_on = true, PAINT_BAD},
        [OUTCOME_OVERRUN] = {"overrun", .fails = true, .goes_on = false, PAINT_BAD},
        [OUTCOME_MODIFIED] = {"modified", .fails = true, .goes_on = false, PAINT_BAD},
        [OUTCOME_UNSTABLE] = {"unstable", .fails = true, .goes_on = false, PAINT_BAD},
        [OUTCOME_REFUSED] = {"refused", .fails = false, .goes_on = false, PAINT_BAD},
        [OUTCOME_CRASH] = {"crash", .fails = true, .goes_on = false, PAINT_BAD},
        [OUTCOME_TIMEOUT] = {"timeout", .fails = true, .goes_on = false, PAINT_BAD},
        [OUTCOME_EXCEEDED] = {"exceeded", .fails = true, .goes_on = false, PAINT_BAD},
        [OUTCOME_SKIPPED] = {"skipped", .fails = false, .goes_on = false, PAINT_DOUBTFUL},
    };

    return &table[outcome];
}

const char *outcome_name(enum outcome outcome)
{
    return outcome_traits(outcome)->name;
}

bool outcome_fails(enum outcome outcome)
{
    return outcome_traits(outcome)->fails;
}

bool outcome_is_rejected(enum outcome outcome)
{
    return outcome_fails(outcome) || outcome == OUTCOME_REFUSED;
}

static const struct {
    const char *name;
    enum paint paint;
} verdicts[] = {
    [VERDICT_GENERAL] = {"general", PAINT_GOOD},
    [VERDICT_LIMITED] = {"limited", PAINT_DOUBTFUL},
    [VERDICT_SPECIALIZED] = {"specialized", PAINT_BAD},
    [VERDICT_BROKEN] = {"broken", PAINT_BAD},
    [VERDICT_CHEATING] = {"cheating", PAINT_BAD},
    [VERDICT_FORBIDDEN] = {"forbidden", PAINT_BAD},
    [VERDICT_INCONCLUSIVE] = {"inconclusive", PAINT_DOUBTFUL},
};

const char *verdict_name(enum element_verdict verdict)
{
    return verdicts[verdict].name;
}

enum paint verdict_paint(enum element_verdict verdict)
{
    return verdicts[verdict].paint;
}

static const struct {
    const char *name;
    bool cheating; /* neither an honest candidate nor another process on the machine can cause it */
} findings[] = {
    [FINDING_REPLAY] = {"cheating: replay", true}, [FINDING_CHANNEL] = {"cheating: channel", true},
    [FINDING_CLOCK] = {"cheating: clock", true},   [FINDING_CEILING] = {"above the ceiling", false},
    [FINDING_FORBIDDEN] = {"forbidden", false},
};

const char *finding_name(enum finding_kind kind)
{
    return findings[kind].name;
}

bool finding_is_cheating(enum finding_kind kind)
{
    return findings[kind].cheating;
}

const char *bound_name(enum bound bound)
{
    static const char *const name[] = {
        [BOUND_LAUNCH] = "launch", [BOUND_MEMORY] = "memory", [BOUND_COMPUTE] = "compute"};

    return name[bound];
}

const char *peaks_source_name(enum peaks_source source)
{
    static const char *const name[] = {[PEAKS_VENDOR] = "vendor", [PEAKS_MEASURED] = "measured"};

    return name[source];
}

const char *score_state_name(enum score_state state)
{
    static const char *const name[] = {[SCORE_NONE] = "none",
                                       [SCORE_VALUE] = "value",
                                       [SCORE_INCONCLUSIVE] = "inconclusive",
                                       [SCORE_INCOMPARABLE] = "not comparable"};

    return name[state];
}

const char *cause_name(enum cause cause)
{
    static const char *const name[CAUSE_COUNT] = {
        [CAUSE_NONE] = "none",         [CAUSE_VALUE] = "value",         [CAUSE_INDEX] = "index",
        [CAUSE_GUARD] = "guard",       [CAUSE_SLACK] = "slack",         [CAUSE_GAP] = "gap",
        [CAUSE_INPUT] = "input",       [CAUSE_REPEAT] = "repeat",       [CAUSE_RETURN] = "return",
        [CAUSE_END] = "end",           [CAUSE_KILLED] = "killed",       [CAUSE_CHANNEL] = "channel",
        [CAUSE_TIME] = "time",         [CAUSE_MEMORY] = "memory",       [CAUSE_CAPS] = "caps",
        [CAUSE_OPEN] = "open",         [CAUSE_NO_REFERENCE] = "untold", [CAUSE_FAIL_FAST] = "fail-fast",
        [CAUSE_PATIENCE] = "patience", [CAUSE_LIMIT] = "limit",         [CAUSE_BUDGET] = "budget",
    };

    return name[cause];
}

const char *owner_name(enum owner owner)
{
    static const char *const name[OWNER_COUNT] = {
        [OWNER_NOBODY] = "nobody", [OWNER_CANDIDATE] = "candidate", [OWNER_MACHINE] = "machine",
        [OWNER_JUDGE] = "judge",   [OWNER_SETTINGS] = "settings",
    };

    return name[owner];
}

enum owner cause_owner(enum cause cause)
{
    switch (cause) {
    case CAUSE_NONE:
    case CAUSE_COUNT: return OWNER_NOBODY;
    case CAUSE_MEMORY:
    case CAUSE_CAPS: return OWNER_MACHINE;
    case CAUSE_OPEN:
    case CAUSE_NO_REFERENCE: return OWNER_JUDGE;
    case CAUSE_BUDGET: return OWNER_SETTINGS;
    case CAUSE_VALUE:
    case CAUSE_INDEX:
    case CAUSE_GUARD:
    case CAUSE_SLACK:
    case CAUSE_GAP:
    case CAUSE_INPUT:
    case CAUSE_REPEAT:
    case CAUSE_RETURN:
    case CAUSE_END:
    case CAUSE_KILLED:
    case CAUSE_CHANNEL:
    case CAUSE_TIME:
    case CAUSE_LIMIT:
    case CAUSE_FAIL_FAST: /* both follow the candidate's own failures */
    case CAUSE_PATIENCE: return OWNER_CANDIDATE;
    }
    return OWNER_NOBODY;
}

const char *stage_name(enum stage stage)
{
    static const char *const name[STAGE_COUNT] = {
        [STAGE_FIRST] = "first",     [STAGE_FRESH] = "fresh",     [STAGE_MOVED] = "moved",
        [STAGE_NEAR] = "near",       [STAGE_OWN] = "own",         [STAGE_TIMED] = "timed",
        [STAGE_LOADING] = "loading", [STAGE_NOT_RUN] = "not run", [STAGE_TWIN] = "twin",
    };

    return name[stage];
}

const char *side_name(enum side side)
{
    static const char *const name[SIDE_COUNT] = {[SIDE_BELOW] = "below", [SIDE_ABOVE] = "above"};

    return name[side];
}

const struct problem *result_problem(const struct result *result)
{
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].config.problem != NULL)
            return result->results[i].config.problem;
    return result->diagnosis.present ? result->diagnosis.minimal.config.problem : NULL;
}

static void add_line(char *text, size_t size, const char *format, va_list arguments)
{
    size_t used = strlen(text);

    if (used > 0 && text[used - 1] != '\n' && used + 1 < size)
        text[used++] = '\n';
    vsnprintf(text + used, size - used, format, arguments);
}

void result_detail(struct result *result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_line(result->notes, sizeof result->notes, format, arguments);
    va_end(arguments);
}

void result_note(struct result *result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_line(result->notes, sizeof result->notes, format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    add_line(result->remarks, sizeof result->remarks, format, arguments);
    va_end(arguments);
}
