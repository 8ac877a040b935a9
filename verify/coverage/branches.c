#include "branches.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "branches_internal.h"
#include "disassembly.h"
#include "verify/build/scratch.h"
#include "verify/runner/coverage_map.h"

enum { MOST_STEPS = 64, LOOK_BACK = 8 };

struct reading {
    struct branches *out;
    struct disassembly code;
    const char *object; /* its bytes */
    size_t size;
    int text_of[DISASSEMBLY_FILES]; /* by file of the disassembly: its text; -1: not the candidate's own */
    bool full;
};

/* --- where a jump leads --- */

static bool is_traced(const struct instruction *i)
{
    return i->kind >= INSTRUCTION_BLOCK && i->kind <= INSTRUCTION_SWITCH;
}

static uint32_t place_of(const struct disassembly *d, int call)
{
    return call + 1 < d->count ? d->item[call + 1].at : 0;
}

/* Returns the index of the first block that runs from instruction `at` on; -1: it is not known. */
static int first_block(const struct disassembly *d, int at)
{
    for (int step = 0; step < MOST_STEPS && at >= 0 && at < d->count; step++) {
        const struct instruction *const now = &d->item[at];
        if (now->kind == INSTRUCTION_BLOCK)
            return at;
        if (now->kind == INSTRUCTION_JUMP)
            at = disassembly_find(d, now->target);
        else if (now->kind == INSTRUCTION_OTHER)
            at++;
        else
            return -1;
    }
    return -1;
}

/* The blocks where the jump leads that decides right after the traced call at `call`. Returns the index
 * of that jump; -1: there is none, or it does not lead to two known blocks. Comparisons of floating-point
 * numbers take two jumps. */
static int find_jump(const struct disassembly *d, int call, int block[2])
{
    int jump = -1, blocks = 0;
    bool known = true;
    for (int at = call + 1; at < d->count && known; at++) {
        const struct instruction *const now = &d->item[at];
        if (now->kind == INSTRUCTION_OTHER)
            continue;
        const bool jumps = now->kind == INSTRUCTION_JUMP_IF;
        if (!jumps && jump < 0)
            return -1;
        const int leads = jumps ? first_block(d, disassembly_find(d, now->target)) : first_block(d, at);
        known = leads >= 0;
        if (known && (blocks == 0 || (blocks == 1 && block[0] != leads)))
            block[blocks++] = leads;
        else if (known && blocks == 2 && block[0] != leads && block[1] != leads)
            known = false;
        if (!jumps)
            return known && blocks == 2 ? jump : -1;
        jump = jump < 0 ? at : jump;
    }
    return -1;
}

/* --- lists --- */

static void *more(struct reading *r, void *list, int *count, size_t size)
{
    void *grown = list;
    if (*count % 256 == 0)
        grown = *count < 4 * BRANCHES_MOST ? realloc(list, ((size_t)*count + 256) * size) : NULL;
    r->full = r->full || !grown;
    if (grown)
        memset((char *)grown + (size_t)*count * size, 0, size);
    *count += grown != NULL;
    return grown ? grown : list;
}

static void add_branch(struct reading *r, const struct branch *branch)
{
    r->out->branch = more(r, r->out->branch, &r->out->count, sizeof *branch);
    if (!r->full)
        r->out->branch[r->out->count - 1] = *branch;
}

/* --- the points --- */

static int own_text(const struct reading *r, const struct instruction *at)
{
    return at->file >= 0 && at->line > 0 ? r->text_of[at->file] : -1;
}

/* The opposite of a relation. */
static const char *negated(const char *relation)
{
    static const char *const pairs[][2] = {{"==", "!="}, {"<", ">="}, {">", "<="}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (strcmp(relation, pairs[i][side]) == 0)
                return pairs[i][1 - side];
    return "";
}

static void add_jump(struct reading *r, int call)
{
    const struct disassembly *const d = &r->code;
    int block[2];
    const int jump = find_jump(d, call, block);
    if (jump < 0 || own_text(r, &d->item[jump]) < 0)
        return;
    const int file = own_text(r, &d->item[jump]);
    for (int i = 0; i < 2; i++) {
        const struct instruction *const to = &d->item[block[i]];
        struct branch one = {.place = place_of(d, call),
                             .to = place_of(d, block[i]),
                             .file = file,
                             .line = d->item[jump].line,
                             .to_line = own_text(r, to) == file ? to->line : 0};
        const char *const relation = d->item[jump].relation;
        if (d->item[block[0]].line == d->item[block[1]].line)
            snprintf(one.relation, sizeof one.relation, "%s", i == 0 ? relation : negated(relation));
        add_branch(r, &one);
    }
}

/* Copies bytes of the object at an address; false: they are in no segment of the file. */
static bool copy_data(const struct reading *r, uint64_t address, void *to, size_t bytes)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (r->size < sizeof header)
        return false;
    memcpy(&header, r->object, sizeof header);
    for (int i = 0; i < header.e_phnum; i++) {
        const uint64_t at = header.e_phoff + (uint64_t)i * sizeof segment;
        if (at > r->size || r->size - at < sizeof segment)
            return false;
        memcpy(&segment, r->object + at, sizeof segment);
        const uint64_t within = address - segment.p_vaddr;
        if (segment.p_type != PT_LOAD || address < segment.p_vaddr || within > segment.p_filesz ||
            segment.p_filesz - within < bytes)
            continue;
        const uint64_t place = segment.p_offset + within;
        if (place > r->size || r->size - place < bytes)
            return false;
        memcpy(to, r->object + place, bytes);
        return true;
    }
    return false;
}

