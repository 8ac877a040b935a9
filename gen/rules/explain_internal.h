/* Shared by the parts of explaining: predicates over a configuration's quantities (struct atom), runs so far
 * (trials), and rules that fit them (struct guess). Costs are in bits, roughly: of two rules that fit equally
 * well, a programmer is likelier to have written the cheaper one. */
#ifndef UNSEEN_EXPLAIN_INTERNAL_H
#define UNSEEN_EXPLAIN_INTERNAL_H

#include "gen/draw/cost.h"
#include "gen/draw/move.h"
#include "gen/draw/points.h"
#include "explain.h"

enum {
    MOST_FACTORS = 4, /* axes of a product */
    /* axes that one depends on: a product of two derived sizes depends on the axes of both */
    QUANTITY_AXES = 24,
    MOST_DERIVED = 16,      /* derived sizes of one problem that are considered */
    MOST_QUANTITIES = 4096, /* more than PROBLEM_MAX_AXES ranges make, with tile sizes of 2^1..2^10 */
    MOST_VALUES = 16,       /* listed values of one quantity */
    MOST_ATOMS = 4,         /* of one rule */
    MOST_GUESSES = 256,     /* rules kept at a time */
    LARGEST_MODULUS = 256,
    MOST_AGAIN = 16
};

/* --- explain_quantity.c: whole numbers that a kernel may branch on --- */

/* Returns the least common multiple of two positive numbers. */
int64_t explain_lcm(int64_t a, int64_t b);

enum quantity_kind {
    QUANTITY_PRODUCT,   /* of one axis (the axis itself) to four */
    QUANTITY_RATIO,     /* axis[0] / axis[1] */
    QUANTITY_REMAINDER, /* axis[0] % axis[1] */
    QUANTITY_CEILING,   /* axis[0] / axis[1], rounded up */
    QUANTITY_TILES,     /* axis[0] / tile, rounded up */
    QUANTITY_OFFSET,    /* (axis[0] - 1) * axis[1]: the offset where the last row begins */
    QUANTITY_ORDER,     /* order of axis[0] and axis[1]: ORDER_LESS, ORDER_SAME or ORDER_MORE */
    QUANTITY_GCD,       /* greatest common divisor of axis[0] and axis[1] */
    QUANTITY_DERIVED,   /* a derived size of the problem, which depends on the axes and the seed */
    /* order of a derived size and axis `against` or derived size `second`, as in QUANTITY_ORDER */
    QUANTITY_SIZE_ORDER,
    QUANTITY_SIZE_PRODUCT,  /* product of a derived size, the derived size `second` and axis `against` */
    QUANTITY_SIZE_OFFSET,   /* (axis `against` - 1) * a derived size: the offset of the last row */
    QUANTITY_TILED_PRODUCT, /* axis[1] * (axis[0] / tile, rounded up): rows padded to whole tiles */
    QUANTITY_GRID,          /* tiles of axis[0] times tiles of axis[1] of `other_tile`: blocks of a grid */
    QUANTITY_CHOICE         /* the index of axis[0]'s choice */
};

enum { ORDER_LESS, ORDER_SAME, ORDER_MORE };

struct quantity {
    enum quantity_kind kind;
    int count, axis[QUANTITY_AXES]; /* a product has at most MOST_FACTORS */
    int64_t tile, other_tile;
    int derived, second; /* indices into the problem's table of derived sizes; `second` -1: none */
    int against;         /* index of the axis in an order, a product or an offset of sizes; -1: none */
    double cost;
    int64_t listed[MOST_VALUES]; /* values worth an equality test: those of the seen set, and of a list */
    int listed_count;
    int64_t seen[MOST_VALUES]; /* those of the seen set only, ascending */
    int seen_count;
};

