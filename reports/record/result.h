/* The result record: all data that the report writers use. Plain data, filled by verify/. Decisions are enums
 * and numbers here; sentences are for people, and no code parses them. */
#ifndef UNSEEN_RESULT_H
#define UNSEEN_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coverage.h"
#include "outcome.h"
#include "problems/problem.h"
#include "problems/rule.h"
#include "result_scores.h"

enum { WORST_RANK = 8 };

/* The element whose error is largest relative to its allowed error. */
struct worst {
    bool present;
    const char *tensor;     /* name */
    int64_t index;          /* flat index */
    int64_t at[WORST_RANK]; /* the same index by dimension */
    int rank;
    double got, want, allowed, error; /* error = |got - want| */
    bool witnessed;                   /* `want` was computed by MPFR */
};

/* Which ceiling bounds the attainable time. */
enum bound { BOUND_LAUNCH, BOUND_MEMORY, BOUND_COMPUTE, BOUND_COUNT };
const char *bound_name(enum bound bound); /* "launch", "memory", "compute" */

/* The greatest errors of all judged elements, over all calls. */
struct greatest_errors {
    bool present;
    double absolute; /* |got - want| */
    double relative; /* |got - want| / (|want| + 1e-8), as published checks have it */
};

struct interval {
    bool present;
    double value, low, high; /* low = 0 and high = infinity: too few values for an interval */
};

struct timing {
    bool present;
    /* one process: 95% order-statistic interval; several processes: see below */
    double median_ms, low_ms, high_ms;
    double min_ms, p95_ms;
    int samples;
    int processes; /* of several processes, median_ms is the mean of their medians, with a 95% t interval */
    const char *method; /* "cuda events, cold L2", "monotonic clock, cold cache" */
    const char *unmet;  /* why sampling stopped before the interval was narrow enough; NULL: it was */
    double attainable_ms;
    enum bound bound;
    double fraction;    /* attainable / median */
    double baseline_ms; /* 0: no --baseline */
    /* candidate / baseline, from pairs of times measured in alternation; 95% */
    struct interval baseline_ratio;
    bool
        /* not reliable: another process used the device, its clock was low, or two clocks disagree */
        disturbed;
};

enum {
    RESULT_LINE_SIZE = RULE_LINE_SIZE,
    RESULT_WHY_SIZE = 96,
    RESULT_WORKLOAD_SIZE = 64,
    RESULT_DETAIL_SIZE = 320
};

/* Quality of an imported task's reference values, over all calls. */
struct oracle_quality {
    bool present;
    bool fp64;     /* some values are computed in fp64 without a proved enclosure */
    bool ensemble; /* allowed errors are estimated from runs with injected errors, not proved */
    bool constant; /* the reference output is the same for all inputs */
    bool open;     /* some elements depend on an ambiguous choice (such as a tie) and are not judged */
};

/* A failure that needs two configurations in one process: `config` fails after `after`, and passes by
 * itself. */
struct result_pair {
    bool present;
    struct config config, after;
    char line[RESULT_LINE_SIZE], after_line[RESULT_LINE_SIZE]; /* the same as text, seeds included */
    char relation[128]; /* a property of both, such as "equal rows*cols"; empty: nothing simple */
};

enum { RESULT_DERIVED = 8 };

struct config_result {
    bool unseen;   /* of the unseen set */
    bool scout;    /* one of the unseen set's many small configurations, which are judged and not timed */
    bool directed; /* drawn for a condition in the candidate's code: likewise, and apart from the scores */
    struct config config;
    int64_t derived[RESULT_DERIVED]; /* the problem's derived sizes for this configuration, in its order */
    bool derived_known;
    char line[RESULT_LINE_SIZE]; /* the same as text, seed included */
    char why[RESULT_WHY_SIZE];
    char workload[RESULT_WORKLOAD_SIZE]; /* its name in the file of its set; empty: none */
    int64_t calls; /* how often a captured program made this call, by that file; 0: not known */
    enum outcome outcome;
    struct reason reason;
    char detail[RESULT_DETAIL_SIZE]; /* one sentence for people: "14 of 12297 elements wrong, first ..." */
    struct result_pair pair;
    struct worst worst;
    struct greatest_errors errors;
    bool killed_once; /* signal 9 ended its first run, and not the second (verify/session/retry.h) */
    const char *fits; /* tightest arithmetic class that explains the errors: "fp32"; NULL: not judged */
    int arithmetic;   /* index of that class, tightest first */
    int64_t judged, wrong, open, witnessed; /* numbers of elements, over all calls */
    struct oracle_quality oracle_quality;
    double flops, bytes;
    double seconds;      /* of its checks, with judging and repetitions */
    bool published_pass; /* --tolerance published: the published check passes */
    bool published_judged;
    /* Only for STAGE_TIMED, if the checks passed and a timed call failed: the configuration of the timed
     * calls, with inputs of the published class. */
    struct config timed_config;
    char timed_line[RESULT_LINE_SIZE];
    struct timing timing;
    /* With --baseline: the same judge's outcome for the baseline. Not judged: it was skipped, timed out, or
     * was not reached. */
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
    double fraction_low, fraction_high; /* 95% t interval on logarithms; 0 and infinity for a single time */
    double score;                       /* rate * geomean_fraction */
};

