# shellcheck shell=bash disable=SC2154 # lib.sh sets test_dir
# hosts.sh - for ssh.t: hosts in network namespaces of this machine, each with its own sshd.
#
#     start_hosts 3
#     ssh -F ssh_config h1 hostname
#     host_dies 2
#
# They share the file system, except ./private, which is empty for them. Their HOME and TMPDIR are ./host, ./bin is first on their PATH,
# and HOST is the name of the host: h1, ... The addresses, from 198.18.0.0/15 (for network tests, RFC 2544), and all names depend on
# the process id. stop_hosts, which is called at the end of the test, removes everything.

hosts=()

# can_have_hosts: whether this user may make hosts.
can_have_hosts() {
    [ "$(id -u)" = 0 ] && ip netns add "bpe$$" 2>/dev/null && ip netns delete "bpe$$"
}

# sshd_of HOST: starts sshd in the host's namespace. It and all its children end with the namespace.
sshd_of() {
    ip netns exec "bpe$$$1" sh -c 'mount -t tmpfs none private && exec "$@"' sh "$(PATH=$PATH:/usr/sbin command -v sshd)" -D \
        -f "$PWD/ssh/$1.conf" -E "$PWD/ssh/$1.log" >/dev/null 2>&1 </dev/null &
    disown
}

start_hosts() { # N
    local i address base=$(($$ % 8192 * 16)) # 16 addresses for each process
    mkdir -p ssh bin host private /run/sshd # Debian's sshd needs /run/sshd for privilege separation
    trap 'stop_hosts; cd /; rm -rf "$test_dir"' EXIT
    ssh-keygen -q -t ed25519 -N '' -f ssh/user
    ssh-keygen -q -t ed25519 -N '' -f ssh/host
    for ((i = 1; i <= $1; i++)); do
        hosts+=("h$i")
        ((base += 4))
        address=198.$((18 + base / 65536)).$((base / 256 % 256)).$((base % 256))
        ip netns add "bpe$$h$i"
        ip link add "bpe$$h$i" type veth peer name eth0 netns "bpe$$h$i"
        ip address add "${address%.*}.$((base % 256 + 1))/30" dev "bpe$$h$i"
        ip link set "bpe$$h$i" up
        ip -n "bpe$$h$i" address add "${address%.*}.$((base % 256 + 2))/30" dev eth0
        ip -n "bpe$$h$i" link set eth0 up
        ip -n "bpe$$h$i" link set lo up
        cat >"ssh/h$i.conf" <<END
ListenAddress ${address%.*}.$((base % 256 + 2))
HostKey $PWD/ssh/host
AuthorizedKeysFile $PWD/ssh/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
SetEnv PATH=$PWD/bin:$BUILD:$PATH HOME=$PWD/host TMPDIR=$PWD/host HOST=h$i
END
        cat >>ssh_config <<END
Host h$i
    HostName ${address%.*}.$((base % 256 + 2))
    IdentityFile $PWD/ssh/user
    UserKnownHostsFile /dev/null
    StrictHostKeyChecking no
    LogLevel ERROR
    ConnectTimeout 3
    ServerAliveInterval 1
END
        sshd_of "h$i"
    done
    wait_for "${hosts[@]}"
}

# wait_for HOST...: waits until they answer.
wait_for() {
    local host tries
    for host; do
        for ((tries = 0; tries < 100; tries++)); do
            if ssh -F ssh_config -o BatchMode=yes "$host" true 2>/dev/null; then break; fi
            sleep 0.1
        done
    done
}

# host_dies HOST: kills all of its processes, also those that start meanwhile. host_returns HOST: starts its sshd again.
host_dies() {
    local all process
    while all=$(ip netns pids "bpe$$$1" 2>/dev/null) && [ -n "$all" ]; do
        for process in $all; do kill -KILL "$process" 2>/dev/null; done
        sleep 0.05
    done
}

host_returns() {
    sshd_of "$1"
    wait_for "$1"
}

# cable HOST down|up: disconnects the host from the network, or connects it.
cable() {
    ip link set "bpe$$$1" "$2"
}

stop_hosts() {
    local host
    for host in "${hosts[@]}"; do
        host_dies "$host"
        ip link delete "bpe$$$host" 2>/dev/null
        ip netns delete "bpe$$$host" 2>/dev/null
    done
    hosts=()
}
