/* One instance with its inputs on the host and a judge's request about an output. It is made as a session
 * makes it, for the tests of the oracle. */
#ifndef UNSEEN_TEST_ORACLE_H
#define UNSEEN_TEST_ORACLE_H

#include <check.h>

#include "gen/contract/space.h"
#include "reference/judge.h"
#include "verify/selftest/layout.h"

struct oracle {
    struct config config;
    struct layout layout;
    struct instance instance; /* the layout's, which owns its pointers */
    const struct reference *reference;
    struct judge_request request;
    void *tensor[PROBLEM_MAX_TENSORS]; /* for an in-out one, its old content */
    int64_t bytes[PROBLEM_MAX_TENSORS];
    int tensors, output; /* output: the judged one, with the others of its group */
    void *got;           /* the judged data: the output's tensor; for an in-out one, at first a copy of it */
    int64_t elements, width; /* for the output; its last dimension */
    enum dtype dtype;
};

/* A line without its seed, for one problem, for every value of its `input` axis. */
struct oracle_case {
    const char *problem, *line;
};

/* Fills the inputs and poisons the outputs, with the arithmetic classes of `capability` (0: host). Fails the
 * test on an error. OpenMP is left with one thread. The judged output is the first one, or the tensor
 * `output`. */
void oracle_open(struct oracle *o, const char *problem, const char *line, int content, int capability);
void oracle_open_output(struct oracle *o, const struct problem *problem, int output, const char *line,
                        int content, int capability);
void oracle_close(struct oracle *o);

/* The choices of the problem's `input` axis, NULL-terminated. */
const char *const *oracle_inputs(const char *problem);
/* Those of any axis. */
const char *const *oracle_choices(const char *problem, const char *axis);
/* Append " input=CHOICE seed=S" to a line. */
void oracle_line(char *out, size_t size, const char *line, const char *input, int seed);

/* The outputs as an honest program leaves them: in double with loops of its own, rounded once. */
void oracle_honest(struct oracle *o);

double oracle_get(const struct oracle *o, int64_t index);
uint32_t oracle_bits(const struct oracle *o, int64_t index);
void oracle_put_bits(struct oracle *o, int64_t index, uint32_t bits);
void oracle_put(struct oracle *o, int64_t index, double value); /* rounded to the output's type */

/* Inputs as numbers. */
double oracle_f32(const struct oracle *o, int tensor, int64_t i);
double oracle_bf16(const struct oracle *o, int tensor, int64_t i);
double oracle_e4m3(const struct oracle *o, int tensor, int64_t i);
double oracle_number(const struct oracle *o, int tensor, int64_t i); /* an element of an fp32 or bf16
                                                                      * tensor */
/* For w_q, [rows/2, columns]: the weight of one row and column. */
int oracle_nibble(const struct oracle *o, int tensor, int64_t row, int64_t column, int64_t columns);
int32_t oracle_i32(const struct oracle *o, int tensor, int64_t i);
/* paged_attention: where the key of token t of sequence b for query head h starts. */
int64_t oracle_key(const struct oracle *o, int64_t b, int64_t h, int64_t t);

void oracle_judge(struct oracle *o, struct judge_report *report);
/* The enclosure of one element, and MPFR's value of it. */
struct judged oracle_enclosure(struct oracle *o, int64_t index);
struct witnessed oracle_witness(const struct oracle *o, const struct judged *element);

#endif
