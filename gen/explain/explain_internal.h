/* Shared by the parts of explaining: what can be asked of a configuration (atoms over quantities), what
 * is known (trials), and the rules that fit it (guesses). Costs are in bits, roughly: of two rules that
 * fit equally, the cheaper one is what a programmer is likelier to have written. */
#ifndef UNSEEN_EXPLAIN_INTERNAL_H
#define UNSEEN_EXPLAIN_INTERNAL_H

#include "gen/draw/cost.h"
#include "gen/draw/move.h"
#include "gen/draw/points.h"
#include "explain.h"

enum {
    MOST_FACTORS = 4,       /* axes of a product */
    QUANTITY_AXES = 24,     /* that one hangs on: a product of two derived sizes on those of both */
    MOST_DERIVED = 16,      /* sizes of one problem that are asked about */
    MOST_QUANTITIES = 4096, /* more than PROBLEM_MAX_AXES ranges make, with tile sizes of 2^1..2^10 */
    MOST_VALUES = 16,       /* seen values of one quantity */
    MOST_ATOMS = 4,         /* of one rule */
    MOST_GUESSES = 256,     /* rules held at a time */
    LARGEST_MODULUS = 256,
    MOST_AGAIN = 16
};

/* --- explain_quantity.c: whole numbers that a kernel may branch on --- */

enum quantity_kind {
    QUANTITY_PRODUCT,   /* of one axis (the axis itself) to four */
    QUANTITY_RATIO,     /* axis[0] / axis[1] */
    QUANTITY_REMAINDER, /* axis[0] % axis[1] */
    QUANTITY_CEILING,   /* axis[0] / axis[1], rounded up */
    QUANTITY_TILES,     /* axis[0] / tile, rounded up */
    QUANTITY_OFFSET,    /* (axis[0] - 1) * axis[1]: where the last row begins */
    QUANTITY_ORDER,     /* of axis[0] and axis[1]: ORDER_LESS, ORDER_SAME or ORDER_MORE */
    QUANTITY_GCD,       /* of axis[0] and axis[1] */
    QUANTITY_DERIVED,   /* a derived size of the problem, which depends on the axes and the seed */
    QUANTITY_SIZE_ORDER, /* of a derived size and axis `against` or derived size `second`, like QUANTITY_ORDER */
    QUANTITY_SIZE_PRODUCT, /* of a derived size, the derived size `second` and axis `against` */
    QUANTITY_TILED_PRODUCT, /* axis[1] * (axis[0] / tile, rounded up): rows that are filled up to whole tiles */
    QUANTITY_CHOICE         /* the index of axis[0]'s choice */
};

enum { ORDER_LESS, ORDER_SAME, ORDER_MORE };

struct quantity {
    enum quantity_kind kind;
    int count, axis[QUANTITY_AXES]; /* a product has MOST_FACTORS at most */
    int64_t tile;
    int derived, second; /* indices into the problem's table; of `second` -1: none */
    int against;         /* axis, of an order or a product of sizes; -1: none */
    double cost;
    int64_t listed[MOST_VALUES]; /* values worth an equality: of the seen set, and a list's own */
    int listed_count;
    int64_t seen[MOST_VALUES]; /* of the seen set only, ascending */
    int seen_count;
};

/* Fills `list` (room for MOST_QUANTITIES) and returns how many. */
int quantity_list(const struct space *space, const struct config_list *seen, struct quantity *list);
int64_t quantity_value(const struct quantity *quantity, const struct config *config);
/* The same where the problem's derived sizes are known: by index, MOST_DERIVED at most. */
int64_t quantity_value_of_sizes(const struct quantity *quantity, const struct config *config,
                                const int64_t *size);
