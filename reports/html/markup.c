#include "markup.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

/* Decodes one UTF-8 character: returns its length in bytes and stores its code point. Returns 0 for an
 * invalid sequence (Unicode 15, table 3-7). */
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

/* Control characters, non-characters, and characters that change how text is displayed (such as bidirectional
 * overrides). */
static bool is_hostile(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

/* Copies the next character, sanitized, to `piece`. Returns the rest of the text. */
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

/* ---- Markdown ---- */

/* GitHub turns these into links, mentions or references after it has parsed Markdown. No escape helps; only
 * code does. */
static bool has_link(const char *text)
{
    static const char *const marks[] = {"@", "://", "www.", "GH-", "](", "][", "[^", "mailto:", "xmpp:"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcasestr(text, marks[i]) != NULL)
            return true;
    for (const char *c = text; (c = strchr(c, '#')) != NULL; c++)
        if (isdigit((unsigned char)c[1]))
            return true;
    return false;
}

/* GitHub links a run of seven or more hexadecimal digits if it names a commit. */
static bool has_commit(const char *text)
{
    enum { LEAST = 7 };
    static const char digits[] = "0123456789abcdefABCDEF";

    while (*text != '\0') {
        const size_t run = strspn(text, digits);

        if (run >= LEAST && strpbrk(text, "abcdefABCDEF") < text + run &&
            strpbrk(text, "abcdefABCDEF") != NULL)
            return true;
        text += run > 0 ? run : 1;
    }
    return false;
}

static size_t longest_ticks(const char *text)
{
    size_t longest = 0;

    for (; *text != '\0'; text++) {
        const size_t run = strspn(text, "`");

        longest = run > longest ? run : longest;
        text += run > 0 ? run - 1 : 0;
    }
    return longest;
}

/* A blank on both sides separates the fence from backticks of the text; Markdown removes one blank on each
 * side. */
void markup_code(FILE *out, const char *text)
{
    const size_t fence = longest_ticks(text) + 1;
    char piece[8];

    for (size_t i = 0; i < fence; i++)
        fputc('`', out);
    fputs(fence > 1 ? " " : "", out);
    while (*text != '\0') {
        text = next(text, piece);
        fputs(piece[0] == '|' ? "\xc2\xa6" : piece, out); /* a bar would end the cell of a table */
    }
    fputs(fence > 1 ? " " : "", out);
    for (size_t i = 0; i < fence; i++)
        fputc('`', out);
}

/* Escapes only where Markdown would read a mark: "rows * cols < 8 & x" needs no escape. */
static bool is_mark(char before, char c, char after)
{
    switch (c) {
    case '\\':
    case '`':
    case '|':
    case '~':
    case '$': return true;
    case '*': return before != ' ' || after != ' ';
    case '_': return !isalnum((unsigned char)before) || !isalnum((unsigned char)after);
    case '<': return isalpha((unsigned char)after) || (after != '\0' && strchr("/!?", after) != NULL);
    case '&': return isalnum((unsigned char)after) || after == '#';
    default: return false;
    }
}

void markup_markdown(FILE *out, const char *text)
{
    char piece[8], before = ' ';

    if (text == NULL || *text == '\0')
        return;
    if (has_link(text) || has_commit(text)) {
        markup_code(out, text);
        return;
    }
    while (*text != '\0') {
        text = next(text, piece);
        if (is_mark(before, piece[0], *text))
            fputc('\\', out);
        fputs(piece, out);
        before = piece[0];
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
