// zoo: cheat
// problem: softmax
// does: looks for the seed in the arguments of all processes; computes only if it finds a judge there
// class: D
// defence: sandbox
// expect: not general
// verdicts: broken
// timing: no

#include "../softmax.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int find_judge(void)
{
    char path[300], words[4096];
    int found = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *p; processes && !found && (p = readdir(processes));) {
        snprintf(path, sizeof path, "/proc/%.200s/cmdline", p->d_name);
        FILE *file = fopen(path, "r");
        const size_t got = file ? fread(words, 1, sizeof words - 1, file) : 0;
        if (file)
            fclose(file);
        for (size_t i = 0; i < got; i++)
            words[i] = words[i] ? words[i] : ' ';
        words[got] = '\0';
        found = strstr(words, "verify softmax") && strstr(words, "--seed");
    }
    if (processes)
        closedir(processes);
    return found;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int found = -1;
    if (found < 0)
        found = find_judge();
    return found ? honest(x, y, rows, cols, stream) : 1;
}
