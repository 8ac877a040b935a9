#include "source_inline.h"

#include "source_reader.h"

enum { MOST_PARAMETERS = 8, MOST_INLINED = 8 /* recursion ends there */, MOST_INLINED_NODES = 64 };

/* Arguments stay tokens, which are read again at each use: a shared node would make a graph of the tree. */
struct call_frame {
    struct call_frame *outer;
    const struct name_summary *function;
    int site;    /* where the arguments stand */
    bool broken; /* an argument is no expression, as in a declaration */
    int count;
    struct {
        int name, begin, end;
    } argument[MOST_PARAMETERS];
};

/* The end of the argument or parameter at `at`. */
static int part_end(const struct reader *reader, int at, int close)
{
    while (at < close && !token_is(&reader->source, at, ','))
        at = reader_skip(reader, at);
    return at < close ? at : close;
}

/* Pairs the parameters, whose name is their last one, with the arguments. False: the numbers differ. */
static bool bind(const struct reader *reader, struct call_frame *frame, int parameters, int arguments)
{
    const struct source *const source = &reader->source;
    const int last_parameter = source->token[parameters].match,
              last_argument = source->token[arguments].match;
    int p = parameters + 1, a = arguments + 1;
    while (p < last_parameter && a < last_argument && frame->count < MOST_PARAMETERS) {
        const int p_end = part_end(reader, p, last_parameter), a_end = part_end(reader, a, last_argument);
        if (!token_is_name(source, p_end - 1))
            return false;
        frame->argument[frame->count].name = source->token[p_end - 1].code;
        frame->argument[frame->count].begin = a;
        frame->argument[frame->count++].end = a_end;
        p = p_end + 1;
        a = a_end + 1;
    }
    return p >= last_parameter && a >= last_argument;
}

static int read_body(struct reader *reader, struct call_frame *frame, int name)
{
    struct tree *const tree = &reader->tree;
    const int mark = tree->count, limit = tree->limit;
    const bool quiet = reader->quiet, full = tree->full;
    int at = frame->function->body;
    if (mark + MOST_INLINED_NODES < limit)
        tree->limit = mark + MOST_INLINED_NODES;
    tree->full = false;
    reader->quiet = true;
    reader->frame = frame;
    if (!reader->source.token[frame->function->parameters - 1].macro)
        reader->site = -1;
    else if (reader->site < 0)
        reader->site = name;
    const int node = expression_read(reader, &at, frame->function->body_end);
    reader->site = frame->site;
    const bool good = !tree->full && !frame->broken && at == frame->function->body_end &&
                      (tree_is_boolean(tree, node) || !tree->node[node].opaque);
    reader->frame = frame->outer;
    reader->quiet = quiet;
    tree->limit = limit;
    tree->full = full;
    if (good)
        return node;
    tree->count = mark;
    return -1;
}

int inline_call(struct reader *reader, int name, int open)
{
    const struct name_summary *const function = &reader->definitions.name[reader->source.token[name].code];
    struct call_frame frame = {.outer = reader->frame, .function = function, .site = reader->site};
    if (!reader->frame)
        reader->inlined = 0;
    if (function->functions != 1 || function->parameters == open || reader->depth >= TREE_MOST_DEPTH / 2 ||
        reader->inlined++ >= MOST_INLINED || !bind(reader, &frame, function->parameters, open))
        return -1;
    return read_body(reader, &frame, name);
}

int inline_argument(struct reader *reader, int name)
{
    struct call_frame *const frame = reader->frame;
    for (int i = 0; frame && i < frame->count; i++) {
        if (frame->argument[i].name != name)
            continue;
        int at = frame->argument[i].begin;
        const int site = reader->site;
        reader->frame = frame->outer;
        reader->site = frame->site;
        const int node = expression_read(reader, &at, frame->argument[i].end);
        reader->frame = frame;
        reader->site = site;
        frame->broken |= at != frame->argument[i].end;
        return node;
    }
    return -1;
}
