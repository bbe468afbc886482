"""Runs Python examples one after another, each as its file is except for the server's address.

Usage: run-examples.py OLD_ADDRESS NEW_ADDRESS FILE... Prints a JSON array of what each printed, or why it failed.
"""

import contextlib
import io
import json
import sys
import traceback

shown, real, *files = sys.argv[1:]
outputs = []
for file in files:
    with open(file, encoding="utf-8") as source:
        program = compile(source.read().replace(shown, real), file, "exec")
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(program, {"__name__": "__main__"})
        outputs.append({"printed": printed.getvalue()})
    except BaseException:  # Whatever ends an example must not end the others.
        outputs.append({"failure": traceback.format_exc()})
print(json.dumps(outputs))
