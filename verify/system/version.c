/* The one file that knows the commit, so that the others need not be compiled anew for each. */
#include "version.h"

const char unseen_git[] = UNSEEN_GIT;
