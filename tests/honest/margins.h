/* How far honest programs stay inside the allowed error, and by how much faulty ones exceed it. Programs with
 * switches (honest.h) are called in this very process. Each output is judged as a session judges, once as it
 * is and once before the last rounding. */
#ifndef UNSEEN_TEST_MARGINS_H
#define UNSEEN_TEST_MARGINS_H

#include <stdbool.h>

#include "gen/draw/draw.h"
#include "gen/random/pcg.h"
#include "reference/judge.h"
#include "verify/build/build.h"
#include "verify/device/device.h"
#include "switches.h"

/* --- a program --- */

enum { SETTING_TEXT = 512 };

struct program {
    const struct problem *problem;
    struct build build;
    void *library;
    void (*call)(void); /* through invoke.h */
    const struct honest_switch *switches;
    const struct honest_mutant *mutants;
    int *choice, *mutating;
    double **unrounded;
    int switch_count, mutant_count;
};

bool program_exists(const struct problem *problem); /* not every problem has one */

/* Compiles tests/honest/NAME.c or .cu as `unseen` compiles a candidate, and loads it. Returns 0, or -1 with a
 * message in `error`. */
int program_open(struct program *p, const struct problem *problem, const struct device *device, char *error,
                 size_t size);
void program_close(struct program *p);

struct setting {
    int choice[HONEST_MAX_SWITCHES];
};

/* Setting `index` of a seed, among the values that `capability` admits; 0 is the plainest, every switch at
 * its first value. */
struct setting setting_draw(const struct program *p, int capability, uint64_t seed, int index);
/* Another admitted value for one switch that has one. */
void setting_change(const struct program *p, int capability, struct pcg *pcg, struct setting *setting);
/* Why the arithmetic declared for `capability` has room for a mutant; NULL: it must be rejected. */
const char *mutant_admitted(const struct program *p, int mutant, int capability);
/* Reads "split=16 merge=late"; a switch that is not named keeps its first value. False: no such switch or
 * value. */
bool setting_parse(const struct program *p, const char *text, struct setting *setting);
void setting_format(const struct program *p, const struct setting *setting, char text[SETTING_TEXT]);

/* --- a place to run it --- */

struct bed {
    const struct problem *problem;
    int output; /* the tensor that is judged; before its last rounding, the first one only */
    const struct reference *reference; /* of that */
    const struct memory *memory;
    const struct device *device;
    int capability;  /* whose declared arithmetic applies; on the host it may be another than the device's */
    double loosened; /* factor of the bound, to see the tests fail; 0: unchanged */
    struct judge_report *report;
};

struct margin {
    int64_t wrong;  /* elements that the judge rejects for sure */
    double rounded; /* greatest error over allowed error, as the output is */
    double
        unrounded;  /* the same before the last rounding; that of the output where the program has no such */
    double telling; /* median of allowed error over |value| of a few elements: the inputs' power to tell */
    struct judged worst;
};

/* Returns 0; -1 out of memory, -2 the program refused, or the error of the device. */
int bed_run(const struct bed *bed, const struct program *p, const struct config *config,
            struct margin *margin);

/* --- what comes out --- */

enum { MARGIN_CLASSES = 24, MARGIN_MUTANTS = 128, MARGIN_LINE = 512, MARGIN_TELLINGS = 1024 };

struct class_margin {
    int64_t runs, wrong;                           /* wrong: honest elements rejected: must be 0 */
    double honest;                                 /* greatest, before the last rounding */
    char setting[SETTING_TEXT], line[MARGIN_LINE]; /* that reached it */
    double telling[MARGIN_TELLINGS];               /* for the first so many configurations */
    int tellings;
    double rejected; /* least, over the mutants rejected here, of a mutant's greatest ratio */
    int rejecting;   /* how many mutants are rejected here */
};

struct mutant_margin {
    bool rejected;
    int runs;
    char line[MARGIN_LINE];          /* the first configuration that rejected it */
    double by_class[MARGIN_CLASSES]; /* greatest ratio; 0: not run */
};

struct margins {
    struct class_margin class[MARGIN_CLASSES]; /* by the problem's `input` choices */
    struct mutant_margin mutant[MARGIN_MUTANTS];
    int settings, configs, errors;
};

struct margin_plan {
    uint64_t seed;
    int settings;    /* how many; at least 1 */
    int configs;     /* drawn for each setting */
    int large;       /* so many of these up to the machine's caps; the others far below */
    int first, last; /* mutants from first to last - 1; last 0: all */
    int hunt;        /* drawn configurations that a mutant may run on; 0: no mutants */
    bool must_only;  /* only mutants that must be rejected */
    bool brief;      /* a mutant is not run again after its first rejection: no ratios by class */
    double excess;   /* enough where a class rejects one by at most that many times; 0: all mutants */
    bool verbose;
};

/* Honest settings, then mutants. Each returns 0, or an exit status after a message. */
int margins_honest(struct margins *m, const struct bed *bed, const struct program *p,
                   const struct margin_plan *plan);
int margins_mutants(struct margins *m, const struct bed *bed, const struct program *p,
                    const struct margin_plan *plan);
/* The least of the greatest excesses of the mutants that a class rejects. Infinite where there is none:
 * classes that allow nothing have no finite one. */
double margins_least_excess(const struct margins *m);
/* Hill climbing over settings, sizes and seeds for the greatest honest ratio, `runs` in all, class by
 * class. */
int margins_search(struct margins *m, const struct bed *bed, const struct program *p, uint64_t seed,
                   int runs);
void margins_print(const struct margins *m, const struct bed *bed, const struct program *p);

/* Configurations of a problem for a device, as `unseen verify` draws them; `share` of the machine's caps. */
int margins_draw(struct drawn_list *out, const struct bed *bed, int count, uint64_t seed, double share);

int margins_class(const struct config *config);                           /* the index of its input class */
const char *margins_class_name(const struct problem *problem, int class); /* NULL past the last */

#endif
