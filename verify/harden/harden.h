/* A list of configurations for a task's owner, chosen from what was tried; and its files. */
#ifndef UNSEEN_HARDEN_H
#define UNSEEN_HARDEN_H

#include <stdio.h>

#include "trial.h"

enum { HARDEN_MOST = 12 };

struct hardened {
    const struct trial *trial;
    int chosen[HARDEN_MOST],
        fresh[HARDEN_MOST]; /* of trial->drawn, cheapest first; what each kills that none before it does */
    int count;
    const char *name; /* of the task */
    uint64_t seed;
    const char *device;
};

/* Wrong outputs of one kind, and by what they are told from the right answer. */
struct harden_counts {
    int all, shown;      /* shown: on some configuration that was tried they differ from the right answer */
    int published, ours; /* on the published configurations: by the task's own check, by the allowed error */
    int list, any;       /* by the list with its tolerances; by any configuration that was tried */
};

/* 0, or -1 when out of memory. */
int harden_choose(struct hardened *out, const struct trial *trial);

struct harden_counts harden_count(const struct hardened *hardened, bool nulls);

/* Is the row told by the check whose marks these are; by the list; and does it show anywhere? */
bool harden_is_rejected(const char *marks);
bool harden_kills(const struct hardened *hardened, const struct trial_row *row);
bool harden_is_shown(const struct trial_row *row);
/* Does configuration `place` of the list tell it, and none before? */
bool harden_is_fresh(const struct hardened *hardened, const struct trial_row *row, int place);

/* --- files --- */

/* The writers. What they write is in doc/formats.md. */
void harden_write_module(FILE *out, const struct hardened *hardened); /* NAME.py: KernelBench */
void harden_write_shapes(FILE *out, const struct hardened *hardened); /* shapes.py: KernelBench-Hard */
void harden_write_workloads(FILE *out,
                            const struct hardened *hardened);        /* workloads.jsonl: FlashInfer-Bench */
void harden_write_tests(FILE *out, const struct hardened *hardened); /* tests.txt: gpu-mode */
void harden_write_json(FILE *out, const struct hardened *hardened);  /* harden.json */
void harden_write_page(FILE *out, const struct hardened *hardened);  /* HARDEN.md */

/* All of them into the new folder `directory`. 0; -1: `text` says why, and nothing is left behind. */
int harden_write(const struct hardened *hardened, const char *directory, char *text, size_t size);

#endif
