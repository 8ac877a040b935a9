/* The result record: everything the writers may know. Plain data, filled by verify/. What anything decides by is an
 * enum or a number here; sentences are for people, and nobody reads them back. */
#ifndef UNSEEN_RESULT_H
#define UNSEEN_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "outcome.h"
#include "problems/problem.h"

enum { WORST_RANK = 8 };

/* The element that is furthest beyond (or closest to) its allowed error. */
struct worst {
    bool present;
    const char *tensor;     /* name */
    int64_t index;          /* flat */
    int64_t at[WORST_RANK]; /* the same by dimension */
    int rank;
    double got, want, allowed, error; /* error = |got - want| */
    bool witnessed;                   /* want comes from MPFR */
};

/* Which ceiling bounds the attainable time. */
enum bound { BOUND_LAUNCH, BOUND_MEMORY, BOUND_COMPUTE, BOUND_COUNT };
const char *bound_name(enum bound bound); /* "launch", "memory", "compute" */

struct interval {
    bool present;
    double value, low, high; /* low = 0 and high = infinity: too few values for an interval */
};

struct timing {
    bool present;
    double median_ms, low_ms, high_ms; /* of one process 95% order-statistic interval; else see processes */
    double min_ms, p95_ms;
    int samples;
    int processes; /* that they are from; of several median_ms is the mean of their medians, with its 95% t interval */
    const char *method; /* "cuda events, cold L2", "monotonic clock, cold cache" */
    const char *unmet;  /* why sampling stopped before the interval was tight; NULL: it was */
    double attainable_ms;
    enum bound bound;
    double fraction;                /* attainable / median */
    double baseline_ms;             /* 0: no --baseline */
    struct interval baseline_ratio; /* candidate / baseline, of pairs of times taken in turns; 95% */
    bool
        disturbed; /* not to be trusted: somebody else used the device meanwhile, its clock was low, or two clocks disagree */
};

enum { RESULT_LINE_SIZE = 1024, RESULT_WHY_SIZE = 96, RESULT_DETAIL_SIZE = 320 };

/* Of an imported task: how its right answers are known, over all calls. */
struct told {
    bool present;
    bool fp64;     /* not every value is enclosed: some are only computed in fp64 */
    bool ensemble; /* what is allowed comes from runs with injected errors, not from a proved bound */
    bool constant; /* the right answer is the same whatever the inputs are */
    bool open;     /* some elements hang on a choice that may go either way, and are not judged */
};

/* Of a failure that takes two configurations in one process: which is not right, and after which. It is right by itself. */
struct result_pair {
    bool present;
    struct config config, after;
    char line[RESULT_LINE_SIZE], after_line[RESULT_LINE_SIZE]; /* the same as text, seeds included */
    char relation[128]; /* what they share: "equal rows*cols"; empty: nothing that is plain */
};

enum { RESULT_DERIVED = 8 };

struct config_result {
    bool unseen; /* which set */
    bool scout;  /* one of the unseen set's many small ones, which are judged and never timed */
    struct config config;
    int64_t derived[RESULT_DERIVED]; /* the problem's derived sizes there, in their order */
    bool derived_known;
    char line[RESULT_LINE_SIZE]; /* the same as text, seed included */
    char why[RESULT_WHY_SIZE];
    enum outcome outcome;
    struct reason reason;
    char detail[RESULT_DETAIL_SIZE]; /* one sentence for people: "14 of 12297 elements wrong, first ..." */
    struct result_pair pair;
    struct worst worst;
    const char *fits; /* tightest arithmetic class that fits: "fp32"; NULL: not judged */
    int arithmetic;   /* its place among the classes, tightest first */
    int64_t judged, wrong, open, witnessed; /* elements, over all calls */
    struct told told;
    double flops, bytes;
    bool published_pass; /* --tolerance published: what that check says */
    bool published_judged;
    /* STAGE_TIMED only, where the checks passed and the calls that were timed did not: the configuration of these
     * calls, whose inputs are of the published kind. */
    struct config timed_config;
    char timed_line[RESULT_LINE_SIZE];
    struct timing timing;
    /* With --baseline: what the same judge says of it here. Not judged: it was skipped, ended by a clock, or not reached. */
    bool baseline_judged;
    enum outcome baseline_outcome;
};

