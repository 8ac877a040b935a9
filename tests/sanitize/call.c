/* Calls a candidate once in this very process, on plain device allocations, for compute-sanitizer. That tool
 * sees neither another process's launches nor memory mapped from elsewhere.
 *
 *     compute-sanitizer --tool racecheck build/unseen-call softmax problems/softmax/fast.cu \
 *         'rows=7 cols=1031'
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/build/build.h"
#include "verify/sandbox/sandbox.h"
#include "verify/device/device.h"
#include "verify/device/memory.h"
#include "verify/runner/invoke.h"

#ifdef HAVE_CUDA
#include <cuda_runtime_api.h>

static void die(const char *text)
{
    fprintf(stderr, "unseen-call: %s\n", text);
    exit(3);
}

/* Tensors filled like a session's, outputs poisoned, then the arguments, then the null stream. */
static void prepare(const struct config *config, struct invocation *invocation)
{
    const struct memory *memory = memory_of(BACKEND_CUDA);
    const struct problem *problem = config->problem;
    struct instance instance;
    if (config_instantiate(config, 0, &instance) != 0)
        die("out of memory");
    for (int t = 0; problem->tensors[t].name; t++) {
        const size_t bytes =
            (size_t)dtype_bytes(problem->tensors[t].dtype, instance_tensor_span(&instance.tensor[t]));
        void *tensor;
        if (cudaMalloc(&tensor, bytes))
            die("out of GPU memory");
        memory->poison(tensor, bytes, dtype_row(problem->tensors[t].dtype)->poison);
        if (problem->tensors[t].role != TENSOR_OUTPUT)
            memory->fill(problem, &instance, t, config->seed, 0, tensor);
        invoke_pointer(invocation, tensor);
    }
    for (int i = 0; problem->arguments[i].name; i++) {
        const struct channel_argument argument = argument_of(problem, &instance, i);
        invoke_argument(invocation, &argument);
    }
    invoke_pointer(invocation, NULL);
    if (!invoke_ready(invocation))
        die("the problem has an argument of no known type");
    instance_clear(&instance);
}

static void (*load(const char *problem, const char *path, const char *arch))(void)
{
    const struct build_options options = {
        .path = path, .backend = BACKEND_CUDA, .arch = arch, .timeout = 300};
    struct build build;
    char text[4096];
    void (*symbol)(void);
    if (build_candidate(&build, &options, text, sizeof text) != BUILD_OK)
        die(text);
    void *library = dlopen(build.object, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        die(dlerror());
    *(void **)&symbol = dlsym(library, problem);
    build_clear(&build);
    if (!symbol)
        die("the candidate lacks the problem's symbol");
    return symbol;
}

int main(int argc, char **argv)
{
    struct device device;
    struct config config;
    struct space_error error;
    char text[512];
    struct invocation invocation;
    const struct problem *problem = argc == 4 ? problem_find(argv[1]) : NULL;
    sandbox_add_source(".");
    if (!problem)
        die("expected PROBLEM CANDIDATE.cu 'CONFIGURATION'");
    if (config_parse(&config, problem, argv[3], "configuration", &error) != 0)
        die(error.text);
    if (device_open(&device, "cuda", text, sizeof text) != 0)
        die(text);
    invoke_begin(&invocation, load(problem->name, argv[2], device.arch));
    prepare(&config, &invocation);
    const int returned = invoke_call(&invocation);
    const cudaError_t status = cudaDeviceSynchronize();
    printf("%s returned %d; %s\n", argv[2], returned, cudaGetErrorString(status));
    return returned || status ? 1 : 0;
}

#else

int main(void)
{
    fprintf(stderr, "unseen-call: this build has no CUDA\n");
    return 3;
}

#endif