/* The wrong elements in the output of the worst failure. */
enum { PATTERN_ROWS = 8, PATTERN_COLUMNS = 48 };
struct pattern {
    bool present;
    char text[RESULT_DETAIL_SIZE]; /* "the last 3 of 1027 along cols" */
    int rows;
    /* one character per rectangle of elements: '.' all right, 'o' some wrong, '#' all wrong */
    char map[PATTERN_ROWS][PATTERN_COLUMNS + 1];
};

enum { RESULT_KINDS = 3 };

/* One kind of failure among several. */
struct result_kind {
    enum outcome outcome;
    char words[96];              /* the Python exception that identifies the kind; else empty */
    int count;                   /* failures of this kind among all runs before the search for its rule */
    char line[RESULT_LINE_SIZE]; /* the failure of this kind with least work */
    struct rule rule;
};

/* For a failure that depends on input values, not only on sizes: the values that cause it. */
enum result_content_kind {
    RESULT_CONTENT_LEAST,     /* these elements; without any one of them it passes */
    RESULT_CONTENT_SOME,      /* these elements; a smaller set may suffice */
    RESULT_CONTENT_MANY,      /* no small set: values all over the inputs are needed */
    RESULT_CONTENT_STRUCTURE, /* the structural inputs (tables, lengths) cause it, whatever the values are */
    RESULT_CONTENT_KINDS
};

enum { RESULT_CONTENT_ITEMS = 4 };

struct result_item {
    char place[80]; /* "x[0,4]" */
    double failing, passing;
};

struct result_content {
    bool present;
    enum result_content_kind kind;
    char line[RESULT_LINE_SIZE]; /* the failing configuration */
    /* the draw whose values pass there: "seed=7"; for a structure, the draw that passes as a whole */
    char passing[96];
    char places[240]; /* "x[0,4], x[2,8..15]"; for a structure "lengths, table"; empty: no small set */
    /* number of elements that cause it, of all elements that were searched */
    int64_t elements, of;
    struct result_item item[RESULT_CONTENT_ITEMS]; /* each element, if they are few */
    int items;
    char special[400]; /* a property that distinguishes these values; empty: nothing simple */
    char values[400];  /* argument of check --values, beside `line`; empty: none */
    int runs;
};

