/* train_parquet.c - bpe train --parquet: each job reads a part of the files (bpe parquet), and makes records of it by a
 * bpe-chunk of its own.
 */
#include "bpe/train.h"

#include "driver/place.h"
#include "driver/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int train_start_parquet(const struct train *t, struct job *j, int group, const char *part, char **files, int n_files,
                        int out, struct err *e)
{
    struct command_line r = {0}, c = {0};
    char *column = NULL, *parquet = place_command("parquet", e);
    int text[2] = {-1, -1};
    const struct job_start reader = {.name = "what reads Parquet", .in = -1, .stage = STAGE_READ, .group = group},
                           chunker = {.out = out, .stage = STAGE_CHUNK, .group = group};
    int rc = !parquet || job_pipe(text, e) || command_line_parquet(&r, &t->common, parquet, &column, e) ||
                     (part && command_line_add(&r, e, part)) || command_line_files(&r, files, n_files, e) ||
                     command_line_add(&c, e, "bpe-chunk") || command_line_chunk_parquet(&c, t->chunk_words, e)
                 ? -1
                 : 0;
    if (rc == 0) {
        struct job_start from = reader, to = chunker;
        from.out = text[1];
        to.in = text[0];
        rc = command_line_start(j, &from, &r, e) || command_line_start(j, &to, &c, e) ? -1 : 0;
    }
    job_close(&text[0]);
    job_close(&text[1]);
    command_line_free(&r);
    command_line_free(&c);
    free(column);
    free(parquet);
    return rc;
}

/* Part i of n. */
static int start_part(const struct train *t, struct job *j, uint64_t i, uint64_t n, char **files, int n_files, int out,
                      struct err *e)
{
    char part[64];
    snprintf(part, sizeof part, "--part=%llu/%llu", (unsigned long long)i, (unsigned long long)n);
    return train_start_parquet(t, j, (int)i + 1, part, files, n_files, out, e);
}

/* All that reads text and makes records of it: parts of the Parquet files, and what else there is. */
static int start_all_parts(const struct train *t, struct job *j, int out, struct err *e)
{
    uint64_t n = t->common.via ? 1 : t->common.jobs;
    struct command_line parquet = {0}, other = {0};
    int rc = 0;
    for (int i = 0; i < t->n_files && rc == 0; i++)
        rc = command_line_add(command_is_parquet(&t->common, t->files[i]) ? &parquet : &other, e, t->files[i]);
    for (uint64_t i = 0; i < n && rc == 0; i++)
        rc = start_part(t, j, i, n, (char **)(uintptr_t)parquet.words, (int)parquet.n, out, e);
    if (other.n && rc == 0)
        rc = train_start_chunk(t, j, (char **)(uintptr_t)other.words, (int)other.n, out, NULL, e);
    command_line_free(&parquet);
    command_line_free(&other);
    return rc;
}

enum progress { GOING, DONE, FAILED, UNREAD };

/* How far all that reads and counts is. UNREAD: something ended by SIGPIPE, so bpe-sum probably failed. */
static enum progress look_at_parts(const struct job *j)
{
    enum progress how = DONE;
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        if (p->stage > STAGE_COUNT || (p->ended && p->status == 0))
            continue;
        if (!p->ended)
            how = how == DONE ? GOING : how;
        else if (p->status != 128 + SIGPIPE)
            return FAILED;
        else
            how = UNREAD;
    }
    return how;
}

/* Each part is a run of its own, and bpe-sum does not miss one of which nothing has come. Nor is it known before its
 * end how well it was read. So counts and sum are held open until then: if a part has failed, there is no sum. */
int train_parquet(const struct train *t, struct job *j, struct err *e)
{
    enum { PATIENCE = 20, STEP_MS = 100 }; /* for the end of a bpe-sum that has failed */
    int records[2] = {-1, -1}, counts[2] = {-1, -1}, hold = -1;
    enum progress how = GOING;
    struct watch w;
    int rc = job_pipe(counts, e) || (t->common.via ? job_pipe(records, e) : job_socket(records, e)) ||
                     train_start_rest(t, j, counts[0], &hold, e) || start_all_parts(t, j, records[1], e) ||
                     (t->common.via ? train_start_via(t, j, records[0], counts[1], e)
                                    : train_start_counts(j, 0, t->common.jobs, records[0], counts[1], e))
                 ? -1
                 : 0;
    job_close(&counts[0]);
    job_close(&records[0]);
    job_close(&records[1]);
    watch_start(&w, j, t->common.progress, t->files, t->n_files, STAGE_READ);
    while (rc == 0 && how == GOING) {
        job_wait(j, NULL, 0, watch_tick(&w));
        how = look_at_parts(j);
    }
    watch_end(&w);
    for (int i = 0; rc == 0 && how == UNREAD && i < PATIENCE; i++)
        job_wait(j, NULL, 0, STEP_MS);
    if (how != DONE)
        job_end_from(j, STAGE_SUM);
    job_close(&counts[1]);
    job_close(&hold);
    return rc ? -1 : train_wait(t, j);
}
