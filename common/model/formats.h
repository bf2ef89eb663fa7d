/* formats.h - the formats of models, by name. */
#ifndef BPE_MODEL_FORMATS_H
#define BPE_MODEL_FORMATS_H

/* The names of the formats that a model can be written in, as an option -f takes them, in the order of enum
 * model_format, ending with NULL. Static. */
const char *const *model_format_names(void);

#endif
