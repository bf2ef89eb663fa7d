/* commands.h - the everyday commands that are part of bpe: each takes its command line, with its own name as argv[0],
 * and returns the exit status. */
#ifndef BPE_CMD_COMMANDS_H
#define BPE_CMD_COMMANDS_H

int describe_main(int argc, char **argv);
int encode_main(int argc, char **argv);
int job_main(int argc, char **argv);
int monitor_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int shard_main(int argc, char **argv);
int sum_tree_main(int argc, char **argv);
int tasks_main(int argc, char **argv);
int train_main(int argc, char **argv);
int tune_main(int argc, char **argv);
int upload_main(int argc, char **argv);

/* What asks for the table of them: no command of the user. */
int complete_main(int argc, char **argv);

#endif
