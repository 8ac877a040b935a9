/* The symbols of a shared object: the length of a problem's table. */
#include "fuzz.h"
#include "verify/problem/symbols.h"

static const char table[64] = "a table";

static int inside(void)
{
    return table[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int (*const code)(void) = inside;
    const void *address;
    __builtin_memcpy(&address, &code, sizeof address);
    symbols_bytes(fuzz_file(data, size), address, table);
    return 0;
}
