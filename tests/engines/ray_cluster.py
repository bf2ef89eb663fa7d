# ray_cluster.py DIR - a Ray cluster of three nodes on this machine, for ray.t. Prints its address, then obeys lines on standard input:
# "remove" kills a node immediately, as if its machine had died; "add" starts another. Ends at the end of standard input.
#
# All processes listen only on 127.0.0.1. Ray's files are in DIR, whose name must be short, because it contains sockets.
import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # so that the address of this machine is 127.0.0.1
os.environ["RAY_TMPDIR"] = sys.argv[1]
os.makedirs(os.path.join(sys.argv[1], "ray"))  # Ray writes the address here, but does not create the directory
import ray
from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "temp_dir": os.path.join(sys.argv[1], "ray"), "include_dashboard": False}


def say(word):
    os.write(answers, f"{word}\n".encode())


answers = os.dup(1)
os.dup2(2, 1)
cluster = Cluster(initialize_head=True, head_node_args=NODE)
for _ in range(2):
    cluster.add_node(**NODE)
say(cluster.address)
for line in sys.stdin:
    if line == "remove\n":
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    elif line == "add\n":
        cluster.add_node(**NODE)
    say("done")
cluster.shutdown()
os._exit(0)  # skips Ray's exit handlers, which may wait for the cluster that has just ended
