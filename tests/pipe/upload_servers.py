"""upload_servers.py - remotes for upload.t: servers on loopback, each behind a proxy that fails as networks do.

    remote, why = open_remote("s3", directory)   # remote is None if the server is not installed
    remote.name                             # "S3:bucket/shards", for rclone, through the proxy
    remote.proxy.fault = lambda method, path: "503" if ... else None
    remote.stored("a.npy")                  # path of the file in which the server keeps it
"""
import contextlib
import http.client
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

SERVERS = os.path.join(lib.BUILD, "servers")  # where tests/servers.sh installs them
KEYS = ("testaccesskey", "testsecretkey")
LEASH = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []  # a server ends with the test
for name in ("AWS_CA_BUNDLE", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
    os.environ.pop(name, None)


# ---- The proxy ----

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def cut(self):
        """Closes the connection without an answer, like a network failure."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def chunked(self):
        body = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
            body += self.rfile.read(size)
            while self.rfile.readline() not in (b"\r\n", b"\n", b"") and size == 0:
                pass
            if size == 0:
                return body

    def forward(self):
        proxy = self.server
        method, fault = self.command, proxy.fault(self.command, self.path)
        proxy.seen.append((method, self.path, fault))
        try:
            if fault == "cut":  # after half of the body
                self.rfile.read(min(int(self.headers.get("Content-Length") or 0) // 2, 100000))
                return self.cut()
            if "chunked" in self.headers.get("Transfer-Encoding", ""):
                body = self.chunked()
            else:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        except (OSError, ValueError):
            return self.cut()
        if fault in ("500", "503", "403"):
            return self.answer(int(fault), [], b"<html>not now</html>")
        if fault == "slow":
            time.sleep(0.3)
        if fault == "flip" and len(body) > 1000:  # in the middle of the file, also inside a multipart body
            body = body[:len(body) // 2] + bytes([body[len(body) // 2] ^ 1]) + body[len(body) // 2 + 1:]
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("connection", "transfer-encoding", "expect", "content-length")}
        if body or method in ("PUT", "POST"):
            headers["Content-Length"] = str(len(body))
        try:
            upstream = http.client.HTTPConnection("127.0.0.1", proxy.upstream, timeout=60)
            upstream.request(method, self.path, body or None, headers)
            response = upstream.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException):
            return self.cut()
        if fault == "lost":  # the request succeeded, but the client gets no answer
            return self.cut()
        if fault == "half":
            data, fault = data[:len(data) // 2], "cut"
        kept = [(k, v) for k, v in response.getheaders() if k.lower() not in ("connection", "transfer-encoding", "content-length")]
        length = response.getheader("Content-Length") if method == "HEAD" else None
        self.answer(response.status, kept, data, length)
        upstream.close()
        return None

    def answer(self, status, headers, data, length=None):
        try:
            self.send_response_only(status)
            for k, v in headers:
                self.send_header(k, v)
            if status not in (204, 304):
                self.send_header("Content-Length", length or str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)
        except OSError:
            self.cut()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = do_OPTIONS = forward
    do_PROPFIND = do_PROPPATCH = do_MKCOL = do_MOVE = do_COPY = forward


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, upstream):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream = upstream
        self.seen = []  # (method, path, fault)
        self.calm()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *args):
        pass

    def calm(self):
        self.fault = lambda method, path: None

    def writes(self):
        """The number of files sent since the list was cleared."""
        return sum(method in ("PUT", "POST") and ("/shards/" in path or "/upload/" in path) for method, path, _ in self.seen)


# ---- Servers ----

def program(name):
    """The path of a program, in the directory of servers or on PATH."""
    path = os.path.join(SERVERS, name)
    return path if os.access(path, os.X_OK) else shutil.which(name)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Remote:
    """The base class of all remotes."""
    proxy = None

    def __init__(self, root):
        self.root = root
        self.process = None
        os.makedirs(root)
        self.name = self.direct = os.path.join(root, "bucket/shards")
        self.start()

    def start(self):
        pass

    def serve(self, command, environment=None):
        port = free_port()
        command = [*LEASH, *(c.replace("PORT", str(port)) for c in command)]
        with open(self.root + ".log", "wb") as log:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **(environment or {})})
        for _ in range(600):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if self.process.poll() is not None:
                raise SystemExit(f"{command} ended: {lib.read(self.root + '.log')}")
            time.sleep(0.05)
        self.proxy = Proxy(port)
        return port

    def configure(self, kind, name, port, **options):
        """Configures the remote NAME, through the proxy, and NAMEDIRECT, without it."""
        for remote, number in ((name, self.proxy.server_port), (name + "DIRECT", port)):
            prefix = f"RCLONE_CONFIG_{remote}_"
            os.environ[prefix + "TYPE"] = kind
            for key, value in options.items():
                os.environ[prefix + key.upper()] = value.replace("PORT", str(number))
        self.name, self.direct = f"{name}:bucket/shards", f"{name}DIRECT:bucket/shards"

    def stored(self, name):
        return os.path.join(self.root, "bucket/shards", name)

    def copy_to(self, path):
        """Copies the remote to a directory: (exit status of rclone, its messages)."""
        shutil.rmtree(path, ignore_errors=True)
        code, _, err = lib.run(["rclone", "copy", "--retries", "3", self.direct, path])
        return code, err

    def clear(self):
        lib.run(["rclone", "purge", self.direct])

    def flip(self, name):
        """Damages one byte of the stored file."""
        with open(self.stored(name), "r+b") as f:
            f.seek(-1, 2)
            last = f.read(1)
            f.seek(-1, 2)
            f.write(bytes([last[0] ^ 1]))

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
        if self.proxy:
            self.proxy.shutdown()
            self.proxy.server_close()


class Local(Remote):
    def copy_to(self, path):
        shutil.rmtree(path, ignore_errors=True)
        if os.path.isdir(self.name):
            shutil.copytree(self.name, path)
        return 0, ""

    def clear(self):
        shutil.rmtree(self.name, ignore_errors=True)


class WebDAV(Remote):
    """WebDAV has no checksums, so that all files are read back."""

    def start(self):
        port = self.serve([program("rclone"), "serve", "webdav", "--addr", "127.0.0.1:PORT", "--dir-cache-time", "10ms", self.root])
        self.configure("webdav", "DAV", port, url="http://127.0.0.1:PORT")


class S3(Remote):
    def start(self):
        port = self.serve([program("rclone"), "serve", "s3", "--addr", "127.0.0.1:PORT", "--auth-key", ",".join(KEYS), "--dir-cache-time", "10ms",
                           self.root])
        self.configure("s3", "STHREE", port, provider="Other", access_key_id=KEYS[0], secret_access_key=KEYS[1], region="us-east-1",
                       endpoint="http://127.0.0.1:PORT", force_path_style="true")

    @staticmethod
    def is_there():
        path = program("rclone")
        return path and subprocess.run([path, "serve", "s3", "--help"], capture_output=True, check=False).returncode == 0


class GCS(Remote):
    def start(self):
        port = self.serve([program("fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1", "-port", "PORT", "-backend", "filesystem",
                           "-filesystem-root", self.root])
        self.configure("google cloud storage", "GCS", port, endpoint="http://127.0.0.1:PORT/storage/v1/", anonymous="true", project_number="1")
        # The server gives clients URLs to continue at, which must be the proxy's.
        body = f'{{"externalUrl": "http://127.0.0.1:{self.proxy.server_port}", "publicHost": "127.0.0.1:{self.proxy.server_port}"}}'
        c = http.client.HTTPConnection("127.0.0.1", port)
        c.request("PUT", "/_internal/config", body, {"Content-Type": "application/json"})
        c.getresponse().read()

    @staticmethod
    def is_there():
        return program("fake-gcs-server")


KINDS = {"local": (Local, None, ""),
         "webdav": (WebDAV, None, ""),
         "s3": (S3, S3.is_there, "an rclone with `serve s3`"),
         "gcs": (GCS, GCS.is_there, "fake-gcs-server")}


def open_remote(kind, root):
    """(remote, None), or (None, the reason)."""
    make, is_there, needs = KINDS[kind]
    if is_there and not is_there():
        return None, f"{needs} is not installed: make check-upload"
    return make(root), None
