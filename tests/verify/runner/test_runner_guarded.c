/* A module's own allocations on a GPU, between guards (verify/runner/runner_guarded.c). The driver here is
 * made of this process's memory, so that it runs without a device. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <check.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "skip.h"
#include "suites.h"

#ifndef HAVE_CUDA

START_TEST(own_allocations)
{
    SKIP_TEST("built without CUDA");
}
END_TEST

TCase *python_own_case(void)
{
    TCase *tests = tcase_create("own allocations");
    tcase_add_test(tests, own_allocations);
    return tests;
}

#else

#include "verify/device/driver.h"

static const struct driver *memory_driver(char *error, size_t error_size);
#define driver_get memory_driver
#define device_stream no_stream
#define unseen_own_alloc tested_alloc
#define unseen_own_free tested_free
#define own_excuse tested_excuse
#define own_settle tested_settle
#define own_release tested_release
#define runner tested_runner
static void *no_stream(void);
#include "verify/runner/runner_guarded.c"
struct runner runner = {.own = true};

enum { GRANULE = 1 << 21 };

static struct {
    bool captures, is_poor; /* a stream is being captured; only freed memory is left */
    bool has_failed;        /* a kernel has faulted, which any later work reports */
    bool has_no_stream;
    CUstream filled, waited; /* the stream that filled a block last, and the one that was waited for */
    int waits, unmapped;
} machine;

static void *no_stream(void)
{
    return NULL;
}

static CUresult granularity(size_t *granule, const CUmemAllocationProp *wanted,
                            CUmemAllocationGranularity_flags flags)
{
    (void)wanted, (void)flags;
    *granule = GRANULE;
    return CUDA_SUCCESS;
}

