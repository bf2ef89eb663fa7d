#!/usr/bin/env python3
# shard - text to shards of token ids, on a Spark cluster: runs bpe shard --via with fan_out.py
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
from launch import launch

launch("shard")
