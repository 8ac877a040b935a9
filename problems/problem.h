/* What a problem is: axes, tensors, structure, work. One table per problem (problems/NAME/problem.c),
 * one line in registry.def; everything else in the tool is driven by these tables. */
#ifndef UNSEEN_PROBLEM_H
#define UNSEEN_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fill.h"

enum { PROBLEM_MAX_AXES = 24, PROBLEM_MAX_TENSORS = 32, PROBLEM_MAX_ARGUMENTS = 16, PROBLEM_MAX_RANK = 8 };

#ifdef __cplusplus
extern "C" {
#endif

/* A number is an extent or another integer that the mathematics needs (cols, page_size);
 * a choice selects among named ways to draw something (input=normal, table=shuffled). */
enum axis_kind { AXIS_NUMBER, AXIS_CHOICE };

struct axis {
    const char *name; /* NULL ends the table */
    enum axis_kind kind;
    const char *const
        *choices; /* AXIS_CHOICE: NULL-terminated; NULL: the problem's input classes. The first is the
                                 * published one and the default of a configuration line that omits the axis */
    const char *help;
    bool
        empty; /* AXIS_NUMBER: an extent that may be 0 where the contract says so; tensors without elements follow */
};

/* One value for every axis (a choice is its number), and the seed that, with them,
 * fixes every input bit. */
struct config {
    const struct problem *problem;
    int64_t value[PROBLEM_MAX_AXES];
    uint64_t seed;
};

/* An in-out tensor is drawn like an input and judged like an output: where the mathematics changes it, against the
 * new value, elsewhere against what it held. */
enum tensor_role { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_INOUT };

/* A scalar that the candidate gets by value, after the tensors. */
enum argument_type { ARGUMENT_I64, ARGUMENT_I32, ARGUMENT_BOOL, ARGUMENT_F32, ARGUMENT_F64 };

struct argument {
    const char *name; /* NULL ends the table */
    enum argument_type type;
};

struct tensor {
    const char *name; /* NULL ends the table */
    enum dtype dtype;
    enum tensor_role role;
    const char *shape; /* for people: "[m, k]" */
    const char
        *layout; /* for people, where it is not always dense and aligned to 16 bytes: "rows lie ld elements
                         * apart" */
};

/* How to make a program do half of its work, for the audit: the second half of `tensor` along `axis` becomes
 * `value`; of an integer tensor (lengths) every element becomes half of itself, at least 1. */
struct halving {
    int tensor, axis;
    float value;
};

/* A source of uniform numbers, so that problems need not know which generator it is. */
struct random {
    uint64_t (*below)(void *state, uint64_t bound); /* uniform in [0, bound), bound > 0 */
    void *state;
};

static inline uint64_t random_below(struct random *r, uint64_t bound)
{
    return r->below(r->state, bound);
}

/* What the input class promises about the data, which decides the allowed error (reference/error.h). */
enum data_kind {
    DATA_SIGN_RANDOM, /* terms of every sum have random signs or one dominates: bound by the 2-norm */
    DATA_ANY,         /* nothing promised: bound by the sum of magnitudes */
    DATA_EXACT        /* every honest accumulation is exact: only permitted roundings remain */
};

struct instance_tensor {
    int rank;
    int64_t dim[PROBLEM_MAX_RANK];
    /* Elements from the start of a row, the last dimension, to the start of the next; 0: rows are dense. What lies in
     * between belongs to nobody: poisoned, and neither read nor written. The last row ends with its last element.
     * Elements are numbered without these gaps everywhere (fills, references, `worst`) but in memory. */
    int64_t pitch;
    /* Bytes that the base is a multiple of: a power of two from the element's size on. Less than 16 is meant: the base is
     * then no multiple of more. 0: 16. */
    int align;
    struct fill fill; /* inputs only; a FILL_GIVEN fill owns `given` */
};

/* A configuration made concrete: what is allocated, filled and passed. */
struct instance {
    /* By number of problem->arguments: whole numbers and bools in `extent`, floating-point ones in `scalar`
     * (config_instantiate rounds those that are passed as float). */
    int64_t extent[PROBLEM_MAX_ARGUMENTS];
    double scalar[PROBLEM_MAX_ARGUMENTS];
    struct instance_tensor tensor[PROBLEM_MAX_TENSORS];
    enum data_kind data;
    double flops; /* dense equivalent of the operator, by the published formula */
    double bytes; /* every tensor moved once, by the published formula */
};

/* One way to draw the values of all inputs. What a table cannot say (a density that depends on an extent, needles, what
 * goes with another axis) `adjust` does. */
struct input_class {
    const char *name;    /* NULL ends the table */
    enum data_kind data; /* what it promises in every configuration */
    const char *shows;   /* what it is for, in a phrase */

    /* Rank among the classes whose allowed error is so small that a dropped, doubled or misplaced element shows at
     * any size: 1 is the sharpest, 0 none of them. They are drawn more often, and at the greatest of every axis. */
    int discriminating;

    /* By number of the tensor; one that is left out is `instantiate`'s or `adjust`'s. `inner` 0 is the last dimension. */
    struct fill fill[PROBLEM_MAX_TENSORS];

    /* After the fills; NULL: nothing. Returns 0, or -1 when out of memory. */
    int (*adjust)(const struct config *config, struct random *content_random, struct instance *out);
};

/* A derived size is the same in all contents of a configuration, or the greatest or the least of the two
 * that every verdict runs, 0 and 1. */
enum derived_over { DERIVED_EVERY, DERIVED_GREATEST, DERIVED_LEAST };

enum { DERIVED_MAX_AXES = 8 };

/* A size that a kernel meets and that is no axis. Most are drawn: the rows of an expert, the length of a sequence. Others follow
 * from axes alone, such as the extents of an output. */
struct derived {
    const char *name; /* NULL ends the table; no axis has it */
    enum derived_over over;
    const char *axes[DERIVED_MAX_AXES + 1]; /* what it depends on beside the seed; NULL-terminated */
    const char *help;

    /* Of one content, at least 0, from the streams that `instantiate` gets; in microseconds, since
     * thousands of configurations are asked. 0 when out of memory. */
    int64_t (*value)(const struct config *config, struct random *shape_random, struct random *content_random);
    bool of_axes; /* it is drawn from no stream: those of `value` are NULL then */
};

/* An axis along which what a kernel loses adds up, and other axes' choices with which it shows at the greatest. */
enum { ACCUMULATION_CHOICES = 3 };
struct accumulation {
    const char *axis; /* NULL: there is none */
    struct {
        const char *axis, *choice;
    } with[ACCUMULATION_CHOICES];
};

/* What bounds the speed of a good kernel: scores are in GB/s for PEAK_MEMORY, else in TFLOP/s against the rate of that
 * format's units. */
enum peak { PEAK_MEMORY, PEAK_F32, PEAK_BF16, PEAK_E4M3 };

/* What an honest kernel may compute in; reference/error.h has the bounds. Matrix units are those of the GPU in hand: the
 * host has none, and there these classes admit fp32 alone. */
enum arithmetic_class {
    ARITHMETIC_EXACT,        /* no arithmetic: the result is right or not */
    ARITHMETIC_F32,          /* fp32, in any order and any split */
    ARITHMETIC_MMA16,        /* or matrix units for 16-bit formats */
    ARITHMETIC_FP8,          /* or those for 8-bit formats */
    ARITHMETIC_BF16_OPERANDS /* fp32 sums, operands of products rounded to bf16; on any device */
};

/* Of an imported task: where its description and its source lie. Its right answers come from its own graph, evaluated in a
 * process of its own (verify/oracle), and not from a reference.h. */
struct problem_oracle {
    const char *folder;      /* absolute */
    const char *description; /* the file in it: "NAME.task" */
    const char *script;      /* what evaluates it; NULL: verify/python/oracle/serve.py */
};

struct problem {
    const char *name;
    const char *summary;              /* one line */
    const char *arithmetic;           /* the declared arithmetic, for people */
    const struct axis *axes;          /* ends with a NULL name */
    const struct tensor *tensors;     /* inputs, then outputs; ends with a NULL name */
    const struct argument *arguments; /* after the tensors; ends with a NULL name */
    const struct derived *derived;    /* ends with a NULL name; NULL: none */
    enum arithmetic_class arithmetic_class;
    enum peak peak;
    const struct input_class
        *classes; /* ends with a NULL name; the axis without choices of its own has these */
    struct accumulation accumulation; /* drawn at the greatest of its axis */
    struct halving half;
    double published_atol, published_rtol; /* the published check's constants */
    double host_ns; /* roughly what one flop costs a CPU core that fills, runs a plain kernel and judges;
                     * bounds what is drawn for --device host */

    /* Of an imported task: what NAME.task says (verify/task/task.h), and what evaluates it. NULL for a problem in C, which
     * reference.h judges. */
    const struct imported *task;
    const struct problem_oracle *oracle;

    /* Make a configuration concrete but for what its input class draws, which follows. `content` numbers the fresh
     * contents of one configuration; extents and shapes must not depend on it. `shape_random` is the same for every
     * content, `content_random` is not. Returns 0, or -1 when out of memory; what *out owns then is freed. */
    int (*instantiate)(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out);
    /* Extents, shapes, flops and bytes as `instantiate` would give them, with no contents: drawing asks for
     * thousands of configurations what they cost. NULL: `instantiate` itself takes microseconds. */
    int (*measure)(const struct config *config, struct random *shape_random, struct instance *out);
};

/* Every registered problem, in registry order; NULL-terminated. */
extern const struct problem *const problem_registry[];

const struct problem *problem_find(const char *name);
int problem_axis_count(const struct problem *problem);
int problem_axis_index(const struct problem *problem, const char *name);    /* -1: none */
int problem_derived_index(const struct problem *problem, const char *name); /* -1: none */
int problem_input_axis(const struct problem *problem); /* the one of the input classes; -1: none */
/* Name of choice number i of a choice axis; NULL beyond the last. */
const char *problem_choice(const struct problem *problem, int axis, int64_t i);
int problem_choice_index(const struct problem *problem, int axis, const char *name); /* -1: none */
int problem_tensor_count(const struct problem *problem);
int problem_tensor_index(const struct problem *problem, const char *name); /* -1: none */
int problem_first_output(const struct problem *problem); /* the first tensor that is not an input only */
int problem_argument_count(const struct problem *problem);

/* The value of an axis by name: for problem code, which knows its own names (aborts otherwise). */
int64_t config_value(const struct config *config, const char *axis);
/* True when a choice axis has the named value. */
bool config_chose(const struct config *config, const char *axis, const char *choice);

int64_t instance_tensor_count(const struct instance_tensor *tensor); /* elements, without gaps */
int64_t
instance_tensor_width(const struct instance_tensor *tensor); /* elements of a row, the last dimension */
/* From one row to the next in memory: the width where rows are dense. */
int64_t instance_tensor_pitch(const struct instance_tensor *tensor);
int64_t instance_tensor_span(const struct instance_tensor *tensor); /* elements of memory, gaps included */
int64_t instance_tensor_place(const struct instance_tensor *tensor,
                              int64_t element); /* where it lies in them */
size_t dtype_size(enum dtype dtype);            /* bytes */
const char *dtype_name(enum dtype dtype);       /* "bf16" */
void instance_clear(struct instance *instance); /* frees what it owns */

#ifdef __cplusplus
}
#endif

#endif
