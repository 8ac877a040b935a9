#include "template.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct renaming {
    FILE *out;
    const char *from, *to;
    template_include *include;
    void *data;
    char last[8], before[8]; /* the two preceding tokens, as far as they matter here */
};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static void put(const struct renaming *r, const char *text, size_t length)
{
    fwrite(text, 1, length, r->out);
}

static void remember(struct renaming *r, const char *text, size_t length)
{
    memcpy(r->before, r->last, sizeof r->last);
    snprintf(r->last, sizeof r->last, "%.*s", (int)length, text);
}

/* --- each function returns the length of the text it has copied --- */

static size_t comment(struct renaming *r, const char *text)
{
    static const char tag[] = "problem: ";
    const bool line = text[1] == '/';
    const char *const end = strstr(text + 2, line ? "\n" : "*/");
    const size_t length = !end ? strlen(text) : (size_t)(end - text) + (line ? 0 : 2);
    const char *const tagged = memmem(text, length, tag, sizeof tag - 1);
    const char *const name = tagged ? tagged + sizeof tag - 1 : NULL;
    if (name && strncmp(name, r->from, strlen(r->from)) == 0 && !is_letter(name[strlen(r->from)])) {
        const size_t head = (size_t)(name - text), used = head + strlen(r->from);
        put(r, text, head);
        fputs(r->to, r->out);
        put(r, text + used, length - used);
    } else {
        put(r, text, length);
    }
    return length;
}

static size_t literal(struct renaming *r, const char *text)
{
    size_t length = 1;
    while (text[length] && text[length] != *text && text[length] != '\n')
        length += text[length] == '\\' && text[length + 1] ? 2 : 1;
    const bool closed = text[length] == *text;
    length += closed;
    if (closed && *text == '"' && strcmp(r->last, "=") == 0 && strcmp(r->before, "name") == 0 &&
        is_word(text + 1, length - 2, r->from))
        fprintf(r->out, "\"%s\"", r->to);
    else
        put(r, text, length);
    remember(r, text, 1);
    return length;
}

static size_t identifier(struct renaming *r, const char *text)
{
    static const char prefix[] = "problem_";
    const size_t skipped = sizeof prefix - 1;
    size_t length = 0;
    while (is_letter(text[length]))
        length++;
    const char *const after = text + length + strspn(text + length, " \t\n");
    const bool member = strcmp(r->last, ".") == 0 || strcmp(r->last, ">") == 0;
    if (length > skipped && strncmp(text, prefix, skipped) == 0 &&
        is_word(text + skipped, length - skipped, r->from))
        fprintf(r->out, "%s%s", prefix, r->to);
    else if (is_word(text, length, r->from) && *after == '(' && !member)
        fputs(r->to, r->out);
    else
        put(r, text, length);
    remember(r, text, length);
    return length;
}

/* Copies a quoted #include at the '#'; 0: it is none. */
static size_t directive(const struct renaming *r, const char *text)
{
    char file[256];
    int begin = 0, end = 0;
    if (sscanf(text, "# include \"%n%255[^\"\n]%n", &begin, file, &end) != 1 || text[end] != '"')
        return 0;
    const char *const name = r->include(r->data, file);
    put(r, text, (size_t)begin);
    fputs(name ? name : file, r->out);
    return (size_t)end;
}

void template_source(FILE *out, const char *text, const char *from, const char *to, template_include *include,
                     void *data)
{
    struct renaming r = {.out = out, .from = from, .to = to, .include = include, .data = data};
    while (*text) {
        size_t used = 0;
        if (*text == '/' && (text[1] == '/' || text[1] == '*'))
            used = comment(&r, text);
        else if (*text == '#')
            used = directive(&r, text);
        else if (*text == '"' || *text == '\'')
            used = literal(&r, text);
        else if (is_letter(*text))
            used = identifier(&r, text);
        if (used == 0) {
            used = 1;
            put(&r, text, 1);
            if (!isspace((unsigned char)*text))
                remember(&r, text, 1);
        }
        text += used;
    }
}

void template_shape(FILE *out, const char *text, const char *from, const char *to)
{
    const size_t length = strlen(from);
    bool remark = false;
    for (char before = '\n'; *text; before = *text++) {
        remark = before == '\n' ? *text == '#' : remark || *text == '#';
        if (remark && !is_letter(before) && strncmp(text, from, length) == 0 &&
            (text[length] == ':' || text[length] == '.')) {
            fputs(to, out);
            text += length - 1;
        } else {
            fputc(*text, out);
        }
    }
}
