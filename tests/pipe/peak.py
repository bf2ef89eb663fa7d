#!/usr/bin/env python3
"""peak.py COMMAND... - runs a command and prints the most memory (RSS, in KiB) that it took. Its output goes nowhere."""
import resource
import subprocess
import sys

# A small process starts it: what a child has before exec counts as its own.
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code if code >= 0 else 128 - code)
