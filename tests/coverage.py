#!/usr/bin/env python3
"""coverage.py BUILD - make coverage: how many of the lines and branches of each layer, and of the programs, the tests have run.

BUILD must have been compiled with --coverage, and its tests run. Prints a table, then each file in which less than 90 % of the
lines were run. BUILD/coverage.txt has the details of each line. Needs gcovr."""
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def percent(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def main():
    build = os.path.abspath(sys.argv[1])
    out = os.path.join(build, "coverage.json")
    subprocess.run(["gcovr", "-r", TOP, "--object-directory", build, "-f", "common/", "-f", "cmd/", "--exclude-unreachable-branches",
                    "--gcov-ignore-parse-errors", "--json-summary", out, "--txt", os.path.join(build, "coverage.txt"), build],
                   cwd=TOP, check=True)
    with open(out) as f:
        files = json.load(f)["files"]
    rooms = {}
    for file in files:
        sums = rooms.setdefault(os.path.dirname(file["filename"]), [0] * 4)
        for i, key in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
            sums[i] += file[key]
    print(f"{'layer':18} {'lines':>7} {'run':>7} {'branches':>9} {'taken':>7}")
    for room, sums in [*sorted(rooms.items()), ("total", [sum(s) for s in zip(*rooms.values())])]:
        print(f"{room:18} {sums[1]:7} {percent(sums[0], sums[1])} {sums[3]:9} {percent(sums[2], sums[3])}")
    print("\nlowest coverage:")
    for file in sorted(files, key=lambda f: f["line_covered"] / (f["line_total"] or 1)):
        if file["line_total"] and file["line_covered"] < 0.9 * file["line_total"]:
            print(f"  {file['filename']:38} {percent(file['line_covered'], file['line_total'])} of {file['line_total']}")


main()
