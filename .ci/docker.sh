#!/usr/bin/env bash
# Runs a command with a Docker engine of its own, and an image with a Python in it:
#
#   .ci/docker.sh PYTHON COMMAND [ARGUMENT...]
#
# The engine is Debian's docker.io, started by hand on a private socket, without a network; the image is a tar
# of PYTHON's own installation, so that no registry is asked. The command finds both in BRAIN_DOCKER_HOST and
# BRAIN_DOCKER_IMAGE. Everything is made in a temporary folder and removed at the end. Needs root and Linux.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
python="$1"
shift
[ "$(id -u)" = 0 ] || { echo "the engine is started by root" >&2; exit 1; }

if ! command -v dockerd >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io >/dev/null
fi

work="$(mktemp -d)"
export BRAIN_DOCKER_HOST="unix://$work/docker.sock" BRAIN_DOCKER_IMAGE="brain-python"
dockerd --host "$BRAIN_DOCKER_HOST" --iptables=false --bridge=none --data-root "$work/data" --exec-root "$work/exec" \
  --pidfile "$work/pid" >"$work/log" 2>&1 &
engine=$!
stop() {
  kill "$engine" 2>/dev/null || true
  wait "$engine" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

for _ in $(seq 100); do
  docker --host "$BRAIN_DOCKER_HOST" version >/dev/null 2>&1 && break
  kill -0 "$engine" 2>/dev/null || { tail -n 20 "$work/log" >&2; exit 1; }
  sleep 0.2
done

"$python" -I - <<'PYTHON' | docker --host "$BRAIN_DOCKER_HOST" import - "$BRAIN_DOCKER_IMAGE" >/dev/null
import glob, io, os, re, subprocess, sys, tarfile

binary = os.path.realpath(sys.executable)
library = os.path.dirname(os.path.realpath(os.__file__))
extensions = [path for folder in sys.path for path in glob.glob(os.path.join(folder, "lib-dynload", "*.so"))]
needed = subprocess.run(["ldd", binary, *extensions], capture_output=True, text=True).stdout
shared = {path for path in re.findall(r"(/\S+)(?= \(0x)", needed)}


def without(entry):
    skipped = {"site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo"}
    return None if os.path.basename(entry.name) in skipped or "/config-" in entry.name else entry


with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", dereference=True) as image:
    for folder in ("dev", "proc", "sys", "tmp", "etc"):
        entry = tarfile.TarInfo(folder)
        entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
        image.addfile(entry)
    text = b"nobody:x:65534:65534:nobody:/:/bin/false\n"
    entry = tarfile.TarInfo("etc/passwd")
    entry.size = len(text)
    image.addfile(entry, io.BytesIO(text))
    image.add(library, library.lstrip("/"), filter=without)
    image.add(binary, binary.lstrip("/"))
    for path in shared:
        image.add(path, path.lstrip("/"))
    for name in ("usr/local/bin/python3", "usr/bin/python3"):
        if "/" + name != binary:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, binary
            image.addfile(entry)
PYTHON

"$@"