bool quantity_is_order(const struct quantity *quantity);
bool quantity_is_drawn(const struct quantity *quantity); /* it hangs on a derived size */
bool quantity_is_axis(const struct quantity *quantity);
bool quantity_is_single(const struct quantity *quantity); /* it has a name: an axis, or a derived size */
bool quantity_is_flag(const struct quantity *quantity, const struct space *space); /* an axis of two values */
bool quantity_has_thresholds(const struct quantity *quantity);
bool quantity_lists(const struct quantity *quantity, int64_t value); /* among `listed` */
int quantity_format(const struct quantity *quantity, const struct problem *problem, char *text, size_t size);

/* --- explain_atom.c: one yes-or-no question about one quantity --- */

enum atom_kind {
    ATOM_REMAINDER,     /* value % a == b */
    ATOM_ABOVE,         /* value > a */
    ATOM_EQUAL,         /* value == a */
    ATOM_SEEN,          /* value is one of the published ones */
    ATOM_POWER,         /* value is a power of two */
    ATOM_SET,           /* of the values that `listed` holds, one whose bit is set in a */
    ATOM_SMALL,         /* value < 64, and its bit is set in a */
    ATOM_RESIDUE_ABOVE, /* value % a > b */
    ATOM_RESIDUE_SET    /* the bit of value % a is set in b; a is 64 at most */
};

struct atom {
    int quantity;
    enum atom_kind kind;
    bool negated;
    int64_t a, b; /* as its kind says */
    double cost;
};

bool atom_holds(const struct atom *atom, const struct quantity *quantity, int64_t value);
bool atom_value_is_power(int64_t value); /* of two */
bool atom_value_is_tile(const struct quantity *quantity, const struct space *space, int64_t value);
double atom_threshold_cost(const struct quantity *quantity, const struct space *space, int64_t threshold);
double atom_cost(const struct atom *atom, const struct quantity *quantity, const struct space *space);
struct explainer;
/* Most input classes, but for one or a few: with those it may pass by luck, which is told beside a rule rather than in a further term. */
bool atom_is_most_inputs(const struct explainer *ex, const struct atom *atom);

int64_t roundest(int64_t low, int64_t high); /* the multiple of the largest power of two in low..high */

/* A rule: clauses joined by or, of atoms joined by and. Without an atom it always holds. */
struct guess {
    struct atom atom[MOST_ATOMS];
    bool starts[MOST_ATOMS]; /* this atom begins a clause */
    int count;
    double cost;
    bool alive;
};

bool guess_holds(const struct explainer *ex, const struct guess *guess, const int64_t *value);
/* The same with the truth of one atom given. */
bool guess_holds_if(const struct explainer *ex, const struct guess *guess, const int64_t *value, int forced,
                    bool truth);
bool atom_same(const struct atom *a, const struct atom *b);
bool atom_alike(const struct atom *a, const struct atom *b); /* the same but for a threshold */
bool guess_same(const struct guess *a, const struct guess *b);
bool guess_alike(const struct guess *a, const struct guess *b); /* the same but for thresholds */
void guess_remove(struct guess *guess, int at); /* an atom; a clause that it was alone in goes with it */
/* explain_canonical.c. The same condition in fewer and plainer terms. */
void guess_canonical(const struct explainer *ex, struct guess *guess);
/* explain_format.c. As guess_canonical has it. False: longer than `size`. */
bool guess_format(const struct explainer *ex, const struct guess *guess, char *text, size_t size);

/* The simplest rules found, cheapest first. */
struct guesses {
    struct guess item[MOST_GUESSES];
    int count;
};
void guesses_add(struct guesses *guesses, const struct guess *guess);

/* --- explain_known.c: what has been run --- */

struct modulus {
    int quantity, modulus;
};

struct explainer {
    const struct space *space;
    const struct config_list *seen;
    struct quantity quantity[MOST_QUANTITIES];
    int quantities;
    struct modulus *modulus; /* what is asked of which quantity */
    int moduli;

