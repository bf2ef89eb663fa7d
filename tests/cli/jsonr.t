#!/usr/bin/env bash
# JSON is read as strictly as the specification says: the same documents as in Python are accepted, and no others.
. "$(dirname "$0")/../lib.sh"

random_seed
python3 -B "$TOP/tests/cli/jsonr.py" "$SEED" 20000
ok $? "random JSON, well-formed and not, equals Python's (seed $SEED)"

done_testing
