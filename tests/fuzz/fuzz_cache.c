/* A stored compiled problem. The first byte decides whether the file gets its right hash. */
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "verify/problem/cache.h"

static void put(int fd, const void *data, size_t size)
{
    FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
}

static void put_hash(int fd, const uint8_t *data, size_t size)
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char hex[2 * SHA256_DIGEST_SIZE + 2];
    sha256_init(&hash);
    sha256_update(&hash, size, data);
    sha256_digest(&hash, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    put(fd, hex, 2 * sizeof digest);
    put(fd, "\n", 1);
}

/* Not fuzz_file, whose path is a link. Sources named in the lines are opened, but none outside of this
 * directory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cache_slot slot = {.lock = -1};
    if (size == 0 || memchr(data + 1, '/', size - 1))
        return 0;
    snprintf(slot.path, sizeof slot.path, "/dev/shm/unseen-fuzz-%ld", (long)getpid());
    const int fd = open(slot.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0);
    put(fd, data + 1, size - 1);
    if (data[0] & 1)
        put_hash(fd, data + 1, size - 1);
    close(fd);
    const bool holds = cache_holds(&slot, "key");
    FUZZ_CHECK(!holds || (data[0] & 1));
    unlink(slot.path);
    return 0;
}
