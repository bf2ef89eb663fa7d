"""report.py - the results of bench.py and the other suites, as tables to read and as figures.

    report.py SUITE     writes the figures of $BUILD/SUITE.json (such as bench or bench-encode) into figures.txt
"""
import json
import os
import platform
import statistics
import subprocess
import sys

from harness import BUILD, ENV, HERE, TOP, venv

FIGURES = os.path.join(HERE, "figures.txt")
HEAD = """\
The last results of `make bench CORPUS=DIR`, bench-encode, bench-shard, bench-peers, bench-python and bench-scale; each writes its
section of this file. tests/bench/README quotes it, and tests/lint/figures.t compares the tables of README with bench-peers.
"""


def first_line(*argv):
    try:
        return subprocess.run(argv, env=ENV, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return f"{os.path.basename(argv[0])}: none"


def machine(peers, texts, names, runs, load):
    """The machine, versions and texts of a measurement, as lines of text."""
    with open("/proc/cpuinfo") as f:
        cpu = next((l.split(":")[1].strip() for l in f if l.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    packages = [p.split("==")[0] for p in peers]
    versions = first_line(venv["bin"] + "/python3", HERE + "/peer.py", "versions", *packages) if venv["bin"] else "no peers"
    commit = first_line("git", "-C", TOP, "describe", "--always", "--dirty")
    sizes = []
    for name in dict.fromkeys(names):
        if name not in ("none", "eight", "many") and "." not in name and isinstance(texts.paths.get(name), list):
            made_up = " synthetic" if name == "en" and not os.environ.get("CORPUS") else ""
            sizes.append(f"{name} {texts.size(name) / 1e6:.0f} MB{made_up}")
    distinct = texts.facts.get(("distinct", "words"))
    return [f"{cpu}, {os.cpu_count()} cores, {memory / 1e9:.0f} GB; load at the start {load:.1f}",
            f"Linux {platform.release()}; {first_line(os.environ.get('CC', 'cc'), '--version')}; "
            f"{first_line('parallel', '--version')}; Python {platform.python_version()}",
            f"{first_line('bpe-count', '--version')}, {commit}; {versions}",
            f"{', '.join(sizes)}" + (f" ({distinct / 1e6:.2f} M distinct pretokens)" if distinct else ""),
            f"medians of {runs} round{'s' * (runs != 1)}, programs run alternately; (n=N): only N runs"]


def figure(x):
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}"


def as_ratio(x, op):
    """A ratio as goals state it: 1/5 of the peer's time, 5 times its rate."""
    return f"1/{1 / x:.3g}" if op == "<=" and 0 < x < 0.7 else f"{x:.3g}"


MET = {True: "met", False: "NOT MET", None: "other met"}


def cells(result, runs):
    """A line of the table for each goal."""
    def times(numbers):
        return f" (n={len(numbers)})" if len(numbers) != runs else ""
    if "failure" in result:
        yield result["what"], result["failure"], "", "", "", ""
        return
    what = result["what"]
    ours = f"{figure(statistics.median(result['ours']))} {result['unit']}{times(result['ours'])}"
    for goal in result["goals"] or [None]:
        if goal is None:
            yield what, ours, "", "", "", ""
        elif goal["against"] is None:
            yield what, ours, "", "", f"{goal['op']} {goal['factor']:g}", MET[goal["met"]]
        else:
            subject = " ".join(goal["against"].split()[1:3])
            than = f"{goal['op']} {as_ratio(goal['factor'], goal['op'])}" if goal["op"] else ""
            if "failure" in goal:
                yield what, ours, f"{subject}: {goal['failure']}", "", than, ""
            else:
                theirs = f"{subject} {figure(statistics.median(goal['theirs']))}{times(goal['theirs'])}"
                yield what, ours, theirs, as_ratio(goal["ratio"], goal["op"]), than, MET[goal["met"]] if than else ""
        what = ours = ""


def table(head, all_results, runs):
    lines = [("", "ours", "compared with", "ratio", "goal", "")]
    for result in all_results:
        lines.extend(cells(result, runs))
    widths = [max(min(len(l[i]), 40) for l in lines) for i in range(6)]
    body = "\n".join("  ".join(c.ljust(w) for c, w in zip(l, widths)).rstrip() for l in lines)
    return "\n".join(head) + "\n\n" + body + "\n"


def medians(samples):
    """A line for each subject and text: the median of what each run took."""
    yield "subject", "text", "wall s", "MB/s", "cpu s", "peak MB", "runs"
    for sample in samples:
        runs = sample["runs"]

        def median(metric, digits, factor=1.0):
            values = [r[metric] * factor for r in runs if metric in r]
            return f"{statistics.median(values):.{digits}f}" if values else "-"
        if any("wall" in r or "cpu" in r for r in runs):
            yield (sample["subject"], sample["text"], median("wall", 3), median("speed", 1), median("cpu", 3),
                   median("rss", 1, 1e-6), str(len(runs)))


def columns(lines):
    lines = list(lines)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() + "\n" for line in lines)


def write_figures(name, whole, text):
    """Replaces a suite's section of figures.txt."""
    try:
        with open(FIGURES) as f:
            _, *parts = f.read().split("\n== ")
    except FileNotFoundError:
        parts = []
    parts = {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}
    parts[name] = "\n" + text + "\n" + columns(medians(whole["samples"]))
    with open(FIGURES, "w") as f:
        f.write(HEAD + "".join(f"\n== {key}\n{value}" for key, value in sorted(parts.items())))


def write(name, whole, keep, make_table=None):
    """To standard output, $BUILD/NAME.txt and $BUILD/NAME.json, and, with keep, to figures.txt."""
    text = make_table(whole) if make_table else table(whole["machine"], whole["rows"], whole["rounds"])
    print(text, end="")
    with open(os.path.join(BUILD, name + ".txt"), "w") as f:
        f.write(text)
    with open(os.path.join(BUILD, name + ".json"), "w") as f:
        json.dump(whole, f, indent=1)
    if keep:
        write_figures(name, whole, text)


def main():
    with open(os.path.join(BUILD, sys.argv[1] + ".json")) as f:
        whole = json.load(f)
    rounds = whole.get("rounds") or max(len(s["runs"]) for s in whole["samples"])
    write_figures(sys.argv[1], whole, table(whole["machine"], whole["rows"], rounds))


if __name__ == "__main__":
    main()
