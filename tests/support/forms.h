/* The small problems of tests/forms: their results, evaluated plainly, and configurations of them. */
#ifndef UNSEEN_TESTS_FORMS_H
#define UNSEEN_TESTS_FORMS_H

#include "oracle.h"

#define PROBLEM(name) extern const struct problem problem_##name;
#define JUDGED(name, output)
#include "tests/forms/forms.def"
#undef PROBLEM
#undef JUDGED

/* Once in a process: afterwards their references are found. */
void forms_add(void);

struct form_case {
    const struct problem *problem;
    const char *output, *line;
};

enum { FORM_CASES = 18 };
extern const struct form_case form_cases[FORM_CASES];

/* The case with a value of its `input` axis, its output opened to be judged. */
void form_open(struct oracle *o, const struct form_case *c, const char *input);

/* One element by a loop of its own, in long double. */
struct form_value {
    long double value;
    double reach; /* greatest effect of a double's rounding and the loop's own */
    bool kept;    /* in an in-out tensor: to keep its bits */
};
struct form_value form_evaluate(const struct oracle *o, int64_t index);

/* Every element of the judged output as an honest program leaves it. */
void form_honest(struct oracle *o);

#endif
