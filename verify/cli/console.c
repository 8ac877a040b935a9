#include "console.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "outputs.h"
#include "reports/formats/github.h"
#include "reports/terminal/terminal.h"
#include "reports/record/text.h"
#include "verify/util/activity.h"
#include "gen/random/hex.h"

static bool watched; /* a line of show_activity is displayed */
static bool silenced;

/* NO_COLOR (no-color.org) counts if present and not empty, whatever its value. */
static bool wants_colour(const struct options *options, FILE *out, bool dumb)
{
    const char *const no = getenv("NO_COLOR");
    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return isatty(fileno(out)) && !dumb && !(no && *no);
}

/* Draws a random token, so that a candidate's messages, which are printed unchecked, cannot end the quiet
 * section. */
static void draw_token(char *token, size_t size)
{
    unsigned char bytes[16] = {0};
    const bool drawn = getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes;
    if (drawn && size > 2 * sizeof bytes)
        hex_text(bytes, sizeof bytes, token);
}

static bool is_dumb(void)
{
    const char *const term = getenv("TERM");
    return !term || !*term || strcmp(term, "dumb") == 0;
}

void console_open(struct console *screen, const struct options *options)
{
    console_open_on(screen, options, outputs_on_standard(options) ? stderr : stdout);
}

void console_open_on(struct console *screen, const struct options *options, FILE *out)
{
    const bool dumb = is_dumb();
    *screen = (struct console){.out = out};
    screen->colour = wants_colour(options, screen->out, dumb);
    screen->progress = isatty(fileno(screen->out)) && !dumb;
    text_set_width(text_columns(fileno(screen->out)));
    if (!options->github)
        return;
    draw_token(screen->token, sizeof screen->token);
    github_quiet(screen->out, screen->token);
}

static void show_activity(void *data, const char *text)
{
    FILE *const out = data;
    terminal_status(out, text);
    watched = out == stderr;
}

void console_silence(bool silent)
{
    silenced = silent;
}

void console_watch(void)
{
    if (!silenced && isatty(STDERR_FILENO) && !is_dumb())
        activity_watch(show_activity, stderr);
}

void console_watch_on(const struct console *screen)
{
    if (screen->out != stderr)
        activity_watch(show_activity, screen->out);
    else
        console_watch();
}

void console_unwatch(void)
{
    activity_watch(NULL, NULL);
    if (watched)
        terminal_progress_clear(stderr);
    watched = false;
}

void console_close(struct console *screen)
{
    if (*screen->token)
        github_speak(screen->out, screen->token);
    *screen->token = '\0';
    fflush(screen->out);
}
