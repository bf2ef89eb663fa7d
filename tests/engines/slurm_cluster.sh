# shellcheck shell=bash
# slurm_cluster.sh - a Slurm cluster on this machine, in its own directory: munged, slurmctld, and a slurmd for each of the nodes node1,
# node2, node3. They listen only on free ports of 127.0.0.1, and run as the user who starts them. The machine's own configuration of
# Slurm or munge is neither read nor changed.
#
#     cluster_start DIR      exports SLURM_CONF; returns 1, with one line on standard error, if the cluster does not answer in time
#     node_start NODE        starts it again, after node_die
#     node_die NODE          kills its slurmd and all processes of its jobs, like a power failure
#     cluster_stop           ends all daemons by their process ids, with all their children
#
# Short time limits make failures visible soon: a node that does not answer is down after 10 seconds, and a requeued job starts again
# after 6 seconds (cred_expire must be at least 5) rather than 121.

PATH=$PATH:/usr/sbin:/sbin
cluster='' # the directory
declare -A running=() # daemon: process id

# free_ports: prints four free ports.
free_ports() {
    python3 -c '
import socket
all = [socket.socket() for i in range(4)]
for s in all:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])'
}

# until_true SECONDS COMMAND...: repeats the command until it succeeds; returns 1 if it does not in time.
until_true() {
    local left=$(($1 * 5))
    while ! "${@:2}" >/dev/null 2>&1; do
        ((left-- > 0)) || return 1
        sleep 0.2
    done
}

cluster_configure() {
    local user host i ports
    mapfile -t ports < <(free_ports)
    user=$(id -un) host=$(hostname -s)
    cat >"$SLURM_CONF" <<CONF
ClusterName=bpe
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$cluster/munge.socket,cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool.%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_min_interval=100000,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=1
SlurmdTimeout=10
KillWait=2
MinJobAge=300
MaxArraySize=${MAX_ARRAY_SIZE:-1001}
MailProg=/bin/true
$(for i in 1 2 3; do
        echo "NodeName=node$i NodeHostname=node$i NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=4 State=UNKNOWN"
    done)
PartitionName=all Nodes=node[1-3] Default=YES MaxTime=INFINITE State=UP
CONF
}

# cluster_run NAME COMMAND...: starts a daemon in foreground mode, in its own PID namespace. The kernel ends all processes of the
# namespace with the first one, which ends with the test, however the test ends. The first one is a shell, because it must reap
# orphans. A node also has its own host name, which resolves in its namespace.
cluster_run() {
    # shellcheck disable=SC2016
    setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc --uts \
        bash -c 'case $0 in node*) hostname "$0" && mount --bind "$1" /etc/hosts ;; esac; "${@:2}" & wait; wait' \
        "$1" "$cluster/hosts" "${@:2}" </dev/null >>"$cluster/$1.out" 2>&1 &
    running[$1]=$!
    disown
}

# cluster_kill NAME
cluster_kill() {
    kill -KILL "${running[$1]}"
    unset "running[$1]"
}

cluster_start() { # DIR
    local node
    cluster=$1
    mkdir -m 700 "$cluster" && mkdir "$cluster/state" "$cluster"/spool.node{1,2,3} || return 1
    export SLURM_CONF=$cluster/slurm.conf
    (umask 077 && head -c 128 /dev/urandom >"$cluster/munge.key")
    cluster_run munged munged --force --foreground --socket="$cluster/munge.socket" --key-file="$cluster/munge.key" \
        --pid-file="$cluster/munged.pid" --seed-file="$cluster/munged.seed" --log-file="$cluster/munged.log" --origin=127.0.0.1
    { cat /etc/hosts && printf '127.0.0.1 node%d\n' 1 2 3; } >"$cluster/hosts"
    cluster_configure
    until_true 20 test -S "$cluster/munge.socket" || cluster_fails munged || return
    cluster_run slurmctld slurmctld -D -i
    for node in node1 node2 node3; do
        node_start "$node"
    done
    until_true 60 nodes_are idle 3 || cluster_fails slurmctld
}

cluster_fails() { # NAME
    echo "slurm_cluster.sh: $1 does not answer: $(tail -n 1 "$cluster/$1.log")" >&2
    return 1
}

# nodes_are STATE NUMBER: whether this number of nodes is in this state.
nodes_are() {
    [ "$(sinfo -h -N -t "$1" -o %N | wc -l)" = "$2" ]
}

node_start() { # NODE
    cluster_run "$1" slurmd -D -N "$1"
}

node_die() { # NODE
    cluster_kill "$1"
}

cluster_stop() {
    local name
    for name in "${!running[@]}"; do
        cluster_kill "$name"
    done
}
