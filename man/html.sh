#!/bin/sh
# html.sh DIR - writes the manual into DIR as web pages (mandoc), with an index, the README files and the benchmark figures.
set -eu
dir=$1
cd "$(dirname "$0")"
mkdir -p "$dir"

cat >"$dir/style.css" <<'END'
body { max-width: 52em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; color: #222; background: #fff }
pre, code, .Li, .Cm, .Fl, .Nm, .Ic { font: 14px/1.4 monospace }
pre { padding: .7em; overflow-x: auto; background: #f4f4f4 }
h1, h2 { font-size: 1.2em }
a { color: #06c; text-decoration: none }
table.head, table.foot { width: 100% }
td.head-vol { text-align: center }
td.head-rtitle, td.foot-os { text-align: right }
dl.Bl-tag > dt { margin-top: .6em }
@media (prefers-color-scheme: dark) {
    body { color: #ddd; background: #181818 }
    pre { background: #262626 }
    a { color: #6bf }
}
END

# begin TITLE: prints the head of a page, for pages that mandoc does not make.
begin() {
    printf '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
    printf '<link rel="stylesheet" href="style.css">\n<title>%s</title>\n</head>\n<body>\n' "$1"
}

# text FILE TITLE: prints a text file as a page.
text() {
    begin "$2"
    printf '<p><a href="index.html">bpetools</a></p>\n<pre>'
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' "$1"
    printf '</pre>\n</body>\n</html>\n'
}

# list TITLE SECTION: lists the pages of a section of the manual, with their descriptions.
list() {
    printf '<h2>%s</h2>\n<dl class="Bl-tag">\n' "$1"
    for page in *."$2"; do
        printf '<dt><a href="%s.html">%s(%s)</a></dt>\n<dd>%s</dd>\n' "$page" "${page%.*}" "$2" "$(sed -n 's/^\.Nd //p' "$page")"
    done
    printf '</dl>\n'
}

for page in *.[1-8]; do
    mandoc -T html -O 'style=style.css,toc,man=%N.%S.html;https://manpages.debian.org/%N.%S' "$page" |
        sed 's|<body>|<body>\n<p><a href="index.html">bpetools</a></p>|' >"$dir/$page.html"
done
text ../README "bpetools: README" >"$dir/README.html"
text ../pipelines/python/README "bpetools: the Python package" >"$dir/python.html"
text ../tests/bench/figures.txt "bpetools: benchmark figures" >"$dir/figures.html"
{
    begin bpetools
    printf '<h1>bpetools</h1>\n<p>Train byte-pair encoding tokenizers, and encode text, with Unix filters.\nStart with\n'
    printf '<a href="README.html">README</a> and the tutorial, <a href="bpe.7.html">bpe(7)</a>.\n'
    printf 'Also: <a href="python.html">the Python package</a>, <a href="figures.html">benchmark figures</a>.</p>\n'
    list Overviews 7
    list "Programs and commands" 1
    list "The C library" 3
    list Formats 5
    printf '</body>\n</html>\n'
} >"$dir/index.html"
echo "The manual is in $dir/index.html"
