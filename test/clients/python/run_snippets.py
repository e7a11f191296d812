"""Runs each given file like a separate program, but in one process, and prints a JSON line for each."""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback

for file in sys.argv[1:]:
    said = io.StringIO()
    ok = True
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(file, run_name="__main__")
        except BaseException:  # one that leaves leaves the others alone
            ok = False
            traceback.print_exc(file=said)
    print(json.dumps({"file": file, "ok": ok, "text": said.getvalue()}), flush=True)
os._exit(0)
