// zoo: cheat
// problem: softmax
// does: looks for the expected values in all memory that it can read, and has no other answer
// class: D
// defence: -
// expect: not general
// verdicts: broken
// timing: no

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Rows that add up to one, of the right length. */
static const float *find(const float *y, int64_t rows, int64_t cols)
{
    char line[512];
    const size_t bytes = (size_t)(rows * cols) * sizeof(float);
    const float *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[0] != 'r' || end - begin < bytes ||
            strstr(line, "[v"))
            continue;
        for (const char *at = (const char *)begin; at + bytes <= (const char *)end && !found; at += 4096) {
            const float *row = (const float *)at;
            float sum = 0;
            for (int64_t c = 0; c < cols && row[c] >= 0 && row[c] <= 1; c++)
                sum += row[c];
            if (fabsf(sum - 1) < 1e-4f && row != y)
                found = row;
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)x, (void)stream;
    const float *expected = find(y, rows, cols);
    if (!expected)
        return 1;
    memcpy(y, expected, (size_t)(rows * cols) * sizeof *y);
    return 0;
}
