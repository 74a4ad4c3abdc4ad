"""The command: options, and the way from files to results."""

import argparse
import glob
import os
import re
import sys

import numpy as np

from . import deposits, output
from .estimates import Result, of_deposits, of_samples, of_windows
from .files import BOLTZMANN, Failure, kind_of, read_table

DESCRIPTION = """Free energy F(S) of one or two variables, as text and PNG. The kind of a file is
known from its columns: HILLS and grids of fix coord/bias and of PLUMED, KERNELS and STATE of OPES,
and samples of S with the bias or with log weights. With --windows, FILE is a list of umbrella
windows: a line has a file, the centers, and the force constants k of V = k/2 (S - S0)^2."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(f"{message} - free_energy.py -h shows all options")


def parser():
    result = Parser(prog="free_energy.py", description=DESCRIPTION)
    add = result.add_argument
    add("files", nargs="+", metavar="FILE", help="several files are those of walkers of one bias")
    add("--temp", type=float, help="temperature of the run, in K, or with units lj in epsilon/k "
        "[none: it must be given]")
    add("--units", choices=list(BOLTZMANN),
        help="units of LAMMPS, or kj (kJ/mol and K) [those in the file; PLUMED: kj]")
    add("--s", nargs="+", metavar="NAME", help="names or numbers of the columns of S; of hills and "
        "grids, the variables that are not integrated out [all]")
    add("--grid", nargs="+", type=float, metavar="LO HI", help="range of each variable [all of it]")
    add("--bins", nargs="+", type=int, metavar="N", help="number of bins of each variable")
    add("--periodic", nargs="+", default=[], metavar="NAME LO HI",
        help="samples, windows: the period of S, such as -pi pi, if the files do not have it")
    add("--every", type=int, default=0, metavar="N", help="also F after each N hills, kernels or "
        "samples (of each window)")
    add("--average", type=float, default=0.0, metavar="PART",
        help="hills: F is its mean over the last part of the run, as 0.5 [F at the end]")
    add("--discard", type=float, default=0.0, metavar="PART",
        help="kernels, samples, windows: leave out the first part of the run, as 0.2 [0]")
    add("--bias", nargs="+", metavar="NAME", help="samples: columns of the bias, which are added")
    add("--offset", metavar="NAME", help="samples: column of c(t), subtracted from the bias")
    add("--logweight", metavar="NAME", help="samples: column of the logarithm of the weight")
    add("--windows", action="store_true", help="FILE is a list of umbrella windows")
    add("--mbar", action="store_true", help="windows: also their free energies by pymbar")
    add("--biasfactor", type=float, metavar="G", help="grids: the biasfactor of the bias [none]")
    add("--basins", nargs=4, type=float, metavar=("LO", "HI", "LO", "HI"),
        help="round trips and difference of F between two ranges of the first variable")
    add("--zero", nargs="+", type=float, metavar="S", help="F is 0 there [at the minimum]")
    add("--blocks", type=int, metavar="N", help="number of blocks for errors [where their plateau "
        "begins]")
    add("--out", default="fes", metavar="NAME", help="writes NAME.dat and NAME.png, and "
        "NAME.every.dat with --every [%(default)s]")
    return result


def parse(words):
    # A space before it keeps argparse from taking -1e-3 or -inf as an option.
    arguments = parser().parse_args([" " + word if word == "-pi" or word[:1] == "-" and is_number(word)
                                      else word for word in words])
    if arguments.temp is None:
        raise Failure("--temp is missing - give the temperature of the run in K, as --temp 300, or "
                      "with units lj in epsilon/k")
    if not 0 < arguments.temp < np.inf:
        raise Failure(f"--temp is {arguments.temp:g}, but must be > 0")
    for name in "average", "discard":
        value = getattr(arguments, name)
        if not 0 <= value < 1 + (name == "average") * 1e-9:
            raise Failure(f"--{name} is {value:g}, but must be a part of the run: from 0 to 1")
    if arguments.every < 0:
        raise Failure(f"--every is {arguments.every}, but must be > 0")
    if arguments.blocks is not None and arguments.blocks < 2:
        raise Failure(f"--blocks is {arguments.blocks}, but at least 2 are needed")
    if len(arguments.periodic) % 3:
        raise Failure(f"--periodic has {len(arguments.periodic)} words - give NAME LO HI of each "
                      "variable")
    if arguments.bins and min(arguments.bins) < 2:
        raise Failure(f"--bins is {min(arguments.bins)}, but must be > 1")
    if arguments.biasfactor is not None and not arguments.biasfactor > 1:
        raise Failure(f"--biasfactor is {arguments.biasfactor:g}, but must be > 1")
    if arguments.logweight and (arguments.bias or arguments.offset):
        raise Failure("--logweight is the whole weight - leave out --bias and --offset")
    if arguments.offset and not arguments.bias:
        raise Failure("--offset is subtracted from --bias - give --bias, too")
    grid = arguments.grid
    if grid:
        if len(grid) % 2:
            raise Failure(f"--grid has {len(grid)} numbers - give LO and HI of each variable")
        arguments.grid = list(zip(grid[::2], grid[1::2]))
        for low, high in arguments.grid:
            if not -np.inf < low < high < np.inf:
                raise Failure(f"--grid is from {low:g} to {high:g}, but LO must be < HI")
    return arguments


def is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def is_same(path, other):
    return os.path.realpath(path) == os.path.realpath(other)


def without_backups(paths):
    """Leave out bck.N.NAME next to NAME, which the pattern DIR/*.w has, too."""
    result = []
    for path in paths:
        folder, name = os.path.split(path)
        found = re.fullmatch(r"bck\.\d+\.(.+)", name)
        original = os.path.join(folder, found[1]) if found else ""
        if found and any(is_same(original, other) for other in paths):
            note(f"{path}: left out, because it has hills that a restart or a new run has moved out of "
                 f"{original}")
        else:
            result.append(path)
    return result


def note_of_one_walker(paths):
    """A walker of 'walkers files' has a file DIR/NAME.w of its own hills only."""
    folder, name = os.path.split(paths[0])
    walkers = [os.path.basename(path) for path in glob.glob(os.path.join(glob.escape(folder), "*.w"))]
    if len(paths) == 1 and name in walkers and any(not other.startswith("bck.") for other in walkers if other != name):
        note(f"{paths[0]} has the hills of one walker only - give {os.path.join(folder, '*.w')} for the bias of all")


def note(text):
    print("NOTE: " + text, file=sys.stderr)


def warn(text):
    print("WARNING: " + text, file=sys.stderr)


class Job:
    """Arguments, energies, and what was read."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.note, self.warn = note, warn
        self.tables, self.windows = [], []
        if arguments.windows:
            if len(arguments.files) > 1:
                raise Failure("--windows takes one list of windows, not "
                              + ", ".join(arguments.files))
            self.read_windows(arguments.files[0])
            self.kind = "windows"
        else:
            for k, path in enumerate(arguments.files):
                if any(is_same(path, other) for other in arguments.files[:k]):
                    raise Failure(f"{path} is given twice - give each file once")
            arguments.files = without_backups(arguments.files)
            note_of_one_walker(arguments.files)
            found = [read_table(path, note, len(arguments.files) > 1)
                     for path in arguments.files]
            self.tables = [table for table in found if table is not None]
            if not self.tables:
                read_table(arguments.files[0])    # fails
            kinds = [kind_of(table) for table in self.tables]
            for kind, table in zip(kinds, self.tables):
                if kind != kinds[0]:
                    raise Failure(f"{self.tables[0].path} has {kinds[0]}, but {table.path} has "
                                  f"{kind} - give files of one kind")
            self.kind = kinds[0]
            if self.kind in ("grid", "state") and len(self.tables) > 1:
                raise Failure(f"{len(self.tables)} files of kind {self.kind} - give one")
        self.check_options()
        self.set_units()
        periods = [word.strip() for word in arguments.periodic]
        for table in self.tables:
            for k in range(0, len(periods), 3):
                table.set_period(*periods[k:k + 3])
                self.check_period(table, periods[k])
        if self.kind in ("samples", "windows"):
            for table in self.tables:
                self.check_times(table)

    @staticmethod
    def check_period(table, name):
        """Samples beyond the period are taken as their images, which is wrong if LO or HI is."""
        low, high = table.period(name)
        s = table.column(name)
        beyond = np.count_nonzero((s < low - 1e-6 * (high - low)) | (s > high + 1e-6 * (high - low)))
        if beyond:
            note(f"{beyond} of {len(s)} samples of {table.path} have {name} beyond --periodic {low:g} "
                 f"{high:g}, from {s.min():g} to {s.max():g} - they count as their images within it")

    def check_times(self, table):
        """A file to which a run that continues appends has the samples after its restart twice."""
        if table.names[0].lower() not in ("time", "step", "timestep"):
            return
        times = table.column(table.names[0])
        later = np.minimum.accumulate(times[::-1])[::-1]
        twice = np.flatnonzero(times[:-1] >= later[1:])
        if not len(twice):
            return
        back = np.flatnonzero(np.diff(times) <= 0)[0]
        first, last = (table.lines[k] for k in (twice[twice <= back][0], back))
        warn(f"{table.path}, line {table.lines[back + 1]}: {table.names[0]} is {times[back + 1]:.12g} "
             f"after {times[back]:.12g}, so that {len(twice)} of {len(times)} samples are there twice - "
             f"if the run continued from a restart file, leave out lines {first} to {last}"
             + (", and those of its other restarts" if len(twice) > len(twice[twice <= back]) else ""))

    def read_windows(self, path):
        """Fill windows: (table, centers, force constants)."""
        try:
            with open(path) as file:
                lines = file.read().splitlines()
        except OSError as error:
            raise Failure(f"cannot read {path}: {error.strerror}") from None
        for number, line in enumerate(lines, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            n = len(words) // 2
            if len(words) not in (3, 5) or not all(map(is_number, words[1:])):
                raise Failure(f"{path}, line {number}: '{line}' in place of a file, its centers, "
                              "and its force constants")
            values = np.array(words[1:], float)
            if not (np.isfinite(values).all() and (values[n:] >= 0).all()):
                raise Failure(f"{path}, line {number}: centers must be finite, and force constants "
                              ">= 0")
            if self.windows and len(self.windows[0][1]) != n:
                raise Failure(f"{path}, line {number}: {n} variables, but "
                              f"{len(self.windows[0][1])} before")
            name = os.path.join(os.path.dirname(path), words[0])
            if any(is_same(name, table.path) for table, *_ in self.windows):
                raise Failure(f"{path}, line {number}: {words[0]} is the file of an earlier line - "
                              "give each window its own")
            self.windows.append((read_table(name, note), values[:n], values[n:]))
        if len(self.windows) < 2:
            raise Failure(f"{path} has {len(self.windows)} windows, but at least 2 are needed")
        self.tables = [table for table, *_ in self.windows]

    def check_options(self):
        used = {"average": "hills", "discard": "kernels samples windows", "bias": "samples",
                "offset": "samples", "logweight": "samples", "mbar": "windows",
                "periodic": "samples windows",
                "biasfactor": "grid", "blocks": "samples windows",
                "every": "hills kernels samples windows"}
        for name, kinds in used.items():
            if getattr(self.arguments, name) and self.kind not in kinds.split():
                raise Failure(f"--{name} is for {kinds.replace(' ', ', ')}, but "
                              f"{self.arguments.files[0]} has {self.kind}")

    def set_units(self):
        known = {table.units for table in self.tables if table.units}
        given = self.arguments.units
        if len(known | ({given} if given else set())) > 1:
            one, other = sorted(known | ({given} if given else set()))[:2]
            raise Failure(f"units are {one} and {other} - give files of the same units, and these")
        units = given or next(iter(known), "kj" if self.tables[0].is_plumed else None)
        if units not in BOLTZMANN:
            raise Failure(f"--units is missing - {self.tables[0].path} does not name its units: "
                          f"give one of {', '.join(BOLTZMANN)}")
        boltzmann, self.unit = BOLTZMANN[units]
        self.kt = boltzmann * self.arguments.temp
        self.units, self.is_default = units, not (given or known)

    def limits(self, n):
        """Return ranges and numbers of bins for n variables, or None."""
        grid, bins = self.arguments.grid, self.arguments.bins
        for name, given, what in ("grid", grid, "ranges"), ("bins", bins, "numbers"):
            if given and len(given) != n:
                raise Failure(f"--{name} has {len(given)} {what}, but the number of variables is "
                              f"{n}")
        return grid, bins

    def check_names(self, names):
        """Return the variables of F, of these of a file."""
        wanted = self.arguments.s or names
        for name in wanted:
            if name not in names:
                raise Failure(f"{self.tables[0].path} has no variable {name} - its variables are "
                              + ", ".join(names))
        if len(wanted) > 2:
            raise Failure(f"F of {len(wanted)} variables is not possible - name one or two of "
                          f"{', '.join(names)}, as --s {names[0]}")
        return wanted


def of_grid(job):
    if job.arguments.grid or job.arguments.bins:
        raise Failure("--grid and --bins are those of the grid file - leave them out")
    axes, f = deposits.read_grid(job.tables[0], job.arguments.biasfactor)
    names = job.check_names([axis.name for axis in axes])
    axes, f = deposits.project(f, axes, names, job.kt)
    print(f"{job.tables[0].path}: a grid of {' x '.join(map(str, f.shape))} points")
    return Result(names, [axis.points for axis in axes], f, periods=[
        (axis.low, axis.high) if axis.periodic else None for axis in axes])


def main(words=None):
    try:
        job = Job(parse(sys.argv[1:] if words is None else words))
        estimate = {"grid": of_grid, "samples": of_samples, "windows": of_windows}
        print(f"units {job.units}{' (default of PLUMED)' if job.is_default else ''}, kT = "
              f"{job.kt:.6g} {job.unit}")
        result = estimate.get(job.kind, of_deposits)(job)
        output.report(job, result)
    except Failure as error:
        sys.exit("ERROR: " + str(error))
    return 0
