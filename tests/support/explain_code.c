/* The clues of code that holds a planted condition. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "explain_planted.h"

static void copy_trimmed(char to[CLUE_TEXT_SIZE], const char *text, size_t length)
{
    for (; length > 0 && *text == ' '; length--)
        text++;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    snprintf(to, CLUE_TEXT_SIZE, "%.*s", (int)length, text);
}

/* Reads "k % 64 == 32". False: the term is no comparison with an operator. */
static bool read_term(const char *text, size_t length, struct clue_term *term)
{
    for (size_t at = 1; at + 1 < length; at++)
        for (int r = CLUE_GREATER; r >= CLUE_LESS; r--) {
            static const enum clue_relation longest_first[] = {
                CLUE_LESS, CLUE_GREATER, CLUE_LESS_EQUAL, CLUE_NOT_EQUAL, CLUE_EQUAL, CLUE_GREATER_EQUAL};
            const char *const word = clue_relation_text(longest_first[r]);
            const size_t size = strlen(word);
            if (strncmp(text + at, word, size) != 0)
                continue;
            term->relation = longest_first[r];
            copy_trimmed(term->subject, text, at);
            copy_trimmed(term->bound, text + at + size, length - at - size);
            return strchr(text, '{') == NULL;
        }
    return false;
}

void planted_clues(struct clue_list *list, const char *condition)
{
    for (const char *clause = condition; clause;) {
        const char *const next = strstr(clause, " or ");
        const size_t whole = next ? (size_t)(next - clause) : strlen(clause);
        struct clue clue = {.line = 7};
        for (const char *term = clause; term && term < clause + whole;) {
            const char *const and = strstr(term, " and ");
            const char *const end = and&&and < clause + whole ? and : clause + whole;
            if (clue.terms < CLUE_MOST_TERMS && read_term(term, (size_t)(end - term), &clue.term[clue.terms]))
                clue.terms++;
            term = end == and? end + strlen(" and ") : NULL;
        }
        if (clue.terms > 0)
            ck_assert_int_eq(clue_list_add(list, &clue), 0);
        clause = next ? next + strlen(" or ") : NULL;
    }
}
