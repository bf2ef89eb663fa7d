#!/usr/bin/env python3
# shard - text to shards of token ids, on a Spark cluster: bpe shard, with fan_out.py as the filter of its --via
import sys

sys.dont_write_bytecode = True  # not into where this is installed
from launch import launch

launch("shard")
