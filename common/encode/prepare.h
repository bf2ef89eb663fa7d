/* prepare.h - whether a model is regular: each token is made by one merge, which ranks after those that make its
 * parts.
 *
 * So are the lists that trainers write: no two merges make the same token, and each comes after those of its parts.
 *
 * Others may be regular but for merges that never happen. A .tiktoken file has no list: two tokens merge whenever
 * their bytes are a token, however the two came about. Hugging Face's files for such models (Llama 3) list all these
 * pairs.
 *
 *   However a token came about in a text, the merges inside of it were those of encoding its bytes alone, in the same
 *   order, because no other merge touched these bytes, and the pair of the lowest rank in the text, if it lies in
 *   them, is the one of the lowest rank in them. So a token is always made by the same merge: the last one of encoding
 *   its own bytes. All others that would make it never happen.
 *
 * So the merges are gone through in the order of ranks. One whose parts are made by merges that were kept, of lower
 * ranks, is kept if encoding its bytes with these ends with its two parts. Those kept are a regular list, R.
 *
 * Encoding with R is the same as with all merges, if no merge that was left out could happen. Consider, in encoding
 * with all, the first that happens and is not in R, of parts l and r, which make t. So far all happened as with R.
 *   - If l or r is not made by a merge in R, nor a byte, it is not there.
 *   - If both are made by merges of lower ranks, encoding t's bytes with the merges of lower ranks in R did not end
 *     with l and r: so these come to lie side by side before a merge of higher rank happens only if they are parted
 *     again, and not after it. (If t was too long to be encoded, it is as in the last case.)
 *   - If one is made by a merge in R of a higher rank, and R has a merge that makes t, then encoding t's bytes with R
 *     passes through l and r and ends with t, so R has the merge of l and r: a contradiction.
 *   - If one is made by a merge in R of a higher rank, and R has none that makes t, it can happen. (Llama 3 has such
 *     merges for some twenty tokens.) Its pair is then an exception: a word in which it comes about is encoded in
 *     another way, see merge_table.h.
 *
 * In a word that meets no exception, no merge could happen that is not in R. What remains to be shown is that
 * encode_vector.h, which does not merge in the order of ranks only, meets an exception of l and r if encoding in that
 * order would. It makes the same tokens at the same places. So it makes both, and they stand side by side unless it
 * merges r, say, with what is after it before it makes l. The order of ranks has it the other way round, and merges
 * that are not certain keep that order. One that takes r is not certain: an exception lowers the bounds of its parts
 * to 0, which is the bound where a token that ends as l does stands before r. Nor is a character that takes it:
 * merge_triples.h counts what stands beside the parts of exceptions as taken from the start, and a character of which
 * two bytes make an exception is not certain.
 */
#ifndef BPE_ENCODE_PREPARE_H
#define BPE_ENCODE_PREPARE_H

#include "base/sys/err.h"
#include "encode/merge_lookup.h"

/* Finds out whether a model whose list is not regular encodes all text as a regular list of merges does
 * (see above), and which characters certainly merge (merge_triples.h). It takes about 0.1 us for each token, and a
 * tenth of it if the list is regular: so it pays only if there is much to encode. -1: out of memory. */
int prepare_merges(struct merge_lookup *m, struct err *e);

#endif
