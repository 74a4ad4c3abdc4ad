"""Fix coord/bias prints a table of the components of its vector. The table equals that of the manual page, and each component
has the value that the table claims."""

import itertools
import math
import os
import pathlib
import re
import unittest

import numpy as np

import coordtest
import test_bias_hills
from coordtest import rounded

PAGES = pathlib.Path(__file__).resolve().parents[3] / "doc" / "src"
VARIABLES = ("c", "d", "e")
SYSTEM = ["units lj", "atom_modify map array sort 0 0", "region box block 0 6 0 6 0 6", "create_box 1 box",
          "create_atoms 1 random 24 4711 box overlap 1.0", "mass 1 1.0", "velocity all create 1.5 4711", "pair_style lj/cut 2.5",
          "pair_coeff 1 1 1 1", "group a id 1:8", "group b id 9:24",
          "compute c a coord/gpu group2 b switch rational 1.5 dmax 2.9 image minimum engine allpairs precision double",
          "compute d all coord/gpu norm mean switch gaussian 1.0 dmax 2.8 image minimum engine allpairs precision double",
          "compute e b coord/gpu switch cubic d0 0.8 dmax 2.9 image minimum engine allpairs precision double",
          "fix n all nve", "timestep 0.003"]
# k, and center or bound, of each variable. S is beyond each bound, so that walls act.
K, CENTER = (5.0, 20.0, 3.0), (15.0, 2.0, 10.0)
LOWER, UPPER = (40.0, 9.0, 40.0), (3.0, 0.2, 3.0)
SIGMA = (2.0, 0.5, 1.5)
GRID = "0 60 0 12 0 60"
BINS = "90 72 120"
KIND_OF_PAGE = {"all": lambda words: True, "*metad*": lambda words: "metad" in words,
                "all except *metad*, *opes*": lambda words: words[0] not in ("metad", "opes"),
                "*opes*": lambda words: "opes" in words,
                "*metad* with *grid*": lambda words: "grid" in words,
                "*metad* with *grid* and *temp*": lambda words: "grid" in words and "temp" in words}


def table_of_page(page):
    """Return the rows of the table of components: [value, ..., components for 1, 2, and 3 variables]."""
    text = (PAGES / page).read_text()
    begin = text.index("   * - value\n")
    table = text[begin:text.index("\n\n", begin)]
    rows = [[cell.strip() for cell in re.split(r"\n     - ", row)] for row in table.split("   * - ")[1:]]
    assert rows[0][-3:] == ["1 variable", "2 variables", "3 variables"], rows[0]
    return rows[1:]


def components_of_page(words, n):
    """Return the names in the order of components, as the program prints them."""
    found = {}
    for name, kind, *components in table_of_page("fix_coord_bias.rst"):
        if not KIND_OF_PAGE[kind](words.split()):
            continue
        numbers = [int(number) for number in components[n - 1].split(", ")]
        for v, number in enumerate(numbers):
            assert number not in found, (words, number)
            label = f"c_{VARIABLES[v]}"
            found[number] = label if name == "S" else name if len(numbers) < n or number > 4 * n else f"{name} of {label}"
    assert sorted(found) == list(range(1, len(found) + 1)), found
    return [found[number] for number in sorted(found)]


def printed_components(text, ident="b", style="coord/bias"):
    """Return the names that the fix printed, in the order of the components."""
    block = re.search(rf"^Fix {style} {ident}: f_{ident} is V, and\n((?:  f_{ident}\[.*\n)+)", text, re.MULTILINE)
    assert block, text
    found = re.findall(rf"f_{ident}\[(\d+)\] = (.*?)(?=, f_{ident}\[|\n)", block[1])
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1)), found
    return [name for _, name in found]


def commands_of(words, n, steps=20):
    cvs = VARIABLES[:n]
    outputs = len(components_of_page(words, n))
    values = " ".join([f"f_b[{k}]" for k in range(1, outputs + 1)] + [f"c_{v}" for v in cvs])
    return [*SYSTEM, f"fix b all coord/bias {' '.join('c_' + v for v in cvs)} {words}", "thermo_modify norm no format float %.17g",
            f"thermo_style custom step f_b {values}", "thermo_modify norm no format float %.17g", "thermo 1", f"run {steps}"]


def of_variables(keyword, values, n):
    return f"{keyword} " + " ".join(str(value) for value in values[:n])


