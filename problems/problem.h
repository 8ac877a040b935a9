/* The definition of a problem: axes, tensors, structure, work. A problem is one table
 * (problems/NAME/problem.c) and one line in registry.def; these tables drive everything else in the tool. */
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

/* A number is an extent or another integer of the mathematics (cols, page_size). A choice selects one of
 * several named ways to draw something (input=normal, table=shuffled). */
enum axis_kind { AXIS_NUMBER, AXIS_CHOICE };

struct axis {
    const char *name; /* NULL: end of the table */
    enum axis_kind kind;
    const char *const
        /* AXIS_CHOICE: NULL-terminated; NULL: the problem's input classes. The first choice is the published
         * one, and the default of a configuration line without this axis */
        *choices;
    const char *help;
    bool
        empty; /* AXIS_NUMBER: an extent that may be 0 if the contract allows it; then tensors may be empty */
};

/* A value for every axis (of a choice, its index) and the seed. Together they determine every input bit. */
struct config {
    const struct problem *problem;
    int64_t value[PROBLEM_MAX_AXES];
    uint64_t seed;
};

/* An in-out tensor is drawn like an input and judged like an output. Elements that the mathematics changes
 * are compared with their new values, all others with their previous ones. */
enum tensor_role { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_INOUT };

/* A scalar that the candidate gets by value, after the tensors. */
enum argument_type { ARGUMENT_I64, ARGUMENT_I32, ARGUMENT_BOOL, ARGUMENT_F32, ARGUMENT_F64 };

struct argument {
    const char *name; /* NULL: end of the table */
    enum argument_type type;
};

struct tensor {
    const char *name; /* NULL: end of the table */
    enum dtype dtype;
    enum tensor_role role;
    const char *shape; /* for people: "[m, k]" */
    const char
        /* for people; NULL if it is always dense and aligned to 16 bytes: "rows lie ld elements apart" */
        *layout;
    const char *length_of; /* the output whose extents these are, since they depend on values; NULL */
};

/* Halves the work of a program, for the audit. The second half of `tensor` along `axis` becomes `value`. For
 * an integer tensor (lengths) every element is halved instead, to at least 1. */
struct halving {
    int tensor, axis;
    float value;
};

/* A source of uniform random numbers, independent of the generator. */
struct random {
    uint64_t (*below)(void *state, uint64_t bound); /* uniform in [0, bound), bound > 0 */
    void *state;
};

static inline uint64_t random_below(struct random *r, uint64_t bound)
{
    return r->below(r->state, bound);
}

/* A property of the input class's data, which decides the allowed error (reference/error.h). */
enum data_kind {
    DATA_SIGN_RANDOM, /* the terms of every sum have random signs, or one dominates: bounded by the 2-norm */
    DATA_ANY,         /* no property: bounded by the sum of magnitudes */
    DATA_EXACT        /* every honest accumulation is exact: only the permitted roundings remain */
};

struct instance_tensor {
    int rank;
    int64_t dim[PROBLEM_MAX_RANK];
    /* Distance between the starts of consecutive rows (of the last dimension) in elements; 0: rows are dense.
     * The padding between rows is poisoned, and must be neither read nor written. The last row has no
     * padding. Everywhere except in memory (fills, references, `worst`) elements are numbered without
     * padding. */
    int64_t pitch;
    /* Alignment of the base address in bytes, a power of two not below the element size. Below 16 the
     * alignment is exact: the address is no multiple of a larger power. 0: 16. */
    int align;
    struct fill fill; /* inputs only; a FILL_GIVEN fill owns `given` */
};

/* A configuration with concrete sizes and values: what is allocated, filled and passed. */
struct instance {
    /* By index of problem->arguments: integers and bools in `extent`, floating-point values in `scalar`
     * (config_instantiate rounds those that are passed as float). */
    int64_t extent[PROBLEM_MAX_ARGUMENTS];
    double scalar[PROBLEM_MAX_ARGUMENTS];
    struct instance_tensor tensor[PROBLEM_MAX_TENSORS];
    enum data_kind data;
    double flops; /* dense equivalent of the operator, by the published formula */
    double bytes; /* every tensor moved once, by the published formula */
};

/* One way to draw the values of all inputs. `adjust` does what a table cannot express: a density that depends
 * on an extent, needles, dependence on another axis. */
struct input_class {
    const char *name;    /* NULL: end of the table */
    enum data_kind data; /* holds in every configuration */
    const char *shows;   /* the purpose of the class, in a phrase */

    /* Rank among the classes whose allowed error is so small that a dropped, doubled or misplaced element is
     * found at any size. 1 is the most sensitive, 0 is none of them. These classes are drawn more often, and
     * at the maximum of every axis. */
    int discriminating;

    /* By tensor index. `instantiate` or `adjust` sets the tensors without a fill. `inner` 0 means the last
     * dimension. */
    struct fill fill[PROBLEM_MAX_TENSORS];

    /* Called after the fills; NULL: nothing to do. Returns 0, or -1 when out of memory. */
    int (*adjust)(const struct config *config, struct random *content_random, struct instance *out);
};

/* Whether a derived size is the same in all input draws of a configuration, or the maximum or minimum over
 * draws 0 and 1, which every verdict runs. */
enum derived_over { DERIVED_EVERY, DERIVED_GREATEST, DERIVED_LEAST };

enum { DERIVED_MAX_AXES = 8 };

/* A size that matters to a kernel and is no axis. Most are drawn: the rows of an expert, the length of a
 * sequence. Others follow from axes, such as the extents of an output. */
