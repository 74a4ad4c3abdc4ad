#!/usr/bin/env python3
"""Checks that clang compiles the host code of a configured build without warnings. Generates no code.

Usage: check-clang.py BUILD_DIR. It runs the commands of BUILD_DIR/compile_commands.json, one for each
source, with clang++ or $CLANGXX.
"""

import collections
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
# Parsing these takes half of the time of a file. GCC compiles all files without: they include what they need.
PRECOMPILED = ("mpi.h", "pointers.h", "gtest/gtest.h", "algorithm", "cmath", "functional", "map", "memory", "string", "vector")


def command(entry, headers):
    """Return the command without the file."""
    words = shlex.split(entry["command"])
    for option in "-o", "-c":
        del words[words.index(option):words.index(option) + 2]
    return (clang, *(word for word in words[1:] if word not in GCC_ONLY), "-isystem", headers, "-Wall", "-Wextra", "-Werror")


def compile_one(words, folder):
    """Return the messages of the compiler, or ""."""
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ""


def precompile(words, folder, headers):
    """Return the options that include the precompiled headers."""
    with tempfile.NamedTemporaryFile("w", suffix=".h", dir=headers, delete=False) as file:
        file.writelines(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in PRECOMPILED)
    compiled = file.name + ".pch"
    failed = compile_one((*words, "-x", "c++-header", file.name, "-o", compiled), folder)
    return () if failed else ("-include-pch", compiled)


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
    commands = {name: (command(entry, headers), entry["directory"]) for name, entry in entries.items()}
    # Worth it for more than a few files with the same options
    often = [key for key, count in collections.Counter(commands.values()).items() if count > 4]
    includes = dict(zip(often, pool.map(lambda key: precompile(*key, headers), often)))
    messages = list(filter(None, pool.map(
        lambda name, key: compile_one((*key[0], *includes.get(key, ()), "-fsyntax-only", name), key[1]),
        commands, commands.values())))
print("".join(messages), end="")
print(f"{len(entries)} files compiled with {clang}: {len(messages)} failed")
sys.exit(bool(messages))
