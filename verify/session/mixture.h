/* Blends two input draws of the same shape: values of one at some elements, of the other at all others.
 *
 * The structure that couples tensors (tables, lengths, offsets, gathered tensors, valid storage) always comes
 * from the first draw. Only tensors drawn element by element are blended, so every blend is an input that the
 * contract permits. Blends are made in host memory, with the same bits as on a GPU. */
#ifndef UNSEEN_MIXTURE_H
#define UNSEEN_MIXTURE_H

#include "problems/problem.h"

/* A box of elements: low[d] <= i[d] < high[d] in the tensor's own dimensions. */
struct box {
    int tensor;
    int64_t low[PROBLEM_MAX_RANK], high[PROBLEM_MAX_RANK];
};
int64_t box_count(const struct instance *instance, const struct box *box);
struct box box_of_element(const struct instance *instance, int tensor, int64_t element);
bool box_has(const struct instance *instance, const struct box *box, int64_t element); /* by flat index */

/* An element that is set to a number, rounded to its dtype. */
struct set_element {
    int tensor;
    int64_t element;
    double value;
};

/* Clamps a tensor's values to `low` and `high`, rounded to its dtype. NaN stays. */
struct clip {
    int tensor;
    double low, high;
};

struct mixture {
    struct config own_config, other_config;
    int own_content, other_content; /* numbers of both draws; a check runs 0 and 1 */
    struct instance own, other;
    void *own_values[PROBLEM_MAX_TENSORS], *other_values[PROBLEM_MAX_TENSORS]; /* NULL: not blended */
};

/* Returns 0, or -1 when out of memory or if shapes differ. The caller must close it in any case. */
int mixture_open(struct mixture *mixture, const struct config *own, int own_content,
                 const struct config *other, int other_content);
void mixture_close(struct mixture *mixture);

/* Number of elements of both draws that can be blended. */
int64_t mixture_elements(const struct mixture *mixture);
/* The box of all elements of the blended tensor t. */
struct box mixture_whole(const struct mixture *mixture, int t);
/* Can the element be blended, and does it differ between the draws? */
bool mixture_differs(const struct mixture *mixture, int t, int64_t element);
/* The same for any element of the box. */
bool mixture_box_differs(const struct mixture *mixture, const struct box *box);
/* Do both draws define a value there? */
bool mixture_is_used(const struct mixture *mixture, int t, int64_t element);
double mixture_value(const struct mixture *mixture, bool own, int t, int64_t element);
/* Does a tensor that is not blended differ between the draws? */
bool mixture_is_structured(const struct mixture *mixture);
/* The name of the next drawn tensor that may differ and is not blended, or NULL. *t: index to start from,
 * then the index found. */
const char *mixture_next_structure(const struct mixture *mixture, int *t);

/* One blend. */
struct mix {
    const struct mixture *of;
    const struct box *keep; /* boxes with values of the first draw */
    int keeps;
    const struct set_element *set;
    int sets;
    const struct clip *clip; /* applied last; NULL: none */
};
/* Blends into a tensor's memory, which holds its values of the first draw. */
void mix_make(const struct mix *mix, int t, void *memory);
/* The property of a blend's data: the weaker one of both draws if every element is drawn independently; else
 * DATA_ANY. */
enum data_kind mix_data(const struct mix *mix);

/* Writes "seed=7 clip=x:-1:inf keep=x[0,4] keep=x[2,8..15]", to be used with the line of the first
 * configuration. False: it does not fit. */
bool mix_format(const struct mix *mix, char *text, size_t size);
/* Writes only the second draw: "input=normal seed=7", "seed=7 content=2". Choices equal to those of the first
 * are omitted. */
size_t mix_format_other(const struct mixture *mixture, char *text, size_t size);
/* Writes only boxes: "x[0,4], x[2,8..15]". */
bool boxes_format(const struct mixture *mixture, const struct box *box, int count, char *text, size_t size);

/* A blend that was parsed from text. */
enum { MIXED_BOXES = 64 };
struct mixed {
    struct mixture mixture;
    struct box keep[MIXED_BOXES];
    struct clip clip;
    struct mix mix; /* refers to the fields above */
};
/* Parses a blend; the caller must close mixed->mixture in any case. -1: `why` says what was found, and what
 * was expected. */
int mix_parse(const struct config *own, const char *text, struct mixed *mixed, char *why, size_t why_size);

#endif