struct set_score {
    int configs;
    int outcome[OUTCOME_COUNT];
    double rate;         /* pass / configs */
    bool timed;          /* at least one passing configuration has a time */
    double geomean_rate; /* TFLOP/s, or GB/s when memory_bound */
    double geomean_fraction;
    double fraction_low, fraction_high; /* 95% t interval on the logs; 0 and infinity from one time */
    double score;                       /* rate * geomean_fraction */
};

/* Which elements of the worst failure's output are wrong. */
enum { PATTERN_ROWS = 8, PATTERN_COLUMNS = 48 };
struct pattern {
    bool present;
    char text[RESULT_DETAIL_SIZE]; /* "the last 3 of 1027 along cols" */
    int rows;
    char map[PATTERN_ROWS][PATTERN_COLUMNS + 1]; /* '.' no element, 'o' some, '#' all of a rectangle wrong */
};

/* Sure of both sides of its condition, or of one. */
enum result_rule_kind {
    RESULT_RULE_TWO_SIDED, /* fails where it holds, passes elsewhere */
    RESULT_RULE_NECESSARY, /* every failure lies where it holds; there, some pass */
    RESULT_RULE_PARTIAL,   /* always fails where it holds; some fail elsewhere */
    RESULT_RULE_KINDS
};

enum { RESULT_UNEXPLAINED = 3 };

/* When it fails. */
struct result_rule {
    bool present;
    enum result_rule_kind kind;
    bool always;                 /* whatever the configuration */
    char text[240];              /* a condition on configurations: "k % 64 != 0" */
    char reason[400];            /* none was found: why, and what came closest */
    int fails_inside, inside;    /* fresh runs where the rule says it fails: so many did, of so many */
    int passes_outside, outside; /* fresh runs where it says that it passes */
    double precision, recall;    /* over everything that was run */
    int runs;
    char inner
        [240]; /* of a necessary one: what failures there have in common; "": nothing that is worth saying */
    int inner_fails, inner_runs, other_fails, other_runs; /* there: where `inner` holds, and where not */
    char limit[200];         /* the limit of a device that one of its thresholds is, in words; "": none */
    int explained, failures; /* all that failed, and those where the rule holds */
    char unexplained[RESULT_UNEXPLAINED][RESULT_LINE_SIZE]; /* of a partial one: the first of the others */
};

enum { RESULT_KINDS = 3 };

/* Failures of one kind among several. */
struct result_kind {
    enum outcome outcome;
    char words[96];              /* of an error that a module raises: which; else empty */
    int count;                   /* failures of it, of all that was run before its rule was looked for */
    char line[RESULT_LINE_SIZE]; /* the one of them with least work */
    struct result_rule rule;
};

/* Of a failure that other values do not have at the same point: which values make it. */
enum result_content_kind {
    RESULT_CONTENT_LEAST,     /* these elements: without any one of them it passes */
    RESULT_CONTENT_SOME,      /* these; nobody knows whether fewer would do */
    RESULT_CONTENT_MANY,      /* no few: it takes values all over */
    RESULT_CONTENT_STRUCTURE, /* none: what couples tensors does (tables, lengths), whatever the values are */
    RESULT_CONTENT_KINDS
};

enum { RESULT_CONTENT_ITEMS = 4 };

struct result_content {
    bool present;
    enum result_content_kind kind;
    char line[RESULT_LINE_SIZE]; /* the configuration that fails */
    char passing[96];     /* whose values pass there: "seed=7"; of a structure, what passes as a whole */
    char places[240];     /* "x[0,4], x[2,8..15]"; of a structure "lengths, table"; empty: no few */
    int64_t elements, of; /* so many that differ, of all that can be mixed */
    struct {
        char place[80];
        double failing, passing;
    } item[RESULT_CONTENT_ITEMS]; /* of few elements, each */
    int items;
    char special[400]; /* what sets them apart; empty: nothing that is plain */
    char values[400];  /* for check --values, beside `line`; empty: there is no such line */
    int runs;
};

/* What the failures of one outcome come to: the simplest configuration, and the rule. */
struct diagnosis {
    bool present;
    struct config_result minimal; /* as it ran */
    bool locally_minimal;         /* no single simpler step still fails */
    int shrink_runs;
    struct pattern pattern; /* of `minimal`, where elements are wrong */
    struct result_rule rule;
    struct result_kind
        kind[RESULT_KINDS]; /* where no rule is right about all failures, the most frequent kinds first */
    int kinds;
    char calls
        [160]; /* where no first call fails: which do, in words; "": some first call does, or too few to tell */
    struct result_content content;
    double seconds;
    bool late; /* it was stopped by the clock, and not by its number of runs */
};

