// problem: conv2d_bf16
// link: https://github.com/tensorflow/tensorflow/issues/9870
// title: Incorrect inference in convnet with batch size >65535
// condition: outputs after case 65535 are zero; sized down to 63
// kind: grid
// when: n > 63
// side: necessary
// wrong: wrong values: zeros for the images that the grid does not reach

#define BF16
#include "conv.h"

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    const int64_t reached = n < 63 ? n : 63, size = o * v.oh * v.ow;
    memset(y + reached * size, 0, (size_t)((n - reached) * size) * sizeof *y);
    return conv_images(&v, reached, conv_row);
}
