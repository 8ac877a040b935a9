/* Names of a text, each once, and the words of the languages among them. */
#include <stdlib.h>
#include <string.h>

#include "source_names.h"

struct known {
    const char *text;
    enum word word;
    int64_t size;
};
static const struct known known[] = {
    {"if", WORD_IF, 0},
    {"for", WORD_FOR, 0},
    {"while", WORD_WHILE, 0},
    {"switch", WORD_SWITCH, 0},
    {"case", WORD_CASE, 0},
    {"constexpr", WORD_CONSTEXPR, 0},
    {"template", WORD_TEMPLATE, 0},
    {"enum", WORD_ENUM, 0},
    {"operator", WORD_OPERATOR, 0},
    {"else", WORD_ELSE, 0},
    {"do", WORD_SKIPPED, 0},
    {"return", WORD_RETURN, 0},
    {"co_return", WORD_LEAVE, 0},
    {"goto", WORD_LEAVE, 0},
    {"throw", WORD_LEAVE, 0},
    {"break", WORD_LEAVE, 0},
    {"continue", WORD_LEAVE, 0},
    {"new", WORD_SKIPPED, 0},
    {"delete", WORD_SKIPPED, 0},
    {"default", WORD_DEFAULT, 0},
    {"typedef", WORD_SKIPPED, 0},
    {"typename", WORD_SKIPPED, 0},
    {"using", WORD_SKIPPED, 0},
    {"namespace", WORD_SKIPPED, 0},
    {"class", WORD_SKIPPED, 0},
    {"union", WORD_SKIPPED, 0},
    {"sizeof", WORD_SIZEOF, 0},
    {"static_cast", WORD_CAST, 0},
    {"reinterpret_cast", WORD_CAST, 0},
    {"const_cast", WORD_CAST, 0},
    {"dynamic_cast", WORD_CAST, 0},
    {"struct", WORD_QUALIFIER, 0},
    {"const", WORD_QUALIFIER, 0},
    {"volatile", WORD_QUALIFIER, 0},
    {"static", WORD_QUALIFIER, 0},
    {"inline", WORD_QUALIFIER, 0},
    {"extern", WORD_QUALIFIER, 0},
    {"register", WORD_QUALIFIER, 0},
    {"mutable", WORD_QUALIFIER, 0},
    {"restrict", WORD_QUALIFIER, 0},
    {"__restrict__", WORD_QUALIFIER, 0},
    {"__restrict", WORD_QUALIFIER, 0},
    {"dim3", WORD_DIM3, 0},
    {"__launch_bounds__", WORD_LAUNCH_BOUNDS, 0},
    {"threadIdx", WORD_INDEX, 0},
    {"blockIdx", WORD_INDEX, 0},
    {"blockDim", WORD_INDEX, 0},
    {"gridDim", WORD_INDEX, 0},
    {"true", WORD_TRUE, 0},
    {"false", WORD_FALSE, 0},
    {"nullptr", WORD_NULL, 0},
    {"NULL", WORD_NULL, 0},
    {"SHRT_MAX", WORD_LIMIT, INT16_MAX},
    {"INT16_MAX", WORD_LIMIT, INT16_MAX},
    {"USHRT_MAX", WORD_LIMIT, UINT16_MAX},
    {"UINT16_MAX", WORD_LIMIT, UINT16_MAX},
    {"INT_MAX", WORD_LIMIT, INT32_MAX},
    {"INT32_MAX", WORD_LIMIT, INT32_MAX},
    {"UINT_MAX", WORD_LIMIT, UINT32_MAX},
    {"UINT32_MAX", WORD_LIMIT, UINT32_MAX},
    {"auto", WORD_TYPE, 0},
    {"void", WORD_TYPE, 0},
    {"bool", WORD_TYPE, 1},
    {"_Bool", WORD_TYPE, 1},
    {"char", WORD_TYPE, 1},
    {"short", WORD_TYPE, 2},
    {"int", WORD_TYPE, 4},
    {"signed", WORD_TYPE, 4},
    {"unsigned", WORD_TYPE, 4},
    {"uint", WORD_TYPE, 4},
    {"long", WORD_TYPE, 8},
    {"float", WORD_TYPE, 4},
    {"double", WORD_TYPE, 8},
    {"int8_t", WORD_TYPE, 1},
    {"uint8_t", WORD_TYPE, 1},
    {"int16_t", WORD_TYPE, 2},
    {"uint16_t", WORD_TYPE, 2},
    {"int32_t", WORD_TYPE, 4},
    {"uint32_t", WORD_TYPE, 4},
    {"int64_t", WORD_TYPE, 8},
    {"uint64_t", WORD_TYPE, 8},
    {"size_t", WORD_TYPE, 8},
    {"ssize_t", WORD_TYPE, 8},
    {"ptrdiff_t", WORD_TYPE, 8},
    {"intptr_t", WORD_TYPE, 8},
    {"uintptr_t", WORD_TYPE, 8},
    {"half", WORD_TYPE, 2},
    {"__half", WORD_TYPE, 2},
    {"half_t", WORD_TYPE, 2},
    {"float16_t", WORD_TYPE, 2},
    {"_Float16", WORD_TYPE, 2},
    {"__bf16", WORD_TYPE, 2},
    {"bf16", WORD_TYPE, 2},
    {"bfloat16", WORD_TYPE, 2},
    {"bfloat16_t", WORD_TYPE, 2},
    {"nv_bfloat16", WORD_TYPE, 2},
    {"__nv_bfloat16", WORD_TYPE, 2},
    {"__hip_bfloat16", WORD_TYPE, 2},
    {"half2", WORD_TYPE, 4},
    {"__half2", WORD_TYPE, 4},
    {"nv_bfloat162", WORD_TYPE, 4},
    {"__nv_bfloat162", WORD_TYPE, 4},
    {"__nv_fp8_e4m3", WORD_TYPE, 1},
    {"__nv_fp8_e5m2", WORD_TYPE, 1},
    {"float2", WORD_TYPE, 8},
    {"float4", WORD_TYPE, 16},
    {"double2", WORD_TYPE, 16},
    {"int2", WORD_TYPE, 8},
    {"int4", WORD_TYPE, 16},
    {"uint2", WORD_TYPE, 8},
    {"uint4", WORD_TYPE, 16},
};

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* The slot with the name, or the free one where it belongs. */
static int *slot_of(const struct source *source, const char *text, size_t length)
{
    const uint32_t mask = (uint32_t)source->slots - 1;
    uint32_t at = hash_of(text, length) & mask;
    for (; source->slot[at]; at = (at + 1) & mask) {
        const struct source_name *const name = &source->name[source->slot[at] - 1];
        if (name->length == length && memcmp(name->text, text, length) == 0)
            break;
    }
    return &source->slot[at];
}

