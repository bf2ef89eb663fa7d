/* report_page.c - a report as one page of HTML, which needs no network and no script: its style, its head, its
 * definitions, and the order of its sections. */
#include "bpe/report_page.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--page:#fcfcfb;--card:#fff;--ink:#1a1a19;--dim:#5f5e5a;--rule:#dddcd6;"
    "--c0:#2a78d6;--c1:#d9541e;--c2:#128a60;--c3:#4a3aa7;--c4:#a06a00;--good:#0a7a0a;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#1a1a19;--card:#232321;--ink:#f3f2ee;--dim:#b4b2a9;"
    "--rule:#3d3d39;--c0:#5aa2f2;--c1:#f07f50;--c2:#35b98a;--c3:#a99df5;--c4:#e0ac3f;--good:#5cc35c;"
    "--bad:#f0877f}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:1rem/1.5 system-ui,sans-serif;background:var(--page);color:var(--ink);margin:0 auto;"
    "max-width:76rem;padding:1rem;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}h2{font-size:1.25rem;margin:2.5rem 0 .5rem;"
    "border-top:1px solid var(--rule);padding-top:1rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}\n"
    "p,ul{max-width:46rem;margin:.5rem 0}.dim,figcaption,summary{color:var(--dim)}\n"
    "a{color:var(--c0)}nav a{display:inline-block;margin-right:1rem}\n"
    ".wide{overflow-x:auto;margin:.5rem 0}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}\n"
    "th,td{padding:.2rem .75rem .2rem 0;text-align:right;vertical-align:top;white-space:nowrap}\n"
    "th{font-weight:600}tbody th,td.t,th.t{text-align:left;font-weight:400;white-space:normal;min-width:7rem}\n"
    "thead th{border-bottom:1px solid var(--rule);white-space:normal;overflow-wrap:break-word}\n"
    "tbody tr:nth-child(even){background:color-mix(in srgb,var(--rule) 30%,transparent)}\n"
    "code{font:.85em/1.6 ui-monospace,monospace;background:color-mix(in srgb,var(--rule) 55%,transparent);"
    "border-radius:3px;padding:0 .25em;unicode-bidi:isolate;white-space:pre-wrap}\n"
    "code+code{margin-left:.3em}code i{font-style:normal;color:var(--dim)}\n"
    ".grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,var(--least,22rem)),1fr));gap:1rem;"
    "align-items:start}.tall{grid-row:span 4}\n"
    "figure{margin:0;padding:.75rem;background:var(--card);border:1px solid var(--rule);border-radius:6px;"
    "min-width:0;break-inside:avoid}figcaption{font-size:.9rem;margin-bottom:.25rem}\n"
    "figure svg{width:100%;height:auto;display:block}\n"
    "svg text{font:12px system-ui,sans-serif;fill:var(--dim)}svg .name{fill:var(--ink)}\n"
    ".grid line.grid,line.grid{stroke:var(--rule)}line.axis,line.tick{stroke:var(--dim)}\n"
    "polyline,.sample line{fill:none;stroke-width:2;stroke-linejoin:round}\n"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}"
    ".s4{stroke:var(--c4)}\n"
    "rect.s0{fill:var(--c0)}rect.s1{fill:var(--c1)}rect.s2{fill:var(--c2)}rect.s3{fill:var(--c3)}"
    "rect.s4{fill:var(--c4)}rect{stroke:none}\n"
    "circle.s0{fill:var(--c0)}circle.s1{fill:var(--c1)}circle.s2{fill:var(--c2)}circle.s3{fill:var(--c3)}"
    "circle.s4{fill:var(--c4)}\n"
    "polyline.s1,line.s1{stroke-dasharray:7 3}polyline.s2,line.s2{stroke-dasharray:2 3}polyline.s3,"
    "line.s3{stroke-dasharray:9 3 2 3}polyline.s4,line.s4{stroke-dasharray:4 4}\n"
    ".sample{width:30px;height:10px;margin-right:.4rem}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.5rem 0;font-size:.9rem}\n"
    ".bar{display:block;width:100%;min-width:3.5rem;height:6px;margin-top:2px}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}summary{cursor:pointer}details{margin:.25rem 0}\n"
    ".names{list-style:none;padding:0;max-width:none;columns:13rem;font-size:.8rem}"
    ".names li{break-inside:avoid;color:var(--dim)}small{font-size:.75em}\n"
    "dt{font-weight:600;margin-top:.5rem}dd{margin:0 0 .5rem;max-width:46rem}\n"
    "@media(max-width:40rem){th,td{padding-right:.5rem}table{font-size:.8rem}tbody th,td.t,"
    "th.t{min-width:5rem}}\n"
    "@media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--dim:#444;--rule:#bbb;"
    "--c0:#1f5fae;--c1:#b8430f;--c2:#0d6e4c;--c3:#3d2f90;--c4:#7d5200;--good:#060;--bad:#900}"
    "body{max-width:none;font-size:10pt;padding:0}nav{display:none}.wide{overflow:visible}h2,"
    "h3{break-after:avoid}tr{break-inside:avoid}"
    "details::details-content{content-visibility:visible;block-size:auto}.grid{grid-template-columns:1fr 1fr}}\n"
    "</style>\n";
