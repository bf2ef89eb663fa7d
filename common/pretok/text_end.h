/* text_end.h - how a window of text ends: what is known of the text after it. */
#ifndef BPE_PRETOK_TEXT_END_H
#define BPE_PRETOK_TEXT_END_H

enum text_end {
    TEXT_MORE,   /* the document continues with text not read yet: the caller passes the unused rest again, with more */
    TEXT_DOC,    /* the document ends here */
    TEXT_LETTER, /* the document continues with a letter (a cut between 0x0A and \p{L}); no more is known of what
                    follows */
};

#endif
