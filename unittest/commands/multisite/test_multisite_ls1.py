"""pair_style multisite compared with ls1-MarDyn: energy, virial, and force and torque of each
molecule in ls1's force field tests."""
# KOKKOS on a GPU: newton on

import os
import re
import unittest

import numpy as np

import coordtest
import dumptest
import multisitetest
from brutetest import Box
from multisitetest import Component, Model, Molecules, MultisiteTest

DATA = os.environ.get("GPUCOORD_TEST_DATA", "")
if not os.path.isdir(os.path.join(DATA, "ls1")):
    coordtest.skip("GPUCOORD_TEST_DATA has no folder ls1")

FIELD = 1e10    # dielectric constant of the reaction field in all cases
SUMS, VECTORS = 1e-10, 1e-9    # relative to the sum, and to the largest force and torque
CUTOFFS = {"LennardJones": "35", "Charge": "35", "ChargeDipole": "35", "CO2": "33.0702"}
COLUMNS = ["fx", "fy", "fz", "tqx", "tqy", "tqz"]


class Case:
    """Components and configuration from a file of ls1, and ls1's results for it."""

    def __init__(self, name, cutoff):
        self.cutoff = float(cutoff)
        with open(os.path.join(DATA, "ls1", f"{name}.inp")) as file:
            lines = [line.split("#")[0].split() for line in file]
        lines = [line for line in lines if line]
        at = next(k for k, line in enumerate(lines) if line[0] == "NumberOfComponents")
        length = next(line[1:4] for line in lines if line[0] == "Length")
        assert lines[at][1] == "1"
        self.component = self.read_component(lines[at + 1:], -1.0 if name == "ChargeDipole" else 1.0)
        with open(os.path.join(DATA, "ls1", f"{name}.rc{cutoff}.legacy.txt")) as file:
            self.energy, self.virial = map(float, re.findall(r"localUpot (\S+) localVirial (\S+)", file.readline())[0])
            table = np.loadtxt(file)
        table = table[np.argsort(table[:, 0])]
        x, q, self.vectors, of_molecules = table[:, 2:5], table[:, 5:9], table[:, 9:15], table[:, 15:18]
        self.molecules = Molecules(Box([float(edge) for edge in length]), x, q, np.ones(len(x), int))
        self.model = Model([self.component], self.cutoff, rf=FIELD)

    @staticmethod
    def read_component(lines, axis_sign):
        """of_axes: ls1 has the opposite sign of charge-dipole, which dipole axes with the opposite
        sign compensate."""
        numbers = iter([[float(word) for word in line] for line in lines if re.match(r"[-+.\d]", line[0])])
        nlj, ncharge, ndipole, nquadrupole, _ = next(numbers)
        assert nquadrupole == 0
        component = Component("molecule")
        for _ in range(int(nlj)):
            *x, _, epsilon, sigma, _, shift = next(numbers)
            assert shift == 0
            component.sites["center"].append((x, epsilon, sigma))
        for _ in range(int(ncharge)):
            *x, _, charge = next(numbers)
            component.sites["charge"].append((x, charge))
        for _ in range(int(ndipole)):
            *x, ex, ey, ez, moment = next(numbers)
            component.sites["dipole"].append((x, [axis_sign * e for e in (ex, ey, ez)], moment))
        return component

    def script(self, first, words, rf=FIELD):
        model = Model([self.component], self.cutoff, rf=rf)
        return [*multisitetest.setup_commands(self.molecules, first), *model.commands(words), "compute p all pressure NULL pair",
                "thermo_style custom step pe c_p[1] c_p[2] c_p[3] vol", "thermo_modify norm no format float %.17g",
                f"dump d all custom 1 dump id {' '.join(COLUMNS)}", "dump_modify d format float %.17g sort id", "run 0"]

    def run(self, ranks=1, first=(), words=""):
        """Return U and W as defined by ls1, and force and torque of each molecule."""
        run = multisitetest.run_lammps(self.script(first, words), ranks)
        pe, px, py, pz, volume = (run.tables[0][name][0] for name in ("PotEng", "c_p[1]", "c_p[2]", "c_p[3]", "Volume"))
        # ls1 lists the self energy separately.
        energy = pe - len(self.molecules.x) * self.model.self_energy(self.component)
        virial = (px + py + pz) * volume
        # LAMMPS' virial is the derivative with respect to strain, to which the reaction field does
        # not contribute.
        if self.component.sites["dipole"]:
            without = multisitetest.run_lammps(self.script(first, words, 1.0), ranks)
            virial += 3 * (energy - without.tables[0]["PotEng"][0])
        frame, = dumptest.read_dump(run.path("dump"))
        return energy, virial, np.column_stack([frame[name] for name in COLUMNS])

    def errors(self, *arguments):
        energy, virial, vectors = self.run(*arguments)
        largest = lambda part: np.abs(self.vectors[:, part]).max()
        force, torque = (np.abs(vectors - self.vectors)[:, part].max() / largest(part) for part in (slice(0, 3), slice(3, 6)))
        return abs(energy / self.energy - 1), abs(virial / self.virial - 1), force, torque