def words_of(kind, n):
    k, s0 = of_variables("k", K, n), of_variables("s0", CENTER, n)
    pairs = lambda text: " ".join(text.split()[:2 * n])
    metad = f"metad {of_variables('sigma', SIGMA, n)} height 0.3 pace 5 file H"
    grid = f" grid {pairs(GRID)} bins {' '.join(BINS.split()[:n])} write_grid 5 G"
    return {"harmonic": f"harmonic {k} {s0}", "linear": f"linear {k} {s0}",
            "moving": f"moving {k} {s0} " + of_variables("s0/stop", (25.0, 3.0, 20.0), n) + " steps 10",
            "wall/upper": f"wall/upper {k} " + of_variables("s0", UPPER, n), "wall/lower": f"wall/lower {k} " + of_variables("s0", LOWER, n),
            "opes": f"opes barrier 10 pace 5 temp 1.5 threshold 0 {of_variables('sigma', SIGMA, n)} file H",
            "metad": metad, "metad with temp": metad + " temp 1.5 biasfactor 4", "metad with grid": metad + grid,
            "metad with grid and temp": metad + grid + " temp 1.5 biasfactor 4"}[kind]


KINDS = ("harmonic", "linear", "moving", "wall/upper", "wall/lower", "metad", "metad with temp", "metad with grid",
         "metad with grid and temp")


def energy_of_restraint(kind, k, s0, s):
    """Return V of one variable by the formula of the page."""
    if kind in ("harmonic", "moving"):
        return 0.5 * k * (s - s0)**2
    if kind == "linear":
        return k * (s - s0)
    beyond = s - s0 if kind == "wall/upper" else s0 - s
    return k * max(beyond, 0.0)**2


def sum_of_kernels(rows, s):
    """Return the sum of kernels of the page, of the lines of a kernels file. barrier 10, kT 1.5."""
    n, cutoff2, total = len(s), 2 * 10 / (1.5 - 1.5**2 / 10), 0.0
    for row in rows:
        d = sum((s[v] - row[1 + v])**2 / row[1 + n + v]**2 for v in range(n))
        if d < cutoff2:
            total += row[-2] * (math.exp(-d / 2) - math.exp(-cutoff2 / 2) * (1 + (cutoff2 - d) / 2))
    return total


def derivative(function, s, v, step=1e-5):
    """Return the derivative of function(s) with respect to s[v]."""
    moved = [list(s), list(s)]
    moved[0][v] -= step
    moved[1][v] += step
    return (function(moved[1]) - function(moved[0])) / (2 * step)


