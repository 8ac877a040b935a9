// problem: rope_cache
// link: https://github.com/vllm-project/vllm/pull/43869
// title: [BugFix] Fix extract_hidden_states CUDA graph padding polluting KV cache
// condition: padding slots of -1 index from the end: the last block, and its last position
// kind: content
// when: slots=padded
// side: necessary
// wrong: wrong values: the last slot of the cache is overwritten

#include "rope.h"

int rope_cache(PARAMETERS)
{
    struct rope r = {ARGUMENTS};
    const int64_t row = kv_heads * head_dim, last = pages * page_size - 1;
    const int failed = rope_run(&r, rotate, rotate);
    (void)stream;
    for (int64_t t = 0; t < tokens; t++)
        if (slots[t] == -1)
            memcpy(value_cache + last * row, value + t * row, (size_t)row * sizeof *value);
    return failed;
}
