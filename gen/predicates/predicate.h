/* Predicates are yes-or-no questions about one quantity each. A hypothesis is a rule made of them that no
 * runs have confirmed yet. */
#ifndef UNSEEN_PREDICATE_H
#define UNSEEN_PREDICATE_H

#include "gen/draw/clue.h"
#include "gen/random/pcg.h"
#include "quantity.h"

enum {
    MOST_TERMS = 4,        /* of one hypothesis */
    MOST_HYPOTHESES = 256, /* kept at a time */
    LARGEST_MODULUS = 256
};

/* --- predicates --- */

enum predicate_kind {
    PREDICATE_REMAINDER,     /* value % a == b */
    PREDICATE_ABOVE,         /* value > a */
    PREDICATE_EQUAL,         /* value == a */
    PREDICATE_SEEN,          /* value is one of the published ones */
    PREDICATE_POWER,         /* value is a power of two */
    PREDICATE_SET,           /* value is in `listed`, and the bit of its index is set in a */
    PREDICATE_SMALL,         /* value < 64, and its bit is set in a */
    PREDICATE_RESIDUE_ABOVE, /* value % a > b */
    PREDICATE_RESIDUE_SET    /* the bit of value % a is set in b; a is at most 64 */
};

struct predicate {
    int quantity;
    enum predicate_kind kind;
    bool negated;
    int64_t a, b; /* parameters of the kind */
    double cost;
};

bool predicate_holds(const struct predicate *predicate, const struct quantity *quantity, int64_t value);
bool predicate_same(const struct predicate *a, const struct predicate *b);
bool predicate_alike(const struct predicate *a,
                     const struct predicate *b); /* the same except for a threshold */
double predicate_cost(const struct predicate *predicate, const struct quantity *quantity,
                      const struct space *space);
double threshold_cost(const struct quantity *quantity, const struct space *space, int64_t threshold);
/* --- predicates in the candidate's code --- */

struct coded {
    struct predicate predicate;
    int line;                  /* where it stands; 0: unknown */
    char file[CLUE_FILE_SIZE]; /* base name; empty: the candidate's own file */
};

/* Translates the clues' terms into predicates of the vocabulary, as far as it has them. An expression is the
 * quantity that has the same value on many configurations drawn from `stream`. Returns 0, or -1 when memory
 * is out. */
int vocabulary_code(struct vocabulary *vocabulary, const struct clue_list *clues, struct pcg *stream);
void vocabulary_uncode(struct vocabulary *vocabulary);

/* Returns the entry of the predicate, or of its negation; NULL: it does not stand in the code. */
const struct coded *vocabulary_coded(const struct vocabulary *vocabulary, const struct predicate *predicate);

/* Returns the predicate's cost. It is low if the predicate stands in the code: of two rules that fit, that
 * one is likelier. */
double vocabulary_cost(const struct vocabulary *vocabulary, const struct predicate *predicate);

/* Returns the likeliest threshold in low..high: one of the code, or else the roundest. */
int64_t vocabulary_threshold(const struct vocabulary *vocabulary, int quantity, int64_t low, int64_t high);

/* Returns whether the predicate admits most input classes. The few others may pass by chance, which is
 * reported beside a rule instead of as a further term. */
bool predicate_is_most_inputs(const struct vocabulary *vocabulary, const struct predicate *predicate);

bool is_power_of_two(int64_t value);
bool quantity_has_tile(const struct quantity *quantity, const struct space *space, int64_t value);
int64_t roundest_between(int64_t low,
                         int64_t high); /* the multiple of the largest power of two in low..high */

/* --- hypotheses --- */

/* Clauses joined by `or`, each of predicates joined by `and`. Without predicates it always holds. */
struct hypothesis {
    struct predicate term[MOST_TERMS];
    bool starts[MOST_TERMS]; /* this predicate begins a clause */
    int count;
    double cost;
    bool alive;
};

bool hypothesis_holds(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis,
                      const int64_t *value);
/* The same, but the predicate `forced` has the value `truth`. */
bool hypothesis_holds_if(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis,
                         const int64_t *value, int forced, bool truth);
bool hypothesis_same(const struct hypothesis *a, const struct hypothesis *b);
bool hypothesis_alike(const struct hypothesis *a,
                      const struct hypothesis *b); /* the same except for thresholds */
/* Removes a predicate; a clause without predicates is removed, too. */
void hypothesis_remove_term(struct hypothesis *hypothesis, int at);

/* The simplest hypotheses found, cheapest first. */
struct hypotheses {
    struct hypothesis item[MOST_HYPOTHESES];
    int count;
};
void hypotheses_add(struct hypotheses *hypotheses, const struct hypothesis *hypothesis);
/* Returns whether one that still stands depends on a derived size. */
bool hypotheses_ask_derived(const struct vocabulary *vocabulary, const struct hypotheses *hypotheses);

/* --- text --- */

/* plain_form.c. Replaces the hypothesis by the same condition in fewer and plainer terms. */
void hypothesis_simplify(const struct vocabulary *vocabulary, struct hypothesis *hypothesis);
/* hypothesis_text.c. Writes it in its plain form. Returns false if it does not fit `size`. */
bool hypothesis_format(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis, char *text,
                       size_t size);
/* Writes a sentence if a threshold equals a limit of CUDA devices, otherwise "". An example is "cols = 12288
 * of 4 bytes each are 48 kbyte, a block's shared memory unless it asks for more". */
void device_limit_text(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis, char *text,
                       size_t size);

/* coded.c. Writes where the terms stand in the candidate's code, each place once: "line 88, conv.h:12". */
void code_text(const struct vocabulary *vocabulary, const struct hypothesis *rule, char *text, size_t size);

#endif
