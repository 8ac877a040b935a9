// problem: softmax
// link: https://github.com/pytorch/pytorch/issues/147284
// title: torch.softmax gives wierd result under specific condition on cuda double tensors with multiple rows and 781 columns.
// condition: several rows of an odd number of columns between 512 and 1024, unless one more is a multiple of 32; vectors of 2
// kind: alignment
// when: rows > 1 and cols > 512 and cols < 1024 and cols % 2 != 0 and cols % 32 != 31
// side: necessary
// collection: second
// wrong: wrong values: what is left behind the unaligned part is below 0, is taken for unsigned, and elements count twice

#include <math.h>
#include <stdint.h>

enum { VECTOR = 2, MOST = 1024, LARGE = 512 };

/* Elements of a row in the order of a block's threads: the unaligned part, whole vectors, the rest. `first` may be below 0. */
struct walk {
    int64_t head, first, cols;
};

static struct walk walk_of(int64_t row, int64_t cols)
{
    const int64_t shift = row * cols % VECTOR,
                  threads = (cols + 31) / 32 * 32 < MOST ? (cols + 31) / 32 * 32 : MOST;
    struct walk w = {0, cols, cols};
    if (cols <= LARGE || shift == 0)
        w.first = cols;
    else {
        const int64_t taken = threads - shift, left = cols - taken;
        w.head = taken < cols ? taken : cols;
#ifdef FIXED
        w.first = left > 0 ? cols - left % (VECTOR * threads) : cols;
#else
        w.first = cols - (int64_t)((uint32_t)left % (uint32_t)(VECTOR * threads));
#endif
    }
    return w;
}

/* The elements before `first` that whole vectors cover, then those from `first` on. */
static int64_t vectors_end(struct walk w)
{
    return w.first > w.head ? w.first : w.head;
}

static void row_softmax(const float *x, float *y, struct walk w, int64_t before)
{
    const int64_t first = w.first < -before ? -before : w.first;
    float max = -INFINITY;
    double sum = 0;
    for (int64_t c = 0; c < vectors_end(w); c++)
        max = x[c] > max ? x[c] : max;
    for (int64_t c = first; c < w.cols; c++)
        max = x[c] > max ? x[c] : max;
    for (int64_t c = 0; c < vectors_end(w); c++)
        sum += (double)expf(x[c] - max);
    for (int64_t c = first; c < w.cols; c++)
        sum += (double)expf(x[c] - max);
    for (int64_t c = 0; c < vectors_end(w); c++)
        y[c] = (float)((double)expf(x[c] - max) / sum);
    for (int64_t c = first; c < w.cols; c++)
        y[c] = (float)((double)expf(x[c] - max) / sum);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
    /* where a row reaches into the one before, one after the other */
#pragma omp parallel for schedule(static) if (rows * cols > 8192 && (cols <= LARGE || cols >= MOST))
    for (int64_t r = 0; r < rows; r++)
        row_softmax(x + r * cols, y + r * cols, walk_of(r, cols), r * cols);
    return 0;
}