static CUresult create(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *wanted,
                       unsigned long long flags)
{
    (void)bytes, (void)wanted, (void)flags;
    *handle = 1;
    return machine.is_poor && machine.unmapped == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult let_go(CUmemGenericAllocationHandle handle)
{
    (void)handle;
    return CUDA_SUCCESS;
}

static CUresult reserve_addresses(CUdeviceptr *at, size_t bytes, size_t align, CUdeviceptr wish,
                                  unsigned long long flags)
{
    (void)align, (void)wish, (void)flags;
    /* as far apart as a device's are: whole granules */
    char *const all =
        mmap(NULL, bytes + GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *at = ((CUdeviceptr)(uintptr_t)all + GRANULE - 1) / GRANULE * GRANULE;
    return all == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult forget_addresses(CUdeviceptr at, size_t bytes)
{
    (void)at, (void)bytes;
    return CUDA_SUCCESS;
}

static CUresult map_memory(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                           unsigned long long flags)
{
    (void)at, (void)bytes, (void)offset, (void)handle, (void)flags;
    return CUDA_SUCCESS;
}

static CUresult unmap_memory(CUdeviceptr at, size_t bytes)
{
    machine.unmapped++;
    return mprotect((void *)(uintptr_t)at, bytes, PROT_NONE) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult open_memory(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    (void)access, (void)count;
    return mprotect((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE) ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
}

static CUresult set_words(CUdeviceptr at, unsigned value, size_t words, CUstream stream)
{
    machine.filled = stream;
    if (machine.has_failed)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t i = 0; i < words; i++)
        ((uint32_t *)(uintptr_t)at)[i] = value;
    return CUDA_SUCCESS;
}

static CUresult copy_back(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    (void)stream;
    memcpy(copy->dstHost, (const void *)(uintptr_t)copy->srcDevice, copy->WidthInBytes);
    return CUDA_SUCCESS;
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = machine.captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult exchange_mode(CUstreamCaptureMode *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

static CUresult wait_for_all(void)
{
    machine.waits++;
    return CUDA_SUCCESS;
}

static CUresult wait_for(CUstream stream)
{
    machine.waited = stream;
    return CUDA_SUCCESS;
}

static CUresult make_stream(CUstream *stream, unsigned flags)
{
    ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING); /* work of the default stream does not matter */
    *stream = (CUstream)&machine;
    return machine.has_no_stream ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static const struct driver *memory_driver(char *error, size_t error_size)
{
    static const struct driver driver = {.mem_granularity = granularity,
                                         .mem_create = create,
                                         .mem_release = let_go,
                                         .mem_address_reserve = reserve_addresses,
                                         .mem_address_free = forget_addresses,
                                         .mem_map = map_memory,
                                         .mem_unmap = unmap_memory,
                                         .mem_set_access = open_memory,
                                         .memset_d32_async = set_words,
                                         .memcpy_2d_async = copy_back,
                                         .stream_is_capturing = is_capturing,
                                         .thread_exchange_capture_mode = exchange_mode,
                                         .ctx_synchronize = wait_for_all,
                                         .stream_create = make_stream,
                                         .stream_synchronize = wait_for};
    (void)error, (void)error_size;
    return &driver;
}

/* 700 numbers, as torch would ask for them; the last 272 bytes belong to the guard. */
enum { BYTES = 2800, LEFT = 272 };

static unsigned char *allocate(void)
{
    unsigned char *const memory = tested_alloc(BYTES, 0, NULL);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

/* Can it be read? The kernel answers without a fault. */
static bool is_open(const volatile void *at)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const bool open = write(ends[1], (const void *)at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return open;
}

static struct reply settled(void)
{
    struct reply reply = {.kind = REPLY_RETURNED};
    tested_settle(&reply);
    return reply;
}

START_TEST(a_block_is_aligned_holds_nan_and_lies_between_guards)
{
    unsigned char *const memory = allocate();
    ck_assert_uint_eq((uintptr_t)memory % 512, 0);
    ck_assert_uint_eq((uintptr_t)(memory + BYTES + LEFT) % GRANULE, 0);
    for (int i = 0; i < BYTES; i++)
        ck_assert_uint_eq(memory[i], 0xff);
    memset(memory, 1, BYTES);
    ck_assert_uint_eq(settled().kind, REPLY_RETURNED);
    ck_assert(is_open(memory + BYTES + LEFT - 1));
    ck_assert(!is_open(memory + BYTES + LEFT) && !is_open(memory + OWN_GUARD));
    ck_assert(!is_open(memory - GRANULE) && !is_open(memory - OWN_GUARD));
}
END_TEST

/* The candidate's stream may differ from the first one that uses a block. */
START_TEST(a_block_is_filled_before_it_is_handed_out)
{
    static int theirs;
    machine.has_no_stream = _i == 1;
    ck_assert_ptr_nonnull(tested_alloc(BYTES, 0, &theirs));
    ck_assert_ptr_eq(machine.filled, _i == 1 ? (CUstream)&theirs : (CUstream)&machine);
    ck_assert_ptr_eq(machine.waited, _i == 1 ? NULL : (CUstream)&machine);
}
END_TEST

START_TEST(a_write_between_a_block_and_its_guard_is_found)
{
    static const int places[] = {BYTES, BYTES + LEFT - 1, -1, -8192};
    allocate()[places[_i]] = 0;
    const struct reply reply = settled();
    ck_assert_uint_eq(reply.kind, REPLY_DEVICE_ERROR);
    ck_assert_int_eq(reply.value, CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_str_eq(reply.text, _i < 2
                                     ? "it wrote after the 2800 bytes of a tensor that it allocated itself"
                                     : "it wrote before the 2800 bytes of a tensor that it allocated itself");
}
END_TEST

/* Work that was queued before may still use the block. */
START_TEST(what_is_freed_stays_until_the_device_is_at_rest)
{
    unsigned char *const freed = allocate(), *const used = allocate();
    tested_free(freed, BYTES, 0, NULL);
    freed[0] = 1;
    ck_assert_int_eq(machine.unmapped, 0);
    ck_assert_uint_eq(settled().kind, REPLY_RETURNED);
    ck_assert_int_eq(machine.unmapped, 1);
    ck_assert(is_open(used) && !is_open(freed));
    tested_free(used, BYTES, 0, NULL);
    tested_release();
    ck_assert(!is_open(used));
}
END_TEST

START_TEST(what_a_capture_allocates_stays_for_its_replays)
{
    machine.captures = true;
    unsigned char *const memory = allocate();
    machine.captures = false;
    ck_assert_uint_eq(memory[0], 0); /* poison would have become part of the graph */
    memory[BYTES] = 1;
    tested_free(memory, BYTES, 0, NULL);
    ck_assert_uint_eq(settled().kind, REPLY_RETURNED);
    memory[0] = 1;
    ck_assert_int_eq(machine.unmapped, 0);
}
END_TEST

START_TEST(what_was_freed_is_given_back_where_memory_is_short)
{
    unsigned char *const freed = allocate();
    tested_free(freed, BYTES, 0, NULL);
    machine.is_poor = true;
    allocate();
    ck_assert_int_eq(machine.waits, 1);
    ck_assert_int_eq(machine.unmapped, 1);
    ck_assert_uint_eq(settled().kind, REPLY_RETURNED);
}
END_TEST

/* torch passes NULL on, and the kernel with it faults: the candidate is not the reason. */
START_TEST(want_of_memory_is_a_refusal_whatever_came_of_it)
{
    struct reply reply = {.kind = REPLY_DEVICE_ERROR, .value = CUDA_ERROR_ILLEGAL_ADDRESS};
    machine.is_poor = true;
    ck_assert_ptr_null(tested_alloc(BYTES, 0, NULL));
    tested_settle(&reply);
    ck_assert_uint_eq(reply.kind, REPLY_RETURNED);
    ck_assert_int_eq(reply.value, RETURNED_SHORT);
}
END_TEST

/* Its constructor runs before the call, and nothing is settled after it. */
START_TEST(want_of_memory_is_one_before_the_call_too)
{
    struct reply reply = {.kind = REPLY_DEVICE_ERROR, .value = CUDA_ERROR_ILLEGAL_ADDRESS};
    allocate();
    ck_assert(!tested_excuse(&reply));
    ck_assert_uint_eq(reply.kind, REPLY_DEVICE_ERROR);
    machine.is_poor = true;
    ck_assert_ptr_null(tested_alloc(BYTES, 0, NULL));
    ck_assert(tested_excuse(&reply));
    ck_assert_uint_eq(reply.kind, REPLY_RETURNED);
    ck_assert_int_eq(reply.value, RETURNED_SHORT);
}
END_TEST

/* Also where the candidate asks for memory after it: nothing is wrong but the device. */
START_TEST(a_fault_of_the_device_stays_one)
{
    struct reply reply = {
        .kind = REPLY_DEVICE_ERROR, .value = CUDA_ERROR_ILLEGAL_ADDRESS, .text = "its words"};
    allocate();
    machine.has_failed = true;
    ck_assert_ptr_null(tested_alloc(BYTES, 0, NULL));
    ck_assert_int_eq(machine.unmapped, 1); /* nothing is left of it */
    tested_settle(&reply);
    ck_assert_uint_eq(reply.kind, REPLY_DEVICE_ERROR);
    ck_assert_str_eq(reply.text, "its words");
}
END_TEST

TCase *python_own_case(void)
{
    TCase *tests = tcase_create("own allocations");
    tcase_add_test(tests, a_block_is_aligned_holds_nan_and_lies_between_guards);
    tcase_add_loop_test(tests, a_block_is_filled_before_it_is_handed_out, 0, 2);
    tcase_add_loop_test(tests, a_write_between_a_block_and_its_guard_is_found, 0, 4);
    tcase_add_test(tests, what_is_freed_stays_until_the_device_is_at_rest);
    tcase_add_test(tests, what_a_capture_allocates_stays_for_its_replays);
    tcase_add_test(tests, what_was_freed_is_given_back_where_memory_is_short);
    tcase_add_test(tests, want_of_memory_is_a_refusal_whatever_came_of_it);
    tcase_add_test(tests, want_of_memory_is_one_before_the_call_too);
    tcase_add_test(tests, a_fault_of_the_device_stays_one);
    return tests;
}

#endif
