/* Shared by the parts that choose runs and judge rules. */
#ifndef UNSEEN_RULES_INTERNAL_H
#define UNSEEN_RULES_INTERNAL_H

#include "explain.h"
#include "gen/draw/cost.h"
#include "gen/draw/move.h"
#include "gen/draw/points.h"
#include "gen/hypotheses/search.h"

/* --- explain.c --- */

enum { MOST_AGAIN = 16 };

/* One explanation: the evidence, and the runs that may still be made. */
struct inquiry {
    struct vocabulary vocabulary;
    struct evidence evidence;
    const struct config_list *seen;
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
    int doubts;                             /* runs that repeated passes */
    struct explain_trial again[MOST_AGAIN]; /* failing trials that were run with another seed */
    int agains;
    bool stopped;
};

/* Runs a configuration. Returns 1 or 0: it fails or not; -1: no result. inquiry_ask also adds the result to
 * the evidence. */
int inquiry_run(struct inquiry *inquiry, const struct config *config);
int inquiry_ask(struct inquiry *inquiry, const struct config *config);
bool inquiry_may_run(const struct inquiry *inquiry);
void inquiry_learn(struct inquiry *inquiry, const struct config *config, bool fails);
/* Finds another seed that leaves every derived size unchanged. Returns false if none is found soon. */
bool inquiry_reseed(struct inquiry *inquiry, struct config *config);

static inline uint64_t below(struct inquiry *inquiry, uint64_t bound)
{
    return pcg_below(inquiry->stream, bound);
}

/* --- repeats.c --- */

enum repeating {
    REPEATS_NEVER,
    /* races or uninitialised memory, or a fault that depends on the values of the inputs */
    REPEATS_SOMETIMES,
    REPEATS_ALWAYS
};

/* Determines whether failing configurations fail again, with the same inputs and with other seeds. If they do
 * not, out->reason says so. */
enum repeating failures_repeat(struct inquiry *inquiry, int known, struct rule *out);
/* Runs configurations one step smaller than the simplest failure and adds them to the evidence. */
void run_simpler_steps(struct inquiry *inquiry);
/* Runs the point of a pass again, with more sensitive inputs and other seeds. Returns true if it fails then:
 * the pass was due to chance. */
bool repeat_pass(struct inquiry *inquiry, int trial);
void forget_lucky_passes(struct evidence *evidence); /* passes due to chance count as passes again */

/* --- candidates.c: the next run --- */

/* Draws configurations that others start from: log-uniform, within the caps. Returns 0, or -1 when memory is
 * out. */
int candidates_fill(struct inquiry *inquiry, int count);
int random_failure(struct inquiry *inquiry); /* returns a trial; one must fail */
/* Returns whether the configuration is new and within the caps. To fit the caps, axes shrink that the rule
 * `kept` does not name (NULL: none shrink). */
bool candidate_fits(struct inquiry *inquiry, const struct hypothesis *kept, struct config *config);

/* Picks the configuration that divides the rules most evenly, into shares of at least `least`. Returns false
 * if they agree. */
bool query_divide(struct inquiry *inquiry, const struct hypotheses *rules, double least, struct config *out);
/* Picks a run on which the leader and one of the simplest `rivals` differ. Returns false if there is none. */
bool query_rivals(struct inquiry *inquiry, const struct hypothesis *leader, const struct hypotheses *rivals,
                  struct config *out);
/* Picks a configuration that tests the first rule. By turns the rule says fails, passes, and both again at
 * the boundary of a predicate. */
enum { QUERY_TURNS = 4 };
bool query_confirm(struct inquiry *inquiry, const struct hypotheses *rules, int turn, struct config *out);
/* Picks a run that supports the weakest term of `rule`, the first of `rules`. Returns false if there is
 * none. */
bool query_weak_term(struct inquiry *inquiry, const struct hypothesis *rule, const struct hypotheses *rules,
                     struct config *out);
/* Rejects the rules that the run contradicts; returns how many stand. */
int query_learn(const struct vocabulary *vocabulary, struct hypotheses *rules, const struct config *config,
                bool fails);

/* --- aim.c --- */

/* Moves one or a few axes so that the predicate's quantity is at, beside or across its boundary. The result
 * may lie outside the space; the caller repairs it. */
void aim(struct inquiry *inquiry, const struct predicate *predicate, struct config *config);
/* Returns the nearest value of the domain at or above `value`, or the last. */
int64_t domain_nearest(const struct domain *domain, int64_t value);
void set_random(struct inquiry *inquiry, struct config *config, int axis);
int64_t random_up_to(struct inquiry *inquiry, int64_t most); /* 1..most, log-uniform */

