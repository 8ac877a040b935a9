/* build/nothing-lost PART [N]: see lost.h. Exits 1 where anything was lost. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lost.h"

static const struct {
    const char *name;
    int (*run)(long most);
} parts[] = {{"disk", lost_disk},
             {"memory", lost_memory},
             {"kills", lost_kills},
             {"verdicts", lost_verdicts},
             {"process", lost_process}};

int main(int argc, char **argv)
{
    char self[1024];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    for (size_t i = 0; argc > 1 && length > 0 && i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(argv[1], parts[i].name) != 0)
            continue;
        self[length] = '\0';
        const bool opened = lost_open(dirname(self));
        const int lost = opened ? parts[i].run(argc > 2 ? strtol(argv[2], NULL, 10) : 0) : 1;
        lost_close();
        return lost != 0;
    }
    fprintf(stderr,
            "found no part '%s'; expected disk, memory, kills, verdicts or process\n---> build/nothing-lost "
            "disk\n",
            argc > 1 ? argv[1] : "");
    return 2;
}