    int trials, capacity, words;
    struct config *config;                  /* [capacity] */
    int64_t *value;                         /* [capacity, quantities] */
    uint16_t *residue;                      /* [moduli, capacity] */
    bool *published;                        /* [capacity]: a point of the seen set */
    uint64_t *fails, *passes, *unpublished; /* [words], a bit a trial */
    uint64_t *lucky,
        *firm; /* [words]: passes where another content fails, which are no `passes`; and where none did */
    uint8_t *challenge;  /* [capacity]: CHALLENGE_..; 0: it was run for something else */
    int doubts, luckies; /* runs that asked passes again; how many were luck */

    struct costing costing;
    struct point_set used;    /* asked for or published: not asked for again */
    struct config_list fresh; /* drawn like an unseen set, by its random part */
    struct pcg *stream;
    explain_run run;
    void *data;
    int runs, most_runs,
        extra_runs; /* extra: what is left beyond most_runs, for terms that too few runs speak for */
    struct explain_trial again[MOST_AGAIN]; /* failing ones, run with another seed */
    int agains;
    bool stopped;
    uint64_t *scratch; /* [words] */
};

int explainer_open(struct explainer *ex, const struct space *space, const struct draw_caps *caps,
                   const struct config_list *seen, int known, int runs, uint64_t seed);
void explainer_close(struct explainer *ex);

/* Beyond the runs allowed: those for a rule's weak terms. */
static inline int explainer_extra_runs(int runs)
{
    return runs * 3 / 4;
}

/* Beyond those: challenges of each term of a rule that is sure of one side. They are made only where no rule of both sides stands. */
static inline int explainer_challenge_runs(int runs)
{
    return runs;
}

void explainer_learn(struct explainer *ex, const struct config *config, bool fails);