static int grow(struct source *source)
{
    const int capacity = source->name_capacity ? 2 * source->name_capacity : 1024;
    struct source_name *const name = realloc(source->name, (size_t)capacity * sizeof *name);
    if (name)
        source->name = name;
    int *const slot = calloc((size_t)capacity * 2, sizeof *slot);
    if (!name || !slot) {
        free(slot);
        source->failed = true;
        return -1;
    }
    free(source->slot);
    source->name_capacity = capacity;
    source->slot = slot;
    source->slots = 2 * capacity;
    for (int i = 0; i < source->names; i++)
        *slot_of(source, source->name[i].text, source->name[i].length) = i + 1;
    return 0;
}

int source_intern(struct source *source, const char *text, size_t length)
{
    if (source->names == source->name_capacity && grow(source) != 0)
        return -1;
    int *const slot = slot_of(source, text, length);
    if (!*slot) {
        source->name[source->names] = (struct source_name){.text = text, .length = (uint32_t)length};
        *slot = ++source->names;
    }
    return *slot - 1;
}

int source_add_words(struct source *source)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int at = source_intern(source, known[i].text, strlen(known[i].text));
        if (at < 0)
            return -1;
        source->name[at].word = known[i].word;
        source->name[at].size = known[i].size;
    }
    return 0;
}
