#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>
#else
#include <stdlib.h>
#endif

#include "invoke.h"
#include "runner_internal.h"
#include "verify/system/clock.h"
#include "verify/system/defence.h"

enum { LINE = 64, SPILL_BYTES = 64 << 20 };

static struct invocation invocation; /* off the stack, where an overrun of a local array would land */

bool call_prepare(const struct request *request, void *stream)
{
    invoke_begin(&invocation, runner.candidate);
    for (uint32_t i = 0; i < request->tensors; i++)
        invoke_pointer(&invocation,
                       runner.slot[request->set * CHANNEL_TENSORS + i].base + request->offset[i]);
    for (uint32_t i = 0; i < request->arguments; i++)
        invoke_argument(&invocation, &request->argument[i]);
    invoke_pointer(&invocation, stream);
    return invoke_ready(&invocation);
}

int call_candidate(void)
{
    return invoke_call(&invocation);
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

/* Every call starts with the tensors in memory and in no cache. */
static void flush_tensors(const struct request *request)
{
    bool fast = has_clflushopt();
    for (uint32_t i = 0; i < request->tensors; i++) {
        const struct slot *slot = &runner.slot[request->set * CHANNEL_TENSORS + i];
        (fast ? flush_fast : flush_plain)(slot->base, slot->base + slot->mapped);
    }
    _mm_mfence();
}

#else

/* No portable way to drop a cache line: push the tensors out with other data. */
static void flush_tensors(const struct request *request)
{
    static char *spill;
    static char mark;
    (void)request;
    if (!spill)
        spill = malloc(SPILL_BYTES);
    if (spill)
        memset(spill, ++mark, SPILL_BYTES);
    __asm__ volatile("" : : "r"(spill) : "memory");
}

#endif

void call_host(const struct request *request, struct reply *reply)
{
    if (defence_is_on(DEFENCE_FLUSH))
        flush_tensors(request);
    const double start = call_clock_ms();
    reply->value = call_candidate();
    reply->event_ms = reply->wall_ms = call_clock_ms() - start;
    reply->kind = REPLY_RETURNED;
}
