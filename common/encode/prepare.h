/* prepare.h - whether a model is regular: only one merge makes each token, and it ranks after the merges that make its
 * parts.
 *
 * The lists that trainers write are regular: no two merges make the same token, and each comes after those of its
 * parts.
 *
 * Other models may be regular except for merges that never happen. A .tiktoken file has no list: two tokens merge
 * whenever their bytes are a token, however the two were made. Hugging Face's files for such models (Llama 3) list all
 * these pairs.
 *
 *   However a token was made in a text, the merges inside it were those of encoding its bytes alone, in the same order,
 *   because no other merge touched these bytes, and the pair of the lowest rank in the text, if it lies in them, is the
 *   one of the lowest rank in them. So a token is always made by the same merge: the last one of encoding its own
 *   bytes. All other merges that would make it never happen.
 *
 * So the merges are processed in the order of ranks. A merge whose parts are made by kept merges of lower ranks is kept
 * if encoding its bytes with these ends with its two parts. The kept merges are a regular list, R.
 *
 * Encoding with R gives the same tokens as encoding with all merges, if no omitted merge could happen. Consider the
 * first merge that happens in encoding with all merges and is not in R, of parts l and r, which make t. So far
 * everything happened as with R.
 *   - If l or r is neither a byte nor made by a merge in R, it does not occur.
 *   - If both are made by merges of lower ranks, encoding t's bytes with the merges of lower ranks in R did not end
 *     with l and r. So before a merge of a higher rank happens, l and r can be adjacent only until a merge takes one of
 *     them, and after it they never become adjacent. (If t was too long to be encoded, the last case applies.)
 *   - If one is made by a merge in R of a higher rank, and R has a merge that makes t, then encoding t's bytes with R
 *     passes through l and r and ends with t, so R has the merge of l and r: a contradiction.
 *   - If one is made by a merge in R of a higher rank, and R has no merge that makes t, the merge can happen. (Llama 3
 *     has such merges for about twenty tokens.) Its pair is then an exception: a word in which it occurs is encoded in
 *     another way, see merge_table.h.
 *
 * In a word without exceptions, no merge could happen that is not in R. It remains to be shown that encode_vector.h,
 * which does not merge strictly in the order of ranks, meets an exception of l and r if encoding in that order would.
 * It makes the same tokens at the same positions. So it makes both, and they are adjacent unless it merges, say, r with
 * its right neighbor before it makes l. In the order of ranks l is made first, and merges that are not certain keep
 * that order. A merge that takes r is not certain: an exception lowers the bounds of its parts to 0, and that bound
 * applies where a token that ends like l is before r. Nor is a character that takes r certain: merge_triples.h counts
 * the bytes beside the parts of exceptions as taken from the start, and a character of which two bytes make an
 * exception is not certain.
 */
#ifndef BPE_ENCODE_PREPARE_H
#define BPE_ENCODE_PREPARE_H

#include "base/sys/err.h"
#include "encode/merge_lookup.h"

/* Determines whether a model whose list is not regular encodes all text like a regular list of merges (see above), and
 * which characters certainly merge (merge_triples.h). It takes about 0.1 us per token, and a tenth of that if the list
 * is regular, so it pays only for much text. -1: out of memory. */
int prepare_merges(struct merge_lookup *m, struct err *e);

#endif