/* Fills `list` (room for MOST_QUANTITIES) and returns the number of quantities. */
int quantity_list(const struct space *space, const struct config_list *seen, struct quantity *list);
int64_t quantity_value(const struct quantity *quantity, const struct config *config);
/* The same with given values of the problem's derived sizes, by index; at most MOST_DERIVED. */
int64_t quantity_value_of_sizes(const struct quantity *quantity, const struct config *config,
                                const int64_t *size);
bool quantity_is_order(const struct quantity *quantity);
bool quantity_is_drawn(const struct quantity *quantity); /* it depends on a derived size */
bool quantity_is_axis(const struct quantity *quantity);
bool quantity_is_single(const struct quantity *quantity); /* it has a name: an axis, or a derived size */
/* an axis with two values */
bool quantity_is_flag(const struct quantity *quantity, const struct space *space);
bool quantity_has_thresholds(const struct quantity *quantity);
bool quantity_lists(const struct quantity *quantity, int64_t value); /* `value` is among `listed` */
int quantity_format(const struct quantity *quantity, const struct problem *problem, char *text, size_t size);

/* --- explain_atom.c: predicates: yes-or-no questions about one quantity each --- */

enum atom_kind {
    ATOM_REMAINDER,     /* value % a == b */
    ATOM_ABOVE,         /* value > a */
    ATOM_EQUAL,         /* value == a */
    ATOM_SEEN,          /* value is one of the published ones */
    ATOM_POWER,         /* value is a power of two */
    ATOM_SET,           /* value is in `listed`, and the bit of its index is set in a */
    ATOM_SMALL,         /* value < 64, and its bit is set in a */
    ATOM_RESIDUE_ABOVE, /* value % a > b */
    ATOM_RESIDUE_SET    /* the bit of value % a is set in b; a is at most 64 */
};

struct atom {
    int quantity;
    enum atom_kind kind;
    bool negated;
    int64_t a, b; /* parameters of the kind */
    double cost;
};

bool atom_holds(const struct atom *atom, const struct quantity *quantity, int64_t value);
bool atom_value_is_power(int64_t value); /* value is a power of two */
bool atom_value_is_tile(const struct quantity *quantity, const struct space *space, int64_t value);
double atom_threshold_cost(const struct quantity *quantity, const struct space *space, int64_t threshold);
double atom_cost(const struct atom *atom, const struct quantity *quantity, const struct space *space);
struct explainer;
/* Returns whether the predicate admits most input classes. The few others may pass by chance, which is
 * reported beside a rule instead of as a further term. */
bool atom_is_most_inputs(const struct explainer *ex, const struct atom *atom);

int64_t roundest(int64_t low, int64_t high); /* the multiple of the largest power of two in low..high */

/* A rule: clauses joined by `or`, each of predicates joined by `and`. Without predicates it always holds. */
struct guess {
    struct atom atom[MOST_ATOMS];
    bool starts[MOST_ATOMS]; /* this predicate begins a clause */
    int count;
    double cost;
    bool alive;
};

bool guess_holds(const struct explainer *ex, const struct guess *guess, const int64_t *value);
/* The same, but the predicate `forced` has the value `truth`. */
bool guess_holds_if(const struct explainer *ex, const struct guess *guess, const int64_t *value, int forced,
                    bool truth);
bool atom_same(const struct atom *a, const struct atom *b);
bool atom_alike(const struct atom *a, const struct atom *b); /* the same except for a threshold */
bool guess_same(const struct guess *a, const struct guess *b);
bool guess_alike(const struct guess *a, const struct guess *b); /* the same except for thresholds */
/* removes a predicate; a clause without predicates is removed, too */
void guess_remove(struct guess *guess, int at);
/* explain_canonical.c. Replaces the rule by the same condition in fewer and plainer terms. */
void guess_canonical(const struct explainer *ex, struct guess *guess);
/* explain_format.c. Writes the rule in its canonical form. Returns false if it does not fit `size`. */
bool guess_format(const struct explainer *ex, const struct guess *guess, char *text, size_t size);

