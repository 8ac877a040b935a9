#include "proportion.h"

#include <math.h>

/* Wilson (1927), J. Am. Stat. Assoc. 22:209; method 3 in Newcombe (1998), Stat. Med. 17:857:
 * (2 n p + z^2 -+ z sqrt(z^2 + 4 n p q)) / (2 (n + z^2)). */
struct proportion proportion_wilson(int pass, int count, double z)
{
    const double p = (double)pass / count;
    const double half = z * sqrt(z * z + 4 * pass * (1 - p));
    const double middle = 2.0 * pass + z * z, below = 2 * (count + z * z);
    return (struct proportion){
        .value = p,
        .low = pass == 0 ? 0 : (middle - half) / below,
        .high = pass == count ? 1 : (middle + half) / below,
    };
}
