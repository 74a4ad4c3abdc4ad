#!/usr/bin/env python3
"""Checks all C++ and CUDA files that git tracks: clang-format leaves them unchanged, and no line is
longer than 100 columns. The second check is separate because clang-format does not break comments
and strings.

usage: check-format.py [CLANG_FORMAT [FILE...]]   path of clang-format 14.0.6, from cmake/clang-format.sh
Without the path, or if it is empty, only the length of lines is checked. With files, relative to the
top folder, only these are checked.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 100


def tracked():
    command = ["git", "-C", TOP, "ls-files", "-z", "*.h", "*.cpp", "*.cu", "*.cuh"]
    names = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout.split("\0")
    return [name for name in names if name and (TOP / name).exists()]


def long_lines(name):
    for number, line in enumerate((TOP / name).read_text().splitlines(), 1):
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns: {line.strip()[:60]}..."


def differs(clang_format, name):
    run = subprocess.run([clang_format, "--style=file", name], cwd=TOP, stdout=subprocess.PIPE, check=True)
    return run.stdout != (TOP / name).read_bytes()


def main():
    if sys.argv[1:2] == ["-h"]:
        sys.exit(__doc__)
    clang_format = sys.argv[1] if sys.argv[1:] else ""
    names = [name for name in tracked() if not sys.argv[2:] or name in sys.argv[2:]]
    too_long = [line for name in names for line in long_lines(name)]
    unformatted = []
    if clang_format:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda name: differs(clang_format, name), names)
            unformatted = [name for name, is_other in zip(names, found) if is_other]
    else:
        print("check-format: SKIPPED: formatting is not checked without clang-format 14.0.6")
    for line in too_long:
        print(line)
    if too_long:
        print(f"check-format: {len(too_long)} lines are longer than {COLUMNS} columns: break them by hand")
    for name in unformatted:
        print(f"{name}: clang-format changes it")
    if unformatted:
        print(f"check-format: {len(unformatted)} files are not formatted: {clang_format} -i <file>")
    if too_long or unformatted:
        return 1
    print(f"check-format: {len(names)} files{'' if clang_format else ', lines alone'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
