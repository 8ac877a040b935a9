/* The terms of a fold, and their split into parts on the host and for the witness. The fold fixes the number
 * of parts, so the enclosure has the same bits for any number of threads. */
#ifndef UNSEEN_FOLD_H
#define UNSEEN_FOLD_H

/* A range of terms: first <= i < end. */
struct fold_terms {
    int64_t first, end;
};

/* All terms of a fold, or the range that the context selects. */
REF_FN struct fold_terms fold_terms_of(const struct ref_context *c, int64_t fold)
{
    struct fold_terms t;
    const int64_t terms = ref_terms(c, fold);
    t.first = c->end_term > 0 ? c->first_term : 0;
    t.end = c->end_term > 0 && c->end_term < terms ? c->end_term : terms;
    return t;
}

/* Part `part` of `parts` contiguous ones. */
REF_FN struct fold_terms fold_part(struct fold_terms all, int64_t part, int64_t parts)
{
    struct fold_terms t;
    const int64_t count = all.end - all.first, each = count / parts, more = count % parts;
    t.first = all.first + part * each + (part < more ? part : more);
    t.end = t.first + each + (part < more);
    return t;
}

#endif
