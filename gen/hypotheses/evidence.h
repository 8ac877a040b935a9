/* The runs so far, with the value of every quantity. Hypotheses must fit them. */
#ifndef UNSEEN_EVIDENCE_H
#define UNSEEN_EVIDENCE_H

#include "gen/predicates/predicate.h"

struct modulus {
    int quantity, modulus;
};

struct evidence {
    const struct vocabulary *vocabulary;
    struct modulus *modulus; /* tested moduli, each with its quantity */
    int moduli;

    int trials, capacity, words;
    struct config *config;                  /* [capacity] */
    int64_t *value;                         /* [capacity, quantities] */
    uint16_t *residue;                      /* [moduli, capacity] */
    uint64_t *fails, *passes, *unpublished; /* [words], one bit for each trial */
    uint64_t *lucky;    /* [words]: passes whose point fails with other inputs, excluded from `passes` */
    uint8_t *challenge; /* [capacity]: CHALLENGE_..; 0: the run was no challenge */
    uint64_t *scratch;  /* [words] */
};

/* Returns 0, or -1 when memory is out. Call evidence_close in either case. */
int evidence_open(struct evidence *evidence, const struct vocabulary *vocabulary, int capacity);
void evidence_close(struct evidence *evidence);
/* Adds a run. The point is `published` if it belongs to the seen set. */
void evidence_add(struct evidence *evidence, const struct config *config, bool fails, bool published);
/* Returns the failing trial with the most axes at their least and, among those, the smallest; shrinking
 * usually ends there. Returns -1 if nothing fails. */
int simplest_failure(const struct evidence *evidence);

bool axis_is_least(const struct space *space, const struct config *config, int axis);
int config_size_bits(const struct space *space, const struct config *config); /* of all ranges together */

/* --- trials and their bits --- */

static inline const int64_t *trial_values(const struct evidence *evidence, int trial)
{
    return evidence->value + (size_t)trial * (size_t)evidence->vocabulary->quantities;
}

static inline const uint16_t *residues_of(const struct evidence *evidence, int modulus)
{
    return evidence->residue + (size_t)modulus * (size_t)evidence->capacity;
}

static inline const struct quantity *quantity_of(const struct evidence *evidence, int quantity)
{
    return &evidence->vocabulary->quantity[quantity];
}

static inline const struct domain *domain_of(const struct evidence *evidence, int axis)
{
    return &evidence->vocabulary->space->domain[axis];
}

static inline bool hypothesis_holds_on(const struct evidence *evidence, const struct hypothesis *hypothesis,
                                       int trial)
{
    return hypothesis_holds(evidence->vocabulary, hypothesis, trial_values(evidence, trial));
}

static inline bool bit_of(const uint64_t *bits, int i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static inline void bit_set(uint64_t *bits, int i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

static inline void bit_clear(uint64_t *bits, int i)
{
    bits[i / 64] &= ~((uint64_t)1 << i % 64);
}

static inline int bits_count(const uint64_t *bits, int words)
{
    int count = 0;
    for (int i = 0; i < words; i++)
        count += __builtin_popcountll(bits[i]);
    return count;
}

static inline int bits_count_and(const uint64_t *a, const uint64_t *b, int words)
{
    int count = 0;
    for (int i = 0; i < words; i++)
        count += __builtin_popcountll(a[i] & b[i]);
    return count;
}

static inline bool bits_cover(const uint64_t *outer, const uint64_t *inner, int words)
{
    for (int i = 0; i < words; i++)
        if (inner[i] & ~outer[i])
            return false;
    return true;
}

static inline bool bits_disjoint(const uint64_t *a, const uint64_t *b, const uint64_t *c, int words)
{
    for (int i = 0; i < words; i++)
        if (a[i] & b[i] & c[i])
            return false;
    return true;
}

/* --- terms --- */

/* Returns the term that the fewest runs support, if they are too few, or -1. A rule of one term has none.
 * *inside says that supporting runs would be failures where the rule holds. */
int weakest_term(const struct evidence *evidence, const struct hypothesis *rule, bool *inside);
/* Drops such terms until there is none left, and returns how many were dropped. */
int drop_weak_terms(const struct evidence *evidence, struct hypothesis *rule);

/* Adds the rule with each threshold at the roundest, the least, the middle and the largest value that the
 * trials permit. With `forgive`, published points that pass do not restrict thresholds. Adds nothing if some
 * threshold has no effect. */
void add_threshold_variants(const struct evidence *evidence, const struct hypothesis *rule, bool forgive,
                            struct hypotheses *out);
/* Returns whether passes just beyond the threshold are evidence for it. Nothing may fail there, and enough
 * must fail on the near side to rule out chance. If larger configurations are likelier to fail, the rate near
 * the threshold is corrected for that. Returns true for terms that are no thresholds. */
bool threshold_is_sharp(const struct evidence *evidence, const struct hypothesis *rule, int term);

#endif
