#!/usr/bin/env python3
"""deal.py N FIRST... -- WORKER...: FIRST writes messages to a socket; N processes of WORKER read them, each message whole by one process,
and write to standard output. Then prints the exit statuses on standard error, signals as -9: `FIRST: WORKER WORKER ...`. It also has a
FIRST and two WORKERs:

deal.py --send FILE...: writes each line of FILEs (each record) as a message to standard output, in a file if it is long.
deal.py --look: a WORKER that prints the type and the length of each message, which must be one record, and whether it came in a file.
deal.py --die FILE: a WORKER that reads messages up to one with text, creates FILE, and kills itself; a second one waits for FILE, and
becomes bpe-count."""
import array
import os
import signal
import socket
import subprocess
import sys
import time

MOST = 200 << 10


def receive(sock):
    """A message, and whether it came in a file."""
    got, files, flags, _ = sock.recvmsg(MOST, socket.CMSG_SPACE(4))
    assert not flags & socket.MSG_TRUNC
    if not files:
        return got, False
    file = array.array("i", files[0][2])[0]
    size = os.fstat(file).st_size
    return os.pread(file, size, 0), True


def send(sock, record):
    if len(record) <= MOST:
        sock.send(record)
        return
    file = os.memfd_create("record")
    os.write(file, record)
    socket.send_fds(sock, [b"-"], [file])
    os.close(file)


def look(sock):
    while True:
        record, file = receive(sock)
        if not record:
            break
        assert record.count(b"\n") == 1 and record.endswith(b"\n") and record.startswith(b"\xff")
        print(chr(record[2]), len(record), "file" if file else "message")


def die(sock, path):
    try:
        os.mkdir(path + ".first")
    except FileExistsError:
        while not os.path.exists(path):
            time.sleep(0.01)
        os.execvp("bpe-count", ["bpe-count"])
    while (record := receive(sock)[0])[2:3] not in (b"C", b"R"):
        os.write(1, record)
    open(path, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)


def deal(n, first, worker):
    writing, reading = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    workers = [subprocess.Popen(worker, stdin=reading) for _ in range(n)]
    reading.close()
    source = subprocess.Popen(first, stdout=writing)
    writing.close()
    codes = [p.wait() for p in [source] + workers]
    print("%d: %s" % (codes[0], " ".join(map(str, sorted(codes[1:])))), file=sys.stderr)


args = sys.argv[1:]
if args[0] == "--send":
    for name in args[1:]:
        for line in open(name, "rb"):
            send(socket.socket(fileno=os.dup(1)), line)
elif args[0] == "--look":
    look(socket.socket(fileno=0))
elif args[0] == "--die":
    die(socket.socket(fileno=0), args[1])
else:
    at = args.index("--")
    deal(int(args[0]), args[1:at], args[at + 1:])
