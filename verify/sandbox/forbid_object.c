#include "forbid_object.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits above anything that a compiler writes; larger parts are not read. */
enum { TABLE_BYTES = 64 << 20, SEGMENTS = 512, PIECE = 1 << 16, NAME_BYTES = 4096 };
/* Limit on all tables and names together, since tables may overlap and names may share their ends. */
static const uint64_t most_bytes = (uint64_t)256 << 20;

struct object {
    int fd;
    uint64_t size;
    Elf64_Ehdr header;
    Elf64_Phdr *segment;
    uint64_t left; /* rest of most_bytes */
    object_visit *visit;
    void *data;
};

/* Copies a part of the file and appends a zero byte; NULL: there is no such part. */
static void *read_part(struct object *o, uint64_t offset, uint64_t bytes)
{
    if (offset > o->size || bytes > o->size - offset || bytes > TABLE_BYTES || bytes > o->left)
        return NULL;
    o->left -= bytes;
    char *part = malloc((size_t)bytes + 1);
    for (uint64_t at = 0; part && at < bytes;) {
        const ssize_t got = pread(o->fd, part + at, (size_t)(bytes - at), (off_t)(offset + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(part);
            return NULL;
        }
        at += (uint64_t)got;
    }
    if (part)
        part[bytes] = 0;
    return part;
}

static void visit(struct object *o, enum object_name kind, const char *name)
{
    char head[NAME_BYTES];
    const size_t length = strnlen(name, sizeof head - 1);
    if (length > o->left)
        return;
    o->left -= length;
    memcpy(head, name, length);
    head[length] = 0;
    o->visit(o->data, kind, head);
}

/* File offset of a loaded address; beyond the end of the file if there is none. */
static uint64_t place_of(struct object *o, uint64_t address)
{
    for (int i = 0; i < o->header.e_phnum; i++) {
        const Elf64_Phdr *s = &o->segment[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
            return s->p_offset + (address - s->p_vaddr);
    }
    return UINT64_MAX;
}

/* --- dynamic symbols --- */

struct dynamic {
    uint64_t names, names_size, symbols, hash, gnu_hash;
};

static uint64_t word_at(struct object *o, uint64_t offset, uint64_t index)
{
    uint32_t value = 0;
    uint32_t *part = offset > o->size || index > o->size / 4 ? NULL : read_part(o, offset + 4 * index, 4);
    if (part)
        value = *part;
    free(part);
    return value;
}

/* GNU's hash table has no count of symbols: the last chain ends after the last symbol. */
static uint64_t count_by_chains(struct object *o, uint64_t table)
{
    if (table == UINT64_MAX)
        return 0;
    const uint64_t buckets = word_at(o, table, 0), first = word_at(o, table, 1), bloom = word_at(o, table, 2);
    const uint64_t at = table + 16 + 8 * bloom;
    uint32_t *bucket = read_part(o, at, 4 * buckets);
    uint64_t last = 0;
    for (uint64_t i = 0; bucket && i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    free(bucket);
    if (last < first)
        return first; /* the table has no symbols */
    for (uint64_t chain = at + 4 * buckets;;) {
        uint64_t i, many = PIECE / 4;
        const uint64_t from = chain + 4 * (last - first);
        if (from >= o->size)
            return last;
        many = (o->size - from) / 4 < many ? (o->size - from) / 4 : many;
        const uint32_t *piece = read_part(o, from, 4 * many);
        for (i = 0; piece && i < many && !(piece[i] & 1); i++)
            ;
        const int found = piece && i < many;
        free((void *)piece);
        last += i + (uint64_t)found;
        if (found || many == 0 || i == 0)
            return last;
    }
}

static void visit_symbols(struct object *o, const Elf64_Sym *symbol, uint64_t count, const char *names,
                          uint64_t names_size, bool dynamic)
{
    for (uint64_t i = 0; i < count; i++)
        if (symbol[i].st_name > 0 && symbol[i].st_name < names_size)
            visit(o,
                  !dynamic                          ? OBJECT_HAS
                  : symbol[i].st_shndx == SHN_UNDEF ? OBJECT_REFERS
                                                    : OBJECT_DEFINES,
                  names + symbol[i].st_name);
}

static void visit_dynamic_symbols(struct object *o, const struct dynamic *d, const char *names)
{
    const uint64_t table = place_of(o, d->symbols);
    const uint64_t count = d->hash       ? word_at(o, place_of(o, d->hash), 1)
                           : d->gnu_hash ? count_by_chains(o, place_of(o, d->gnu_hash))
                                         : 0;
    Elf64_Sym *symbol = count < TABLE_BYTES ? read_part(o, table, count * sizeof *symbol) : NULL;
    if (symbol)
        visit_symbols(o, symbol, count, names, d->names_size, true);
    free(symbol);
}

static void note_entry(struct dynamic *d, const Elf64_Dyn *entry)
{
    switch (entry->d_tag) {
    case DT_STRTAB: d->names = entry->d_un.d_ptr; break;
    case DT_STRSZ: d->names_size = entry->d_un.d_val; break;
    case DT_SYMTAB: d->symbols = entry->d_un.d_ptr; break;
    case DT_HASH: d->hash = entry->d_un.d_ptr; break;
    case DT_GNU_HASH: d->gnu_hash = entry->d_un.d_ptr; break;
    default: break;
    }
}

static void visit_dynamic(struct object *o, const Elf64_Phdr *segment)
{
    struct dynamic d = {0};
    const uint64_t entries = segment->p_filesz / sizeof(Elf64_Dyn);
    Elf64_Dyn *entry = read_part(o, segment->p_offset, entries * sizeof *entry);
    for (uint64_t i = 0; entry && i < entries && entry[i].d_tag != DT_NULL; i++)
        note_entry(&d, &entry[i]);
    char *names = entry ? read_part(o, place_of(o, d.names), d.names_size) : NULL;
    for (uint64_t i = 0; names && i < entries && entry[i].d_tag != DT_NULL; i++)
        if ((entry[i].d_tag == DT_NEEDED || entry[i].d_tag == DT_SONAME) &&
            entry[i].d_un.d_val < d.names_size)
            visit(o, entry[i].d_tag == DT_NEEDED ? OBJECT_NEEDS : OBJECT_CALLED, names + entry[i].d_un.d_val);
    if (names)
        visit_dynamic_symbols(o, &d, names);
    free(names);
    free(entry);
}

/* --- symbols that only section headers locate --- */

static void visit_table(struct object *o, const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
    const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    Elf64_Sym *symbol = read_part(o, table->sh_offset, count * sizeof *symbol);
    char *names = read_part(o, strings->sh_offset, strings->sh_size);
    if (symbol && names)
        visit_symbols(o, symbol, count, names, strings->sh_size, false);
    free(names);
    free(symbol);
}

static void visit_sections(struct object *o)
{
    const int count = o->header.e_shnum;
    Elf64_Shdr *section = o->header.e_shentsize == sizeof *section
                              ? read_part(o, o->header.e_shoff, (uint64_t)count * sizeof *section)
                              : NULL;
    for (int i = 0; section && i < count; i++)
        if (section[i].sh_type == SHT_SYMTAB && section[i].sh_link < (uint32_t)count)
            visit_table(o, &section[i], &section[section[i].sh_link]);
    free(section);
}

/* --- C++ names --- */

struct scan {
    char name[NAME_BYTES];
    size_t length;
    bool inside; /* the current word began with _Z, or may still do so */
};

/* A word ends with a zero byte, as strings do, or with the parenthesis after a kernel's name in PTX. Words
 * that are too long are truncated. */
static void scan_byte(struct object *o, struct scan *s, unsigned char c)
{
    const bool of_name = isalnum(c) || c == '_' || c == '$' || c == '.';
    if (!of_name) {
        s->name[s->length] = 0;
        if (s->inside && (c == 0 || c == '(') && s->length > 2)
            visit(o, OBJECT_MANGLED, s->name);
        s->length = 0;
        s->inside = true;
        return;
    }
    if (s->inside && s->length + 1 < NAME_BYTES)
        s->name[s->length++] = (char)c;
    if ((s->length == 1 && s->name[0] != '_') || (s->length == 2 && s->name[1] != 'Z')) {
        s->inside = false;
        s->length = 0;
    }
}

static void visit_mangled(struct object *o)
{
    struct scan *scan = calloc(1, sizeof *scan);
    unsigned char *piece = malloc(PIECE);
    uint64_t at = 0;
    while (scan && piece && at < o->size) {
        const ssize_t got = pread(o->fd, piece, PIECE, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got; i++)
            scan_byte(o, scan, piece[i]);
        at += (uint64_t)got;
    }
    free(piece);
    free(scan);
}

static bool is_object(const Elf64_Ehdr *header)
{
    const unsigned short one = 1;
    const unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == order && header->e_phentsize == sizeof(Elf64_Phdr) &&
           header->e_phnum <= SEGMENTS;
}

int object_names(int fd, bool mangled, object_visit *found, void *data)
{
    struct object o = {.fd = fd, .left = most_bytes, .visit = found, .data = data};
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_size <= 0)
        return -1;
    o.size = (uint64_t)status.st_size;
    Elf64_Ehdr *header = read_part(&o, 0, sizeof *header);
    if (header)
        o.header = *header;
    const bool is = header && is_object(header);
    free(header);
    o.segment = is ? read_part(&o, o.header.e_phoff, o.header.e_phnum * sizeof *o.segment) : NULL;
    if (!o.segment)
        return -1;
    for (int i = 0; i < o.header.e_phnum; i++)
        if (o.segment[i].p_type == PT_DYNAMIC)
            visit_dynamic(&o, &o.segment[i]);
    visit_sections(&o);
    if (mangled)
        visit_mangled(&o);
    free(o.segment);
    return 0;
}
