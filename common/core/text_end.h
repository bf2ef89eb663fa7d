/* text_end.h - how a window of text ends: what is known of the text behind it. */
#ifndef BPE_CORE_TEXT_END_H
#define BPE_CORE_TEXT_END_H

enum text_end {
    TEXT_MORE, /* the document goes on, with text that is not seen yet: who has it comes back with the rest and more */
    TEXT_DOC,  /* the document ends here */
    TEXT_LETTER, /* the document goes on with a letter (a cut between 0x0A and \p{L}): that much is known of what
                    follows */
};

#endif
