/* Tests a problem's definition: does it judge as it claims? The problem is known only by its tables and
 * files; nothing here knows any problem by name. */
#ifndef UNSEEN_PROVE_H
#define UNSEEN_PROVE_H

#include "gen/contract/space.h"
#include "reports/record/result.h"
#include "verify/device/device.h"

/* The checks of a definition. */
enum prove_check {
    PROVE_DEFINITION, /* every output has a judgement; the contract reaches every input class */
    PROVE_SEEN,       /* the seen sets parse, satisfy the contract, and have their pinned cost */
    PROVE_INSTANCES,  /* shapes, work and input values depend only on what they may depend on */
    PROVE_CLASSES,    /* every input class varies, and those called discriminating are sensitive */
    PROVE_ENCLOSURE,  /* MPFR's value lies inside the enclosure */
    PROVE_RIGHT,   /* the right output is accepted, and also one that is off by half of the allowed error */
    PROVE_OFF,     /* an element that is off by four times the allowed error is rejected */
    PROVE_NULLS,   /* outputs without honest work are rejected */
    PROVE_KERNELS, /* the baseline and every honest kernel pass */
    PROVE_EXACT,   /* if a class promises exact sums, honest sums in any order are exact */
    PROVE_PINNED,  /* signature, work and allowed errors equal those of NAME.pinned */
    PROVE_CHECKS
};
const char *prove_check_name(enum prove_check check);

enum { PROVE_TEXT = 400, PROVE_ASKED = 160 };

/* Result of one check. It describes the first failure and counts the others. */
struct prove_finding {
    int64_t asked, failures;
    char what[PROVE_ASKED]; /* meaning of `asked`: "elements of 84 configurations" */
    char expected[PROVE_TEXT], found[PROVE_TEXT];
    char line[RESULT_LINE_SIZE]; /* a configuration that shows the failure; empty: it depends on none */
};

/* Sensitivity of an input class for one judged output. Values are exact results that are finite and
 * nonzero. */
struct prove_class {
    const struct input_class *class;
    const char *output; /* name of the tensor */
    int configs;
    int64_t values;
    double median;               /* median of allowed error over |value|; 0 for a discrete output */
    int64_t changed, accepted;   /* elements set to 0 or doubled, and how many of these were accepted */
    int blind;                   /* number of configurations without sensitivity */
    bool tells_nothing;          /* so in most configurations */
    char line[RESULT_LINE_SIZE]; /* a configuration without sensitivity; empty: none */
};

/* The same for one configuration, for plots. */
enum { PROVE_VALUES = 6 };
struct prove_telling {
    struct config config;
    const char *output;
    double ratio[PROVE_VALUES]; /* the first `values` ratios, ascending */
    double median, flops, bytes;
    int64_t values, changed, accepted;
};

struct prove_seen {
    struct config config;
    bool host; /* from .host.seen */
    double flops, bytes;
};

struct prove_kernel {
    char file[128];
    int configs, skipped;
    char outcome[32]; /* "pass", or the first other outcome */
    double reached;   /* largest error over allowed error of its outputs */
    double seconds;   /* of building and running it */
};

struct prove_report {
    struct prove_finding check[PROVE_CHECKS];
    struct prove_class *class;
    int class_count;
    struct prove_telling *telling;
    int telling_count;
    struct prove_seen *seen;
    int seen_count;
    struct prove_kernel *kernel;
    int kernel_count;
    char *pins;  /* proposed contents of NAME.pinned; lines */
    int configs; /* number of drawn configurations */
    double seconds;
    char error[4096]; /* after any status but PROVE_DONE */
};

struct prove_options {
    const struct problem *problem;
    const struct device *device;
    const char *space, *seen; /* files that replace the problem's own; NULL: its own */
    uint64_t seed;
    int sizes;      /* number of configurations per input class */
    int kernels;    /* maximum number of honest kernels; 0: all */
    double timeout; /* time limit of a kernel's call in seconds */
    /* Called when a part begins or advances; may be NULL. */
    void (*progress)(const char *part, int done, int total);
};

enum prove_status {
    PROVE_DONE,        /* the report says whether all checks passed */
    PROVE_INPUT,       /* a file is missing or does not parse */
    PROVE_ENVIRONMENT, /* no compiler, no memory, or a device failure */
    PROVE_INTERRUPTED
};

/* Number of configurations per class, by effort. */
int prove_sizes(bool thorough);

enum prove_status prove_run(const struct prove_options *options, struct prove_report *report);
void prove_clear(struct prove_report *report);
bool prove_passes(const struct prove_report *report);

/* Prints the report for people; `verbose` adds the kernels and the proposed pins. */
void prove_print(FILE *out, const struct prove_options *options, const struct prove_report *report,
                 bool verbose);
/* Prints only its last line. */
void prove_conclusion(FILE *out, const struct prove_options *options, const struct prove_report *report);
/* The report as JSON, which the caller frees; NULL when out of memory. `partial`: nothing was checked yet. */
char *prove_json(const struct prove_options *options, const struct prove_report *report, bool partial,
                 const char *version, const char *git);

#endif
