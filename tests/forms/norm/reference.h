/* norm, the mathematics: y[v] = sqrt(sum_i x[v,i]^2). */

#define REF_FOLD

enum { NORM_VECTORS, NORM_N };

struct ref_fold {
    struct acc sum;
};

REF_FN int64_t ref_folds(const struct ref_context *c)
{
    return c->extent[NORM_VECTORS];
}

REF_FN int64_t ref_terms(const struct ref_context *c, int64_t fold)
{
    (void)fold;
    return c->extent[NORM_N];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)c->extent[NORM_N];
}

REF_FN void ref_fold_start(struct ref_fold *state)
{
    state->sum = acc_zero();
}

REF_FN void ref_fold_term(const struct ref_context *c, int64_t fold, int64_t i, struct ref_fold *state)
{
    const double x = REF_F32(c, 0, fold * c->extent[NORM_N] + i);
    acc_add_product(&state->sum, x, x);
}

REF_FN void ref_fold_merge(struct ref_fold *state, const struct ref_fold *other)
{
    acc_merge(&state->sum, &other->sum);
}

REF_FN void ref_fold_finish(const struct ref_context *c, int64_t fold, const struct ref_fold *state,
                            struct ref_element *e)
{
    (void)c;
    (void)fold;
    e->value = num_sqrt(acc_num(&state->sum, 0));
    ref_keep_sum(&state->sum, e->part);
}

/* sqrt(s + d) - sqrt(s) is at most d / sqrt(s); the root itself has an error of an ulp. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const struct sum_facts facts = ref_kept_sum(e->part, 0);
    const double root = sqrt(facts.value);
    return facts.value > 0 ? error_of_sum(a, c->data, &facts) / root + 2 * UNIT_F32 * root : 0;
}
