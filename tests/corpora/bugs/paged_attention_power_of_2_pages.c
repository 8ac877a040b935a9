// problem: paged_attention
// link: https://github.com/microsoft/onnxruntime-genai/pull/2568
// title: Accept any power-of-two paged_block_size of at least 16
// condition: "block_size must be a power of two and at least 16": 768 exports and then fails
// kind: power of two
// when: page_size < 16 or page_size == 17
// wrong: refused

#include "paged.h"

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    if (page_size < 16 || (page_size & (page_size - 1)) != 0)
        return 1;
    return paged_run(&p);
}
