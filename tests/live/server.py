"""Serves a model file over HTTP with llama.cpp until standard input ends: ``python server.py MODEL NAME [TEMPLATE]``.

Its first line of output is the address. Run as a process of its own, it can be killed whatever it does.
"""

from __future__ import annotations

import os
import sys


def serve(model: str, name: str, template: str = "") -> None:
    """Serve on a free port of the loopback interface; ``template`` is a file with another chat template."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    if template:
        with open(template, encoding="utf-8") as file:
            params.chat_template = file.read()
    params.n_ctx = 1536  # where a reply without an end is cut off, whatever the request allows: tests are to be quick
    # Threads wait for each other, and stand still while another process has their processor: with two of them,
    # on two processors that other tests kept busy, tests/live took 29 s instead of 8.
    params.cpuparams.n_threads = 1
    params.sampling.seed = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
    os._exit(0)  # the server's threads have nothing left to tidy up
