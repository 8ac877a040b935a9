#include "markup.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

/* The bytes of one character of UTF-8 at `text`, and its number; 0: it is none (Unicode 15, table 3-7). */
static int decode(const unsigned char *text, uint32_t *number)
{
    const int length = text[0] < 0x80   ? 1
                       : text[0] < 0xc2 ? 0
                       : text[0] < 0xe0 ? 2
                       : text[0] < 0xf0 ? 3
                       : text[0] < 0xf5 ? 4
                                        : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    if (length == 0)
        return 0;
    *number = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *number = *number << 6 | (text[i] & 0x3f);
    }
    return *number >= least[length] && *number <= 0x10ffff && (*number < 0xd800 || *number > 0xdfff) ? length
                                                                                                     : 0;
}

/* Controls, characters that are none, and what makes text read otherwise than it stands. */
static bool is_hostile(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

/* The next character: its bytes in `piece`, made harmless; where the rest begins. */
static const char *next(const char *text, char piece[8])
{
    uint32_t number = 0;
    const int length = decode((const unsigned char *)text, &number);

    if (length > 0 && (number == '\n' || number == '\t' || number == '\r'))
        strcpy(piece, " ");
    else if (length == 0 || is_hostile(number))
        strcpy(piece, replacement);
    else
        snprintf(piece, 8, "%.*s", length, text);
    return text + (length > 0 ? length : 1);
}

void markup_text(FILE *out, const char *text)
{
    char piece[8];

    while (text != NULL && *text != '\0') {
        text = next(text, piece);
        switch (piece[0]) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fputs(piece, out);
        }
    }
}

/* Numbers of characters are never read as markup. ':' keeps "https://" from becoming a link, the '.' behind a w "www.". */
void markup_markdown(FILE *out, const char *text)
{
    char piece[8], before = ' ';

    while (text != NULL && *text != '\0') {
        text = next(text, piece);
        const unsigned char c = (unsigned char)piece[0];
        const bool link = c == '.' && (before == 'w' || before == 'W');

        if (c < 0x80 && !isalnum(c) && (strchr(" ,;%()/=+-'\".?", c) == NULL || link))
            fprintf(out, "&#%u;", c);
        else
            fputs(piece, out);
        before = (char)c;
    }
}

void markup_github(FILE *out, const char *text, int property)
{
    for (; text != NULL && *text != '\0'; text++)
        if (*text == '%' || *text == '\n' || *text == '\r' || (property && (*text == ':' || *text == ',')))
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}
