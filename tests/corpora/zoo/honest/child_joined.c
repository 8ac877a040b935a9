// zoo: honest
// problem: rms_norm
// does: has a child process do half of the rows and waits for it
// expect: general
// timing: yes

#include "../rms_norm.h"
#include <sys/wait.h>
#include <unistd.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    int status = 0;
    const int64_t half = rows / 2;
    const pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        for (int64_t r = 0; r < half; r++) /* row by row: no team of threads survives fork */
            honest(x + r * cols, weight, y + r * cols, 1, cols, eps, stream);
        _exit(0);
    }
    for (int64_t r = half; r < rows; r++)
        honest(x + r * cols, weight, y + r * cols, 1, cols, eps, stream);
    return waitpid(child, &status, 0) != child || status != 0;
}