/* clang-format on */

static void put_nav(struct page *p)
{
    static const struct {
        const char *id, *name;
    } sections[] = {{"limits", "Limits"},
                    {"findings", "What stands out"},
                    {"compression", "Compression"},
                    {"measures", "Measures"},
                    {"size", "Size of the vocabulary"},
                    {"rank", "Frequency"},
                    {"lengths", "Lengths"},
                    {"scripts", "Scripts"},
                    {"words", "Frequent words"},
                    {"tokens", "Tokens, waste"},
                    {"definitions", "Definitions"}};
    bool words = false;
    for (size_t i = 0; i < p->r->n_sources; i++)
        words = words || p->r->source[i].words.n;
    html_put(&p->h, "<nav>");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if ((i || p->r->n_limits) && (words || strcmp(sections[i].id, "words")))
            html_printf(&p->h, "<a href=\"#%s\">%s</a>", sections[i].id, sections[i].name);
    html_put(&p->h, "</nav>\n");
}

/* Whether sums leave out tokens of a model. */
static bool sums_lack_tokens(const struct report *r)
{
    bool sum = false, added = false;
    for (size_t i = 0; i < r->n_sources; i++)
        sum = sum || r->source[i].is_sum;
    for (size_t k = 0; k < r->d.n_models; k++)
        for (size_t i = 0; i < r->d.model[k].model.n_special; i++)
            added = added || !r->d.model[k].model.special[i].special;
    return sum && added;
}

static void put_head(struct page *p)
{
    const struct report *r = p->r;
    html_put(&p->h, "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport "
                    "content=\"width=device-width\">\n<title>Tokenizers: ");
    for (size_t k = 0; k < r->d.n_models; k++) {
        html_put(&p->h, k ? ", " : "");
        page_model(p, k);
    }
    html_put(&p->h, "</title>\n");
    html_put(&p->h, style);
    html_printf(&p->h, "<h1>What %zu tokenizer%s do%s to %zu source%s</h1>\n<p>", r->d.n_models,
                r->d.n_models == 1 ? "" : "s", r->d.n_models == 1 ? "es" : "", r->n_sources,
                r->n_sources == 1 ? "" : "s");
    for (size_t k = 0; k < r->d.n_models; k++) {
        html_put(&p->h, k ? ", " : "");
        html_string(&p->h, r->d.model[k].name);
        html_put(&p->h, " (");
        html_number(&p->h, (double)r->vocabulary[k].n, 0);
        html_put(&p->h, " tokens)");
    }
    html_put(&p->h, " on ");
    for (size_t i = 0; i < r->n_sources; i++) {
        html_put(&p->h, i ? ", " : "");
        page_source(p, i);
        html_put(&p->h, r->source[i].is_sum ? " (a sum of " : " (");
        html_number(&p->h, (double)r->source[i].text, 0);
        html_put(&p->h, r->source[i].incomplete
                            ? " bytes, <b class=bad>incomplete</b>: not all of the text was counted)"
                            : " bytes)");
    }
    html_put(&p->h, ". Special tokens in the text, such as separators, are left out of all figures");
    if (sums_lack_tokens(r))
        html_put(&p->h, ", and sums lack added tokens that are not special");
    html_put(&p->h, ". A JSON file beside this page has the figures.</p>\n");
    put_nav(p);
}

