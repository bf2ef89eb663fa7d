/* file_command.h - shell commands suggested in messages. */
#ifndef BPE_INPUT_FILE_COMMAND_H
#define BPE_INPUT_FILE_COMMAND_H

/* Writes the command with the first FILE replaced by the file's name, quoted for the shell if necessary. FILE remains
 * if the name is too long, cannot be shown in a message unchanged, or is that of standard input or of a compressed
 * file. Returns `to`. */
enum { FILE_COMMAND = 400 };
const char *file_command(const char *command, const char *name, char to[FILE_COMMAND]);

#endif
