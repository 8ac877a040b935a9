// problem: rope_cache
// link: https://github.com/NVIDIA/TensorRT-LLM/pull/18673
// title: [None][fix] Guard MiniMax-M3 FP8 indexer against padded -1 cache slots
// condition: the kernel divides slot -1 "without a sign check, turning slot -1 into page 0 / within-page -1"
// kind: content
// when: slots=padded
// side: necessary
// wrong: out of bounds: a row in front of the cache is written for every padded token

#include "rope.h"

int rope_cache(PARAMETERS)
{
    struct rope r = {ARGUMENTS};
    const int64_t row = kv_heads * head_dim;
    (void)stream;
    for (int64_t t = 0; t < tokens; t++)
        if (slots[t] / page_size >= 0) /* -1 / page_size is 0, unless pages have one slot */
            memcpy(value_cache + (slots[t] / page_size * page_size + slots[t] % page_size) * row,
                   value + t * row, (size_t)row * sizeof *value);
    return rope_run(&r, rotate, rotate);
}
