#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

const char *text_or(const char *text, const char *otherwise)
{
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

static int width = TEXT_WIDTH;

int text_width(void)
{
    return width;
}

void text_set_width(int columns)
{
    width = columns < TEXT_LEAST_WIDTH ? TEXT_LEAST_WIDTH : columns;
}

int text_columns(int descriptor)
{
    const char *const columns = getenv("COLUMNS");
    struct winsize size;
    char *end;
    const long set = columns != NULL ? strtol(columns, &end, 10) : 0;

    if (set > 0 && set < 10000 && *end == '\0')
        return (int)set;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return TEXT_WIDTH;
}

static char plain(char c)
{
    if (c == '\n' || c == '\t')
        return ' ';
    return c >= ' ' && c <= '~' ? c : '?';
}

void text_plain(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(plain(*text), out);
}

void text_wrap(FILE *out, int column, int indent, const char *text)
{
    bool first = true;

    while (*(text += strspn(text, " \n\t")) != '\0') {
        int length = (int)strcspn(text, " \n\t");

        if (!first && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        for (int i = 0; i < length; i++)
            fputc(plain(text[i]), out);
        column += length;
        text += length;
        first = false;
    }
    fputc('\n', out);
}

static bool is_plain_text(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

/* $'...' is the only form that writes non-ASCII bytes in ASCII (POSIX.1-2024, bash, zsh). */
void text_shell(FILE *out, const char *word)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-./+,:@%=";
    bool ascii = is_plain_text(word);

    if (word[0] != '\0' && word[strspn(word, harmless)] == '\0') {
        fputs(word, out);
        return;
    }
    fputs(ascii ? "'" : "$'", out);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs(ascii ? "'\\''" : "\\'", out);
        else if (!ascii && *word == '\\')
            fputs("\\\\", out);
        else if (*word < ' ' || *word > '~')
            fprintf(out, "\\%03o", (unsigned)(unsigned char)*word);
        else
            fputc(*word, out);
    }
    fputc('\'', out);
}

const char *text_number(char buffer[TEXT_NUMBER_SIZE], double value, int digits)
{
    if (isnan(value))
        return strcpy(buffer, "nan");
    if (isinf(value))
        return strcpy(buffer, value < 0 ? "-inf" : "inf");
    snprintf(buffer, TEXT_NUMBER_SIZE, "%.*g", digits, value);
    return buffer;
}

static void element_place(char *buffer, size_t size, const struct worst *worst)
{
    int used = snprintf(buffer, size, "%s[", text_or(worst->tensor, "output"));

    if (worst->rank < 1 || worst->rank > WORST_RANK)
        used += snprintf(buffer + used, size - (size_t)used, "%" PRId64, worst->index);
    for (int i = 0; i < worst->rank && worst->rank <= WORST_RANK; i++)
        used += snprintf(buffer + used, size - (size_t)used, i > 0 ? ",%" PRId64 : "%" PRId64, worst->at[i]);
    snprintf(buffer + used, size - (size_t)used, "]");
}

/* Uses as few digits as show the difference. */
static void element_values(char got[TEXT_NUMBER_SIZE], char want[TEXT_NUMBER_SIZE], const struct worst *worst)
{
    text_number(got, worst->got, 9);
    text_number(want, worst->want, 9);
    if (strcmp(got, want) == 0 && worst->got != worst->want) {
        text_number(got, worst->got, 17);
        text_number(want, worst->want, 17);
    }
}

void text_element_plain(char *buffer, size_t size, const struct worst *worst)
{
    char place[32 + 21 * WORST_RANK], got[TEXT_NUMBER_SIZE], want[TEXT_NUMBER_SIZE],
        allowed[TEXT_NUMBER_SIZE];

    element_place(place, sizeof place, worst);
    element_values(got, want, worst);
    snprintf(buffer, size, "%s is %s; %s was expected (allowed error %s)", place, got, want,
             text_number(allowed, worst->allowed, 3));
}

void text_element(char *buffer, size_t size, const struct worst *worst)
{
    char place[32 + 21 * WORST_RANK], got[TEXT_NUMBER_SIZE], want[TEXT_NUMBER_SIZE],
        allowed[TEXT_NUMBER_SIZE];
    char times[64] = "";
    const double ratio = worst->error / worst->allowed;

    element_place(place, sizeof place, worst);
    element_values(got, want, worst);
    if (isfinite(ratio) && worst->allowed > 0)
        snprintf(times, sizeof times, " (error %.3g x allowed%s)", ratio,
                 worst->witnessed ? ", MPFR witness" : "");
    else if (worst->witnessed)
        snprintf(times, sizeof times, " (MPFR witness)");
    snprintf(buffer, size, "%s got %s want %s allowed %s%s", place, got, want,
             text_number(allowed, worst->allowed, 3), times);
}
