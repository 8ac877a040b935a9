#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>
#else
#include <stdlib.h>
#endif

#include "runner_internal.h"
#include "verify/system/clock.h"

enum { LINE = 64, SPILL_BYTES = 64 << 20 };

/* Pointers, extents and the stream are all 64-bit integers to the calling conventions this runs on
 * (System V x86-64, AAPCS64), so that the number of arguments alone names the function's type. */
typedef uint64_t word;

#define W1 word
#define W2 W1, word
#define W3 W2, word
#define W4 W3, word
#define W5 W4, word
#define W6 W5, word
#define W7 W6, word
#define W8 W7, word
#define W9 W8, word
#define W10 W9, word
#define W11 W10, word
#define W12 W11, word
#define W13 W12, word
#define W14 W13, word
#define W15 W14, word
#define W16 W15, word
#define W17 W16, word

#define A1 a[0]
#define A2 A1, a[1]
#define A3 A2, a[2]
#define A4 A3, a[3]
#define A5 A4, a[4]
#define A6 A5, a[5]
#define A7 A6, a[6]
#define A8 A7, a[7]
#define A9 A8, a[8]
#define A10 A9, a[9]
#define A11 A10, a[10]
#define A12 A11, a[11]
#define A13 A12, a[12]
#define A14 A13, a[13]
#define A15 A14, a[14]
#define A16 A15, a[15]
#define A17 A16, a[16]

#define CALL(n)                                                                                              \
    case n: return ((int (*)(W##n))candidate)(A##n)

static int call_words(void (*candidate)(void), const word *a, unsigned count)
{
    switch (count) {
        CALL(1);
        CALL(2);
        CALL(3);
        CALL(4);
        CALL(5);
        CALL(6);
        CALL(7);
        CALL(8);
        CALL(9);
        CALL(10);
        CALL(11);
        CALL(12);
        CALL(13);
        CALL(14);
        CALL(15);
        CALL(16);
        CALL(17);
    }
    return -1;
}

int call_candidate(const struct request *request, void *stream)
{
    word argument[CHANNEL_TENSORS + CHANNEL_EXTENTS + 1];
    unsigned count = 0;
    for (uint32_t i = 0; i < request->tensors; i++)
        argument[count++] = (uintptr_t)(runner.slot[i].base + request->offset[i]);
    for (uint32_t i = 0; i < request->extents; i++)
        argument[count++] = (word)request->extent[i];
    argument[count++] = (uintptr_t)stream;
    return call_words(runner.candidate, argument, count);
}

double call_clock_ms(void)
{
    return clock_seconds() * 1e3;
}

#if defined(__x86_64__) || defined(__i386__)

__attribute__((target("clflushopt"))) static void flush_fast(const char *p, const char *end)
{
    for (; p < end; p += LINE)
        _mm_clflushopt((void *)p);
}

static void flush_plain(const char *p, const char *end)
{
    for (; p < end; p += LINE)
        _mm_clflush(p);
}

static bool has_clflushopt(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 23);
}

/* Every sample starts with the tensors in memory and in no cache. */
static void flush_tensors(uint32_t tensors)
{
    bool fast = has_clflushopt();
    for (uint32_t i = 0; i < tensors; i++) {
        const struct slot *slot = &runner.slot[i];
        (fast ? flush_fast : flush_plain)(slot->base, slot->base + slot->mapped);
    }
    _mm_mfence();
}

#else

/* No portable way to drop a cache line: push the tensors out with other data. */
static void flush_tensors(uint32_t tensors)
{
    static char *spill;
    static char mark;
    (void)tensors;
    if (!spill)
        spill = malloc(SPILL_BYTES);
    if (spill)
        memset(spill, ++mark, SPILL_BYTES);
    __asm__ volatile("" : : "r"(spill) : "memory");
}

#endif

void call_time_host(const struct request *request, struct reply *reply)
{
    reply->kind = REPLY_RETURNED;
    for (uint32_t i = 0; i < request->samples; i++) {
        fault_arm();
        flush_tensors(request->tensors);
        double start = call_clock_ms();
        reply->value = call_candidate(request, NULL);
        double stop = call_clock_ms();
        if (reply->value != 0)
            return;
        reply->event_ms[i] = reply->wall_ms[i] = stop - start;
        reply->samples = i + 1;
    }
}
