#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region_internal.h"

enum { CHECK_FROM = 64 << 20, KEEP_FREE = 256 << 20 }; /* bytes */

/* The number after `key` in a small text file, in bytes if the file says kB; -1 if it is missing. */
static long long read_number(const char *path, const char *key, long long unit)
{
    char line[128];
    long long value = -1;
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    while (value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lld", &value) == 1)
            value *= unit;
    fclose(file);
    return value;
}

/* Memory that can be allocated without the OOM killer, which would end this process instead of failing the
 * allocation: the kernel's overcommit check does not cover shared memory. */
static long long memory_available(void)
{
    long long available = read_number("/proc/meminfo", "MemAvailable:", 1024);
    long long limit = read_number("/sys/fs/cgroup/memory.max", "", 1);
    long long used = read_number("/sys/fs/cgroup/memory.current", "", 1);
    if (limit >= 0 && used >= 0 && (available < 0 || limit - used < available))
        available = limit > used ? limit - used : 0;
    return available;
}

static int refuse(struct region *region, int reason, const char *what, char *error, size_t error_size)
{
    snprintf(error, error_size,
             "no memory for a tensor of %zu bytes: %s: %s\n"
             "---> lower the contract's limits, or use a machine with more memory",
             region->bytes, what, strerror(reason));
    errno = reason;
    return -1;
}

static int allocate(struct region *region, char *error, size_t error_size)
{
    int status;
    if (ftruncate(region->fd, (off_t)region->mapped))
        return refuse(region, errno == EFBIG || errno == EINVAL ? ENOMEM : errno, "ftruncate", error,
                      error_size);
    do
        status = posix_fallocate(region->fd, 0, (off_t)region->mapped);
    while (status == EINTR);
    if (status)
        return refuse(region, status == ENOSPC || status == EFBIG ? ENOMEM : status, "posix_fallocate", error,
                      error_size);
    /* A receiver of the descriptor must not shrink the file under this process's mapping. */
    fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return 0;
}

int region_host_create(struct region *region, char *error, size_t error_size)
{
    region->mapped = region_round(region_least(region), (size_t)sysconf(_SC_PAGESIZE));
    if (region->mapped == 0 || region->mapped > PTRDIFF_MAX)
        return refuse(region, ENOMEM, "the size overflows", error, error_size);
    if (region->mapped >= CHECK_FROM) {
        long long available = memory_available();
        if (available >= 0 && (long long)region->mapped > available - KEEP_FREE)
            return refuse(region, ENOMEM, "more than what is available", error, error_size);
    }
    region->fd = memfd_create("unseen-tensor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (region->fd < 0)
        return refuse(region, errno, "memfd_create", error, error_size);
    if (allocate(region, error, error_size))
        return -1;
    void *base = mmap(NULL, region->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);
    if (base == MAP_FAILED)
        return refuse(region, errno, "mmap", error, error_size);
    region->base = base;
    return 0;
}

void region_host_destroy(struct region *region)
{
    if (region->base)
        munmap(region->base, region->mapped);
}