/* Classes of axes, in tuples, that the unseen set covers. */
struct result_coverage {
    int strength; /* 2: pairs, 3: triples, 0: not counted */
    int64_t covered, possible, excluded_by_caps, excluded_by_contract;
};

enum finding_kind {
    FINDING_REPLAY,
    FINDING_CHANNEL,
    FINDING_CLOCK,
    FINDING_CEILING,
    FINDING_FORBIDDEN,
    FINDING_COUNT
};
const char *finding_name(enum finding_kind kind); /* "cheating: replay", "above the ceiling" */
bool finding_is_cheating(enum finding_kind kind);

struct finding {
    enum finding_kind kind;
    char evidence[320];
};

/* Who else used the device while times were taken. */
struct company {
    bool shared; /* another process did */
    bool
        disbelieved; /* or the candidate's process says shorter times than the judge's clock can be brought to agree with */
    int most; /* so many at once; 0: they were not counted */
    int unproved; /* configurations on which two clocks disagree, and it is not proved that the candidate is why */
    double least_mhz;   /* of a GPU's multiprocessors while times were taken; 0: not known */
    char held_back[64]; /* what held its clocks back, "power, heat"; empty: nothing that is known */
};

/* Where the time went, seconds. */
struct phase_seconds {
    double build, draw, start, fill, run, judge, witness, time;
    double open;      /* the problem, the contract, the device; an imported task is imported here */
    double calibrate; /* what the hardware can do, measured or checked */
    double baseline;  /* --baseline: timed beside the candidate */
    double explain;   /* the simplest failure, and the rule */
    double other;     /* the rest: `seconds` is the sum of all */
};

/* Where a ceiling comes from. */
enum peaks_source { PEAKS_UNKNOWN, PEAKS_VENDOR, PEAKS_MEASURED, PEAKS_COUNT };
const char *peaks_source_name(enum peaks_source source); /* "vendor", "measured"; NULL: unknown */

struct peaks {
    double bandwidth_gbps; /* vendor's, or measured where the vendor's is unknown */
    double measured_gbps;  /* copy, as the calibration has it; 0: not known */
    double tflops;         /* for the problem's format */
    enum peaks_source source;
    double launch_ms;    /* floor of one empty call */
    char calibrated[32]; /* when it was measured, UTC; empty: not known */
    char sha256[65];     /* of the file that holds it; empty: it was measured for this run only */
    bool incomparable;   /* the machine was slower than its calibration: scores of times are none */
    char why[160];       /* in that case */
};

/* What --baseline named. */
struct result_baseline {
    char path[512], sha256[65]; /* empty: nothing */
    bool own;                   /* it is the problem's own */
};

/* What the candidate was held to. */
struct limits {
    double timeout; /* seconds for one call, at least */
    double memory;  /* bytes for its processes together */
    int tasks;      /* processes and threads */
    double budget;  /* seconds for all; 0: none */
};

/* Figures of a set that are rewards, ours and published ones; doc/scores.md defines each. */
enum score_name {
    SCORE_OURS,
    SCORE_PASS_RATE,
    SCORE_AKA_POINTS,
    SCORE_AKA_BOUNDED,
    SCORE_CONDITIONAL,
    SCORE_FAST_0,
    SCORE_FAST_05,
    SCORE_FAST_08,
    SCORE_FAST_1,
    SCORE_FAST_15,
    SCORE_FAST_2,
    SCORE_PEAK_FRACTION,
    SCORE_SOL,
    SCORE_TABLE,
    SCORE_NAMES
};

enum score_state {
    SCORE_NONE,         /* cannot be had: no times, no baseline, no table */
    SCORE_VALUE,        /* a number */
    SCORE_INCONCLUSIVE, /* what was measured or run does not carry a number */
    SCORE_INCOMPARABLE, /* the machine is not at what its ceilings were measured at */
    SCORE_STATES
};
const char *score_state_name(enum score_state state); /* "none", "value", "inconclusive", "not comparable" */