/* Diagnosis of the failures of one outcome: the simplest failing configuration, and the rule. */
struct diagnosis {
    bool present;
    struct config_result minimal; /* as it ran */
    bool locally_minimal;         /* no single simplification step still fails */
    int shrink_runs;
    struct pattern pattern; /* wrong elements of `minimal` */
    struct rule rule;
    struct result_kind
        /* if no single rule fits all failures: the kinds of failure, most frequent first */
        kind[RESULT_KINDS];
    int kinds;
    char calls
        /* if no first call fails: which calls fail, in words; "": a first call fails, or too few runs to
         * tell */
        [160];
    struct result_content content;
    double seconds;
    bool late; /* it was stopped by its time limit, not by its number of runs */
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

/* Contention for the device while times were taken. */
struct company {
    bool shared;      /* another process used the device */
    bool disbelieved; /* or the candidate process reports shorter times than the judge's clock allows */
    int most;         /* maximum number of other processes at once; 0: not counted */
    int unproved; /* configurations where two clocks disagree without proof that the candidate is the cause */
    double least_mhz;   /* lowest clock of the GPU's multiprocessors during timing; 0: not known */
    char held_back[64]; /* why its clocks were throttled: "power, heat"; empty: no known reason */
};

/* Seconds spent by phase. */
struct phase_seconds {
    double build, draw, start, fill, run, judge, witness, time;
    double map;       /* allocating tensors, and mapping them into the candidate's processes */
    double stop;      /* ending the candidate's processes */
    double open;      /* loading the problem, the contract and the device; importing a task */
    double calibrate; /* measuring or checking the hardware's ceilings */
    double baseline;  /* timing the --baseline beside the candidate */
    double explain;   /* searching the simplest failure and the rule */
    double cover;     /* building and calling the instrumented candidate */
    double other;     /* the rest; all phases add up to `seconds` */
};

/* Origin of a ceiling. */
enum peaks_source { PEAKS_UNKNOWN, PEAKS_VENDOR, PEAKS_MEASURED, PEAKS_COUNT };
const char *peaks_source_name(enum peaks_source source); /* "vendor", "measured"; NULL: unknown */

struct peaks {
    double bandwidth_gbps; /* the vendor's figure, or measured if that is unknown */
    double measured_gbps;  /* copy bandwidth of the calibration; 0: not known */
    double tflops;         /* for the problem's dtype */
    enum peaks_source source;
    double launch_ms;    /* time of an empty call: the lowest time that can be reached */
    char calibrated[32]; /* time of calibration, UTC; empty: not known */
    char sha256[65];     /* of the calibration file; empty: measured for this run only */
    bool incomparable;   /* the machine was slower than its calibration: times have no scores */
    char why[160];       /* the reason, if incomparable */
};

/* The --baseline. */
struct result_baseline {
    char path[512], sha256[65]; /* empty: none */
    bool own;                   /* it is the problem's own baseline */
};

struct result_tolerance {
    bool present;
    double atol, rtol;
};

/* Limits of the candidate. */
struct limits {
    double timeout; /* least time limit of one call, seconds */
    double memory;  /* bytes, over all its processes */
    int tasks;      /* processes and threads */
    double budget;  /* time limit of the whole run, seconds; 0: none */
};

struct result {
    const char *version, *git;
    const char *problem;
    const char *problem_word; /* the word that selects the problem on a command line; NULL: its name */
    bool memory_bound;        /* geomean in GB/s rather than TFLOP/s */
    char candidate_path[512];
    char candidate_sha256[65];
    const char *language;    /* "c", "cuda", "so" */
    char started[32];        /* UTC, "2026-11-23T10:00:00Z"; empty: not known */
    char command_line[1024]; /* shell words after the program's name; empty: not known, or too long */
    double build_seconds;
    bool object_kept; /* the object of an earlier run was taken, and no compiler ran */
    char device[128], driver[64];
    struct peaks peaks;
    uint64_t seed;
    char commitment[65];          /* SHA-256 of the unseen set without its directed configurations */
    char directed_commitment[65]; /* of these; empty: there are none */
    const char *effort;
    char unseen_given[512]; /* the file with the unseen set, if the user gave one; empty: it was drawn */
    /* the seen set is a smaller substitute: the published set is too large for the host */
    bool seen_stands_in;
    const char *admitted;         /* the arithmetic class that the problem admits on this device */
    const char *fits;             /* the tightest class that explains the errors of all configurations */
    bool unexplained;             /* no class explains them */
    bool downgrade;               /* `fits` is looser than `admitted`: a silent precision downgrade */
    bool published_tolerance;     /* --tolerance published: published_verdict decides (published.h) */
    enum element_verdict verdict; /* by our own judgement, even with --tolerance published */
    enum element_verdict published_verdict; /* the published check's verdict on the same run */
    bool published_judged;
    /* User-defined tolerances. They replace the published ones in everything that is called published. */
    struct result_tolerance own_tolerance;
    struct set_score seen, unseen, directed; /* unseen: without the directed ones */
    struct interval drop;                    /* percentage points, 95% Newcombe-Wilson */
    struct interval retention;               /* unseen fraction / seen fraction, Welch on logs */
    struct finding *finding;
    int finding_count;
    struct diagnosis diagnosis;
    struct result_coverage coverage;
    struct result_branches branches;
    struct result_coverage list_pairs,
        list_classes; /* coverage of choices and list values; strength 0: not counted */
    struct phase_seconds phase;
    struct company company;
    struct limits limits;
    double seconds;
    bool accept_limited;     /* --accept limited: the verdict `limited` exits with 0, too */
    bool no_timing;          /* --no-timing: there are no scores of times */
    bool unloadable;         /* the candidate could not be loaded, by its own fault: nothing was run */
    bool partial;            /* the run was cut off: the record has what was finished */
    char partial_reason[96]; /* "interrupted", "out of disk" ... */
    char notes[1024];   /* remarks and details (this machine's limits, what they exclude), one per line */
    char remarks[1024]; /* the notes that the report shows without -v */
    char forbid[256];   /* the libraries that --forbid names; empty: none */
    /* the candidate's loaded libraries could not be observed: finding no use proves nothing */
    bool forbid_blind;
    char forbid_launches[112]; /* on a GPU: the kernels that were launched, or why they were not recorded */
    char sandbox[192];         /* how the candidate was isolated */
    char no_sandbox[160];      /* why it was not isolated and had the user's rights; empty: it was isolated */
    char without[160];         /* disabled defences, separated by commas; empty: none */
    struct config_result *results;
    int result_count, result_capacity;
    int untimed; /* passing configurations without a time, because --budget ran out */
    int planned; /* configurations of both sets; known before the first run */
    int planned_seen, planned_scouts, planned_directed; /* of these: the seen set, scouts, directed ones */
    const char *const
        *check_options; /* final words of a reproduction command: "--device", "host"; NULL-terminated */
    struct result_baseline baseline;
    struct result_scores scores;
};

/* The problem of the configurations, for their axes; NULL: none. A stored result's problem has axes only. */
const struct problem *result_problem(const struct result *result);

/* Add a line to the notes and the remarks; lines that do not fit are dropped. */
void result_note(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add a line to the notes alone. */
void result_detail(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