class Outputs(unittest.TestCase):
    def check(self, kinds, compare):
        """Call compare(kind, n, run, energy, values of all components by name)."""
        for kind, n in itertools.product(kinds, (1, 2, 3)):
            if n == 3 and "grid" in kind:    # the file of such a grid takes a long time
                continue
            words = words_of(kind, n)
            with self.subTest(words):
                run = coordtest.run_lammps(commands_of(words, n))
                names = printed_components(run.text)
                self.assertEqual(names, components_of_page(words, n))
                table = run.tables[0]
                values = {name: table[f"f_b[{k}]"] for k, name in enumerate(names, 1)}
                for v in VARIABLES[:n]:
                    np.testing.assert_allclose(values[f"c_{v}"], table[f"c_{v}"], rounded(1e-10), err_msg=v)
                compare(kind, n, run, table["f_b"], values)

    def test_names_with_three_variables_on_a_grid(self):
        """The fix prints the table when it is defined, before a run."""
        words = words_of("metad with grid and temp", 3)
        commands = commands_of(words, 3)
        run = coordtest.run_lammps([line for line in commands[:-1] if not line.startswith("thermo")])
        self.assertEqual(printed_components(run.text), components_of_page(words, 3))
        self.assertEqual(len(components_of_page(words, 3)), 16)

    def test_restraints(self):
        def compare(kind, n, run, energy, values):
            of = lambda name, row: [values[f"{name} of c_{v}"][row] for v in VARIABLES[:n]]
            steps = run.tables[0]["Step"]
            work = 0.0
            for row, step in enumerate(steps):
                k, s0 = of("k", row), of("s0", row)
                s = [values[f"c_{v}"][row] for v in VARIABLES[:n]]
                self.assertEqual(k, list(K[:n]))
                expected = np.array({"wall/lower": LOWER, "wall/upper": UPPER}.get(kind, CENTER))[:n]
                if kind == "moving":
                    expected = expected + min(step, 10) / 10 * (np.array((25.0, 3.0, 20.0))[:n] - expected)
                np.testing.assert_allclose(s0, expected, 1e-14)
                total = lambda at: sum(energy_of_restraint(kind, *one) for one in zip(k, s0, at))
                self.assertAlmostEqual(energy[row], total(s), delta=rounded(1e-11) * max(1.0, abs(total(s))))
                for v in range(n):
                    self.assertAlmostEqual(values[f"dV/dS of c_{VARIABLES[v]}"][row], derivative(total, s, v),
                                           delta=rounded(1e-5) * K[v] * 10)
                if row:    # V changes at fixed S, before and after the timestep
                    change = lambda at: sum(energy_of_restraint(kind, *one) for one in zip(k, s0, at)) - sum(
                        energy_of_restraint(kind, *one) for one in zip(*last[:2], at))
                    work += 0.5 * change(last[2]) + 0.5 * change(s)
                last = (k, s0, s)
                self.assertAlmostEqual(values["work"][row], work, delta=rounded(1e-10) * max(1.0, abs(work)))
            self.assertGreater(np.abs(energy).max(), 0.1)
            self.assertEqual(bool(work), kind == "moving")

        self.check(KINDS[:5], compare)

    def test_metadynamics(self):
        def compare(kind, n, run, energy, values):
            with open(run.path("H"), "rb") as file:
                lines = test_bias_hills.hill_lines(file.read())
            self.assertEqual(len(lines), 4)
            has_grid, is_tempered = "grid" in kind, "temp" in kind
            columns = np.array([line.split() for line in lines], float)
            work = 0.0
            for row, step in enumerate(run.tables[0]["Step"]):
                nhills = int(step) // 5
                s = [values[f"c_{v}"][row] for v in VARIABLES[:n]]
                self.assertEqual(values["number of hills"][row], nhills)
                v_of = lambda at: test_bias_hills.bias_of(lines[:nhills], at)
                if not has_grid:    # otherwise V is interpolated
                    self.assertAlmostEqual(energy[row], v_of(s), delta=rounded(1e-12))
                    for v in range(n):
                        self.assertAlmostEqual(values[f"dV/dS of c_{VARIABLES[v]}"][row], derivative(v_of, s, v),
                                               delta=rounded(1e-7))
                else:
                    self.assertAlmostEqual(energy[row], v_of(s), delta=0.01)
                    for v in range(n):
                        self.assertAlmostEqual(values[f"dV/dS of c_{VARIABLES[v]}"][row], derivative(v_of, s, v), delta=0.05)
                if nhills:
                    scale = 0.75 if is_tempered else 1.0    # heights in the file are those of the free energy
                    for v in range(n):
                        self.assertEqual(values[f"center of the last hill of c_{VARIABLES[v]}"][row], columns[nhills - 1, 1 + v])
                        self.assertAlmostEqual(values[f"height of the last hill of c_{VARIABLES[v]}"][row],
                                               scale * columns[nhills - 1, -2], delta=1e-15)
                    if step % 5 == 0:    # the change of V at the center of the new hill
                        work += scale * columns[nhills - 1, -2]
                    self.assertAlmostEqual(values["work"][row], work, delta=1e-4 if has_grid else rounded(1e-12))
            self.assertGreater(energy.max(), 0.5)
            if not has_grid:
                return
            with open(run.path("G")) as file:
                points = [line.split() for line in file if line.strip() and line[0] != "#"]
            # The grid may have grown.
            bounds = np.array(GRID.split(), float).reshape(-1, 2)[:n]
            points = np.array([[float(word) for word in point[:n + 1]] for point in points])
            self.assertAlmostEqual(values["maximum of V"][-1], points[:, n].max(), delta=1e-14)
            v = points[np.all((points[:, :n] >= bounds[:, 0]) & (points[:, :n] <= bounds[:, 1]), axis=1), n]
            self.assertEqual(len(v), math.prod(int(bins) + 1 for bins in BINS.split()[:n]))
            if is_tempered:    # eq. 12 of Tiwary and Parrinello, with gamma = 4 and kT = 1.5
                logarithm = lambda factor: np.log(np.exp(factor * v / 1.5).sum())
                self.assertAlmostEqual(values["c(t)"][-1], 1.5 * (logarithm(4 / 3) - logarithm(1 / 3)), delta=1e-11)

        self.check(KINDS[5:], compare)

    def test_opes(self):
        """V by the formula of the page, of kernels that are not merged."""
        def compare(kind, n, run, energy, values):
            with open(run.path("H"), "rb") as file:
                kernels = np.array([line.split() for line in test_bias_hills.hill_lines(file.read())], float)
            self.assertEqual(len(kernels), 4)
            work, akt = 0.0, 1.5 - 1.5**2 / 10
            for row, step in enumerate(run.tables[0]["Step"]):
                count = int(step) // 5
                s = [values[f"c_{v}"][row] for v in VARIABLES[:n]]
                weights = np.append(np.exp(-10 / 1.5), np.exp(kernels[:count, -1]))
                self.assertEqual(values["number of kernels"][row], count)
                self.assertEqual(values["kernels after merging"][row], count)
                self.assertAlmostEqual(values["rct"][row], 1.5 * np.log(weights.mean()), delta=1e-12)
                neff = (1 + weights.sum())**2 / (1 + (weights**2).sum())
                self.assertAlmostEqual(values["neff"][row], neff, delta=1e-12)
                sums = [sum_of_kernels(kernels[:count], kernel[1:1 + n]) for kernel in kernels[:count]]
                zed = np.mean(sums) / weights.sum() if count else 1.0
                self.assertAlmostEqual(values["zed"][row], zed, delta=1e-12)
                v_of = lambda at: akt * math.log(sum_of_kernels(kernels[:count], at) / weights.sum() / zed + math.exp(-10 / akt))
                self.assertAlmostEqual(energy[row], v_of(s), delta=1e-11)
                for v in range(n):
                    self.assertAlmostEqual(values[f"dV/dS of c_{VARIABLES[v]}"][row], derivative(v_of, s, v), delta=1e-6)
                if not count:
                    continue
                last = kernels[count - 1]
                self.assertEqual(values["V/kT at the last kernel"][row], last[-1])
                for v in range(n):
                    self.assertEqual(values[f"center of the last kernel of c_{VARIABLES[v]}"][row], last[1 + v])
                    self.assertEqual(values[f"height of the last kernel of c_{VARIABLES[v]}"][row], last[-2])
                if step % 5 == 0:    # the change of V at S
                    work += energy[row] - 1.5 * last[-1]
                    scale = (neff * (n + 2) / 4)**(-1 / (n + 4))
                    np.testing.assert_allclose(last[1 + n:1 + 2 * n], scale * np.array(SIGMA[:n]), 1e-12)
                    self.assertAlmostEqual(last[-2], math.exp(last[-1]) * scale**-n, delta=1e-11 * last[-2])
                self.assertAlmostEqual(values["work"][row], work, delta=1e-11)
            self.assertGreater(energy.max(), -8)

        self.check(["opes"], compare)

    def test_plumed(self):
        """The names of fix coord/plumed, in the order of its page; test_plumed*.py compare the values."""
        if not os.environ.get("GPUCOORD_TEST_PLUMED"):
            coordtest.skip_part("fix coord/plumed", "GPUCOORD_TEST_PLUMED is not set")
            return
        import plumedtest    # noqa: F401: tells PLUMED's path to LAMMPS
        for n in 1, 2, 3:
            expected = {}
            for name, *components in table_of_page("fix_coord_plumed.rst"):
                for v, number in enumerate(components[n - 1].split(", ")):
                    label = f"c_{VARIABLES[v]}"
                    expected[int(number)] = {"S": label, "force": f"force on {label}", "work": "work"}[name]
            folder = coordtest.folder()
            path = os.path.join(folder, f"plumed{n}.dat")
            with open(path, "w") as file:
                for v in VARIABLES[:n]:
                    file.write(f"{v}s: EXTRACV NAME={v}\nRESTRAINT ARG={v}s AT=1 KAPPA=1\n")
            run = coordtest.run_lammps([*SYSTEM, f"fix b all coord/plumed {' '.join('c_' + v for v in VARIABLES[:n])} "
                                        f"plumedfile {path} outfile {path}.log"])
            self.assertEqual(printed_components(run.text, style="coord/plumed"), [expected[k] for k in sorted(expected)])


if __name__ == "__main__":
    unittest.main()
