#!/usr/bin/env python3
# train - text to a tokenizer, on a Spark cluster: bpe train, with fan_out.py as the filter of its --via
import sys

sys.dont_write_bytecode = True  # not into where this is installed
from launch import launch

launch("train")
