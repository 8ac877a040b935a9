// problem: rope_cache
// link: https://github.com/sgl-project/sglang/pull/22868
// title: [Apple Silicon] Add custom Metal RoPE kernel with fused KV cache store
// condition: the fused kernel for halves fails to copy what is not rotated of a key, where ROPE_DIM < HEAD_DIM
// kind: layout
// when: style=halves and rot_dim != head_dim
// side: necessary
// wrong: unwritten: the rest of each stored key

#include "rope.h"

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    const int64_t row = kv_heads * head_dim;
    if (!neox)
        return rope_run(&r, rotate, rotate);
    for (int64_t t = 0; t < tokens; t++) {
        const float *angle = cos_sin + positions[t] * rot_dim;
        for (int64_t h = 0; h < heads; h++)
            rotate(&r, query + (t * heads + h) * head_dim, query + (t * heads + h) * head_dim, angle);
        if (slots[t] < 0)
            continue;
        memcpy(value_cache + slots[t] * row, value + t * row, (size_t)row * sizeof *value);
        for (int64_t h = 0; h < kv_heads; h++)
            rotate(&r, key + t * row + h * head_dim, key_cache + slots[t] * row + h * head_dim, angle);
    }
    return 0;
}
