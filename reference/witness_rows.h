/* The witness by rows: a row's preparation is reused for its other elements; a part of witness.c. */

static int64_t row_of(const struct ref_context *c, int64_t index)
{
    return index / ref_width(c);
}

static int64_t same_row(const struct ref_context *c, int64_t index, uint64_t pick)
{
    const int64_t width = ref_width(c);
    return index / width * width + (int64_t)(pick % (uint64_t)width);
}

/* All lanes prepare the row; each has its own copy of the same state. */
static int prepare_row(const struct ref_context *c, int64_t row, struct prepared *p)
{
    const int most = omp_get_max_threads() < TEAM_MOST ? omp_get_max_threads() : TEAM_MOST;
    struct team shared;
    if (!p->scratch)
        p->scratch = malloc((size_t)(ref_scratch(c) + 1) * sizeof *p->scratch);
    if (!p->scratch)
        return -1;
#pragma omp parallel num_threads(ref_cost(c) > expensive_terms ? most : 1)
    {
        struct ref_state state;
        team_join(&shared);
        FETCH(c, ref_touch(c, row));
        ref_prepare(c, row, p->scratch, &state);
        if (omp_get_thread_num() == 0)
            p->state = state;
    }
    p->row = row;
    return 0;
}

#ifdef REF_DISCRETE

/* A discrete element is right by the same definition here, evaluated over the candidate's outputs. */
static int hear(const struct judge_request *request, const struct judged *element, struct prepared *p,
                struct witnessed *answer)
{
    const struct ref_context *c = &request->context;
    const int64_t row = row_of(c, element->index);
    if (p->row != row && prepare_row(c, row, p) != 0)
        return -1;
    const struct element_verdict v =
        ref_verdict(c, row, element->index % ref_width(c), p->scratch, &p->state);
    answer->value = v.want;
    answer->ok = v.right;
    answer->inside = v.want == element->mid || (isnan(v.want) && isnan(element->mid));
    return 0;
}

#else

static int evaluate(const struct ref_context *c, int64_t index, struct prepared *p, struct ref_element *e)
{
    const int64_t row = row_of(c, index);
    if (p->row != row && prepare_row(c, row, p) != 0)
        return -1;
    ref_elements(c, row, index % ref_width(c), 1, p->scratch, &p->state, e);
    return 0;
}

#endif
