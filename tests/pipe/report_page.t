#!/usr/bin/env python3
# The page of bpe report in headless Chromium, at two widths, light and dark: nothing overlaps, nothing is cut, and it prints.
# KEEP=DIR: leaves the page and its screenshots there, to be looked at.
import json
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib
from lib import ok

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if not CHROMIUM:
    lib.skip_all("Chromium is not installed")
if lib.sanitized():
    lib.skip_all("the browser is not what is sanitized")
KEEP = os.environ.get("KEEP") and os.path.abspath(os.environ["KEEP"])
lib.own_directory()

# Runs in a copy of the page: lists what is wrong. Boxes may overlap by a pixel, because sizes are rounded.
SCRIPT = """<script>
const bad = [], width = document.documentElement.clientWidth;
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
const name = e => e.tagName + ' ' + (e.textContent || '').trim().slice(0, 30);
document.querySelectorAll('details').forEach((d, i) => { d.open = OPEN; });
if (document.documentElement.scrollWidth > width) bad.push('the page is wider than the window: ' + document.documentElement.scrollWidth);
for (const e of document.querySelectorAll('body *')) {
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || !e.checkVisibility() || e.closest('.wide') && !e.classList.contains('wide')) continue;
    if (box.right > width + 1 || box.left < -1) bad.push('past the window: ' + name(e));
}
for (const e of document.querySelectorAll('figure .wide'))
    if (width > 1000 && e.checkVisibility() && e.scrollWidth > e.clientWidth + 1) bad.push('a table is cut: ' + name(e));
for (const svg of document.querySelectorAll('figure svg[role=img]')) {
    const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]);
    for (const [t, box] of texts) {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
            bad.push('cut off in a picture: ' + name(t));
        for (const [u, other] of texts) if (t !== u && meet(box, other)) bad.push('overlap in a picture: ' + name(t) + ' and ' + name(u));
    }
    if (!svg.querySelector('polyline, rect')) bad.push('an empty picture');
}
const blocks = [...document.querySelectorAll('h1, h2, h3, p, li, nav, figure, summary, .wide, .legend, dt, dd')].filter(e => e.checkVisibility() && e.getBoundingClientRect().height);
for (let i = 0; i < blocks.length; i++)
    for (let k = i + 1; k < Math.min(i + 12, blocks.length); k++)
        if (!blocks[i].contains(blocks[k]) && meet(blocks[i].getBoundingClientRect(), blocks[k].getBoundingClientRect()))
            bad.push('overlap: ' + name(blocks[i]) + ' and ' + name(blocks[k]));
for (const cell of document.querySelectorAll('td, th'))
    if (cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1) bad.push('a cell is too narrow: ' + name(cell));
document.title = 'DONE' + JSON.stringify(bad.slice(0, 20));
</script>"""


def chromium(*args):
    return lib.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--virtual-time-budget=4000",
                    f"--user-data-dir={os.getcwd()}/profile", *args], timeout=300)


def look(page, width, opened, dark):
    with open("copy.html", "wb") as f:
        f.write(lib.read(page) + SCRIPT.replace("OPEN", "true" if opened else "false").encode())
    options = [f"--window-size={width},3000", *(["--blink-settings=preferredColorScheme=0"] if dark else [])]
    code, out, err = chromium("--dump-dom", *options, f"file://{os.getcwd()}/copy.html")
    title = re.search(r"<title>DONE(.*?)</title>", out.decode(errors="replace"))
    bad = title and json.loads(title[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    ok(bad == [], f"{page}, {width} wide{', all open' if opened else ''}: nothing overlaps or is cut", bad if title else err[-500:])


def shoot(page, width, dark):
    path = f"{page[:-5]}-{width}{'-dark' if dark else ''}.png"
    options = [f"--window-size={width},6000", *(["--blink-settings=preferredColorScheme=0"] if dark else [])]
    chromium(f"--screenshot={path}", *options, f"file://{os.getcwd()}/{page}")
    data = lib.read(path) if os.path.exists(path) else b""
    ok(data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", data[16:20])[0] == width and len(data) > 20_000, f"  screenshot {path}", len(data))
    return data


if b"it starts" not in chromium("--dump-dom", "data:text/html,<p>it starts")[1]:
    lib.skip_all("Chromium does not start here")
lib.write("a.txt", lib.text(1, 200_000))
lib.write("ko.txt", ("안녕하세요 세계 한국어 문장입니다 있습니다 그리고 사용하는 경우 2024\n" * 40 + lib.EOT) * 20)
lib.must("bpe", "train", "-v", "1000", "-o", "a.json", "a.txt")
lib.must("bpe", "train", "-v", "600", "-o", "b.json", "a.txt", "ko.txt")
long = "a-model-with-a-rather-long-name-of-its-own.json"
lib.must("bpe", "train", "-v", "2000", "-o", long, "a.txt")
lib.must("bpe", "report", "-o", "one.html", "-m", "a.json", "a.txt")
lib.run(["bpe", "report", "-o", "five.html", "--parallel", "--require=vocabulary>=900", "-m", "a.json", "-m", "b.json", "-m", long, "-m", "a.json", "-m", "b.json",
         "a=a.txt", "ko=ko.txt"])  # two fall short
for page in "one.html", "five.html":
    for width in 1280, 400:
        look(page, width, False, False)
    look(page, 400, True, False)
light, dark = shoot("five.html", 1280, False), shoot("five.html", 1280, True)
ok(light != dark, "  dark differs from light")
shoot("five.html", 400, False)
code, out, err = chromium("--print-to-pdf=five.pdf", f"file://{os.getcwd()}/five.html")
ok(os.path.exists("five.pdf") and lib.read("five.pdf")[:5] == b"%PDF-", "it prints", err[-300:])
if KEEP:
    os.makedirs(KEEP, exist_ok=True)
    for name in os.listdir("."):
        if name.endswith((".png", ".pdf", ".html")):
            shutil.copy(name, KEEP)
sys.exit(lib.done())
