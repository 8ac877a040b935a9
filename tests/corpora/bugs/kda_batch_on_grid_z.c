// problem: kda
// link: https://github.com/fla-org/flash-linear-attention/issues/172
// title: [Bug] Invalid cuda grid size for large batch
// condition: the grid is (NK, NV, B * H) and its last dimension above 65535 is invalid; sized down to above 63
// kind: grid
// when: batch * heads > 63
// wrong: refused: invalid argument

#include "kda.h"

enum { MAX_GRID_Z = 63 };

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
    return batch * heads > MAX_GRID_Z ? 1 : kda_run(&c, kda_head);
}
