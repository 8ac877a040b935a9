/* One judged output of one configuration, and outputs of our own in the place of a candidate's. */
#ifndef UNSEEN_PROVE_TRIAL_H
#define UNSEEN_PROVE_TRIAL_H

#include "prove_internal.h"
#include "verify/audit/nulls.h"

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
    void *right, *changed;       /* host, laid out like the output */
    unsigned char *mask;         /* host: which elements the judge rejects */
    void *device_mask;           /* memory of the back end */
    struct judged at[LOOKED_AT]; /* elements that are looked at, as judged in the right output */
    int looked;
};

/* Elements by their number, of an output in host memory. */
double trial_get(const struct trial *t, const void *output, int64_t i);
void trial_set(const struct trial *t, int64_t i, double value); /* of `changed` */
void trial_put_right(const struct trial *t, int64_t i);         /* likewise, as in `right` */

/* Judge an output of ours: the report and the mask. */
bool trial_judge(struct trial *t, const void *output);
/* The right output, in its own format. */
bool trial_expect(struct trial *t);

/* Is the value one that the output's format does not flush to 0? Of what is 0 anyway nothing is told by its size. */
bool trial_tells(const struct trial *t, const struct judged *e);

/* prove_nulls.c: outputs that no work went into. */
enum { NULLS_TRIED = 9 };
struct null_count {
    int judged, rejected;
    struct config config; /* that accepted it */
};
bool trial_nulls(struct trial *t, struct null_count count[NULLS_TRIED]);
void judge_nulls(struct proof *p, const struct judgement *j, const struct null_count count[NULLS_TRIED]);

#endif
