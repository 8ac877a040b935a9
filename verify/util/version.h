/* Version of the tool. */
#ifndef UNSEEN_VERSION_H
#define UNSEEN_VERSION_H

#define UNSEEN_VERSION "0.2.0"
extern const char unseen_git[]; /* the commit it was built from */

#endif
