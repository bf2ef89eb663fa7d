#!/usr/bin/env python3
# train - text to a tokenizer, on a Spark cluster: runs bpe train --via with fan_out.py
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
from launch import launch

launch("train")
