/* The lanes of a row are the threads of a team, so that one long row uses all cores. Two sets of places
 * alternate, so a reduction needs one barrier: when the next barrier opens, all threads have read the
 * previous set. A part of witness.c. */

enum { TEAM_MOST = 64 };

struct places {
    double value[TEAM_MOST];
    struct acc acc[TEAM_MOST];
};

struct team {
    struct places places[2];
};

static _Thread_local struct team *team;
static _Thread_local int team_turn;

/* Each thread of a team calls it before its first reduction. */
REF_FN void team_join(struct team *shared)
{
    team = shared;
    team_turn = 0;
}

REF_FN void ref_barrier(void)
{
#pragma omp barrier
}

static struct places *team_places(void)
{
    team_turn = !team_turn;
    return &team->places[team_turn];
}

REF_FN double ref_all_max(double x)
{
    struct places *p = team_places();
    p->value[omp_get_thread_num()] = x;
    ref_barrier();
    for (int i = 0; i < omp_get_num_threads(); i++)
        x = p->value[i] > x ? p->value[i] : x;
    return x;
}

REF_FN double ref_all_sum(double x)
{
    struct places *p = team_places();
    p->value[omp_get_thread_num()] = x;
    ref_barrier();
    x = 0;
    for (int i = 0; i < omp_get_num_threads(); i++)
        x += p->value[i];
    return x;
}

REF_FN bool ref_all_any(bool x)
{
    return ref_all_max(x) > 0;
}

REF_FN void ref_all_acc(struct acc *x)
{
    struct places *p = team_places();
    p->acc[omp_get_thread_num()] = *x;
    ref_barrier();
    *x = p->acc[0];
    for (int i = 1; i < omp_get_num_threads(); i++)
        acc_merge(x, &p->acc[i]);
}

/* For a recurrence the witness computes values only, no error bounds. So each lane may keep its own share of
 * a bound, which saves a barrier per step. */
REF_FN double ref_lane_max(double x)
{
    return x;
}

REF_FN double ref_lane_sum(double x)
{
    return x;
}

REF_FN void ref_lane_acc(struct acc *x)
{
    (void)x;
}

REF_FN void ref_lane_floats(float *x)
{
    (void)x;
}

REF_FN void ref_lane_reals(real *x)
{
    struct acc sum = acc_zero();
    sum.total = *x;
    ref_all_acc(&sum);
    *x = sum.total;
}

REF_FN void ref_own_reals(const real *x, real *own)
{
    *own = *x;
    ref_lane_reals(own);
}

REF_FN void ref_own_doubles(const double *x, double *own)
{
    *own = *x;
}

REF_FN void ref_own_floats(const float *x, float *own)
{
    *own = *x;
}

REF_FN int ref_owned(int j)
{
    return j;
}

REF_FN real ref_pick(const real *x, int j)
{
    return x[j];
}
