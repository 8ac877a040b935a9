/* A definition's own test: does a problem, known only by its tables and files, judge as it says it does? Nothing here knows
 * any problem by name. */
#ifndef UNSEEN_PROVE_H
#define UNSEEN_PROVE_H

#include "gen/contract/space.h"
#include "reports/result.h"
#include "verify/device/device.h"

/* What is asked of a definition. */
enum prove_check {
    PROVE_DEFINITION, /* every output has a judgement; the contract reaches every input class */
    PROVE_SEEN,       /* the seen sets parse and lie inside the contract, and cost what they are pinned to */
    PROVE_INSTANCES,  /* shapes, work and contents hang on what they may hang on, and on nothing else */
    PROVE_CLASSES,    /* every input class varies, and those called discriminating are sharp */
    PROVE_ENCLOSURE,  /* MPFR's value lies inside the enclosure */
    PROVE_RIGHT,      /* the right output is accepted, and so is one that is off by half of what is allowed */
    PROVE_OFF,        /* an element that is off by four times what is allowed is rejected */
    PROVE_NULLS,      /* outputs that no work went into are rejected */
    PROVE_KERNELS,    /* the baseline and every honest kernel pass */
    PROVE_EXACT,      /* where a class promises exact sums, honest sums in any order are */
    PROVE_PINNED,     /* signature, work and allowed errors are those of NAME.pinned */
    PROVE_CHECKS
};
const char *prove_check_name(enum prove_check check);

enum { PROVE_TEXT = 400, PROVE_ASKED = 160 };

/* What became of one check. The first failure is told, the others are counted. */
struct prove_finding {
    int64_t asked, failures;
    char what[PROVE_ASKED]; /* of `asked`: "elements of 84 configurations" */
    char expected[PROVE_TEXT], found[PROVE_TEXT];
    char line[RESULT_LINE_SIZE]; /* the configuration that shows it; empty: it takes none */
};

/* What an input class can tell of one judged output. Values are exact results that are finite and not 0. */
struct prove_class {
    const struct input_class *class;
    const char *output; /* the tensor */
    int configs;
    int64_t values;
    double median;               /* of allowed error over |value|; of a discrete output 0 */
    int64_t changed, accepted;   /* elements moved to 0 or doubled, and how many of these were accepted */
    int blind;                   /* configurations in which it tells nothing */
    bool tells_nothing;          /* in most of them */
    char line[RESULT_LINE_SIZE]; /* a configuration in which it tells nothing; empty: none */
};

/* The same of one configuration, for who draws. */
enum { PROVE_VALUES = 6 };
struct prove_telling {
    struct config config;
    const char *output;
    double ratio[PROVE_VALUES]; /* of the first `values`, ascending */
    double median, flops, bytes;
    int64_t values, changed, accepted;
};

struct prove_seen {
    struct config config;
    bool host; /* of .host.seen */
    double flops, bytes;
};

struct prove_kernel {
    char file[128];
    int configs, skipped;
    char outcome[32]; /* "pass", or the first that was not */
    double reached;   /* greatest error over allowed error, as its outputs are */
    double seconds;   /* of building it and running it */
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
    char *pins;  /* what NAME.pinned would hold; lines */
    int configs; /* drawn and asked */
    double seconds;
    char error[4096]; /* after anything but PROVE_DONE */
};

struct prove_options {
    const struct problem *problem;
    const struct device *device;
    const char *space, *seen; /* files in the place of the problem's own; NULL: these */
    uint64_t seed;
    int sizes;      /* configurations of each input class */
    int kernels;    /* honest kernels at most; 0: all */
    double timeout; /* seconds for one call of a kernel */
    /* A part begins, or goes on; NULL: nobody wants to know. */
    void (*progress)(const char *part, int done, int total);
};

enum prove_status {
    PROVE_DONE,        /* the report says whether all is right */
    PROVE_INPUT,       /* a file is missing or does not parse */
    PROVE_ENVIRONMENT, /* no compiler, no memory, a device that fails */
    PROVE_INTERRUPTED
};

/* How many configurations of each class an effort asks. */
int prove_sizes(bool thorough);

enum prove_status prove_run(const struct prove_options *options, struct prove_report *report);
void prove_clear(struct prove_report *report);
bool prove_passes(const struct prove_report *report);

/* For people; `verbose` adds the kernels and what can be pinned. */
void prove_print(FILE *out, const struct prove_options *options, const struct prove_report *report,
                 bool verbose);
/* The last line of it alone. */
void prove_conclusion(FILE *out, const struct prove_options *options, const struct prove_report *report);
/* The same for programs: a JSON text that the caller frees; NULL when out of memory. `partial`: nothing has been asked yet. */
char *prove_json(const struct prove_options *options, const struct prove_report *report, bool partial,
                 const char *version, const char *git);

#endif
