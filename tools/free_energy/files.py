"""Files with columns, of PLUMED (hills, kernels, states, grids, COLVAR) and of LAMMPS (fix
ave/time, fix print)."""

import math
import re
from dataclasses import dataclass, field

import numpy as np

# Boltzmann's constant and the unit of energy for each of LAMMPS' units, as LAMMPS has them, and for
# PLUMED's default units
BOLTZMANN = {"real": (0.0019872067, "kcal/mol"), "metal": (8.617343e-5, "eV"),
             "lj": (1.0, "epsilon"), "electron": (3.16681534e-6, "hartree"),
             "si": (1.3806504e-23, "J"), "cgs": (1.3806504e-16, "erg"),
             "micro": (1.3806504e-8, "pg um^2/us^2"), "nano": (0.013806504, "ag nm^2/ns^2"),
             "kj": (0.0083144621, "kJ/mol")}


class Failure(Exception):
    """An error of the input. Its text says what to do."""


@dataclass
class Table:
    """numbers: [row, column]. constants: of lines '#! SET'. units: of LAMMPS, if the file names
    them. lines: number of the line of each row."""
    path: str
    names: list
    numbers: np.ndarray
    constants: dict = field(default_factory=dict)
    units: str = ""
    is_plumed: bool = False
    walker: str = ""
    lines: np.ndarray = None

    def __len__(self):
        return len(self.numbers)

    def index(self, name):
        """name: of a column, or its number, which counts from 1."""
        if name in self.names:
            return self.names.index(name)
        if re.fullmatch(r"\d+", name) and 1 <= int(name) <= len(self.names):
            return int(name) - 1
        raise Failure(f"{self.path} has no column {name} - its columns are "
                      + ", ".join(self.names))

    def column(self, name):
        k = self.index(name)
        values = self.numbers[:, k]
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise Failure(f"{self.path}, line {self.lines[bad[0]]}: {self.names[k]} is "
                          f"{values[bad[0]]:g}, but must be finite - find out why the run wrote "
                          "it, and leave out what follows")
        return values

    __getitem__ = column

    def period(self, name):
        """Return (low, high), or None if the variable is not periodic."""
        name = self.names[self.index(name)]
        bounds = [self.constants.get(end + name) for end in ("min_", "max_")]
        if None in bounds or self.constants.get("periodic_" + name) == "false":
            return None
        return tuple(bound(text, self.path) for text in bounds)

    def set_period(self, name, *ends):
        """Set the ends of a period, as the words of --periodic."""
        name = self.names[self.index(name)]
        low, high = (bound(text, "--periodic") for text in ends)
        if not -math.inf < low < high < math.inf:
            raise Failure(f"--periodic of {name} is from {low:g} to {high:g}, but LO must be < HI")
        own = self.period(name)
        if own and not np.allclose(own, (low, high)):
            raise Failure(f"--periodic of {name} is from {low:g} to {high:g}, but {self.path} has "
                          f"{own[0]:g} to {own[1]:g} - leave out --periodic")
        self.constants["min_" + name], self.constants["max_" + name] = ends


def bound(text, path):
    """Return the number of min_S or max_S, which may be a multiple of pi."""
    found = re.fullmatch(r"([+-]?)([\d.]*)\*?pi", text)
    try:
        if found:
            return float(found[1] + "1") * float(found[2] or 1) * math.pi
        return float(text)
    except ValueError:
        raise Failure(f"{path}: the bound '{text}' is not a number") from None


def read_table(path, note=print, may_have_header_only=False):
    """note: called with a text if the last line is incomplete, or if there is only a header. Then
    the result is None."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except (OSError, ValueError) as error:    # ValueError: a name with a null byte
        raise Failure(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None
    if "\0" in text:
        raise Failure(f"{path} is not a text file - give a file of hills, kernels, a grid or samples")
    lines = text.split("\n")
    if lines[-1].strip():
        note(f"{path}, line {len(lines)}: left out, because it has no end: '{lines[-1][:60]}'")
    table = Table(str(path), [], None)
    rows, numbers, titles = [], [], []
    for number, line in enumerate(lines[:-1], 1):
        words = line.split("#")[0].split()
        if words:
            rows.append(words)
            numbers.append(number)
        elif line.startswith("#! FIELDS"):
            names = line.split()[2:]
            if table.is_plumed and names != table.names:
                raise Failure(f"{path}, line {number}: the columns are {' '.join(names)}, but "
                              f"{' '.join(table.names)} before - give each run its own file")
            if table.constants.get("action", "").endswith("_state"):
                rows, numbers, table.constants = [], [], {}    # the last of several states counts
            table.names, table.is_plumed = names, True
        elif line.startswith("#! SET"):
            name, value = (line.split() + ["", ""])[2:4]
            known = table.constants.setdefault(name, value)
            if known != value:
                raise Failure(f"{path}, line {number}: {name} is {value}, but {known} before - "
                              "give each bias its own file")
        elif line.startswith("#"):
            found = re.match(r"# \S.* units (\w+):", line)
            walker = re.fullmatch(r"# walker 0 is (\S+)\s*", line)
            if found:
                table.units = found[1]
            elif walker:
                table.walker = walker[1]
            elif not rows:
                titles.append(line[1:].split())
    if not rows and table.is_plumed and may_have_header_only:
        note(f"{path} has only a header yet")
        return None
    if not rows:
        raise Failure(f"{path} has no numbers - is it the file of a run that began?")
    fill(table, rows, numbers, titles)
    return table


def fill(table, rows, numbers, titles):
    if not table.is_plumed:
        width = len(rows[0])
        table.names = next((title for title in reversed(titles) if len(title) == width),
                           [str(k + 1) for k in range(width)])
    width = len(table.names)
    for words, number in zip(rows, numbers):
        if len(words) != width:
            raise Failure(f"{table.path}, line {number}: {len(words)} columns in place of {width} "
                          "- repair the line, or leave it out")
    try:
        table.numbers = np.array(rows, float)
    except ValueError:
        for words, number in zip(rows, numbers):
            for word in words:
                try:
                    float(word)
                except ValueError:
                    raise Failure(f"{table.path}, line {number}: '{word}' is not a number - repair "
                                  "the line, or leave it out") from None
    table.lines = np.array(numbers)


def kind_of(table):
    """Return hills, kernels, state, grid or samples."""
    names = table.names
    if "height" in names and table.constants.get("action", "").endswith("_state"):
        return "state"
    if "height" in names and "logweight" in names:
        return "kernels"
    if "height" in names:
        return "hills"
    return "grid" if any(name.startswith("nbins_") for name in table.constants) else "samples"
