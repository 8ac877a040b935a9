#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gen/inputs/fill.h"
#include "fingerprint.h"
#include "memory.h"

uint32_t memory_filler(enum dtype dtype, enum filler filler)
{
    const struct dtype_row *row = dtype_row(dtype);
    const uint32_t sign = row->bits == 4 ? 0x88888888u : row->bits == 8 ? 0x80808080u : 0x80008000u;
    if (filler == FILLER_NAN || !dtype_is_float(dtype))
        return row->poison;
    return filler == FILLER_HIGH ? row->high : row->high | sign;
}

uint32_t memory_poison_element(enum dtype dtype)
{
    const struct dtype_row *row = dtype_row(dtype);
    return row->bits < 32 ? row->poison & ((1u << row->bits) - 1) : row->poison;
}

/* Uses huge pages for large allocations: a page fault every 4 KiB would cost more than the copy that causes
 * it. */
static int host_take(void **out, size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    if (bytes < 2 * huge) {
        *out = malloc(bytes ? bytes : 1);
        return *out ? 0 : ENOMEM;
    }
    *out = aligned_alloc(huge, (bytes + huge - 1) / huge * huge);
    if (*out)
        madvise(*out, bytes, MADV_HUGEPAGE);
    return *out ? 0 : ENOMEM;
}

/* Threads share the work in pieces: besides copying, the first touch of a page clears it. */
enum { PIECE = 1 << 20 };

static size_t piece_bytes(size_t bytes, size_t at)
{
    return bytes - at < PIECE ? bytes - at : PIECE;
}

static int host_copy(void *to, const void *from, size_t bytes)
{
#pragma omp parallel for schedule(static) if (bytes > 4 * (size_t)PIECE)
    for (size_t at = 0; at < bytes; at += PIECE)
        memcpy((char *)to + at, (const char *)from + at, piece_bytes(bytes, at));
    return 0;
}

static int host_to_host(void *to, const void *from, int64_t offset, int64_t bytes)
{
    memcpy(to, (const char *)from + offset, (size_t)bytes);
    return 0;
}

static int host_gather(const struct reference_piece *piece, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(piece[i].to, piece[i].from, (size_t)piece[i].bytes);
    return 0;
}

static int host_fill(const struct problem *problem, const struct instance *instance, int tensor,
                     uint64_t seed, int content, void *out)
{
    fill_host(problem, instance, tensor, seed, content, out);
    return 0;
}

static unsigned char poison_byte(uintptr_t address, uint32_t word)
{
    return (unsigned char)(word >> 8 * (address & 3));
}

static int host_poison(void *memory, size_t bytes, uint32_t word)
{
    enum { PATTERN = 4096 }; /* copied again and again, since memcpy is faster than a loop over words */
    unsigned char *p = memory;
    const size_t first = bytes < PATTERN ? bytes : PATTERN;
    for (size_t i = 0; i < first; i++)
        p[i] = poison_byte((uintptr_t)(p + i), word);
    for (size_t i = first; i < bytes; i += PATTERN)
        memcpy(p + i, p, bytes - i < PATTERN ? bytes - i : PATTERN);
    return 0;
}

/* Memory that begins with the poison and equals itself four bytes further on is all poison. */
static int64_t find_unpoisoned(const void *memory, size_t bytes, uint32_t word)
{
    enum { WORD = 4, LONG = 64 };
    const unsigned char *p = memory;
    if (bytes > LONG && find_unpoisoned(p, WORD, word) < 0 && memcmp(p, p + WORD, bytes - WORD) == 0)
        return -1;
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != poison_byte((uintptr_t)(p + i), word))
            return (int64_t)i;
    return -1;
}

static int64_t find_unpoisoned_gap(const struct memory_search *s)
{
    for (size_t at = s->row; at < s->bytes; at += s->pitch) {
        const size_t gap = s->bytes - at < s->pitch - s->row ? s->bytes - at : s->pitch - s->row;
        const int64_t first = find_unpoisoned((const char *)s->memory + at, gap, s->word);
        if (first >= 0)
            return first + (int64_t)at;
    }
    return -1;
}

static int64_t find_difference(const void *a, const void *b, size_t bytes)
{
    const unsigned char *p = a, *q = b;
    bool differ = false;
#pragma omp parallel for schedule(static) reduction(|| : differ) if (bytes > 4 * (size_t)PIECE)
    for (size_t at = 0; at < bytes; at += PIECE)
        differ = differ || memcmp(p + at, q + at, piece_bytes(bytes, at)) != 0;
    for (size_t i = 0; differ && i < bytes; i++)
        if (p[i] != q[i])
            return (int64_t)i;
    return -1;
}

static int host_search(struct memory_search *list, int count)
{
    for (struct memory_search *s = list; s < list + count; s++)
        s->first = s->other   ? find_difference(s->memory, s->other, s->bytes)
                   : s->pitch ? find_unpoisoned_gap(s)
                              : find_unpoisoned(s->memory, s->bytes, s->word);
    return 0;
}

static int host_finish(void)
{
    return 0;
}

/* Sums words in little-endian order, as on every supported host and GPU. `first` is the index of the first
 * word. */
static uint64_t sum_words(const unsigned char *p, size_t bytes, uint64_t first, uint64_t key)
{
    uint64_t sum = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        sum += fingerprint_mix(word, first++, key);
    }
    word = 0;
    memcpy(&word, p + i, bytes - i);
    return i < bytes ? sum + fingerprint_mix(word, first, key) : sum;
}

static int host_fingerprint(const void *memory, size_t bytes, uint64_t key, uint64_t *sum)
{
    uint64_t all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all) if (bytes > 4 * (size_t)PIECE)
    for (size_t at = 0; at < bytes; at += PIECE)
        all += sum_words((const unsigned char *)memory + at, piece_bytes(bytes, at), at / sizeof all, key);
    *sum = all;
    return 0;
}

/* The kernel's estimate of memory available without swapping. */
static size_t host_available(void)
{
    char line[128];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes ? (size_t)kilobytes * 1024 : (size_t)1 << 30;
}

static const char *host_explain(int error)
{
    return strerror(error);
}

static bool host_is_shortage(int error)
{
    return error == ENOMEM;
}

static const struct memory memory_host = {
    .take = host_take,
    .release = free,
    .copy = host_copy,
    .to_host = host_to_host,
    .gather = host_gather,
    .from_host = host_copy,
    .fill = host_fill,
    .poison = host_poison,
    .search = host_search,
    .finish = host_finish,
    .fingerprint = host_fingerprint,
    .available = host_available,
    .explain = host_explain,
    .is_shortage = host_is_shortage,
};

const struct memory *memory_of(enum backend backend)
{
#ifdef HAVE_CUDA
    if (backend == BACKEND_CUDA)
        return &memory_cuda;
#endif
    return backend == BACKEND_HOST ? &memory_host : NULL;
}