/* The simplest rules found, cheapest first. */
struct guesses {
    struct guess item[MOST_GUESSES];
    int count;
};
void guesses_add(struct guesses *guesses, const struct guess *guess);

/* --- explain_known.c: the runs so far --- */

struct modulus {
    int quantity, modulus;
};

struct explainer {
    const struct space *space;
    const struct config_list *seen;
    struct quantity quantity[MOST_QUANTITIES];
    int quantities;
    struct modulus *modulus; /* tested moduli, each with its quantity */
    int moduli;

    int trials, capacity, words;
    struct config *config;                  /* [capacity] */
    int64_t *value;                         /* [capacity, quantities] */
    uint16_t *residue;                      /* [moduli, capacity] */
    bool *published;                        /* [capacity]: the trial is a point of the seen set */
    uint64_t *fails, *passes, *unpublished; /* [words], one bit for each trial */
    uint64_t *lucky;    /* [words]: passes whose point fails with other inputs, excluded from `passes` */
    uint8_t *challenge; /* [capacity]: CHALLENGE_..; 0: the run was no challenge */
    int doubts;         /* runs that repeated passes */

    struct costing costing;
    struct point_set used;    /* points that were run or are published: not run again */
    struct config_list fresh; /* drawn like the random part of an unseen set */
    struct pcg *stream;
    explain_run run;
    void *data;
    int runs, most_runs;
    /* runs left beyond most_runs: for terms with little support, and for one-sided rules if no two-sided rule
     * stands */
    int extra_runs, sided_runs;
    struct explain_trial again[MOST_AGAIN]; /* failing trials that were run with another seed */
    int agains;
    bool stopped;
    uint64_t *scratch; /* [words] */
};

int explainer_open(struct explainer *ex, const struct space *space, const struct draw_caps *caps,
                   const struct config_list *seen, int known, int runs, uint64_t seed);
void explainer_close(struct explainer *ex);

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

/* Computes every quantity of a configuration. Without `derived`, derived sizes remain 0: they take longer
 * than all others together. */
void explainer_values(const struct explainer *ex, const struct config *config, bool derived, int64_t *value);

/* Returns whether a rule that still stands depends on a derived size. */
bool guesses_ask_derived(const struct explainer *ex, const struct guesses *guesses);

/* Finds another seed that leaves every derived size unchanged. Returns false if none is found soon. */
bool explainer_reseed(struct explainer *ex, struct config *config);

/* --- explain_table.c: predicates grouped by their truth on the trials --- */

enum { CLASS_ATOMS = 64 };

