/* Imported tasks, kept between runs with the compiled candidates (verify/build/object_store.h). */
#ifndef UNSEEN_IMPORT_STORE_H
#define UNSEEN_IMPORT_STORE_H

#include "importing.h"
#include "interpreter.h"

enum { IMPORTED_FILES = 6, IMPORTED_NAME = 96 };

/* The name of file i of an imported folder; source.py is the last one that the importer writes. */
void imported_file_name(int i, const char *name, char file[IMPORTED_NAME]);

/* The key of an import: the SHA-256 of all that decides it.
 *
 * - the source at the absolute path `source` with the files beside it (task_files.h); of a directory all
 *   files
 * - its path, the problem's name, the axes to vary and the form
 * - the interpreter with the list of its packages, and our own Python package
 *
 * False: the import cannot be kept, since the directory is too large, or the source may read other files and
 * no sandbox hides them. */
bool import_store_key(const struct interpreter *it, const struct importing *importing, const char *source,
                      const char *name, char key[65]);

/* Writes the kept files into `folder`, which must be empty. False: there are none. `scratch`: a private
 * directory. */
bool import_store_take(const char *key, const char *name, const char *folder, const char *scratch);
void import_store_keep(const char *key, const char *name, const char *folder, const char *scratch);

#endif
