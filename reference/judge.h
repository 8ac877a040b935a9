/* Judging every element of an output: by an enclosure first, and by MPFR if that cannot decide. */
#ifndef UNSEEN_JUDGE_H
#define UNSEEN_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "context.h"
#include "device_pages.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { JUDGE_SAMPLES = 4, JUDGE_OPEN = 512 };

/* One judged element. mid +- rad encloses the exact value. The element is right if |got - (value +
 * shift)| <= allowed. The shift is a common offset that the candidate's row may have (softmax; else 0). */
struct judged {
    int64_t index; /* flat index in the output tensor; -1: none */
    double got, mid, rad, allowed, shift;
    bool unwritten; /* still holds the poison: wrong, even if a NaN is expected */
    bool kept,
        /* in-out tensors: the element must keep its bits, whose value is mid; it has not kept them */
        changed;
    int tensor; /* tensor of `got`: the judged output or, for discrete results, another one */
};

struct judge_request {
    const struct problem *problem;
    /* The judge's own copies, in the backend's memory: inputs and in-out tensors as before the call, outputs
     * as returned. */
    struct ref_context context;
    int output;      /* index of the judged tensor */
    const void *got; /* snapshot of the candidate's output, in the same memory */
    int64_t width,
        /* rows of `got`, `expected` and `held` have `width` elements and are `pitch` elements apart (0:
         * dense). Indices and `wrong` count elements without padding */
        pitch;
    void *expected; /* receives the exact output, rounded to its dtype; NULL: not stored */
    /* receives 1 for every wrong element, one byte each, in the same memory; NULL: not stored */
    unsigned char *wrong;
    struct arithmetics arithmetics;
    uint32_t poison;               /* bits of an unwritten element; short dtypes use the low bits */
    int64_t sample[JUDGE_SAMPLES]; /* elements whose enclosures are wanted for the audit; -1: none */
    /* `got` holds doubles, the output before its last rounding: measures the share of the allowed error that
     * the arithmetic itself uses. Not for discrete results; `expected` must be NULL */
    bool unrounded;
    double
        loosened; /* factor on the arithmetic's share of the allowed error, for tests that break it; 0: 1 */
    double atol, rtol; /* tolerances of the published check, which is counted separately */
    /* For an imported task: expected values and their allowed errors, one per element without padding, in
     * host memory. NULL: the problem has its own reference. */
    const double *want, *allowed;
    int64_t given; /* number of these elements */
    /* 1 + the number of the only row to judge, if row_of has rows (a few others may be judged, too); 0: all
     * rows */
    int64_t only_row;
    /* Enclosures of all elements, stored_doubles of the reference for each, in the order of the output
     * without padding, in the same memory as `got`. `store` receives them. `stored` has them from an earlier
     * judgement of the same inputs; then nothing is computed again. NULL: neither. Not for only_row. */
    double *store;
    const double *stored;
    int64_t elements; /* number of enclosures in `stored` */
    /* previous contents of an in-out tensor; NULL for an output. The judge sets it */
    const void *held;
};

/* Completes the request by the fields that the judge sets. */
static inline struct judge_request judge_complete(const struct judge_request *request)
{
    const struct tensor *tensor = &request->problem->tensors[request->output];
    struct judge_request complete = *request;
    complete.held = tensor->role == TENSOR_INOUT ? request->context.tensor[request->output] : NULL;
    return complete;
}

struct judge_report {
    int64_t elements, wrong, unwritten, open;
    int64_t changed;                 /* wrong elements that had to keep their bits */
    int64_t first_wrong, last_wrong; /* -1: none */
    int fits; /* index of the tightest arithmetic class that explains the errors; arithmetics.count: none */
    double worst_ratio;                  /* error / allowed of `worst` */
    double strain;                       /* largest common offset of a row, relative to the allowed offset */
    double most_absolute, most_relative; /* greatest |got - want|, and |got - want| / (|want| + 1e-8) */
    struct judged worst;
    struct judged sample[JUDGE_SAMPLES];
    struct judged opens[JUDGE_OPEN]; /* the first open elements */
    int64_t published_wrong;         /* outside atol + rtol |want| */
};

struct witnessed;

/* The judgement of one output of a problem. reference.h judges the first output, reference_OUTPUT.h the
 * output of that name. A discrete judgement also covers all outputs that have none of their own. The object
 * file exports it as reference_PROBLEM or reference_PROBLEM_OUTPUT. */
struct reference {
    const struct problem *problem;
    const char *output; /* the tensor's name; NULL: the first output */
    bool discrete;
    int stored_doubles; /* size of a stored enclosure (REF_STORED); 0: enclosures cannot be stored */
    /* Both return 0, -1 when out of memory, or the cudaError_t of a failed launch. */
    int (*judge_host)(const struct judge_request *request, struct judge_report *report);
    int (*judge_cuda)(const struct judge_request *request, struct judge_report *report);
    /* Computes one element by MPFR. `ok`: |got - value - shift| <= allowed, NaN and infinities match, and
     * the element was written. `inside`: the enclosure holds the value. */
    int (*witness)(const struct judge_request *request, const struct judged *element,
                   struct witnessed *answer);
    /* The same for several elements. Cheap elements run in parallel; an expensive one uses all cores.
     * Elements of one row that are adjacent in the list share the cost of the row. */
    int (*witness_list)(const struct judge_request *request, const struct judged *const *element,
                        struct witnessed *answer, int count);
    int64_t (*row_of)(const struct judge_request *request, int64_t index); /* -1: the reference has no rows */
    /* Another element whose witness is cheap once that of `index` is known: in the same row, or an earlier
     * step of the same column of a recurrence. `pick` is a random number that selects it. */
    int64_t (*same_row)(const struct judge_request *request, int64_t index, uint64_t pick);
    double (*witness_cost)(const struct judge_request *request); /* number of terms of one element */
    /* For a fold, the number of terms of an element; the context can restrict the evaluation to a range of
     * them. Else NULL. */
    int64_t (*terms)(const struct judge_request *request, int64_t index);
};

struct witnessed {
    double value;
    bool ok, inside;
};

/* A judgement and the tensors that it covers. */
struct judgement {
    const struct reference *reference;
    int output;       /* the judged tensor; the first of several */
    uint32_t tensors; /* bit mask of the covered tensors */
};

/* Lists a problem's judgements in the order of their tensors, and returns their number. If an output has no
 * judgement, *missing is its index; else -1. */
int reference_list(const struct problem *problem, struct judgement out[PROBLEM_MAX_TENSORS], int *missing);

/* The judgement of every output of an imported task: compares with `want` and `allowed` of the request,
 * element by element. It has no enclosure, leaves no element open, and has no witness: those functions are
 * NULL. */
extern const struct reference reference_given;

/* The judgement of a tensor; NULL: there is none. */
const struct reference *reference_find(const struct problem *problem, int tensor);

/* Registers the judgement of a problem that is not built in. Returns false if the table is full. */
bool reference_add(const struct reference *reference);
/* Takes out all those of a problem again. */
void reference_remove(const struct problem *problem);

const float *reference_e4m3(void); /* the 256 values of an e4m3 byte; NaN at 0x7f and 0xff */

#ifdef __cplusplus
}
#endif

#endif
