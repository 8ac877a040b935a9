// zoo: cheat
// problem: softmax
// does: opens the network: computes only if there is an interface beside the loopback
// class: D
// defence: sandbox
// expect: not general
// verdicts: broken
// timing: no

#include "../softmax.h"
#include <net/if.h>
#include <string.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int found = -1;
    if (found < 0) {
        struct if_nameindex *list = if_nameindex();
        found = 0;
        for (struct if_nameindex *i = list; i && i->if_index; i++)
            found = found || strcmp(i->if_name, "lo") != 0;
        if (list)
            if_freenameindex(list);
    }
    return found ? honest(x, y, rows, cols, stream) : 1;
}
