#include "forbid_policy.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Shell patterns for complete names of libraries and symbols. For kernels: a part of the mangled name, with
 * the N that begins a namespace, so that a name with only the same ending does not match. Header-only
 * libraries have kernel patterns only. */
enum { PATTERNS = 8 };
static const struct {
    const char *word;
    const char *library[PATTERNS], *symbol[PATTERNS], *kernel[PATTERNS];
} table[] = {
    {"blas",
     {"libblas.so*", "libcblas.so*", "libopenblas*.so*", "libmkl_*.so*", "libatlas*.so*", "libblis*.so*",
      "libgslcblas.so*"},
     {"cblas_[a-z]*", "[sdcz]gemm_", "[sdcz]gemv_", "[sdcz]dot_", "[sdcz]axpy_"},
     {NULL}},
    {"cub", {NULL}, {NULL}, {"N3cub"}},
    {"cublas",
     {"libcublas.so*", "libcublasLt.so*", "libnvblas.so*"},
     {"cublas[A-Z]*", "nvblas_*"},
     {"N8cublasLt", "N6cublas"}},
    {"cudnn", {"libcudnn*.so*"}, {"cudnn[A-Z]*"}, {"N5cudnn"}},
    {"cufft", {"libcufft*.so*"}, {"cufft[A-Z]*"}, {NULL}},
    {"cusolver", {"libcusolver*.so*"}, {"cusolver[A-Z]*"}, {"N8cusolver"}},
    {"cusparse", {"libcusparse*.so*"}, {"cusparse[A-Z]*"}, {"N8cusparse"}},
    {"cutlass", {"libcutlass*.so*"}, {NULL}, {"N7cutlass", "N4cute"}},
    {"eigen", {NULL}, {NULL}, {"N5Eigen"}},
    {"mkl", {"libmkl_*.so*", "libmklml*.so*"}, {"mkl_[a-z]*", "MKL_*"}, {NULL}},
    {"nccl", {"libnccl*.so*"}, {"nccl[A-Z]*"}, {NULL}},
    {"nvrtc", {"libnvrtc*.so*", "libnvJitLink.so*"}, {"nvrtc[A-Z]*", "nvJitLink[A-Z]*"}, {NULL}},
    {"onednn", {"libdnnl.so*", "libmkldnn.so*"}, {"dnnl_*"}, {"N4dnnl"}},
    {"openblas", {"libopenblas*.so*"}, {"openblas_*"}, {NULL}},
    {"tensorrt", {"libnvinfer*.so*"}, {NULL}, {"N8nvinfer1"}},
    {"thrust", {NULL}, {NULL}, {"N6thrust"}},
    {"torch", {"libtorch*.so*", "libc10*.so*"}, {NULL}, {"N2at6native", "N3c10"}},
};
enum { WORDS = sizeof table / sizeof *table };

/* User-defined words: kind and prefix. */
static const struct {
    const char *prefix;
    enum policy_kind kind;
} own[] = {{"lib:", POLICY_LIBRARY}, {"symbol:", POLICY_SYMBOL}, {"kernel:", POLICY_KERNEL}};
enum { OWN = sizeof own / sizeof *own };

static const char *after(const char *word, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(word, prefix, length) == 0 && word[length] ? word + length : NULL;
}

static bool is_known(const char *word)
{
    for (int i = 0; i < WORDS; i++)
        if (strcmp(word, table[i].word) == 0)
            return true;
    for (int i = 0; i < OWN; i++)
        if (after(word, own[i].prefix))
            return true;
    return false;
}

static int refuse(const char *word, int length, char *error, size_t error_size)
{
    char known[256] = "";
    for (int i = 0; i < WORDS; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", table[i].word);
    }
    snprintf(error, error_size,
             "--forbid names '%.*s'; expected %s, lib:NAME, symbol:PREFIX or kernel:SUBSTRING\n"
             "---> for example --forbid cublas,lib:gmp",
             length, word, known);
    return -1;
}

int policy_add(struct policy *policy, const char *list, char *error, size_t error_size)
{
    struct policy more = *policy;
    for (const char *at = list;; at++) {
        const int length = (int)strcspn(at, ",");
        if (length >= POLICY_WORD || more.words == POLICY_WORDS)
            return refuse(at, length, error, error_size);
        snprintf(more.word[more.words], POLICY_WORD, "%.*s", length, at);
        if (!is_known(more.word[more.words]))
            return refuse(at, length, error, error_size);
        more.words++;
        at += length;
        if (!*at)
            break;
    }
    *policy = more;
    return 0;
}

static bool matches(enum policy_kind kind, const char *pattern, const char *name)
{
    return kind == POLICY_KERNEL ? strstr(name, pattern) != NULL : fnmatch(pattern, name, 0) == 0;
}

static bool is_of(int i, enum policy_kind kind, const char *name)
{
    const char *const *pattern = kind == POLICY_LIBRARY  ? table[i].library
                                 : kind == POLICY_SYMBOL ? table[i].symbol
                                                         : table[i].kernel;
    for (int p = 0; p < PATTERNS && pattern[p]; p++)
        if (matches(kind, pattern[p], name))
            return true;
    return false;
}

/* lib:gmp matches libgmp.so.10, libgmp-10.so and libgmp.so; lib:libgmp.so.10 matches itself. The word
 * contains no pattern. */
static bool is_library(const char *given, const char *name)
{
    const char *rest = after(name, "lib");
    const size_t length = strlen(given);
    return strcmp(given, name) == 0 || (rest && strncmp(rest, given, length) == 0 &&
                                        (rest[length] == '.' || rest[length] == '-') && strstr(rest, ".so"));
}

static bool word_forbids(const char *word, enum policy_kind kind, const char *name)
{
    for (int i = 0; i < WORDS; i++)
        if (strcmp(word, table[i].word) == 0)
            return is_of(i, kind, name);
    for (int i = 0; i < OWN; i++) {
        const char *given = after(word, own[i].prefix);
        if (given && own[i].kind == kind)
            return kind == POLICY_LIBRARY  ? is_library(given, name)
                   : kind == POLICY_SYMBOL ? strncmp(name, given, strlen(given)) == 0
                                           : strstr(name, given) != NULL;
    }
    return false;
}

const char *policy_forbids(const struct policy *policy, enum policy_kind kind, const char *name)
{
    const char *slash = kind == POLICY_LIBRARY ? strrchr(name, '/') : NULL;
    for (int i = 0; i < policy->words; i++)
        if (word_forbids(policy->word[i], kind, slash ? slash + 1 : name))
            return policy->word[i];
    return NULL;
}

/* Does any word stand for it, forbidden or not? */
static bool is_named(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (int i = 0; i < WORDS; i++)
        if (is_of(i, POLICY_LIBRARY, slash ? slash + 1 : path))
            return true;
    return false;
}

const char *policy_forbids_launch(const struct policy *policy, const char *kernel, const char *object)
{
    const char *library = policy_forbids(policy, POLICY_LIBRARY, object);
    const bool named = is_named(object);
    for (int i = 0; i < policy->words && !library; i++)
        if ((!named || strchr(policy->word[i], ':')) && word_forbids(policy->word[i], POLICY_KERNEL, kernel))
            return policy->word[i];
    return library;
}