static inline bool bit_of(const uint64_t *bits, int i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static inline void bit_set(uint64_t *bits, int i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

static inline const int64_t *trial_values(const struct explainer *ex, int trial)
{
    return ex->value + (size_t)trial * (size_t)ex->quantities;
}

/* Every quantity of a configuration; without `derived` the derived sizes, which take longer than all
 * others together, are left 0. */
void explainer_values(const struct explainer *ex, const struct config *config, bool derived, int64_t *value);

/* Whether some rule that still stands asks for a derived size. */
bool guesses_ask_derived(const struct explainer *ex, const struct guesses *guesses);

/* Another seed that leaves every derived size as it is; false: none is found soon. */
bool explainer_reseed(struct explainer *ex, struct config *config);

/* --- explain_table.c: atoms by what they say of the trials --- */

enum { CLASS_ATOMS = 64 };

/* Atoms that agree on every trial so far; the cheapest first. */
struct atom_class {
    uint64_t *bits;
    int first, atoms; /* a chain in table.link */
    double cost;
};

struct table {
    struct atom_class *item;
    int count, capacity;
    struct atom *atom;
    int *link;
    int atoms, atom_capacity;
    uint64_t *bits;
    int *slot;
    int slots;
    bool no_memory;
};

/* Every atom worth asking (thresholds are left to the search, which knows what they must divide). */
int table_open(struct table *table, const struct explainer *ex);
void table_close(struct table *table);

/* --- explain_search.c --- */

/* Rules that are right on every trial (or, where there are none, on most), the simplest first. Returns
 * the number of trials that the first of them gets wrong, not counting published points that pass where
 * only without those a rule could be found; -1 when memory is out. */
int search_rules(const struct explainer *ex, struct guesses *out);

/* Conditions that are right on one side only, the shortest description of what was run first: `kind` says which side
 * is sure. `cost` is the length in bits, of which *gain are less than without any. -1: no memory. */
int search_sided(const struct explainer *ex, enum rule_kind kind, struct guesses *out, double *gain);
/* Of the trials inside `rule`, the one question that most divides failures from passes, and the bits that it saves; false:
 * none is worth saying. */
bool search_inner(const struct explainer *ex, const struct guess *rule, struct guess *out, double *gain);

/* --- explain_rivals.c --- */

/* Simpler rules than `leader` that hold on every failure and on few passes, of which none is firm unless `firm_too`; the simplest
 * first. -1: no memory. */
int search_rivals(const struct explainer *ex, const struct guess *leader, bool firm_too, struct guesses *out);
/* A run on which the leader and one of the simplest `rivals` differ; false: there is none. */
bool rivals_test(struct explainer *ex, const struct guess *leader, const struct guesses *rivals,
                 struct config *out);
double guess_plain_cost(const struct guess *guess); /* of its terms alone, whatever it gets wrong */

/* --- explain_doubt.c --- */

/* Asks the point of a pass again, with sharper inputs and other seeds. True: it fails then, and the pass was luck. */
bool doubt_pass(struct explainer *ex, int trial);
/* The same of the passes that speak against simpler rules than `leader`. *changed: something was learned. -1: no memory. */
int doubt_rivals(struct explainer *ex, const struct guess *leader, bool *changed);
bool doubts_are_over(const struct explainer *ex); /* their share of the runs is spent */
void doubt_forget(struct explainer *ex);          /* passes by luck are passes again */

/* --- explain_probe.c --- */

/* Of what fails, the trial with most axes at their least, and of those the smallest: as a rule what shrinking ends at. -1:
 * nothing fails. */
int simplest_failure(const struct explainer *ex);
/* Runs the steps from the simplest failure and learns from them. */
void probe_simplest(struct explainer *ex);

/* --- explain_terms.c --- */

/* The term of a rule of several that fewest runs speak for, of those that too few do; -1: there is none.
 * *inside: the runs that would speak for it are failures, where the rule holds. */
int terms_weakest(const struct explainer *ex, const struct guess *rule, bool *inside);
/* A run that would speak for that term of the first of `guesses`, which is `rule`; false: there is none, or no such term. */
bool terms_test(struct explainer *ex, const struct guess *rule, const struct guesses *guesses,
                struct config *out);
/* Drops such terms until there is none left, and returns how many. */
int terms_drop_weak(const struct explainer *ex, struct guess *rule);

/* --- explain_limits.c --- */

/* "cols = 12288 of 4 bytes each are 48 kbyte, a block's shared memory unless it asks for more": where a threshold of the rule is a
 * limit of CUDA devices. "": none is. */
void limits_tell(const struct explainer *ex, const struct guess *rule, char *text, size_t size);

/* --- explain_challenge.c --- */

/* Known failures moved across one term of a rule, so that it holds no more: where it says of every failure that it holds, nothing
 * else is likelier to contradict it. What passes so says as much as those would fail that were left where they are, with other
 * contents: half as many are run, too. */
enum { CHALLENGE_MOVED = 1, CHALLENGE_CONTROL = 2, CHALLENGE_APART = 4 };

struct challenges {
    struct challenged {
        int moved, controls, failed; /* failed: of the controls */
        bool over;                   /* there are no more to be moved */
    } term[MOST_ATOMS]
          [2]; /* of any failure; of those that another rule, which is sure of failures, leaves over */
    struct challenged *asked; /* what was picked last; NULL: nothing, or it is learned */
    bool control;             /* it is one */
    bool asked_apart;         /* of those that another rule leaves over */
};

/* The next one; false: the terms have enough of them. `apart`: the rule that is sure of failures, or NULL. Its result (1: fails, 0: passes, -1: not known) is for challenge_learn. */
bool challenge_next(struct explainer *ex, const struct guess *rule, const struct guess *apart,
                    struct challenges *challenges, struct config *out);
void challenge_learn(struct explainer *ex, struct challenges *challenges,
                     int result); /* of any run, whatever picked it; the last trial is its own */
/* Of another rule: what all challenges so far say of its terms. A last term that changes leaves those of the others. */
void challenges_recount(const struct explainer *ex, const struct guess *rule, const struct guess *apart,
                        struct challenges *challenges);
/* Enough of that term, unless there are no more of them. */
bool challenge_suffices(const struct challenges *challenges, int term);
/* Passes just beyond that threshold say something: nothing fails there, and on the near side so much does that they are no luck. Where
 * large configurations are likelier to fail, what passes is small, and fewer fail near to it than far. True of terms that are no
 * threshold. */
bool threshold_is_sharp(const struct explainer *ex, const struct guess *rule, int term);

/* --- explain_sided.c --- */

/* Where no two-sided rule is: looks for one that is sure on one side, with the runs that are left. */
int explain_sided(struct explainer *ex, struct rule *out);

/* The fresh runs, those from trial `since` on, are counted in *out; of which side is the rule sure? *out says, or keeps its
 * reason. */
void sided_tell(const struct explainer *ex, const struct guess *rule, int since, struct rule *out);

/* A rule that is confirmed on both sides, and yet some failures lie outside: it is a partial one, with those. */
void tell_exceptions(const struct explainer *ex, const struct guess *rule, struct rule *out);

/* --- explain.c --- */

/* Runs a configuration. 1, 0: fails or not; -1: tells nothing. explainer_ask learns what it is told. */
int explainer_run(struct explainer *ex, const struct config *config);
int explainer_ask(struct explainer *ex, const struct config *config);
bool explainer_may_run(const struct explainer *ex);

/* --- explain_threshold.c --- */

/* Each rule with its thresholds at the roundest, the least, the middle and the largest value that the
 * trials permit; with `forgive`, those of published points that pass permit anything. Adds nothing where
 * some threshold does nothing. */
void vary_thresholds(const struct explainer *ex, const struct guess *guess, bool forgive,
                     struct guesses *out);

/* Of a necessary condition, inside which so many of all runs fail: thresholds that the failures happen to have go out to rounder
 * ones, as far as what passes in between may do so by luck. */
void widen_thresholds(const struct explainer *ex, struct guess *rule, double rate);

/* --- explain_pool.c: configurations worth a run --- */

/* A configuration near what `guesses` disagree or turn on, new, inside the space. The caps are not
 * looked at: pool_affords does, for the one that is chosen. */
bool pool_draw(struct explainer *ex, const struct guesses *guesses, struct config *out);
/* Draws what pool_fresh and pool_draw start from: log-uniform, within the caps. -1: no memory. */
int pool_fill(struct explainer *ex, int count);
/* One of those that owes nothing to any rule; with `near`, then moved to the edge of that atom. */
bool pool_fresh(struct explainer *ex, const struct atom *near, struct config *out);
/* One that failed, moved across or along the edge of that atom and, half of the time, elsewhere: what meets all others of several
 * terms is rare among fresh ones. */
bool pool_beside(struct explainer *ex, const struct atom *near, struct config *out);
int pool_random_failure(struct explainer *ex); /* a trial; there must be one */
/* Within the caps and new; for that, axes may shrink that the rule `kept` does not name (NULL: none). */
bool pool_affords(struct explainer *ex, const struct guess *kept, struct config *config);
int pool_size_bits(const struct space *space, const struct config *config); /* of all ranges together */

/* --- explain_aim.c --- */

/* Moves an axis, or a few, so that what the atom asks is at, beside or across where its answer turns. May leave the space: the
 * caller repairs. */
void pool_aim(struct explainer *ex, const struct atom *atom, struct config *config);
/* The nearest value of the domain at or above `value`, or the last. */
int64_t pool_into_domain(const struct domain *domain, int64_t value);
void pool_set_random(struct explainer *ex, struct config *config, int axis);
int64_t pool_random_up_to(struct explainer *ex, int64_t most); /* 1..most, log-uniform */

/* --- explain_query.c --- */

/* The configuration that divides the rules most evenly, into shares of at least `least`; false: they
 * agree. */
bool query_pick(struct explainer *ex, const struct guesses *guesses, double least, struct config *out);
/* One that tests the first rule: by turns it says fails, passes, and both again at an atom's edge. */
enum { QUERY_TURNS = 4 };
bool query_confirm(struct explainer *ex, const struct guesses *guesses, int turn, struct config *out);
/* Drops the rules that the run contradicts; returns how many stand. */
int query_learn(const struct explainer *ex, struct guesses *guesses, const struct config *config, bool fails);

#endif