struct score_value {
    enum score_state state;
    double value;
    char reason[200]; /* one clause for people, also of a number */
};

/* Configurations by who passes: both, the baseline alone, the candidate alone, neither; where the baseline was not judged,
 * `unknown`. They add up to the set's planned configurations. */
struct score_quadrants {
    int both, regression, improvement, neither, unknown;
};

struct result_scores {
    bool present;
    bool compared; /* there was a baseline */
    struct score_value seen[SCORE_NAMES], unseen[SCORE_NAMES];
    struct score_quadrants seen_quadrants, unseen_quadrants;
};

struct result {
    const char *version, *git;
    const char *problem;
    const char *problem_word; /* what names it on a command line; NULL: its name does */
    bool memory_bound;        /* geomean in GB/s rather than TFLOP/s */
    char candidate_path[512];
    char candidate_sha256[65];
    const char *language; /* "c", "cuda", "so" */
    char started[32];     /* UTC, "2026-11-23T10:00:00Z"; empty: not known */
    char command_line
        [1024]; /* of the run, as shell words, without the program's name; empty: not known, or too long */
    double build_seconds;
    char device[128], driver[64];
    struct peaks peaks;
    uint64_t seed;
    char commitment[65];
    const char *effort;
    char unseen_given[512]; /* the file that the unseen set was; empty: it was drawn */
    bool seen_stands_in;  /* the seen set is smaller than the published one, which is too much for the host */
    const char *admitted; /* the arithmetic class that the problem admits on this device */
    const char *fits;     /* the tightest that the candidate fits over all configurations */
    bool unexplained;     /* no class fits */
    bool downgrade;       /* `fits` is looser than `admitted`: a silent precision downgrade */
    bool published_tolerance;       /* --tolerance published: published_verdict decides (published.h) */
    enum verdict verdict;           /* by our own judgement, whatever --tolerance says */
    enum verdict published_verdict; /* what the published check alone says of the same run */
    bool published_judged;
    /* The user's own constants, in the place of the published ones: what all that is called published goes by then. */
    struct {
        bool present;
        double atol, rtol;
    } own_tolerance;
    struct set_score seen, unseen;
    struct interval drop;      /* percentage points, 95% Newcombe-Wilson */
    struct interval retention; /* unseen fraction / seen fraction, Welch on logs */
    struct finding *finding;
    int finding_count;
    struct diagnosis diagnosis;
    struct result_coverage coverage;
    struct result_coverage list_pairs,
        list_classes; /* of choices and list values; strength 0: none was counted */
    struct phase_seconds phase;
    struct company company;
    struct limits limits;
    double seconds;
    bool accept_limited;     /* --accept limited: `limited` stops no pipeline, either */
    bool no_timing;          /* --no-timing: no score of times can be had */
    bool unloadable;         /* the candidate could not be loaded: nothing was run, and it answers for that */
    bool partial;            /* the run was cut off: what follows is what was finished */
    char partial_reason[96]; /* "interrupted", "out of disk" ... */
    char notes[1024];        /* remarks and details (caps of this machine, what they exclude); lines */
    char remarks[1024];      /* those of them that the report shows without -v */
    char forbid[256];        /* what --forbid names; empty: nothing is forbidden */
    bool forbid_blind;       /* what the candidate loaded could not be seen: no use found proves nothing */
    char forbid_launches[112]; /* with it, on a GPU: kernels that were launched, or why nobody asked; words */
    char sandbox[192];         /* how the candidate was isolated */
    char no_sandbox[160];      /* why it was not, and had its user's rights; empty: it was */
    char without[160];         /* defences that were taken away, with commas between them; empty: none */
    struct config_result *results;
    int result_count, result_capacity;
    int untimed;        /* of those that pass: --budget was over before */
    int planned;        /* configurations of both sets; known before the first runs */
    int planned_seen;   /* of them the seen set's */
    int planned_scouts; /* and of the unseen set's the scouts */
    const char *const
        *check_options; /* words that a reproduction command ends with: "--device", "host"; NULL ends them */
    struct result_baseline baseline;
    struct result_scores scores;
};

/* The problem of its configurations, for their axes; NULL: there is none. Of a stored result it knows axes alone. */
const struct problem *result_problem(const struct result *result);

/* Add a line to the notes and the remarks; what no longer fits is left out. */
void result_note(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same to the notes alone. */
void result_detail(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
