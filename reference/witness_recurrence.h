/* The witness of a recurrence: one column, step by step, up to the requested step; a part of witness.c. */

static int64_t row_of(const struct ref_context *c, int64_t index)
{
    const struct ref_place place = ref_place_of(c, index);
    return place.chain * ref_columns(c) + place.column;
}

/* An earlier step of the same column needs no further work. */
static int64_t same_row(const struct ref_context *c, int64_t index, uint64_t pick)
{
    const struct ref_place place = ref_place_of(c, index);
    return ref_index(c, place.chain, (int64_t)(pick % (uint64_t)(place.step + 1)), place.column);
}

/* A team of threads shares the rows of the state. Each thread gets enough rows to be worth the two barriers
 * of a step. */
enum { TEAM_ROWS = 8 };

static void advance(const struct ref_context *c, const struct ref_place *to, struct prepared *p,
                    struct ref_element *e)
{
    const int worth = (int)(ref_state_rows(c) / TEAM_ROWS) + 1;
    const int most = omp_get_max_threads() < worth ? omp_get_max_threads() : worth;
    struct team shared;
#pragma omp parallel num_threads(ref_cost(c) > expensive_terms ? most : 1)
    {
        struct ref_carry carry = {.span = INFINITY}; /* not used by the witness */
        struct ref_step s;
        team_join(&shared);
        FETCH(c, ref_touch(c, to->chain, p->done, to->step + 1, to->column));
        for (int64_t t = p->done; t <= to->step; t++)
            ref_step(c, to->chain, t, to->column, 1, true, p->scratch, &carry, &s);
        if (omp_get_thread_num() == 0)
            ref_element_of(c, &s, &carry, 0, e);
    }
    p->done = to->step + 1;
}

static int evaluate(const struct ref_context *c, int64_t index, struct prepared *p, struct ref_element *e)
{
    const struct ref_place place = ref_place_of(c, index);
    const int64_t row = row_of(c, index);
    if (!p->scratch)
        p->scratch = malloc(sizeof *p->scratch);
    if (!p->scratch)
        return -1;
    if (p->row != row || p->done > place.step) {
        struct ref_carry carry;
        rows_clear(p->scratch, &carry);
        p->row = row;
        p->done = 0;
    }
    advance(c, &place, p, e);
    return 0;
}
