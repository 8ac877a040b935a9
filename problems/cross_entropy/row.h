/* cross_entropy, shared by all outputs: a row's largest logit M, S = sum_j exp(x_j - M), and lse = M + log S.
 * lse is NaN for a row that has NaN or +inf, or only -inf. */
#ifndef UNSEEN_CROSS_ENTROPY_ROW_H
#define UNSEEN_CROSS_ENTROPY_ROW_H

enum { CE_LOGITS, CE_LABELS };
enum { CE_ROWS, CE_VOCAB, CE_PITCH, CE_IGNORE_INDEX };
enum { PART_ERROR, PART_SIZE };

struct ce_row {
    bool undefined;
    double max;
    num lse;
    double error; /* absolute error bound of lse */
};

/* Partial sums over some of a row's terms. */
struct ce_sum {
    struct acc terms;
    double weighted; /* sum exp(x - max) (max - x) */
};

REF_FN double ce_logit(const struct ref_context *c, int64_t row, int64_t j)
{
    return REF_BF16(c, CE_LOGITS, row * c->extent[CE_PITCH] + j);
}

/* Largest logit over columns lane, lane + lanes, .. */
REF_FN double ce_greatest(const struct ref_context *c, int64_t row, int64_t lane, int64_t lanes,
                          bool *undefined)
{
    double max = -INFINITY;
    *undefined = false;
    for (int64_t j = lane; j < c->extent[CE_VOCAB]; j += lanes) {
        const double x = ce_logit(c, row, j);
        *undefined = *undefined || !(x < INFINITY);
        max = x > max ? x : max;
    }
    return max;
}

REF_FN struct ce_sum ce_add(const struct ref_context *c, int64_t row, double max, int64_t lane, int64_t lanes)
{
    struct ce_sum sum;
    sum.terms = acc_zero();
    sum.weighted = 0;
    for (int64_t j = lane; j < c->extent[CE_VOCAB]; j += lanes) {
        const double x = ce_logit(c, row, j);
        if (x == -INFINITY)
            continue;
        const num e = num_exp(num_sub(num_of(x), num_of(max)));
        acc_add(&sum.terms, e);
        sum.weighted += num_mid(e) * (max - x);
    }
    return sum;
}

/* Absolute errors of lse in units u = 2^-24; n is the vocabulary, L = log S, D the mean of M - x weighted by
 * S's terms. A relative error of S is an absolute error of log S. Terms of S: the argument is rounded when a
 * maximum is subtracted (t = M - x, or up to 1.4 more if a bound near the maximum is subtracted). Or logit
 * and maximum are rounded, |M| + t each, by earlier products with log2 e. A product with log2 e and the
 * constant give 1.224 t, an exponential within 2 ulp gives 4. Weighted: 10 + 4.25 D + 2 |M|. Their sum, in
 * any order and split, with one rescaling per term: 8 n u, of which at most 2^-12 is admitted, as declared.
 * Splits may store logarithms. So there are up to two, within 6 + 7 L each (absolute 2^-21.4, 3 ulp), with a
 * rounding of |M|. Finally lse = M + log S, or ln 2 (M log2 e + log2 S): M's product, the sum and the
 * constant give |M| + 2 |lse|. */
REF_FN void ce_close(const struct ref_context *c, double max, bool undefined, const struct ce_sum *sum,
                     struct ce_row *out)
{
    const double chain = 8 * (double)c->extent[CE_VOCAB] * UNIT_F32;
    out->undefined = undefined || max == -INFINITY;
    out->max = max;
    out->lse = num_of(NAN);
    out->error = 0;
    if (out->undefined)
        return;
    const num s = acc_num(&sum->terms, 0), log_sum = num_log(s);
    out->lse = num_add(num_of(max), log_sum);
    out->error = (chain < 0x1p-12 ? chain : 0x1p-12) +
                 (24 + 14 * num_mid(log_sum) + 4.25 * sum->weighted / num_mid(s) + 5 * fabs(max) +
                  2 * fabs(num_mid(out->lse))) *
                     UNIT_F32;
}

/* The loss of a row that counts, lse - x[label]; +inf if that logit is -inf. *error is its absolute error
 * bound. Besides lse's own error it has lse's rounding and the logit's, either in x - M or by log2 e and the
 * constant; and the difference's product with ln 2 and that constant. Together 4 |lse| + 4 |x|. The bound is
 * absolute, since a loss near 0 is a difference of two larger numbers. */
REF_FN num ce_loss(const struct ref_context *c, int64_t row, int64_t label, const struct ce_row *of,
                   double *error)
{
    const double x = ce_logit(c, row, label);
    *error = 0;
    if (of->undefined)
        return num_of(NAN);
    if (x == -INFINITY)
        return num_of(INFINITY);
    *error = of->error + 4 * (fabs(num_mid(of->lse)) + fabs(x)) * UNIT_F32;
    return num_sub(of->lse, num_of(x));
}

#endif
