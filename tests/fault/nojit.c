/* nojit.so - makes PCRE2 look as if built without JIT: LD_PRELOAD it. See pcre2jit(3). */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

int pcre2_jit_compile(pcre2_code *code, uint32_t options)
{
    (void)code, (void)options;
    return PCRE2_ERROR_JIT_BADOPTION;
}

pcre2_jit_stack *pcre2_jit_stack_create(size_t start, size_t max, pcre2_general_context *context)
{
    (void)start, (void)max, (void)context;
    return NULL;
}
