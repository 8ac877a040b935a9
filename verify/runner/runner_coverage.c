/* The tracing functions that an instrumented candidate calls (-fsanitize-coverage=trace-pc,trace-cmp). The
 * object finds them here when it is loaded. Without a map they return at once. */
#include <dlfcn.h>
#include <string.h>

#include "coverage_map.h"
#include "runner_internal.h"

static _Atomic(struct coverage_point *) map;
static uint32_t slots;
static uintptr_t loaded_at;

/* The point that this thread reached last. */
static _Thread_local struct coverage_point *pending;

void coverage_attach(void *base, size_t bytes)
{
    Dl_info info;
    void *candidate;
    memcpy(&candidate, &runner.candidate, sizeof candidate);
    if (!candidate || dladdr(candidate, &info) == 0)
        return;
    loaded_at = (uintptr_t)info.dli_fbase;
    slots = 1;
    while (2 * slots * sizeof(struct coverage_point) <= bytes)
        slots *= 2;
    atomic_store(&map, base);
}

/* Finds or takes the point's slot. NULL: there is no map, or it is full near this place. */
static struct coverage_point *point_of(const void *returns_to)
{
    struct coverage_point *const points = atomic_load_explicit(&map, memory_order_acquire);
    const uint32_t place = (uint32_t)((uintptr_t)returns_to - loaded_at);
    for (uint32_t i = 0; points && i < COVERAGE_PROBES; i++) {
        struct coverage_point *const point = &points[coverage_slot(place, i, slots)];
        uint32_t found = __atomic_load_n(&point->place, __ATOMIC_RELAXED);
        if (found == 0 && __atomic_compare_exchange_n(&point->place, &found, place, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED))
            found = place;
        if (found == place) {
            __atomic_store_n(&point->hits, __atomic_load_n(&point->hits, __ATOMIC_RELAXED) + 1,
                             __ATOMIC_RELAXED);
            return point;
        }
    }
    return NULL;
}

static void grow(uint64_t *field, uint64_t value)
{
    uint64_t now = __atomic_load_n(field, __ATOMIC_RELAXED);
    while (value > now &&
           !__atomic_compare_exchange_n(field, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void add_next(struct coverage_point *point, uint32_t place)
{
    for (int i = 0; i < COVERAGE_NEXT; i++) {
        uint32_t found = __atomic_load_n(&point->next[i], __ATOMIC_RELAXED);
        if (found == place)
            return;
        if (found == 0 && (__atomic_compare_exchange_n(&point->next[i], &found, place, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                           found == place))
            return;
    }
}

static void compare(const void *returns_to, int64_t a, int64_t b)
{
    struct coverage_point *const point = pending = point_of(returns_to);
    const uint32_t relation = a < b ? COVERAGE_LESS : a == b ? COVERAGE_EQUAL : COVERAGE_GREATER;
    if (!point)
        return;
    if (!(__atomic_load_n(&point->relations, __ATOMIC_RELAXED) & relation))
        __atomic_fetch_or(&point->relations, relation, __ATOMIC_RELAXED);
    grow(&point->most[0], coverage_rank(a));
    grow(&point->least[0], ~coverage_rank(a));
    grow(&point->most[1], coverage_rank(b));
    grow(&point->least[1], ~coverage_rank(b));
}

/* The names and types are the compiler's. Integers narrower than 64 bits are taken as signed: sizes are
 * small. */
#define TRACE __attribute__((used)) void
#define TRACE_INTEGERS(name, type)                                                                           \
    TRACE name(type a, type b);                                                                              \
    TRACE name(type a, type b)                                                                               \
    {                                                                                                        \
        compare(__builtin_return_address(0), a, b);                                                          \
    }
#define TRACE_REALS(name, type)                                                                              \
    TRACE name(type a, type b);                                                                              \
    TRACE name(type a, type b)                                                                               \
    {                                                                                                        \
        (void)a, (void)b;                                                                                    \
        pending = point_of(__builtin_return_address(0));                                                     \
    }

TRACE_INTEGERS(__sanitizer_cov_trace_cmp1, int8_t)
TRACE_INTEGERS(__sanitizer_cov_trace_cmp2, int16_t)
TRACE_INTEGERS(__sanitizer_cov_trace_cmp4, int32_t)
TRACE_INTEGERS(__sanitizer_cov_trace_cmp8, int64_t)
TRACE_INTEGERS(__sanitizer_cov_trace_const_cmp1, int8_t)
TRACE_INTEGERS(__sanitizer_cov_trace_const_cmp2, int16_t)
TRACE_INTEGERS(__sanitizer_cov_trace_const_cmp4, int32_t)
TRACE_INTEGERS(__sanitizer_cov_trace_const_cmp8, int64_t)
TRACE_REALS(__sanitizer_cov_trace_cmpf, float)
TRACE_REALS(__sanitizer_cov_trace_cmpd, double)

TRACE __sanitizer_cov_trace_pc(void);
TRACE __sanitizer_cov_trace_pc(void)
{
    struct coverage_point *const point = point_of(__builtin_return_address(0)), *const before = pending;
    pending = point;
    if (point && before)
        add_next(before, point->place);
}

/* `table` has the number of values, their size in bits, and the values. */
TRACE __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *table);
TRACE __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *table)
{
    struct coverage_point *const point = point_of(__builtin_return_address(0));
    uint64_t at = 0;
    pending = NULL;
    if (!point)
        return;
    while (at < table[0] && table[2 + at] != value)
        at++;
    __atomic_fetch_or(&point->cases, 1ull << (at < table[0] && at < COVERAGE_CASES ? at : COVERAGE_CASES),
                      __ATOMIC_RELAXED);
    grow(&point->most[0], coverage_rank((int64_t)value));
    grow(&point->least[0], ~coverage_rank((int64_t)value));
}
