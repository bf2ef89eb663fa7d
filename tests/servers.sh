#!/bin/bash
# servers.sh - make check-upload: bpe upload with servers on loopback that answer as S3 and GCS do. They are a current rclone and
# fake-gcs-server, which are built once, from the Go module proxy, into $BUILD/servers. Tests with that rclone and with the one on PATH.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
BUILD=$(realpath "${BUILD:-$top/build}")
export BUILD
servers=$BUILD/servers
modules=(github.com/rclone/rclone@v1.76.0 github.com/fsouza/fake-gcs-server@v1.56.1)
mkdir -p "$servers"
for module in "${modules[@]}"; do
    name=${module%@*}
    [ ! -x "$servers/${name##*/}" ] || continue
    command -v go >/dev/null || {
        echo "check-upload: missing go 1.25 or newer (go.dev/dl; Debian 12 has an older one), to build ${modules[*]}" >&2
        exit 1
    }
    echo "# building $module (takes minutes)" >&2
    GOBIN=$servers nice go install "$module"
done
export KINDS='local webdav s3 gcs' KILLS=${KILLS:-24}
if command -v rclone >/dev/null; then prove "$top/tests/pipe/upload.t"; fi
PATH=$servers:$PATH prove "$top/tests/pipe/upload.t"