/* clang-format off */
static const char definitions[] =
    "<h2 id=definitions>Definitions</h2><dl>"
    "<dt>bytes per token, characters per token"
    "<dd>Bytes or characters of the text, without special tokens, divided by the tokens that they "
    "become. For a sum, those of its pretokens."
    "<dt>pretoken, sum"
    "<dd>A pretoken is a piece of text, mostly a word with the space before it, in which merges happen."
    " A sum holds how often each pretoken occurs in a corpus."
    "<dt>tokens per word (fertility)"
    "<dd>Words are separated by white space. For each text (document), tokens are divided by words; "
    "this is the mean over all texts with a word, in which short texts weigh as much as long ones; or "
    "that of all texts together. A sum does not show texts or words. As in <a "
    "href=\"https://github.com/cimeister/tokenizer-analysis-suite\">TokEval</a>. Do not compare "
    "languages with and without spaces."
    "<dt>Rényi efficiency"
    "<dd>H / log V of the distribution of tokens, with H = log(Σ p<sup>α</sup>) / (1 − α), α = 2.5, and"
    " V tokens that occur. As in <a "
    "href=\"https://github.com/zouharvi/tokenization-scorer\">tokenization-scorer</a>. Higher values "
    "mean that tokens are used more evenly; in one study they correlated with the quality of "
    "translation, but a tokenizer can raise them without being better."
    "<dt>utilisation, type-token ratio"
    "<dd>Tokens of the vocabulary that occur, divided by its size, or by all tokens of the text. Both "
    "depend on how long the text is: compare only on the same text."
    "<dt>parts of characters"
    "<dd>Tokens whose bytes are not whole characters (UTF-8): a part of one, or a whole one and a part "
    "of the next."
    "<dt>premium, Gini coefficient"
    "<dd>With --parallel, when all sources say the same: tokens of a source divided by those of the "
    "first; and Σ|c<sub>i</sub> − c<sub>j</sub>| / (2 n² mean), 0 if all cost the same. As in TokEval "
    "and <a href=\"https://arxiv.org/abs/2305.15425\">Petrov et al.</a>"
    "<dt>unreachable, not whole characters"
    "<dd>The text of each token is encoded again, inside a text. If other tokens result, it is "
    "unreachable; if its bytes are not UTF-8, there is no such text. The categories of <a "
    "href=\"https://github.com/cohere-ai/magikarp\">magikarp</a> that need no weights."
    "<dt>merged"
    "<dd>How often the merge that makes a token is applied, for itself or as a part of a longer token. "
    "Without it, each time is about one token more, and longer tokens that need it are lost, too."
    "<dt>waste"
    "<dd>Tokens that are never merged in these sources, and are neither special nor single bytes. "
    "Leaving them out changes no token of these sources."
    "<dt>what a token costs"
    "<dd>A row of the embedding and, unless the two are tied, one of the output matrix, each as wide as"
    " the model: at a width of 4,096 and 2 bytes per weight, 8 KiB each, used or not."
    "<dt>script"
    "<dd>That of the first letter of a token, in Unicode."
    "</dl>\n";
/* clang-format on */

int report_to_page(const struct report *r, struct buf *out, struct err *e)
{
    struct page *p = calloc(1, sizeof *p);
    if (!p)
        return err_mem(e, "the page", sizeof *p);
    p->h = (struct html){.out = out, .e = e};
    p->r = r;
    put_head(p);
    page_limits(p);
    page_findings(p);
    page_compression(p);
    page_measures(p);
    page_curves(p);
    page_kinds(p);
    page_words(p);
    page_tables(p);
    html_put(&p->h, definitions);
    html_printf(&p->h, "<p class=dim>Made by bpetools %s, bpe report.</p>\n</html>\n", BPE_VERSION);
    const int rc = html_done(&p->h);
    free(p);
    return rc;
}
