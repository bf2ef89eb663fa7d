/* view_usage.h - the command line of bpe-view. */
#ifndef BPE_USAGE_VIEW_USAGE_H
#define BPE_USAGE_VIEW_USAGE_H

#include "base/cli/usage.h"

struct view_options {
    bool check, armor, dearmor;
    char **files;
    int n_files;
};

extern const struct usage view_usage;

#endif