struct derived {
    const char *name; /* NULL: end of the table; differs from all axis names */
    enum derived_over over;
    /* the axes that it depends on, besides the seed; NULL-terminated */
    const char *axes[DERIVED_MAX_AXES + 1];
    const char *help;

    /* The value for one input draw, at least 0, from the streams that `instantiate` gets. It must take
     * microseconds, since it is called for thousands of configurations. 0 when out of memory. */
    int64_t (*value)(const struct config *config, struct random *shape_random, struct random *content_random);
    bool of_axes; /* it uses no random stream: those of `value` are NULL */
};

/* An axis along which a kernel's errors accumulate, and the choices of other axes for which this is most
 * visible. */
enum { ACCUMULATION_CHOICES = 3 };
struct accumulation {
    const char *axis; /* NULL: there is none */
    struct {
        const char *axis, *choice;
    } with[ACCUMULATION_CHOICES];
};

/* The resource that bounds the speed of a good kernel. Scores are in GB/s for PEAK_MEMORY, else in TFLOP/s
 * relative to the peak rate of that dtype. */
enum peak { PEAK_MEMORY, PEAK_F32, PEAK_BF16, PEAK_E4M3 };

/* The arithmetic an honest kernel may use; reference/error.h has the bounds. Matrix units are those of the
 * GPU at hand. The host has none, and there these classes admit fp32 only. */
enum arithmetic_class {
    ARITHMETIC_EXACT,        /* no rounding: a result is right or wrong */
    ARITHMETIC_F32,          /* fp32, summed in any order and any split */
    ARITHMETIC_MMA16,        /* also matrix units for 16-bit formats */
    ARITHMETIC_FP8,          /* also matrix units for 8-bit formats */
    ARITHMETIC_BF16_OPERANDS /* fp32 sums of products whose operands are rounded to bf16; on any device */
};

/* For an imported task: the files of its description and source. A separate process evaluates the task's own
 * graph for expected values (verify/torch); there is no reference.h. */
struct problem_oracle {
    const char *folder;      /* absolute */
    const char *description; /* file name in it: "NAME.task" */
    const char *script;      /* the program that evaluates it; NULL: unseen_torch.oracle.serve */
};

struct problem {
    const char *name;
    const char *summary;              /* one line */
    const char *arithmetic;           /* the declared arithmetic, for people */
    const struct axis *axes;          /* NULL name at the end */
    const struct tensor *tensors;     /* inputs, then outputs; NULL name at the end */
    const struct argument *arguments; /* passed after the tensors; NULL name at the end */
    const struct derived *derived;    /* NULL name at the end; NULL: none */
    enum arithmetic_class arithmetic_class;
    enum peak peak;
    const struct input_class
        *classes; /* NULL name at the end; these are the choices of the axis that has none of its own */
    struct accumulation accumulation; /* drawn at the maximum of its axis */
    struct halving half;
    double published_atol, published_rtol; /* constants of the published check */
    /* approximate cost of one flop on a CPU core, in ns, including filling, a plain kernel and judging;
     * limits sizes for --device host */
    double host_ns;

    /* For an imported task: the contents of NAME.task (verify/torch/task.h), and its evaluation. NULL for a
     * problem in C, which reference.h judges. */
    const struct imported *task;
    const struct problem_oracle *oracle;

    /* Creates the instance of a configuration, except for the values of its input class, which follow.
     * `content` numbers the input draws; extents and shapes must not depend on it. `shape_random` is the same
     * for every draw, `content_random` is not. Returns 0, or -1 when out of memory; *out then owns
     * nothing. */
    int (*instantiate)(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out);
    /* Computes extents, shapes, flops and bytes like `instantiate`, without values, since drawing needs the
     * cost of thousands of configurations. NULL: `instantiate` itself takes only microseconds. */
    int (*measure)(const struct config *config, struct random *shape_random, struct instance *out);
};

/* All registered problems in registry order; NULL-terminated. */
extern const struct problem *const problem_registry[];

const struct problem *problem_find(const char *name);
int problem_axis_count(const struct problem *problem);
int problem_axis_index(const struct problem *problem, const char *name);    /* -1: none */
int problem_derived_index(const struct problem *problem, const char *name); /* -1: none */
int problem_input_axis(const struct problem *problem); /* the axis of the input classes; -1: none */
/* Name of choice i of a choice axis; NULL beyond the last. */
const char *problem_choice(const struct problem *problem, int axis, int64_t i);
int problem_choice_index(const struct problem *problem, int axis, const char *name); /* -1: none */
int problem_tensor_count(const struct problem *problem);
int problem_tensor_index(const struct problem *problem, const char *name); /* -1: none */
int problem_first_output(const struct problem *problem); /* index of the first tensor that is no pure input */
int problem_argument_count(const struct problem *problem);

/* The value of an axis by name, for problem code with names of its own table. Aborts for an unknown name. */
int64_t config_value(const struct config *config, const char *axis);
/* Does a choice axis have the named value? */
bool config_chose(const struct config *config, const char *axis, const char *choice);

int64_t instance_tensor_count(const struct instance_tensor *tensor); /* number of elements, without padding */
int64_t
instance_tensor_width(const struct instance_tensor *tensor); /* elements per row (of the last dimension) */
/* Distance between rows in memory: the width if rows are dense. */
int64_t instance_tensor_pitch(const struct instance_tensor *tensor);
/* size in memory in elements, including padding */
int64_t instance_tensor_span(const struct instance_tensor *tensor);
int64_t instance_tensor_place(const struct instance_tensor *tensor,
                              int64_t element); /* memory offset of an element */
void instance_clear(struct instance *instance); /* frees the memory that it owns */

#ifdef __cplusplus
}
#endif

#endif
