#include "runner_hold.h"

#include <string.h>

#ifdef HAVE_CUDA

struct hold_flags {
    volatile uint32_t release, ended; /* each holds the number of a turn */
    uint32_t turn;
    uint32_t word[CHANNEL_TENSORS][HOLD_WORDS];
};

/* Spins until flags[0] equals its turn, or the global timer has advanced by the limit; then sets flags[1]. */
static const char hold_ptx[] =
    ".version 6.4\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry unseen_hold(.param .u64 flags, .param .u32 turn, .param .u64 limit)\n"
    "{\n"
    "    .reg .u64 %flags, %limit, %begin, %now, %passed;\n"
    "    .reg .u32 %turn, %released;\n"
    "    .reg .pred %done, %more;\n"
    "    ld.param.u64 %flags, [flags];\n"
    "    ld.param.u32 %turn, [turn];\n"
    "    ld.param.u64 %limit, [limit];\n"
    "    mov.u64 %begin, %globaltimer;\n"
    "SPIN:\n"
    "    ld.volatile.global.u32 %released, [%flags];\n"
    "    setp.eq.u32 %done, %released, %turn;\n"
    "    @%done bra END;\n"
    "    mov.u64 %now, %globaltimer;\n"
    "    sub.u64 %passed, %now, %begin;\n"
    "    setp.lt.u64 %more, %passed, %limit;\n"
    "    @%more bra SPIN;\n"
    "END:\n"
    "    st.volatile.global.u32 [%flags+4], %turn;\n"
    "    membar.sys;\n"
    "    ret;\n"
    "}\n";

CUresult hold_open(struct hold *hold, const struct driver *driver, const char **failed)
{
    CUmodule module;
    void *memory = NULL;
    if (hold->kernel)
        return CUDA_SUCCESS;
    hold->driver = driver;
    *failed = "cuStreamCreate";
    CUresult result = driver->stream_create(&hold->beside, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return result;
    *failed = "cuMemHostAlloc";
    result = driver->mem_host_alloc(&memory, sizeof *hold->flags,
                                    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    if (result != CUDA_SUCCESS)
        return result;
    hold->flags = memory;
    memset(memory, 0, sizeof *hold->flags);
    *failed = "cuModuleLoadData of the kernel that holds the stream";
    result = driver->module_load_data(&module, hold_ptx);
    if (result != CUDA_SUCCESS)
        return result;
    *failed = "cuModuleGetFunction of the kernel that holds the stream";
    return driver->module_get_function(&hold->kernel, module, "unseen_hold");
}

CUresult hold_begin(struct hold *hold, CUstream stream, uint64_t ns)
{
    uint64_t flags = (uint64_t)(uintptr_t)hold->flags;
    uint32_t turn = ++hold->flags->turn;
    void *arguments[] = {&flags, &turn, &ns};
    return hold->driver->launch_kernel(hold->kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

void hold_end(struct hold *hold)
{
    hold->flags->release = hold->flags->turn;
}

bool hold_lasts(const struct hold *hold)
{
    return hold->flags->ended != hold->flags->turn;
}

/* Samples words evenly spaced over the mapping. */
static CUresult look_at(struct hold *hold, const struct slot *slot, uint32_t *words)
{
    const size_t step = slot->mapped / HOLD_WORDS / sizeof *words * sizeof *words;
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = (CUdeviceptr)(uintptr_t)slot->base,
                                .srcPitch = step,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = words,
                                .dstPitch = sizeof *words,
                                .WidthInBytes = sizeof *words,
                                .Height = HOLD_WORDS};
    return hold->driver->memcpy_2d_async(&copy, hold->beside);
}

CUresult hold_look(struct hold *hold, const struct request *request, struct hold_look *look)
{
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < request->tensors && result == CUDA_SUCCESS; i++)
        result = look_at(hold, &runner.slot[request->set * CHANNEL_TENSORS + i], hold->flags->word[i]);
    if (result == CUDA_SUCCESS)
        result = hold->driver->stream_synchronize(hold->beside);
    memcpy(look->word, hold->flags->word, sizeof look->word);
    return result;
}

#endif
