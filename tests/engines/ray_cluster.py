# ray_cluster.py DIR - a Ray cluster of three nodes on this machine, for ray.t: prints its address, then obeys lines on standard
# input: "remove" ends a node at once, as if its machine died, "add" starts one more. It ends with standard input.
#
# All listens on 127.0.0.1 only. What Ray keeps is in DIR, whose name must be short: there are sockets in it.
import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # the address of this machine is 127.0.0.1
os.environ["RAY_TMPDIR"] = sys.argv[1]
os.makedirs(os.path.join(sys.argv[1], "ray"))  # where Ray notes the address, in a directory that it takes to be there
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
os._exit(0)  # without what Ray does at an exit, which may wait for the cluster that has just ended
