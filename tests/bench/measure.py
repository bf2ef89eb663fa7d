"""measure.py - rows of measurements, and goals: everything they name is run alternately, round after round, and compared.

A quantity is "METRIC SUBJECT TEXT", or the difference of two, "... - METRIC SUBJECT TEXT". Subjects and texts are those of
the suite. Metrics: wall, cpu (s), rss (bytes), rss_mb, speed, rate (MB per second of wall, of CPU; the MB are those of the
documents as plain text, whatever the format), and others that a subject returns. A goal compares a quantity with a factor
times another quantity, or (against None) with a number; a goal without op only shows the ratio."""
import collections
import os
import shutil
import signal
import statistics
import sys
import tempfile

import report
from harness import BUILD, ENV, PEER_LONG, Failure, kill_all, make_venv, note

Goal = collections.namedtuple("Goal", "op factor against")
Row = collections.namedtuple("Row", "key what unit ours goals")


def at_most(factor, against=None):
    return Goal("<=", factor, against)


def at_least(factor, against=None):
    return Goal(">=", factor, against)


def beside(against):
    return Goal(None, None, against)


# A suite of measurements. peers: packages from PyPI; peer: prefixes of the subjects that need them; leaves_out: quantities that
# --quick skips; out: base name of the results in $BUILD; once: prefixes of the subjects that are run only once if they take long
# (default: the peers); table: makes the table (default: report.table); keep: whether to write figures.txt (default: if CORPUS is
# set); venv: build directory of the venv, for other versions of the peers.
Suite = collections.namedtuple("Suite", "rows subjects texts peers peer leaves_out out once table keep venv",
                               defaults=[None, None, None, BUILD])
# Rows that need to meet only one goal: 1.8 on two cores, or as much as a loop that only computes gets.
ENOUGH = {"cores", "encode-cores"}


def terms(quantity):
    """The (metric, subject, text) of each term."""
    return [tuple(term.split()) for term in quantity.split(" - ")]


def wanted(rows):
    """Each (subject, text) that the rows name, once, in order."""
    quantities = [q for r in rows for q in (r.ours, *(g.against for g in r.goals)) if q]
    return list(dict.fromkeys((subject, text) for q in quantities for _, subject, text in terms(q)))


def measure(suite, rows, runs, texts, samples, failures):
    """Fills samples[subject, text], a list of what each run took, or failures[subject, text], the reason why it failed."""
    for n in range(runs):
        for subject, text in wanted(rows):
            done = samples[subject, text]
            if (subject, text) in failures or (subject.startswith(suite.once or suite.peer) and done and done[0].get("wall", 0) > PEER_LONG):
                continue
            note(f"round {n + 1} of {runs}: {subject} {text}")
            try:
                took = suite.subjects[subject](texts, text)
                size = texts.size(text)
            except (Failure, OSError, ValueError) as e:
                failures[subject, text] = str(e)
                continue
            took.update({"speed": size / took["wall"] / 1e6} if "wall" in took else {})
            took.update({"rate": size / took["cpu"] / 1e6} if took.get("cpu") else {})
            took.update({"rss_mb": took["rss"] / 1e6} if "rss" in took else {})
            done.append(took)
    note("")


def values(quantity, samples, failures):
    """The values of a quantity, one for each round."""
    of_terms = []
    for metric, subject, text in terms(quantity):
        if (subject, text) in failures or not samples[subject, text]:
            raise Failure(failures.get((subject, text), "not run"))
        of_terms.append([s[metric] for s in samples[subject, text]])
    if len(of_terms) == 1:
        return of_terms[0]
    if len(of_terms[0]) == len(of_terms[1]):
        return [a - b for a, b in zip(*of_terms)]
    return [statistics.median(of_terms[0]) - statistics.median(of_terms[1])]


def judge(goal, ours, samples, failures):
    """A goal with its figures: those it is compared with, the ratio, and whether it is met."""
    theirs = values(goal.against, samples, failures) if goal.against else [1.0]
    if len(theirs) == len(ours):
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    else:
        ratio = statistics.median(ours) / statistics.median(theirs)
    met = None if goal.op is None else ratio <= goal.factor if goal.op == "<=" else ratio >= goal.factor
    return dict(goal._asdict(), theirs=theirs, ratio=ratio, met=met)


def results(rows, samples, failures):
    for row in rows:
        result = {"key": row.key, "what": row.what, "unit": row.unit, "goals": []}
        try:
            result["ours"] = values(row.ours, samples, failures)
        except Failure as e:
            yield dict(result, failure=str(e))
            continue
        for goal in row.goals:
            try:
                result["goals"].append(judge(goal, result["ours"], samples, failures))
            except Failure as e:
                result["goals"].append(dict(goal._asdict(), failure=str(e)))
        if row.key in ENOUGH and any(g.get("met") for g in result["goals"]):
            result["goals"] = [g if g.get("met") else dict(g, met=None) for g in result["goals"]]
        yield result


def select(suite, quick, keys):
    """The requested rows; --quick omits rows, and single goals, that take long."""
    rows = [r for r in suite.rows if not keys or r.key in keys]
    if quick:
        rows = [r._replace(goals=[g for g in r.goals if not suite.leaves_out.search(g.against or "")]) for r in rows
                if not suite.leaves_out.search(r.ours)]
    if not rows:
        sys.exit(f"bench: unknown rows; the rows are {', '.join(dict.fromkeys(r.key for r in suite.rows))}")
    return rows


def main(suite):
    quick = sys.argv[1:] == ["--quick"]
    runs = int(os.environ.get("RUNS") or (3 if quick else 5))
    keys, interrupted = (os.environ.get("ROWS") or "").replace(",", " ").split(), False
    rows = select(suite, quick, keys)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    samples, failures, load = collections.defaultdict(list), {}, os.getloadavg()[0]
    scratch = tempfile.mkdtemp(prefix="bpe-bench-")
    ENV["TMPDIR"] = scratch  # killed programs leave their files here
    try:
        if suite.peer and any(s.startswith(suite.peer) for s, _ in wanted(rows)):
            make_venv(suite.peers, suite.venv)
        texts = suite.texts(scratch)
        try:
            measure(suite, rows, runs, texts, samples, failures)
        except KeyboardInterrupt:
            note("")
            interrupted = True
            print("bench: interrupted; results so far:", file=sys.stderr)
        all_results = list(results(rows, samples, failures))
        head = report.machine(suite.peers, texts, [text for _, text in wanted(rows)], runs, load)
    finally:
        kill_all()
        shutil.rmtree(scratch, ignore_errors=True)
    samples = [{"subject": s, "text": t, "runs": v} for (s, t), v in samples.items()]
    whole = {"machine": head, "rounds": runs, "rows": all_results, "samples": samples}
    may_keep = os.environ.get("CORPUS") if suite.keep is None else suite.keep
    report.write(suite.out, whole, keep=bool(may_keep) and not (quick or keys or interrupted), make_table=suite.table)
