/* Shared by the reader of NAME.task and the code that draws its inputs. */
#ifndef UNSEEN_TASK_INTERNAL_H
#define UNSEEN_TASK_INTERNAL_H

#include <jansson.h>

#include "gen/contract/constraint.h"
#include "task.h"

enum { TASK_MAX_CLASSES = 20, TASK_TEXT = 1200, TASK_SIZES = 4 };

/* A tensor's extents, each an expression of axes. */
struct task_shape {
    int rank;
    struct constraint *dim[PROBLEM_MAX_RANK];
};

/* How a class draws an input. The first ones are fills of problems/fill.h. */
enum task_drawn {
    TASK_FILL,        /* `fill` */
    TASK_DECISION,    /* FILL_DECISION; for indices only the levels in their range */
    TASK_INDEX,       /* whole numbers from `low` below the input's bound */
    TASK_UNEVEN,      /* FILL_UNEVEN; each draw chooses the dimension that is divided */
    TASK_SIMPLEX,     /* positive, a row adds up to about 1 */
    TASK_TRIU,        /* a matrix that is 0 below its diagonal */
    TASK_TRIL,        /* a matrix that is 0 above its diagonal */
    TASK_SYMMETRIC,   /* a matrix that equals its transpose */
    TASK_ASCENDING,   /* whole numbers like TASK_INDEX, sorted in each row */
    TASK_DISTINCT,    /* whole numbers like TASK_INDEX, distinct along a dimension */
    TASK_PERMUTATION, /* rows of 0, 1, .. in any order */
    TASK_AFFINE,      /* a table that grows by steps */
    TASK_BAND,        /* a matrix that is `value` on some diagonals, 0 elsewhere */
    TASK_COMPUTED,    /* computed by the task's get_inputs */
};

/* Tables that get_inputs computes from the sizes alone. Fields are expressions of axes; NULL: none. */
struct task_table {
    struct constraint *start, *step[PROBLEM_MAX_RANK]; /* TASK_AFFINE */
    struct constraint *low, *high;                     /* TASK_BAND: limits of column - row */
    double value;
};

struct task_fill {
    enum task_drawn drawn;
    struct fill fill;
    struct task_table *table; /* TASK_AFFINE, TASK_BAND */
    int along;                /* TASK_DISTINCT: the dimension; -1: all elements */
};

typedef double task_form(double of);

/* factor * form(of); `of` is NULL if there is no number. */
struct task_scalar {
    struct constraint *of;
    task_form *form;
    double factor;
};

/* coefficient * product of axis^power. Below base[i], axis i has the exponent below[i] instead,
 * continuously. */
struct task_work {
    double coefficient;
    double power[PROBLEM_MAX_AXES], below[PROBLEM_MAX_AXES], base[PROBLEM_MAX_AXES];
};

struct imported {
    json_t *root; /* owns all names */
    char folder[TASK_TEXT], file[TASK_TEXT], source[TASK_TEXT];

    struct problem problem;
    struct problem_oracle oracle;
    struct axis axes[PROBLEM_MAX_AXES + 1];
    struct tensor tensors[PROBLEM_MAX_TENSORS + 1];
    struct argument arguments[PROBLEM_MAX_ARGUMENTS + 1];
    struct input_class classes[TASK_MAX_CLASSES + 1];
    int ring[PROBLEM_MAX_AXES];

    struct task_shape shape[PROBLEM_MAX_TENSORS];  /* except that of `weights` */
    struct constraint *bound[PROBLEM_MAX_TENSORS]; /* for indices: the first number above their range */
    /* The least index: an expression of axes or, if that is NULL, a number. */
    struct constraint *least[PROBLEM_MAX_TENSORS];
    int64_t low[PROBLEM_MAX_TENSORS];
    /* Parameters of forward that are no tensors and depend on axes: whole numbers, or `scalar`. */
    struct constraint *number[PROBLEM_MAX_TENSORS];
    struct task_scalar scalar[PROBLEM_MAX_TENSORS];
    struct task_fill fill[TASK_MAX_CLASSES][PROBLEM_MAX_TENSORS];
    /* Derived sizes ("out_dim2"): extents of outputs that are neither an axis nor a product of axes. */
    struct derived derived[TASK_SIZES + 1];
    const struct constraint *size[TASK_SIZES];
    char size_name[TASK_SIZES][64];
    int weights;               /* the tensor's number, or -1 */
    struct task_shape *weight; /* weights that are drawn */
    int weight_count;
    struct task_work flops;
};

void imported_free(struct imported *task);

char *task_shape_text(const struct task_shape *shape); /* "[m, k]", for messages; malloced */
task_form *task_scalar_form(const char *name);         /* NULL: unknown name */

/* Fills task->derived once its axes and tensors are read. */
void task_sizes_list(struct imported *task);

/* Fills `out` with numbers from low to low + count - 1, distinct along dimension `along` (-1: in the whole
 * tensor). If there are more elements than numbers, numbers repeat. Returns 0, or -1: out of memory. */
int task_table_distinct(int along, int64_t low, int64_t count, struct random *random,
                        struct instance_tensor *out);

/* Fills `out` as drawn->drawn says: TASK_ASCENDING, TASK_PERMUTATION, TASK_AFFINE or TASK_BAND. Indices are
 * from low to low + count - 1. Returns 0, or -1: out of memory. */
int task_table_draw(const struct task_fill *drawn, int64_t low, int64_t count, const struct config *config,
                    struct random *random, struct instance_tensor *out);
void task_table_free(struct task_table *table);

/* Makes the inputs of `wanted` by the callback that imported_made_by set, malloced. Returns 0, or -1. */
int imported_make(const struct problem *problem, const struct instance *instance,
                  const struct imported_wish *wish, int32_t **given);

/* Callbacks of struct problem and of its input classes. */
int imported_instantiate(const struct config *config, struct random *shape_random,
                         struct random *content_random, struct instance *out);
int imported_measure(const struct config *config, struct random *shape_random, struct instance *out);
int imported_draw(const struct config *config, struct random *content_random, struct instance *out);

#endif
