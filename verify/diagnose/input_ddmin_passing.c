/* Finds two input draws at one point: one that fails, and a passing one with as few differing values as
 * possible. */
#include "gen/contract/space.h"
#include "input_ddmin_internal.h"

/* Numbers of other draws to try. If nine in ten draws fail, seven others include a passing one in half of all
 * cases. If all of them fail, values do not explain the failure. */
enum { OTHER_CONTENTS = 7, PUBLISHED_CONTENTS = 2, OTHER_CHOICES = 6 };

int input_ddmin_run_whole(struct input_ddmin *w, bool own, bool *passes)
{
    struct box keep[PROBLEM_MAX_TENSORS];
    struct mix mix = {.of = &w->mixture, .keep = keep};
    for (int t = 0; t < PROBLEM_MAX_TENSORS && own; t++)
        if (w->mixture.own_values[t])
            keep[mix.keeps++] = mixture_whole(&w->mixture, t);
    return input_ddmin_run(w, &mix, passes);
}

bool input_ddmin_open(struct input_ddmin *w, const struct config *own, int own_content,
                      const struct config *other, int other_content)
{
    mixture_close(&w->mixture);
    return mixture_open(&w->mixture, own, own_content, other, other_content) == 0 &&
           mixture_elements(&w->mixture) > 0;
}

int input_ddmin_failing_content(struct input_ddmin *w, const struct config *failure)
{
    for (int content = 0; content < 2; content++)
        if (input_ddmin_open(w, failure, content, failure, 0) && input_ddmin_run_whole(w, true, NULL) == 1)
            return content;
    return -1;
}

/* Runs the second draw twice, so that a flaky pass does not count. */
static bool passes_twice(struct input_ddmin *w)
{
    bool passes = true;
    for (int i = 0; i < 2 && passes; i++)
        if (input_ddmin_run_whole(w, false, &passes) < 0)
            return false;
    return passes;
}

/* Returns whether the values of another draw pass at the failure's point. *tried counts the draws that can be
 * blended. */
static bool values_pass(struct input_ddmin *w, const struct config *failure, int content,
                        const struct config *other, int other_content, int *tried)
{
    if (!input_ddmin_open(w, failure, content, other, other_content))
        return false;
    ++*tried;
    return passes_twice(w);
}

static bool has_differing(const struct mixture *m)
{
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++) {
        const struct box whole = m->own_values[t] ? mixture_whole(m, t) : (struct box){0};
        if (m->own_values[t] && mixture_box_differs(m, &whole))
            return true;
    }
    return false;
}

/* Tries the same seed with another choice of an axis that affects how values are drawn (decay=long): only
 * some tensors differ then. A choice that affects the computation only changes no values, and costs no
 * run. */
static bool choices_pass(struct input_ddmin *w, const struct config *failure, int content)
{
    const struct problem *problem = failure->problem;
    const int input = problem_input_axis(problem);
    struct config other = *failure;
    int tried = 0;
    for (int axis = 0; problem->axes[axis].name; axis++) {
        if (problem->axes[axis].kind != AXIS_CHOICE || axis == input)
            continue;
        for (int i = 0; problem_choice(problem, axis, i) && tried < OTHER_CHOICES; i++) {
            other.value[axis] = i;
            if (i == failure->value[axis] || !space_contains(&w->task->space, &other, NULL) ||
                !input_ddmin_open(w, failure, content, &other, content) || !has_differing(&w->mixture))
                continue;
            tried++;
            if (passes_twice(w))
                return true;
        }
        other.value[axis] = failure->value[axis];
    }
    return false;
}

/* Tries small seeds. If shapes change with the seed, tries further draws of the failure's own seed. */
static bool others_pass(struct input_ddmin *w, const struct config *failure, int content)
{
    struct config other = *failure;
    int tried = 0;
    for (other.seed = 1; other.seed <= OTHER_CONTENTS; other.seed++)
        if (other.seed != failure->seed && values_pass(w, failure, content, &other, 0, &tried))
            return true;
    for (int i = 2; tried == 0 && i < 2 + OTHER_CONTENTS; i++) {
        int of_own = 0;
        if (values_pass(w, failure, content, failure, i, &of_own))
            return true;
    }
    return false;
}

bool input_ddmin_find_passing(struct input_ddmin *w, const struct config *failure, int content,
                              const struct config *known)
{
    const int input = problem_input_axis(failure->problem);
    struct config other = *failure;
    int tried = 0;
    if (choices_pass(w, failure, content))
        return true;
    if (content == 1 && values_pass(w, failure, content, failure, 0, &tried))
        return true;
    if (known && values_pass(w, failure, content, known, 0, &tried))
        return true;
    if (others_pass(w, failure, content))
        return true;
    if (input < 0 || failure->value[input] == 0)
        return false;
    other.value[input] = 0;
    for (int i = 0; i < PUBLISHED_CONTENTS; i++)
        if (values_pass(w, failure, content, &other, i, &tried))
            return true;
    return false;
}
