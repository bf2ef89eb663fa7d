#!/usr/bin/env python3
"""peak.py COMMAND... - runs a command, discards its output, and prints its peak memory (RSS in KiB)."""
import resource
import subprocess
import sys

# A small process starts the command, because a child's memory before exec is counted, too.
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code if code >= 0 else 128 - code)