/* Predicates that agree on every trial so far, the cheapest first. */
struct atom_class {
    uint64_t *bits;
    int first, atoms; /* of a chain in table.link */
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

/* Fills the table with every predicate worth testing, except thresholds, which the search chooses. Returns 0,
 * or -1 when memory is out. */
int table_open(struct table *table, const struct explainer *ex);
void table_close(struct table *table);

/* --- explain_search.c --- */

/* Finds rules that are right on every trial or, if there are none, on most; the simplest come first. Returns
 * the number of trials that the first one gets wrong. Published points that pass do not count if a rule was
 * found only without them. Returns -1 when memory is out. */
int search_rules(const struct explainer *ex, struct guesses *out);

/* Finds conditions that are right on one side only, which `kind` names. The first one gives the shortest
 * description of the outcomes; `cost` is its length in bits, and *gain is how many bits it saves compared
 * with no condition. Returns 0, or -1 when memory is out. */
int search_sided(const struct explainer *ex, enum rule_kind kind, struct guesses *out, double *gain);
/* Finds the predicate that best separates failures from passes among the trials inside `rule`, and the bits
 * that it saves. Returns false if none is worth reporting. */
bool search_inner(const struct explainer *ex, const struct guess *rule, struct guess *out, double *gain);

/* --- explain_rivals.c --- */

/* Finds simpler rules than `leader` that hold on every failure and on few passes, the simplest first. Returns
 * 0, or -1 when memory is out. */
int search_rivals(const struct explainer *ex, const struct guess *leader, struct guesses *out);
/* Finds a run on which the leader and one of the simplest `rivals` differ. Returns false if there is none. */
bool rivals_test(struct explainer *ex, const struct guess *leader, const struct guesses *rivals,
                 struct config *out);
double guess_plain_cost(const struct guess *guess); /* of its terms alone, without wrong trials */

/* --- explain_doubt.c --- */

/* Runs the point of a pass again, with more sensitive inputs and other seeds. Returns true if it fails then:
 * the pass was due to chance. */
bool doubt_pass(struct explainer *ex, int trial);
void doubt_forget(struct explainer *ex); /* passes due to chance count as passes again */

/* --- explain_probe.c --- */

/* Returns the failing trial with the most axes at their least and, among those, the smallest; shrinking
 * usually ends there. Returns -1 if nothing fails. */
int simplest_failure(const struct explainer *ex);
/* Runs configurations one step smaller than the simplest failure and adds them to the trials. */
void probe_simplest(struct explainer *ex);

/* --- explain_terms.c --- */

/* Returns the term that the fewest runs support, if they are too few, or -1. A rule of one term has none.
 * *inside says that supporting runs would be failures where the rule holds. */
int terms_weakest(const struct explainer *ex, const struct guess *rule, bool *inside);
/* Picks a run that would support this term of `rule`, the first of `guesses`. Returns false if there is
 * none. */
bool terms_test(struct explainer *ex, const struct guess *rule, const struct guesses *guesses,
                struct config *out);
/* Drops such terms until there is none left, and returns how many were dropped. */
int terms_drop_weak(const struct explainer *ex, struct guess *rule);

/* --- explain_limits.c --- */

/* Writes a sentence if a threshold of the rule equals a limit of CUDA devices: "cols = 12288 of 4 bytes each
 * are 48 kbyte, a block's shared memory unless it asks for more". Otherwise writes "". */
void limits_tell(const struct explainer *ex, const struct guess *rule, char *text, size_t size);

/* --- explain_challenge.c --- */

/* A challenge tests for a counterexample: a known failure is moved across one term of a rule, so that the
 * rule no longer holds. If the rule is said to hold on every failure, these runs are likeliest to contradict
 * it. Half as many controls stay in place, with other inputs. They show how often the moved runs would fail
 * if the term did not matter. */
enum { CHALLENGE_MOVED = 1, CHALLENGE_CONTROL = 2, CHALLENGE_APART = 4 };

struct challenges {
    /* by term; [0] challenges with any failure, [1] with failures that another rule, which is certain of
     * failures, does not explain */
    struct challenged {
        int moved, controls, failed; /* failed: among the controls */
        bool over;                   /* no more can be moved */
    } term[MOST_ATOMS][2];
    struct challenged *asked; /* cell of the last challenge; NULL: none, or its result is known */
    bool control;             /* the last challenge is a control */
    bool asked_apart;         /* the last challenge belongs to cell [1] */
};

/* Picks the next challenge. Returns false if all terms have enough. `apart` is the rule that is certain of
 * failures, or NULL. Its result (1: fails, 0: passes, -1: unknown) goes to challenge_learn. */
bool challenge_next(struct explainer *ex, const struct guess *rule, const struct guess *apart,
                    struct challenges *challenges, struct config *out);
/* Call after any run, whichever function picked it; the run is the last trial. */
void challenge_learn(struct explainer *ex, struct challenges *challenges, int result);
/* Recounts all challenges so far for another rule. If only the last term changed, those of the others
 * remain. */
void challenges_recount(const struct explainer *ex, const struct guess *rule, const struct guess *apart,
                        struct challenges *challenges);
/* Returns whether the term has enough challenges, or no more can be made. */
bool challenge_suffices(const struct challenges *challenges, int term);
/* Returns whether passes just beyond the threshold are evidence for it. Nothing may fail there, and enough
 * must fail on the near side to rule out chance. If larger configurations are likelier to fail, the rate near
 * the threshold is corrected for that. Returns true for terms that are no thresholds. */
bool threshold_is_sharp(const struct explainer *ex, const struct guess *rule, int term);

/* --- explain_sided.c --- */

/* Looks for a rule that is certain on one side if there is no two-sided rule, with the remaining runs.
 * Returns 0, or -1 when memory is out. */
int explain_sided(struct explainer *ex, struct rule *out);

/* Counts the failures that a confirmed rule explains. If some lie outside it, the rule becomes a partial one,
 * and these are listed. */
void tell_exceptions(const struct explainer *ex, const struct guess *rule, struct rule *out);

/* --- explain.c --- */

/* Runs a configuration. Returns 1 or 0: it fails or not; -1: no result. explainer_ask also adds the result to
 * the trials. */
int explainer_run(struct explainer *ex, const struct config *config);
int explainer_ask(struct explainer *ex, const struct config *config);
bool explainer_may_run(const struct explainer *ex);

/* --- explain_threshold.c --- */

/* Adds the rule with each threshold at the roundest, the least, the middle and the largest value that the
 * trials permit. With `forgive`, published points that pass do not restrict thresholds. Adds nothing if some
 * threshold has no effect. */
void vary_thresholds(const struct explainer *ex, const struct guess *guess, bool forgive,
                     struct guesses *out);

/* --- explain_pool.c: configurations worth a run --- */

/* Draws a new configuration inside the space, near the boundaries of `guesses`. The caps are not checked:
 * pool_affords does so for the configuration that is chosen. */
bool pool_draw(struct explainer *ex, const struct guesses *guesses, struct config *out);
/* Draws the configurations that pool_fresh and pool_draw start from: log-uniform, within the caps. Returns 0,
 * or -1 when memory is out. */
int pool_fill(struct explainer *ex, int count);
/* Draws one of these, which are independent of all rules; with `near`, it is moved to the boundary of that
 * predicate. */
bool pool_fresh(struct explainer *ex, const struct atom *near, struct config *out);
/* Draws a failing configuration and moves it across or along the boundary of the predicate and, half of the
 * time, elsewhere. Random configurations rarely satisfy all other terms of a rule. */
bool pool_beside(struct explainer *ex, const struct atom *near, struct config *out);
int pool_random_failure(struct explainer *ex); /* returns a trial; one must fail */
/* Returns whether the configuration is new and within the caps. To fit the caps, axes shrink that the rule
 * `kept` does not name (NULL: none shrink). */
bool pool_affords(struct explainer *ex, const struct guess *kept, struct config *config);
int pool_size_bits(const struct space *space, const struct config *config); /* of all ranges together */

/* --- explain_aim.c --- */

/* Moves one or a few axes so that the predicate's quantity is at, beside or across its boundary. The result
 * may lie outside the space; the caller repairs it. */
void pool_aim(struct explainer *ex, const struct atom *atom, struct config *config);
/* Returns the nearest value of the domain at or above `value`, or the last. */
int64_t pool_into_domain(const struct domain *domain, int64_t value);
void pool_set_random(struct explainer *ex, struct config *config, int axis);
int64_t pool_random_up_to(struct explainer *ex, int64_t most); /* 1..most, log-uniform */

/* --- explain_query.c --- */

/* Picks the configuration that divides the rules most evenly, into shares of at least `least`. Returns false
 * if they agree. */
bool query_pick(struct explainer *ex, const struct guesses *guesses, double least, struct config *out);
/* Picks a configuration that tests the first rule. By turns the rule says fails, passes, and both again at
 * the boundary of a predicate. */
enum { QUERY_TURNS = 4 };
bool query_confirm(struct explainer *ex, const struct guesses *guesses, int turn, struct config *out);
/* Rejects the rules that the run contradicts; returns how many stand. */
int query_learn(const struct explainer *ex, struct guesses *guesses, const struct config *config, bool fails);

#endif
