#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

void fuzz_error(const char *text)
{
    FUZZ_CHECK(*text && strstr(text, "\n---> ") != NULL);
}

void fuzz_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        FUZZ_CHECK(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
}
