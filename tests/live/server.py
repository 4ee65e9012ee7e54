"""Serves a model file over HTTP with llama.cpp until its standard input ends: ``python server.py MODEL.gguf NAME``.

Its first line of output is the address. Run as a process of its own, it can be killed whatever it does.
"""

from __future__ import annotations

import os
import sys


def serve(model: str, name: str) -> None:
    """Serve on a free port of the loopback interface."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.n_ctx = 2048  # room for a few turns, and the end of a reply that finds none: tests are to be quick
    params.cpuparams.n_threads = min(os.cpu_count() or 1, 4)
    params.sampling.seed = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
    os._exit(0)  # the server's threads have nothing left to tidy up