class Ls1(MultisiteTest):
    def check_case(self, name, *arguments):
        for what, error, limit in zip(("U", "W", "force", "torque"), Case(name, CUTOFFS[name]).errors(*arguments),
                                      (SUMS, SUMS, VECTORS, VECTORS)):
            self.worst = max(self.worst, error)
            self.assertLessEqual(error, limit, f"{name}: {what} {arguments}")

    def test_cases(self):
        for name in CUTOFFS:
            with self.subTest(name):
                self.check_case(name)

    def test_ranks(self):
        for name, ranks, first in (("LennardJones", 2, ["newton off"]), ("Charge", 4, ["newton on"]),
                                   ("ChargeDipole", 4, ["newton off"]), ("ChargeDipole", 2, ["newton on"]),
                                   ("CO2", 4, ["newton on", "processors 1 2 2"]), ("CO2", 1, ["newton off"])):
            with self.subTest(f"{name} on {ranks} ranks"):
                self.check_case(name, ranks, first)

    def test_precisions(self):
        """Print the errors of pair terms in float."""
        print("\nerrors of U, W, forces and torques beside ls1-MarDyn")
        for name in CUTOFFS:
            # In CO2, charges of 21.2 are 0.38 apart, and their forces cancel to the last
            # thousandth.
            in_float = 2e-2 if name == "CO2" else 1e-5
            for precision, limit in (("double", VECTORS), ("mixed", in_float)):
                errors = Case(name, CUTOFFS[name]).errors(1, (), f"precision {precision}")
                print(f"{name:13} {precision:7}" + "".join(f"{error:10.1e}" for error in errors), flush=True)
                self.assertLessEqual(max(errors), limit, f"{name} in {precision}")

    def test_published(self):
        """ls1's own test F0: four atoms at the minimum of the potential, U = -4 and no forces."""
        with open(os.path.join(DATA, "ls1", "F0.inp")) as file:
            rows = [line.split() for line in file.read().split("MoleculeFormat")[1].splitlines()[1:] if line.strip()]
        x = [[float(word) for word in row[2:5]] for row in rows]
        atom = Component("atom", centers=[((0, 0, 0), 1.0, 1.0)])
        lmp = self.system(Model([atom], 1.3), Molecules(Box((3.0, 3.0, 3.0)), x, [[1, 0, 0, 0]] * 4, [1] * 4))
        state = multisitetest.state_of(lmp)
        self.assertAlmostEqual(state.energy, -4.0, delta=1e-12)
        self.assertLess(np.abs(state.forces).max(), 1e-6)    # positions have 10 digits


if __name__ == "__main__":
    unittest.main(verbosity=2)
