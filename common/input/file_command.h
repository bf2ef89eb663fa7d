/* file_command.h - a command for a file, as messages show it. */
#ifndef BPE_INPUT_FILE_COMMAND_H
#define BPE_INPUT_FILE_COMMAND_H

/* The command with the file's name, in quotes where a shell needs them, in place of the first FILE in it. FILE stays if
 * the name is that of standard input or of a compressed file, too long, or one that a message does not show as it is.
 * Returns `to`. */
enum { FILE_COMMAND = 400 };
const char *file_command(const char *command, const char *name, char to[FILE_COMMAND]);

#endif
