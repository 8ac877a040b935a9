/* One judged output of one configuration, and constructed outputs in place of a candidate's. */
#ifndef UNSEEN_PROVE_TRIAL_H
#define UNSEEN_PROVE_TRIAL_H

#include "prove_internal.h"
#include "nulls.h"

enum { LOOKED_AT = 2 * JUDGE_SAMPLES };

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
    void *right, *changed;       /* in host memory, with the layout of the output */
    unsigned char *mask;         /* in host memory: the elements that the judge rejects */
    void *device_mask;           /* in the backend's memory */
    struct judged at[LOOKED_AT]; /* chosen elements, as judged in the right output */
    int looked;
};

/* Elements by index, of an output in host memory. */
double trial_get(const struct trial *t, const void *output, int64_t i);
void trial_set(const struct trial *t, int64_t i, double value); /* of `changed` */
void trial_put_right(const struct trial *t, int64_t i); /* restores the element of `changed` from `right` */

/* Judges a constructed output: fills the report and the mask. */
bool trial_judge(struct trial *t, const void *output);
/* Computes the right output in its own dtype. */
bool trial_expect(struct trial *t);

/* Is the value in the normal range of the output's dtype, so that it is not flushed to 0? The size of other
 * values says nothing. */
bool trial_tells(const struct trial *t, const struct judged *e);

/* prove_nulls.c: outputs without honest work. */
enum { NULLS_TRIED = 9 };
struct null_count {
    int judged, rejected;
    struct config config; /* a configuration that accepted it */
};
bool trial_nulls(struct trial *t, struct null_count count[NULLS_TRIED]);
void judge_nulls(struct proof *p, const struct judgement *j, const struct null_count count[NULLS_TRIED]);

#endif
