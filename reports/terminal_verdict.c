/* The verdict in words: one sentence that says why, for a reader who never saw the tool. */
#include <string.h>

#include "published.h"
#include "terminal_internal.h"
#include "text.h"
#include "told.h"

struct count {
    int configs, pass, refused, skipped;
    int left; /* of the skipped: --budget was over */
};

/* Counted by the judgement that decides: the table shows ours, which --tolerance published overrules. */
static struct count count_set(const struct result *result, bool unseen)
{
    struct count count = {0};

    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        enum outcome outcome = config_outcome(config, published_decides(result));

        if (config->unseen != unseen)
            continue;
        count.configs++;
        count.pass += outcome == OUTCOME_PASS;
        count.refused += outcome == OUTCOME_REFUSED;
        count.skipped += outcome == OUTCOME_SKIPPED;
        count.left += outcome == OUTCOME_SKIPPED && config->reason.cause == CAUSE_BUDGET;
    }
    return count;
}

static void say_inconclusive(char *text, size_t size, const struct result *result, const struct count *seen,
                             const struct count *unseen)
{
    if (seen->configs + unseen->configs == seen->skipped + unseen->skipped)
        snprintf(text, size, "nothing could be judged: no configuration was run to its end%s%s%s.",
                 result->partial_reason[0] ? " (" : "", result->partial_reason,
                 result->partial_reason[0] ? ")" : "");
    else if (result->partial || result->result_count < result->planned)
        snprintf(text, size, "the run was cut off (%s) after %d of %d configurations; none of them fails.",
                 text_or(result->partial_reason, "no reason recorded"),
                 result->result_count - seen->left - unseen->left, result->planned);
    else if (seen->skipped > 0)
        snprintf(text, size, "%d of %d seen configurations could not be judged; nothing that was fails.",
                 seen->skipped, seen->configs);
    else if (result->forbid_blind)
        snprintf(text, size, "what it loads could not be seen, so that nothing shows what --forbid asks.");
    else if (seen->configs == 0)
        snprintf(text, size, "no seen configuration was run, so there is nothing to compare with.");
    else if (unseen->configs == 0)
        snprintf(text, size,
                 "every seen configuration passes, but no unseen one was asked for: "
                 "nothing shows how it generalizes.");
    else
        snprintf(text, size,
                 "every seen configuration passes, but none of the %d unseen ones could "
                 "be judged.",
                 unseen->configs);
}

static void say_general(char *text, size_t size, const struct count *seen, const struct count *unseen)
{
    if (unseen->skipped == 0)
        snprintf(text, size,
                 "it works on all %d configurations that its author was given and on all %d "
                 "that its author never saw.",
                 seen->configs, unseen->configs);
    else
        snprintf(text, size,
                 "it works on all %d configurations that its author was given and on the %d of "
                 "%d unseen ones that could be judged.",
                 seen->configs, unseen->pass, unseen->configs);
}

static void say(char *text, size_t size, const struct result *result)
{
    const struct count seen = count_set(result, false), unseen = count_set(result, true);

    switch (result_verdict(result)) {
    case VERDICT_GENERAL: say_general(text, size, &seen, &unseen); break;
    case VERDICT_LIMITED:
        snprintf(text, size,
                 "it is right wherever it runs, but refuses %d of %d configurations that its "
                 "author never saw.",
                 unseen.refused, unseen.configs);
        break;
    case VERDICT_SPECIALIZED:
        snprintf(text, size,
                 "it passes %d of %d configurations that its author was given, but fails on %d "
                 "of %d that its author never saw.",
                 seen.pass, seen.configs, unseen.configs - unseen.pass - unseen.skipped, unseen.configs);
        break;
    case VERDICT_BROKEN:
        snprintf(text, size, "it fails on %d of %d configurations that its author was given.",
                 seen.configs - seen.pass - seen.skipped, seen.configs);
        break;
    case VERDICT_CHEATING:
        snprintf(text, size,
                 "there is evidence that it games the measurement; its passes and times "
                 "mean nothing. The findings below are the proof.");
        break;
    case VERDICT_FORBIDDEN:
        snprintf(
            text, size,
            "it uses what --forbid names, so its passes and times do not count. The findings below are the "
            "proof.");
        break;
    case VERDICT_INCONCLUSIVE:
    case VERDICT_COUNT: say_inconclusive(text, size, result, &seen, &unseen); break;
    }
}

static void print_published(FILE *out, const struct result *result)
{
    struct published_tally tally = published_count(result);
    char text[256];

    if (!result->published_judged)
        return;
    snprintf(text, sizeof text, "%s (%selement by element against the reference)",
             verdict_name(result->verdict), published_decides(result) ? "" : "decides: ");
    terminal_line(out, "our check", text);
    snprintf(text, sizeof text,
             "%s (%sthe published tolerance alone); passes %d of the %d "
             "configurations that we reject",
             verdict_name(result->published_verdict), published_decides(result) ? "decides: " : "",
             tally.accepted, tally.rejected);
    terminal_line(out, "published", text);
}

void terminal_verdict(FILE *out, const struct result *result, bool colour)
{
    const enum verdict verdict = result_verdict(result);
    char text[512] = "";

    if (result->no_sandbox[0] != '\0') /* whoever reads one line must read this */
        snprintf(text, sizeof text, "without a sandbox (%s), ", result->no_sandbox);
    if (result->without[0] != '\0')
        snprintf(text + strlen(text), sizeof text - strlen(text), "without: %s, ", result->without);
    say(text + strlen(text), sizeof text - strlen(text), result);
    fprintf(out, "%s%s%s: ", terminal_paint(verdict_paint(verdict), colour), verdict_name(verdict),
            terminal_plain(colour));
    text_wrap(out, (int)strlen(verdict_name(verdict)) + 2, 2, text);
    if (result->partial && verdict != VERDICT_INCONCLUSIVE) {
        const struct count seen = count_set(result, false), unseen = count_set(result, true);

        snprintf(text, sizeof text, "cut off (%s) after %d of %d configurations",
                 text_or(result->partial_reason, "no reason recorded"),
                 result->result_count - seen.left - unseen.left, result->planned);
        terminal_line(out, "partial", text);
    }
    print_published(out, result);
    if (told_line(result, text, sizeof text))
        terminal_line(out, "answers", text);
}
