/* One verdict after the other: the numbers of files, processes, shared memory and descriptors stay the
 * same. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lost.h"

enum { MANY = 1000, SECONDS = 120 };

static int count_entries(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

struct held {
    int shared, here, descriptors, locks;
    long device_mib; /* of the memory of GPUs, of all processes; 0 on the host */
};

static long device_memory(void)
{
    long sum = 0, mib;
    FILE *out = strcmp(lost_device(), "host") == 0
                    ? NULL
                    : popen("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits", "re");
    while (out && fscanf(out, "%ld", &mib) == 1)
        sum += mib;
    if (out)
        pclose(out);
    return sum;
}

static struct held look(void)
{
    return (struct held){.shared = count_entries("/dev/shm"),
                         .here = count_entries("."),
                         .descriptors = count_entries("/proc/self/fd"),
                         .locks = count_entries("/run/lock"),
                         .device_mib = device_memory()};
}

int lost_verdicts(long most)
{
    const long many = most > 0 ? most : MANY;
    const int candidates = many > 1 ? LOST_CANDIDATES : 1;
    for (int c = 0; c < candidates; c++)
        if (lost_undisturbed(c, false) < 0)
            return lost_complaints();
    const struct held before = look();
    double seconds = 0, longest = 0;
    long largest_kb[2] = {0, 0}; /* of the first tenth, and of all */
    for (long i = 0; i < many; i++) {
        const struct lost_how how = {.candidate = i % candidates};
        int errors;
        const pid_t pid = lost_start(&how, &errors);
        struct lost_run run = lost_wait(pid, errors, SECONDS);
        const char *wrong = lost_same(&how, &run);
        if (!wrong)
            wrong = lost_no_process();
        if (!wrong)
            wrong = lost_no_file(false);
        if (wrong)
            lost_complain("verdicts", i, &run, wrong);
        struct rusage usage;
        getrusage(RUSAGE_CHILDREN, &usage);
        largest_kb[1] = usage.ru_maxrss;
        if (i <= many / 10)
            largest_kb[0] = usage.ru_maxrss;
        seconds += run.seconds;
        longest = run.seconds > longest ? run.seconds : longest;
        lost_forget(&run);
    }
    const struct held after = look();
    if (after.here != before.here)
        lost_complain("verdicts", many, NULL, "files are left");
    if (after.device_mib > before.device_mib && !getenv("LOST_BESIDE"))
        lost_complain("verdicts", many, NULL, "GPU memory is left");
    if (after.descriptors != before.descriptors)
        lost_complain("verdicts", many, NULL, "descriptors are left");
    printf(
        "verdicts: %ld, %.0f s (longest %.1f s); files here %d before and %d after, in /dev/shm %d and %d, "
        "in /run/lock %d and %d; MiB of GPU memory %ld and %ld; largest process %ld KiB in the first tenth "
        "and %ld KiB in all; %d complaints\n",
        many, seconds, longest, before.here, after.here, before.shared, after.shared, before.locks,
        after.locks, before.device_mib, after.device_mib, largest_kb[0], largest_kb[1], lost_complaints());
    return lost_complaints();
}
