#include "scores.h"

#include <string.h>

#define AKA_POINTS "AgentKernelArena 0.3, src/score.py of 2026-03-04 (ff11d2db)"
#define AKA_BOUNDED "AgentKernelArena 0.4.0 (47c2658a, 2026-11-03)"
#define AKA_HELD_OUT "AgentKernelArena, src/held_out of 2026-08-18 (d6f7c8a4)"
#define KERNELBENCH "KernelBench 0.2.0.dev0, src/kernelbench/score.py"
#define HARD "KernelBench-Hard 0.1.0, src/eval/roofline.py and benchmark.py"
#define SOL "SOL-ExecBench, sol_score.py of 2026-04-15 (8d2237d2), arXiv 2603.19173"

static const struct score_traits traits[SCORE_NAMES] = {
    [SCORE_OURS] = {"score", "pass rate x geomean of fractions", NULL, 0, true, false},
    [SCORE_PASS_RATE] = {"pass_rate", "pass rate", NULL, 0, false, false},
    [SCORE_AKA_POINTS] = {"aka_points", "AgentKernelArena, points", AKA_POINTS, 0, true, true},
    [SCORE_AKA_BOUNDED] = {"aka_bounded", "AgentKernelArena, bounded", AKA_BOUNDED, 0, true, true},
    [SCORE_CONDITIONAL] = {"conditional", "conditional correctness", AKA_HELD_OUT, 0, false, true},
    [SCORE_FAST_0] = {"fast_0", "KernelBench fast_0", KERNELBENCH, 0, false, false},
    [SCORE_FAST_05] = {"fast_0.5", "KernelBench fast_0.5", KERNELBENCH, 0.5, true, true},
    [SCORE_FAST_08] = {"fast_0.8", "KernelBench fast_0.8", KERNELBENCH, 0.8, true, true},
    [SCORE_FAST_1] = {"fast_1", "KernelBench fast_1", KERNELBENCH, 1, true, true},
    [SCORE_FAST_15] = {"fast_1.5", "KernelBench fast_1.5", KERNELBENCH, 1.5, true, true},
    [SCORE_FAST_2] = {"fast_2", "KernelBench fast_2", KERNELBENCH, 2, true, true},
    [SCORE_PEAK_FRACTION] = {"peak_fraction", "KernelBench-Hard peak fraction", HARD, 0, true, false},
    [SCORE_SOL] = {"sol", "SOL-ExecBench score", SOL, 0, true, true},
    [SCORE_TABLE] = {"table", "--reward-table", NULL, 0, true, false},
};

const struct score_traits *score_traits(enum score_name name)
{
    return &traits[name];
}

enum score_name score_find(const char *word, size_t length)
{
    int i = 0;

    while (i < SCORE_NAMES &&
           (strlen(traits[i].name) != length || strncmp(traits[i].name, word, length) != 0))
        i++;
    return (enum score_name)i;
}

const char *score_open(const struct result *result, bool unseen)
{
    const struct result_scores *scores = &result->scores;
    const enum score_state state = (unseen ? scores->unseen : scores->seen)[SCORE_OURS].state;

    return scores->present && (state == SCORE_INCONCLUSIVE || state == SCORE_INCOMPARABLE)
               ? score_state_name(state)
               : NULL;
}
