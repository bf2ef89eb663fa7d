#!/usr/bin/env python3
# Runs the examples of the package's README, in order. Examples that import a module that is not installed are skipped. With
# arguments, examples that import ray, pyspark, datasets or transformers run only if these are among the arguments (for the Pythons
# of Ray and Spark).
import ast
import importlib.util
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib

sys.path.insert(0, os.path.join(lib.TOP, "pipelines", "python"))
os.environ.update(PYTHONPATH=sys.path[0], PYSPARK_PYTHON=sys.executable)  # for the workers of Ray and Spark
NEEDS = {"to_transformers": "transformers", "encode_batch": "numpy", "encode_files": "numpy", "ray.data": "ray"}


def needed(block):
    """The modules that a block imports, or that the methods it calls import."""
    found = {name for call, name in NEEDS.items() if call in block}
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
    return found


def main():
    wanted = set(sys.argv[1:])
    with open(os.path.join(lib.TOP, "pipelines", "python", "README"), encoding="utf-8") as f:
        blocks = re.findall(r"^```python\n(.*?)^```$", f.read(), re.M | re.S)
    lib.ok(len(blocks) > 8, f"the examples are found ({len(blocks)})")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        os.mkdir("data")
        for i in range(2):
            lib.write(f"data/{i}.jsonl", "".join(f'{{"text":"the cat sat on mat {n}"}}\n' for n in range(i, 1000, 2)))
        space = {}
        for i, block in enumerate(blocks):
            modules = needed(block)
            name = f"example {i + 1}: {block.strip().splitlines()[-1]}"
            missing = sorted(m for m in modules if importlib.util.find_spec(m) is None)
            if missing:
                lib.skip(name, f"{missing[0]} is not installed")
                continue
            if wanted and modules & {"ray", "pyspark", "datasets", "transformers"} - wanted:
                continue
            try:
                exec(compile(block, name, "exec"), space)  # pylint: disable=exec-used
                lib.ok(True, name)
            except Exception as error:  # pylint: disable=broad-except
                lib.ok(False, name, f"{type(error).__name__}: {error}")
        os.chdir(lib.TOP)
    return lib.done()


sys.exit(main())
