/* A list of configurations for a task's owner, chosen from a trial, and its files. */
#ifndef UNSEEN_HARDEN_H
#define UNSEEN_HARDEN_H

#include <stdio.h>

#include "harden_trial.h"

enum { HARDEN_MOST = 12 };

struct hardened {
    const struct trial *trial;
    int chosen[HARDEN_MOST],
        /* indices into trial->drawn, cheapest first; number of targets that each kills and no earlier one
         * does */
        fresh[HARDEN_MOST];
    int count;
    const char *name; /* name of the task */
    uint64_t seed;
    const char *device;
};

/* Counts of wrong outputs of one kind, by the check that rejects them. */
struct harden_counts {
    int all, shown; /* shown: they differ from the right answer on some tried configuration */
    /* rejected on the published configurations: by the task's own check, by the allowed error */
    int published, ours;
    int list, any; /* rejected by the list with its tolerances; by any tried configuration */
};

/* Returns 0, or -1 when out of memory. */
int harden_choose(struct hardened *out, const struct trial *trial);

struct harden_counts harden_count(const struct hardened *hardened, bool nulls);

/* Is the row rejected by the check with these marks? By the list? Does it differ from the right answer
 * anywhere? */
bool harden_is_rejected(const char *marks);
bool harden_kills(const struct hardened *hardened, const struct trial_row *row);
bool harden_is_shown(const struct trial_row *row);
/* Does configuration `place` of the list reject it, and no earlier one? */
bool harden_is_fresh(const struct hardened *hardened, const struct trial_row *row, int place);

/* --- files --- */

/* Writers of the files; doc/formats.md describes them. */
void harden_write_module(FILE *out, const struct hardened *hardened); /* NAME.py: KernelBench */
void harden_write_shapes(FILE *out, const struct hardened *hardened); /* shapes.py: KernelBench-Hard */
void harden_write_workloads(FILE *out,
                            const struct hardened *hardened);        /* workloads.jsonl: FlashInfer-Bench */
void harden_write_tests(FILE *out, const struct hardened *hardened); /* tests.txt: gpu-mode */
void harden_write_json(FILE *out, const struct hardened *hardened);  /* harden.json */
void harden_write_page(FILE *out, const struct hardened *hardened);  /* HARDEN.md */

/* Writes all files into the new folder `directory`. Returns 0; or -1, `text` says why, and nothing is left
 * behind. */
int harden_write(const struct hardened *hardened, const char *directory, char *text, size_t size);

#endif
