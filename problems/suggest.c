#include "suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Compares letters ignoring case; '-' equals '_'. */
static bool is_same(char a, char b)
{
    const char x = (char)(a == '-' ? '_' : tolower((unsigned char)a)),
               y = (char)(b == '-' ? '_' : tolower((unsigned char)b));
    return x == y;
}

/* The optimal string alignment distance: table rows for prefixes of `a`, columns for prefixes of `b`. */
static int distance_of(const char *a, const char *b)
{
    const int m = (int)strlen(a), n = (int)strlen(b);
    int row[3][LONGEST + 1];
    for (int j = 0; j <= n; j++)
        row[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *const now = row[i % 3], *const last = row[(i + 2) % 3], *const before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            const int changed = last[j - 1] + !is_same(a[i - 1], b[j - 1]);
            now[j] = least(changed, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[m % 3][n];
}

/* Accepts one error per three letters, and at most three; or a prefix of at least three letters. */
void suggest_offer(struct suggestion *s, const char *name)
{
    enum { LETTERS_OF_A_SLIP = 3, MOST_SLIPS = 3, BEGINNING = 3 };
    const int length = (int)strlen(s->word);
    if (length < 2 || length > LONGEST || strlen(name) > LONGEST)
        return;
    const int most = least(MOST_SLIPS, length / LETTERS_OF_A_SLIP);
    const bool begins = length >= BEGINNING && strncmp(name, s->word, (size_t)length) == 0;
    const int distance = begins ? 1 : distance_of(s->word, name);
    if ((begins || distance <= most) && (!s->name || distance < s->distance)) {
        s->name = name;
        s->distance = distance;
    }
}

void suggest_offer_list(struct suggestion *s, const char *names, char *kept, size_t size)
{
    char *rest;
    snprintf(kept, size, "%s", names);
    for (char *name = strtok_r(kept, ", |", &rest); name; name = strtok_r(NULL, ", |", &rest))
        if (strcmp(name, "and") != 0 && strcmp(name, "or") != 0)
            suggest_offer(s, name);
}

const char *suggest_text(const struct suggestion *s, char *text, size_t size)
{
    *text = '\0';
    if (s->name)
        snprintf(text, size, " (did you mean '%s'?)", s->name);
    return text;
}
