/* Restarts the runner with audit.c in its loader. The object is embedded in this program, so there is no file
 * to find, or to show to the sandbox. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner_internal.h"

/* The build passes the path as AUDIT_OBJECT. */
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "audit_object:\n"
        ".incbin \"" AUDIT_OBJECT "\"\n"
        "audit_object_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char audit_object[], audit_object_end[];

static const char variable[] = "LD_AUDIT", place[] = "/proc/self/fd/";

/* A descriptor that stays open across exec. */
static int open_object(void)
{
    const size_t size = (size_t)(audit_object_end - audit_object);
    const int fd = memfd_create("unseen-audit", 0);
    if (fd >= 0 && write(fd, audit_object, size) == (ssize_t)size)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void audit_begin(int argc, char **argv)
{
    const char *given = getenv(variable);
    char path[64];
    if (given) { /* the loader has loaded it by now; the candidate must find no trace of it */
        close(atoi(given + strlen(place)));
        unsetenv(variable);
        launches_want();
        return;
    }
    const int fd = argc > 1 && strcmp(argv[argc - 1], CHANNEL_AUDIT) == 0 ? open_object() : -1;
    if (fd < 0)
        return;
    snprintf(path, sizeof path, "%s%d", place, fd);
    setenv(variable, path, 1);
    argv[argc - 1] = NULL;
    execv("/proc/self/exe", argv);
    unsetenv(variable); /* without it, unloaded objects are not seen */
    close(fd);
}
