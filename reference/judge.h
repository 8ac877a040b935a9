/* Judging every element of an output: enclosure first, MPFR for what that leaves open. */
#ifndef UNSEEN_JUDGE_H
#define UNSEEN_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "context.h"
#include "fetcher.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { JUDGE_SAMPLES = 4, JUDGE_OPEN = 512 };

/* One judged element: mid +- rad is the enclosure of the exact value. It is right when |got - (value + shift)| <=
 * allowed: the shift is what the candidate's row may be off as a whole (softmax; else 0). */
struct judged {
    int64_t index; /* flat, in the output tensor; -1: none */
    double got, mid, rad, allowed, shift;
    bool unwritten; /* still the poison: wrong even where that happens to be the right kind of NaN */
    bool kept,
        changed; /* of an in-out tensor: it must keep its bits, which are mid's; it has not kept them */
    int tensor;  /* that got belongs to: the judged output or, for discrete results, another one */
};

struct judge_request {
    const struct problem *problem;
    /* The judge's own copies, in the memory of the back end: inputs and in-out tensors as they were before the call,
     * outputs as they came back. */
    struct ref_context context;
    int output;      /* which tensor is judged */
    const void *got; /* the candidate's output, a snapshot, same memory */
    int64_t width,
        pitch; /* rows of `got`, `expected` and what an in-out tensor held have `width` elements, `pitch` elements
                * apart; pitch 0: dense. Indices and `wrong` count elements, not memory */
    void *expected;       /* where the right output is stored, in its own format; NULL: nowhere */
    unsigned char *wrong; /* set to 1 for every wrong element, one byte each, same memory; NULL: nowhere */
    struct arithmetics arithmetics;
    uint32_t poison;               /* bits of an element nobody wrote, low bits for short formats */
    int64_t sample[JUDGE_SAMPLES]; /* elements whose enclosure is wanted for the audit; -1: none */
    bool unrounded; /* `got` holds doubles, the output before its last rounding: how much of the allowed
                                 * error the arithmetic itself takes. Not for discrete results, and `expected` is NULL */
    double
        loosened; /* the arithmetic's share of the allowed error times this, for tests that break it; 0: 1 */
    double atol, rtol; /* the published check's, counted beside */
    /* Of an imported task: the right values and what each may be off, one an element, without gaps, in the host's memory.
     * NULL: the problem has a reference of its own. */
    const double *want, *allowed;
    int64_t given;     /* so many elements */
    int64_t only_row;  /* where row_of has rows: judge this one alone, or few besides; 1 + its
                                 * number; 0: all */
    const void *held;  /* what an in-out tensor held; NULL: an output. Set by the judge, as what follows */
    int element_bytes; /* of the output */
};

/* The request with what the judge sets. */
static inline struct judge_request judge_complete(const struct judge_request *request)
{
    const struct tensor *tensor = &request->problem->tensors[request->output];
    struct judge_request complete = *request;
    complete.held = tensor->role == TENSOR_INOUT ? request->context.tensor[request->output] : NULL;
    complete.element_bytes = (int)dtype_size(tensor->dtype);
    return complete;
}

struct judge_report {
    int64_t elements, wrong, unwritten, open;
    int64_t changed;                 /* of the wrong ones, those that had to keep their bits */
    int64_t first_wrong, last_wrong; /* -1: none */
    int fits;                        /* the tightest arithmetic class; arithmetics.count: none */
    double worst_ratio;              /* error / allowed, of `worst` */
    double strain;                   /* of what a row is off as a whole, over what is allowed of it */
    struct judged worst;
    struct judged sample[JUDGE_SAMPLES];
    struct judged opens[JUDGE_OPEN]; /* the first of the open ones */
    int64_t published_wrong;         /* outside atol + rtol |want| */
};

struct witnessed;

/* How one output of a problem is judged: reference.h the first one, reference_OUTPUT.h the output of that name. One that
 * is discrete judges, together with its own, every output that has no judgement by itself. The witness's object exports
 * it as reference_PROBLEM or reference_PROBLEM_OUTPUT. */
struct reference {
    const struct problem *problem;
    const char *output; /* the tensor's name; NULL: the first */
    bool discrete;
    /* Both return 0; -1 when out of memory, or the cudaError_t of a failed launch. */
    int (*judge_host)(const struct judge_request *request, struct judge_report *report);
    int (*judge_cuda)(const struct judge_request *request, struct judge_report *report);
    /* MPFR's value of one element, and what it says: `ok` when |got - value - shift| <= allowed (NaN and
     * infinities must match, and somebody wrote it), `inside` when the enclosure holds the value. */
    int (*witness)(const struct judge_request *request, const struct judged *element,
                   struct witnessed *answer);
    /* The same for several elements. Cheap ones run side by side; an expensive one takes all cores, and
     * elements of one row, next to each other in the list, share what the row costs. */
    int (*witness_list)(const struct judge_request *request, const struct judged *const *element,
                        struct witnessed *answer, int count);
    int64_t (*row_of)(const struct judge_request *request, int64_t index); /* -1: not by rows */
    /* An element whose witness costs little more once that of `index` is known: of its row, by rows; an
     * earlier step of its column, for a recurrence. `pick` is any number. */
    int64_t (*same_row)(const struct judge_request *request, int64_t index, uint64_t pick);
    double (*witness_cost)(const struct judge_request *request); /* terms of one element */
    /* Of a fold, how many terms an element has: those of the context's window may be evaluated alone. Else NULL. */
    int64_t (*terms)(const struct judge_request *request, int64_t index);
};

struct witnessed {
    double value;
    bool ok, inside;
};

/* One of a problem's judgements, and which tensors it is of. */
struct judgement {
    const struct reference *reference;
    int output;       /* the tensor that is judged; of several the first */
    uint32_t tensors; /* a bit for each that the judgement is of */
};

/* All of a problem's, in the order of their tensors; returns how many. Where a tensor that is to be judged has none,
 * *missing is its number; else -1. */
int reference_list(const struct problem *problem, struct judgement out[PROBLEM_MAX_TENSORS], int *missing);

/* Of every output of an imported task: compares with `want` and `allowed` of the request, element by element. It has no
 * enclosure of its own, nothing is left open, and there is no witness: those functions are NULL. */
extern const struct reference reference_given;

/* What judges a tensor; NULL: nothing does. */
const struct reference *reference_find(const struct problem *problem, int tensor);

/* Beside those that are built in, of problems that are not. False: there is no room for more. */
bool reference_add(const struct reference *reference);

const float *reference_e4m3(void); /* the 256 values of an e4m3 byte; NaN at 0x7f and 0xff */

#ifdef __cplusplus
}
#endif

#endif
