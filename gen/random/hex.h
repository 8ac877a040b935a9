/* Bytes as hexadecimal digits. */
#ifndef UNSEEN_HEX_H
#define UNSEEN_HEX_H

#include <stddef.h>

/* Two lower-case digits a byte, then NUL: `text` has room for 2 * size + 1. */
static inline void hex_text(const unsigned char *bytes, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = '\0';
}

#endif
