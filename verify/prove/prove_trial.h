/* One judged output of one configuration, on trial: used by prove_outputs.c and prove_nulls.c. */
#ifndef UNSEEN_PROVE_TRIAL_H
#define UNSEEN_PROVE_TRIAL_H

#include "prove_internal.h"

enum { LOOKED_AT = 2 * JUDGE_SAMPLES, TRIED = 9 /* null outputs */ };

/* One judged output of one configuration. */
struct trial {
    struct proof *p;
    const struct prove_case *c;
    const struct judgement *j;
    struct layout *layout;
    struct judge_request request;
    struct judge_report *report;
    const struct instance_tensor *shape; /* of the output */
    enum dtype dtype;
    int64_t elements;
    size_t bytes;
    void *right, *changed;       /* host, laid out like the output */
    unsigned char *mask;         /* host: which elements the judge rejects */
    void *device_mask;           /* memory of the back end */
    struct judged at[LOOKED_AT]; /* elements that are looked at, as judged in the right output */
    int looked;
};

/* Over all configurations, of one kind of null output. */
struct null_count {
    int judged, rejected;
    struct config config; /* that accepted it */
};

/* Elements by their number: of an output laid out like the right one, and of the changed one. */
double trial_get(const struct trial *t, const void *output, int64_t i);
void trial_set(const struct trial *t, int64_t i, double value);

/* What the judge says to `output`, into t->report and t->mask. */
bool trial_judge(struct trial *t, const void *output);

/* prove_nulls.c: every null output of this configuration is judged; then what became of them over all. */
bool trial_nulls(struct trial *t, struct null_count count[TRIED]);
void trial_count_nulls(struct proof *p, const struct judgement *j, const struct null_count count[TRIED]);

#endif
