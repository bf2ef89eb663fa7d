/* keeper.h - a process between a command of the user's and bpe: when it is told to end, or bpe has died, it ends all
 * that the command has started. */
#ifndef BPE_DRIVER_KEEPER_H
#define BPE_DRIVER_KEEPER_H

#include <stdbool.h>

/* Called in a new process that is to become the command (its descriptors are set): returns in a child, which does
 * become it; the caller itself is its keeper from then on, and exits as the command does. If the command is killed, all
 * that it has started is ended, too. apart: see struct job_start. */
void keeper_start(bool apart);

#endif
