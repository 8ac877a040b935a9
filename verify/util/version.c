/* The only file that knows the commit, so that a new commit recompiles nothing else. */
#include "version.h"

const char unseen_git[] = UNSEEN_GIT;
