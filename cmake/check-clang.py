#!/usr/bin/env python3
"""Checks that clang compiles the host code of a configured build without warnings. Generates no code.

Usage: check-clang.py BUILD_DIR. It runs the commands of BUILD_DIR/compile_commands.json, one for each
source, with clang++ or $CLANGXX.
"""

import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = sys.argv[1]
jobs = int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))
clang = os.environ.get("CLANGXX", "clang++")

GCC_ONLY = {"-fno-gnu-unique", "-Wno-maybe-uninitialized", "-Wno-dangling-else"}
# Functions of OpenMP that the sources use: clang's own header is in a package of its own.
OMP = 'extern "C" int omp_get_thread_num(void);'


def compile_one(entry, headers):
    """Return the messages of the compiler, or ""."""
    words = shlex.split(entry["command"])
    del words[words.index("-o"):words.index("-o") + 2]
    words = [clang, *(word for word in words[1:] if word not in GCC_ONLY)]
    done = subprocess.run([*words, "-isystem", headers, "-fsyntax-only", "-Wall", "-Wextra", "-Werror"], cwd=entry["directory"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ""


if not shutil.which(clang):
    sys.exit(f"Error: there is no {clang}: install clang, or name another one in CLANGXX")
with open(os.path.join(build, "compile_commands.json")) as file:
    entries = {entry["file"]: entry for entry in json.load(file)
               if entry["file"].startswith(top + os.sep) and entry["file"].endswith(".cpp")}
if not entries:
    sys.exit(f"Error: {build}/compile_commands.json has no sources of {top} - run make first")

with tempfile.TemporaryDirectory() as headers, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    with open(os.path.join(headers, "omp.h"), "w") as file:
        file.write(OMP)
    messages = list(filter(None, pool.map(lambda entry: compile_one(entry, headers), entries.values())))
print("".join(messages), end="")
print(f"{len(entries)} files compiled with {clang}: {len(messages)} failed")
sys.exit(bool(messages))
