/* keeper.h - a process between bpe and a user's command: when it is told to end, or bpe has died, it ends all processes
 * that the command has started. */
#ifndef BPE_DRIVER_KEEPER_H
#define BPE_DRIVER_KEEPER_H

#include <stdbool.h>

/* Call in a new process that will become the command, after its descriptors are set. Returns in a child, which then
 * becomes the command; the caller stays as its keeper, and exits with the command's status. If the command is killed,
 * the keeper ends all processes that it started. apart: see struct job_start. */
void keeper_start(bool apart);

#endif