/* A switch passes the table of its values, whose address is in an instruction shortly before. */
static void add_switch(struct reading *r, int call)
{
    const struct disassembly *const d = &r->code;
    uint64_t head[2], value[COVERAGE_CASES];
    uint32_t table = 0;
    if (own_text(r, &d->item[call]) < 0)
        return;
    for (int at = call - 1; at >= 0 && at >= call - LOOK_BACK && table == 0 && !is_traced(&d->item[at]); at--)
        table = d->item[at].data;
    if (table == 0 || !copy_data(r, table, head, sizeof head) || head[0] > COVERAGE_CASES ||
        !copy_data(r, table + sizeof head, value, head[0] * sizeof *value))
        return;
    struct branch one = {.place = place_of(d, call),
                         .is_switch = true,
                         .file = own_text(r, &d->item[call]),
                         .line = d->item[call].line};
    for (int i = 0; i < (int)head[0]; i++) {
        one.at = i;
        one.value = (int64_t)value[i];
        add_branch(r, &one);
    }
    one.at = COVERAGE_CASES;
    one.is_other = true;
    add_branch(r, &one);
}

static void add_point(struct reading *r, int call)
{
    const struct instruction *const now = &r->code.item[call];
    struct branches *const out = r->out;
    if (now->kind == INSTRUCTION_SWITCH)
        add_switch(r, call);
    else
        add_jump(r, call);
    if (now->kind == INSTRUCTION_BLOCK && own_text(r, now) >= 0) {
        out->block = more(r, out->block, &out->blocks, sizeof *out->block);
        if (!r->full)
            out->block[out->blocks - 1] = (struct block){
                .place = place_of(&r->code, call), .file = own_text(r, now), .line = now->line};
    }
    const bool with_number = now->kind == INSTRUCTION_COMPARE_NUMBER;
    if ((with_number || now->kind == INSTRUCTION_COMPARE) && own_text(r, now) >= 0) {
        out->comparison = more(r, out->comparison, &out->comparisons, sizeof *out->comparison);
        if (!r->full)
            out->comparison[out->comparisons - 1] =
                (struct traced_comparison){.place = place_of(&r->code, call),
                                           .with_number = with_number,
                                           .file = own_text(r, now),
                                           .line = now->line};
    }
}

/* --- all of them --- */

static int by_line(const void *a, const void *b)
{
    const struct branch *const x = a, *const y = b;
    if (x->file != y->file || x->line != y->line)
        return x->file != y->file ? x->file - y->file : x->line - y->line;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->at != y->at ? x->at - y->at : x->to < y->to ? -1 : x->to > y->to;
}

static bool read_texts(struct reading *r, const char *candidate)
{
    struct branches *const out = r->out;
    out->text = calloc((size_t)r->code.files + 1, sizeof *out->text);
    for (int i = 0; out->text && i < r->code.files; i++) {
        const bool own = source_text_open(&out->text[out->texts], r->code.file[i], candidate);
        r->text_of[i] = own ? out->texts : -1;
        out->texts += own;
    }
    return out->text != NULL;
}

enum build_status branches_open(struct branches *branches, const struct build *build, const char *path,
                                char *why, size_t why_size)
{
    struct reading r = {.out = branches};
    *branches = (struct branches){.count = 0};
    const enum build_status status = disassembly_open(&r.code, build, why, why_size);
    if (status != BUILD_OK)
        return status;
    char *const object = scratch_read_own(build->object, &r.size);
    r.object = object;
    r.full = !object || !read_texts(&r, path);
    for (int i = 0; i < r.code.count && !r.full; i++)
        if (is_traced(&r.code.item[i]))
            add_point(&r, i);
    if (!r.full && branches->count > 0)
        qsort(branches->branch, (size_t)branches->count, sizeof *branches->branch, by_line);
    free(object);
    disassembly_close(&r.code);
    if (!r.full && branches->count <= BRANCHES_MOST)
        return BUILD_OK;
    snprintf(why, why_size, "it has more than %d branches", BRANCHES_MOST);
    branches_close(branches);
    return BUILD_FAILED;
}

void branches_close(struct branches *branches)
{
    for (int i = 0; i < branches->texts; i++)
        source_text_close(&branches->text[i]);
    free(branches->text);
    free(branches->branch);
    free(branches->comparison);
    free(branches->block);
    *branches = (struct branches){.count = 0};
}

int branches_taken(const struct branches *branches)
{
    int taken = 0;
    for (int i = 0; i < branches->count; i++)
        taken += branches->branch[i].taken;
    return taken;
}

void branch_outcome(const struct branch *branch, char *text, size_t size)
{
    if (branch->is_other)
        snprintf(text, size, "another value");
    else if (branch->is_switch)
        snprintf(text, size, "value %lld", (long long)branch->value);
    else if (branch->relation[0])
        snprintf(text, size, "where %s", branch->relation);
    else if (branch->to_line > 0)
        snprintf(text, size, "to line %d", branch->to_line);
    else
        snprintf(text, size, "elsewhere");
}

void branch_format(const struct branches *branches, const struct branch *branch, char *text, size_t size)
{
    const struct source_text *const source = &branches->text[branch->file];
    char line[BRANCH_TEXT_SIZE], outcome[48];
    source_line(source, branch->line, line, sizeof line);
    branch_outcome(branch, outcome, sizeof outcome);
    snprintf(text, size, "%s:%d \"%s\" %s", source->name, branch->line, line, outcome);
}