/* --- challenges.c --- */

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
    } term[MOST_TERMS][2];
    struct challenged *asked; /* cell of the last challenge; NULL: none, or its result is known */
    bool control;             /* the last challenge is a control */
    bool asked_apart;         /* the last challenge belongs to cell [1] */
};

/* Picks the next challenge. Returns false if all terms have enough. `apart` is the rule that is certain of
 * failures, or NULL. Its result (1: fails, 0: passes, -1: unknown) goes to challenge_learn. */
bool challenge_next(struct inquiry *inquiry, const struct hypothesis *rule, const struct hypothesis *apart,
                    struct challenges *challenges, struct config *out);
/* Call after any run, whichever function picked it; the run is the last trial. */
void challenge_learn(struct evidence *evidence, struct challenges *challenges, int result);
/* Recounts all challenges so far for another rule. If only the last term changed, those of the others
 * remain. */
void challenges_recount(const struct evidence *evidence, const struct hypothesis *rule,
                        const struct hypothesis *apart, struct challenges *challenges);
/* Returns whether the term has enough challenges, or no more can be made. */
bool challenge_suffices(const struct challenges *challenges, int term);

/* --- two_sided.c, one_sided.c --- */

/* Looks for a rule that is right on both sides, and confirms it. Returns 0, or -1 when memory is out. */
int explain_two_sided(struct inquiry *inquiry, struct rule *out);
/* Looks for a rule that is certain on one side if there is no two-sided rule, with the remaining runs.
 * Returns 0, or -1 when memory is out. */
int explain_one_sided(struct inquiry *inquiry, struct rule *out);

/* --- statement.c: the record of a rule --- */

enum {
    LEAST_CONFIRMED = 8, /* fresh runs that a two-sided rule needs */
    LEAST_SURE = 8       /* runs on the certain side that a one-sided rule needs */
};
static const double PLAIN_GAIN = 20; /* bits; a description that is shorter by so much needs fewer runs */

/* Results of the runs that were made since a rule was adopted. */
struct confirmation {
    int fails_inside, inside, passes_outside, outside;
};

static inline int runs_of(const struct confirmation *confirmed)
{
    return confirmed->inside + confirmed->outside;
}

static inline bool all_agree(const struct confirmation *confirmed)
{
    return confirmed->fails_inside == confirmed->inside && confirmed->passes_outside == confirmed->outside;
}

/* Counts the trial. Returns whether the rule holds on it. */
bool confirmation_add(struct confirmation *confirmed, const struct evidence *evidence,
                      const struct hypothesis *rule, int trial);

/* Numbers of all trials on either side of a rule. */
struct sides {
    int fails_inside, passes_inside, fails_outside, passes_outside;
};
void count_sides(const struct evidence *evidence, const struct hypothesis *rule, struct sides *sides);

/* Records the rule if it is right, or else the reason why it is not. `rule` NULL: none fits. `dropped` is the
 * number of rules before it. */
void state_two_sided(const struct evidence *evidence, const struct hypothesis *rule,
                     const struct confirmation *confirmed, int dropped, struct rule *out);
/* Adds what all trials say about a rule that was recorded. If failures lie outside it and no pass inside, it
 * becomes a partial one, and these failures are listed. */
void state_two_sided_details(const struct evidence *evidence, const struct hypothesis *rule,
                             struct rule *out);
/* Records a one-sided rule. Returns false if it is too long to print. */
bool state_one_sided(const struct evidence *evidence, const struct hypothesis *rule, enum rule_kind kind,
                     const struct confirmation *confirmed, struct rule *out);
/* Adds the closest condition to the reason, if enough runs lie outside it. */
void state_closest(const struct inquiry *inquiry, const struct hypothesis *rule, struct rule *out);
/* Adds `count` failures that were set aside before the rule was found. */
void state_exceptions(const struct evidence *evidence, const int *trial, int count, struct rule *out);

/* Returns whether the rule excludes enough. A condition that nearly always holds does not tell when failures
 * occur, even if none contradicts it. This concerns thresholds that exclude hardly any of the fresh
 * configurations, which are independent of rules. */
bool excludes_enough(const struct inquiry *inquiry, const struct hypothesis *rule, enum rule_kind kind);
/* Finds the predicate that best divides all failures from all passes. Returns false if none is worth
 * reporting. */
bool best_divider(const struct evidence *evidence, struct hypothesis *out);

#endif
