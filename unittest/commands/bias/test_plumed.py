"""Fix coord/plumed gives the biases of PLUMED's driver, the trajectories of fix coord/bias, and
forces and a virial that are derivatives of the energy, in all units."""

import unittest

import numpy as np

import coordtest
import dumptest
import plumedtest
import test_bias_forces
from plumedtest import DT, EV, KCAL, Input, System, driver, dump_of_last, extracv, last_of, melt, thermo

SAME = coordtest.rounded(1e-9)    # rounding grows in a short run
TIME = 6e-7                       # PRINT writes six decimals
DRIVER = 1e-11                    # the driver reads 17 digits


def simulate(fix, steps, size=4, move=(), every=1, ranks=1, before=(), after=()):
    """Return the run of a melt with a fix b."""
    lines = [line for line in melt() if not (move and line.startswith("fix move "))]
    return coordtest.run_lammps(lines + [*before, fix, *move] + thermo("b", every, size=size) + dump_of_last(steps) +
                                [*after, f"run {steps}"], ranks)


def numbered(names):
    return " ".join("c_" + name for name in names)


class Metadynamics(unittest.TestCase):
    """METAD without a grid drives the trajectory of fix coord/bias metad."""

    STEPS, PACE = 200, 10
    CASES = {
        "one": ("c", "0.1", "", ""),
        "well-tempered": ("c", "0.1", " biasfactor 4 temp 1.4", " BIASFACTOR=4 TEMP=1.4"),
        "two": ("cd", "0.1 0.3", "", ""),
        "two, well-tempered": ("cd", "0.1 0.3", " biasfactor 6 temp 1.4", " BIASFACTOR=6 TEMP=1.4"),
    }

    def test_trajectory(self):
        for name, (variables, sigma, words, keywords) in self.CASES.items():
            with self.subTest(name):
                given = Input("UNITS NATURAL\n" + extracv(variables) + f"METAD ARG={','.join(variables)} "
                              f"SIGMA={sigma.replace(' ', ',')} HEIGHT=1 PACE={self.PACE} FILE=HILLS{keywords}\n")
                size = 2 * len(variables)
                found = simulate(f"fix b all coord/plumed {numbered(variables)} {given.words}", self.STEPS, size)
                expected = simulate(f"fix b all coord/bias {numbered(variables)} metad sigma {sigma} height 1.0 "
                                    f"pace {self.PACE} file {given.at('OURS')}{words}", self.STEPS, size)
                rows, ours = found.tables[0], expected.tables[0]
                for column in ("ke", "c_c", "c_d"):
                    column = {"ke": "KinEng"}.get(column, column)
                    self.assertLess(coordtest.error_of(rows[column], ours[column]), SAME, column)
                errors = [coordtest.error_of(last_of(found)[:, part], last_of(expected)[:, part])
                          for part in (slice(0, 3), slice(3, 6), slice(6, 9))]
                print(f"{name}: x, v and f differ by", *("%.1e" % error for error in errors))
                self.assertLess(max(errors), SAME)
                # Our hill acts at once, PLUMED's from the next step on.
                deposits = (rows["Step"] % self.PACE == 0) & (rows["Step"] > 0)
                hills = np.loadtxt(given.at("OURS"))
                self.assertEqual(len(hills), self.STEPS // self.PACE)
                self.assertGreater(rows["f_b"].max(), 2)
                np.testing.assert_allclose(rows["f_b"][~deposits], ours["f_b"][~deposits], SAME, SAME)
                heights = hills[:, 1 + 2 * len(variables)]
                if keywords:    # files have them without the factor of the well-tempered bias
                    gamma = float(keywords.split("BIASFACTOR=")[1].split()[0])
                    heights = heights * (gamma - 1) / gamma
                np.testing.assert_allclose((ours["f_b"] - rows["f_b"])[deposits], heights, 10 * SAME)
                theirs = plumedtest.read_columns(given.at("HILLS"))
                np.testing.assert_allclose(theirs["time"], DT * np.arange(self.PACE, self.STEPS + 1, self.PACE), 1e-12)
                for k, variable in enumerate(variables):    # PLUMED writes few digits
                    np.testing.assert_allclose(theirs[variable], hills[:, 1 + k], 1e-6)
                    np.testing.assert_allclose(rows[f"f_b[{2 * k + 1}]"], rows[f"c_{variable}"], 1e-14)


class Driver(unittest.TestCase):
    """V and the force of each step are those that PLUMED's driver finds from the printed S."""

    # Variables, PLUMED's commands, and the label of each bias. The last one may depend on values
    # of the others.
    CASES = {
        "METAD": ("c", "m: METAD ARG=c SIGMA=0.1 HEIGHT=0.5 PACE=4 FILE=HILLS\n", "m"),
        "METAD on a grid": ("c", "m: METAD ARG=c SIGMA=0.1 HEIGHT=0.5 PACE=4 BIASFACTOR=5 TEMP=1.4 GRID_MIN=4 "
                            "GRID_MAX=14 GRID_BIN=400 FILE=HILLS CALC_RCT\n", "m"),
        "METAD of two": ("cd", "m: METAD ARG=c,d SIGMA=0.1,0.3 HEIGHT=0.5 PACE=4 BIASFACTOR=6 TEMP=1.4 FILE=HILLS\n",
                         "m"),
        "OPES_METAD": ("c", "m: OPES_METAD ARG=c PACE=5 BARRIER=8 TEMP=1.4 SIGMA=0.1 FILE=KERNELS\n", "m"),
        "OPES_METAD, adaptive": ("c", "m: OPES_METAD ARG=c PACE=5 BARRIER=8 TEMP=1.4 ADAPTIVE_SIGMA_STRIDE=10 "
                                 "FILE=KERNELS\n", "m"),
        "OPES_METAD of two": ("cd", "m: OPES_METAD ARG=c,d PACE=5 BARRIER=8 TEMP=1.4 SIGMA=0.1,0.3 FILE=KERNELS\n",
                              "m"),
        "OPES_METAD_EXPLORE": ("c", "m: OPES_METAD_EXPLORE ARG=c PACE=5 BARRIER=8 TEMP=1.4 SIGMA=0.1 FILE=KERNELS\n",
                               "m"),
        "MOVINGRESTRAINT": ("c", "m: MOVINGRESTRAINT ARG=c STEP0=0 AT0=9 KAPPA0=50 STEP1=20 AT1=8.6 KAPPA1=100 "
                            "STEP2=50 AT2=9.4\n", "m"),
        "UPPER_WALLS and LOWER_WALLS": ("cd", "m: UPPER_WALLS ARG=d AT=7.9 KAPPA=50 EXP=3 OFFSET=0.1\n"
                                        "w: LOWER_WALLS ARG=c AT=9.1 KAPPA=40\n", "m,w"),
        "RESTRAINT": ("cd", "m: RESTRAINT ARG=c,d AT=8.6,8.9 KAPPA=100,20 SLOPE=1,0\n", "m"),
        "CUSTOM": ("cd", "q: CUSTOM ARG=c,d FUNC=x*x/(1+y) PERIODIC=NO\np: CUSTOM ARG=q,c FUNC=sin(x)+y PERIODIC=NO\n"
                   "m: RESTRAINT ARG=p AT=9 KAPPA=30\nw: METAD ARG=q SIGMA=0.2 HEIGHT=0.3 PACE=5 FILE=HILLS\n", "m,w"),
        "BIASVALUE": ("c", "q: CUSTOM ARG=c FUNC=10*cos(x) PERIODIC=NO\nm: BIASVALUE ARG=q\n", "m"),
        "ABMD": ("c", "m: ABMD ARG=c TO=8.5 KAPPA=40\n", "m"),
    }

    def compare(self, name, ranks=1):
        variables, commands, biases = self.CASES[name]
        labels = biases.split(",")
        arguments = ",".join(label + ".bias" for label in labels)
        text = commands + f"PRINT ARG={','.join(variables)},{arguments} FILE=COLVAR FMT=%.17g\n"
        given = Input("UNITS NATURAL\n" + extracv(variables) + text)
        rows = simulate(f"fix b all coord/plumed {numbered(variables)} {given.words}", 60, 2 * len(variables),
                        ranks=ranks).tables[0]
        printed = given.columns("COLVAR")
        np.testing.assert_allclose(printed["time"], DT * np.arange(61), 0, TIME)
        for k, variable in enumerate(variables):
            np.testing.assert_array_equal(printed[variable], rows[f"c_{variable}"])
            np.testing.assert_array_equal(printed[variable], rows[f"f_b[{2 * k + 1}]"])
        v = sum(printed[label + ".bias"] for label in labels)
        for label in labels:
            self.assertGreater(np.ptp(printed[label + ".bias"]), 0.1, label)
        np.testing.assert_allclose(rows["f_b"], v, DRIVER, DRIVER)

        reference = driver(text + f"DUMPFORCES ARG={','.join(variables)} FILE=forces FMT=%.17g\n",
                           {variable: printed[variable] for variable in variables}, arguments=["--timestep", repr(DT)])
        theirs, forces = reference.columns("COLVAR"), np.loadtxt(reference.at("forces"))[:, 1:]
        for label in labels:
            column = label + ".bias"
            error = coordtest.error_of(printed[column], theirs[column])
            print(f"{name}: {column} up to {np.abs(theirs[column]).max():.2f} differs by {error:.1e}")
            self.assertLess(error, DRIVER, column)
        self.assertGreater(np.abs(forces).max(), 0.1)
        for k in range(len(variables)):
            self.assertLess(coordtest.error_of(rows[f"f_b[{2 * k + 2}]"], forces[:, k]), DRIVER)

    def test_biases(self):
        for name in self.CASES:
            with self.subTest(name):
                self.compare(name)

    def test_on_two_ranks(self):
        for name in "METAD of two", "OPES_METAD":
            with self.subTest(name):
                self.compare(name, ranks=2)


class Differences(unittest.TestCase):
    """Forces and virial are derivatives of the energy."""

    # Variables of test_bias_forces and PLUMED's commands; {s[k]}: the values at the beginning.
    CASES = {
        "one": ("one", "RESTRAINT ARG=one AT={s[0]-0.5} KAPPA=3\n"),
        "pairs": ("pair", "RESTRAINT ARG=pair AT={s[0]+0.7} KAPPA=3 SLOPE=1\n"),
        "two": ("mean pair", "RESTRAINT ARG=mean,pair AT={s[0]-0.1},{s[1]+0.6} KAPPA=50,0.8\n"),
        "product": ("one pair", "q: CUSTOM ARG=one,pair FUNC=x*y PERIODIC=NO\nRESTRAINT ARG=q AT=0 KAPPA=0.5\n"),
        "custom": ("mix", "RESTRAINT ARG=mix AT={s[0]-0.5} KAPPA=3\n"),
        "custom and one": ("mix one", "RESTRAINT ARG=mix,one AT={s[0]-0.5},{s[1]+0.5} KAPPA=3,2\n"),
    }

    def test_variables(self):
        for box in test_bias_forces.BOXES:
            for name, (variables, text) in self.CASES.items():
                with self.subTest(box=box, case=name):
                    system = System(self, test_bias_forces.BOXES[box])
                    system.commands('compute mix all coord/custom "one*0.5 + two*pair" one c_one two c_two pair c_pair')
                    system.evaluate()
                    names = variables.split()
                    s = [coordtest.scalar_of(system.lmp, one) for one in names]
                    system.plumed(variables, eval(f"f'''{text}'''", {"s": s}))
                    system.commands("fix move all nve", "run 4", "unfix move")
                    of_bias = np.abs(system.forces_of_bias(system.evaluate()[1])).max(axis=1)
                    # The forces on both atoms of a pair are equal up to rounding: take two whole pairs.
                    plumedtest.compare_with_differences(self, f"{box}, {name}", system, np.argsort(of_bias)[-4:])

    def test_small_changes_of_the_value(self):
        """Displacements of distant pairs change S by 1e-7 and less. They are new configurations, though the timestep is the
        same: PLUMED gets the new S."""
        system = System(self, test_bias_forces.BOXES["orthogonal"])
        system.plumed("pair", f"RESTRAINT ARG=pair AT={system.s['pair'] + 0.7} KAPPA=3 SLOPE=1\n")
        of_bias = np.abs(system.forces_of_bias(system.evaluate()[1])).max(axis=1)
        plumedtest.compare_with_differences(self, "distant pairs", system, np.argsort(of_bias)[:4], least=1e-4, tolerance=2e-11)

    def test_energy_and_virial(self):
        """The energy of the system has V, and the virial W dV/dS, which fix coord/bias also gives."""
        system = System(self, test_bias_forces.BOXES["orthogonal"])
        s = [system.s[name] for name in ("one", "pair")]
        system.plumed("one pair", f"RESTRAINT ARG=one,pair AT={s[0] - 0.5},{s[1] + 0.4} KAPPA=3,5\n")
        found = system.of_bias()
        self.assertAlmostEqual(found[0], 1.5 * 0.25 + 2.5 * 0.16, delta=1e-12)
        system.bias("one pair", "harmonic k 3 5 s0 {s[0]-0.5} {s[1]+0.4}")
        for one, other in zip(found, system.of_bias()):
            self.assertLess(coordtest.error_of(one, other), coordtest.DOUBLE)


class Ensembles(unittest.TestCase):
    RESTRAINT = "RESTRAINT ARG=c,d AT=8.6,8.9 KAPPA=100,20\n"
    HARMONIC = "harmonic k 100 20 s0 8.6 8.9"

    def test_nve_conserves_energy(self):
        fluctuations = {}
        for n in 1, 2:
            given = Input("UNITS NATURAL\n" + extracv("cd") + self.RESTRAINT)
            rows = simulate(f"fix b all coord/plumed c_c c_d {given.words}", 150 * n,
                            before=[f"timestep {DT / 4 / n}"]).tables[0]
            fluctuations[n] = np.ptp(rows["TotEng"])
            self.assertGreater(np.ptp(rows["f_b"]), 1)
            self.assertLess(fluctuations[n], 0.01 * np.ptp(rows["f_b"]))
        print(f"energy fluctuates by {fluctuations[1]:.1e}, with half the timestep {fluctuations[2]:.1e}")
        self.assertLess(fluctuations[2], 0.3 * fluctuations[1])    # a quarter: the method of second order

    def test_npt(self):
        """The trajectory of fix coord/bias with the same energy, also of the box."""
        runs = []
        given = Input("UNITS NATURAL\n" + extracv("cd") + self.RESTRAINT)
        npt = ["fix n all npt temp 1.4 1.4 0.2 tri 1.0 1.0 0.5"]
        for fix in f"coord/plumed c_c c_d {given.words}", f"coord/bias c_c c_d {self.HARMONIC}":
            runs.append(simulate(f"fix b all {fix}", 100, move=npt, before=["change_box all triclinic"]))
        rows, expected = (run.tables[0] for run in runs)
        self.assertGreater(np.ptp(rows["Volume"]), 1)
        for name in "Volume", "Press", "TotEng", "c_c", "f_b":
            self.assertLess(coordtest.error_of(rows[name], expected[name]), SAME, name)
        self.assertLess(coordtest.error_of(last_of(runs[0]), last_of(runs[1])), SAME)
        simple = simulate(f"fix b all coord/plumed c_c c_d {given.words}", 100, move=npt,
                          before=["change_box all triclinic"], after=["fix_modify b virial no"]).tables[0]
        self.assertGreater(coordtest.error_of(simple["Volume"], expected["Volume"]), 1e-6)


class Units(unittest.TestCase):
    """A harmonic bias equals that of fix coord/bias, if KAPPA is k in PLUMED's units."""

    # Energy of LAMMPS in kJ/mol, its timestep and this in ps.
    STYLES = {"real": (KCAL, 2.0, 0.002), "metal": (EV, 0.002, 0.002)}
    # PLUMED's commands, and its units of energy in kJ/mol, of length in nm and of time in ps.
    COMMANDS = {
        "none": ("", 1.0, 1.0, 1.0),
        "kcal": ("UNITS ENERGY=kcal/mol\n", KCAL, 1.0, 1.0),
        "all": ("UNITS LENGTH=A TIME=fs ENERGY=eV\n", EV, 0.1, 1e-3),
        "numbers": ("UNITS LENGTH=0.3 TIME=5.0 ENERGY=2.5\n", 2.5, 0.3, 5.0),
        "small": ("UNITS ENERGY=j/mol LENGTH=um\n", 1e-3, 1e3, 1.0),
        "lines": ("# UNITS ENERGY=eV\nUNITS ...\n  LENGTH=A # Angstrom\n  ENERGY=kcal/mol\n... UNITS\n", KCAL, 0.1, 1.0),
        "include": ("INCLUDE FILE=units.dat\n", KCAL, 0.1, 1.0),
        "include in an include": ("INCLUDE FILE=more.dat\n", KCAL, 0.1, 1.0),
    }
    SIGMA = 3.4    # length of the melt

    def commands(self, style):
        """Return the melt with argon's lengths and masses, whose temperature is 1.4 of 120 K."""
        epsilon = 0.0083144621 * 120 / self.STYLES[style][0]
        lines = ["units " + style if line.startswith("units") else
                 f"velocity all create {1.4 * 120} 77 mom yes" if line.startswith("velocity") else
                 "mass 1 39.948" if line.startswith("mass") else
                 f"pair_style lj/smooth/linear {2.3 * self.SIGMA}" if line.startswith("pair_style") else
                 f"pair_coeff * * {epsilon} {self.SIGMA}" if line.startswith("pair_coeff") else
                 f"timestep {self.STYLES[style][1]}" if line.startswith("timestep") else
                 line for line in melt() if not line.startswith("compute ")]
        at = next(k for k, line in enumerate(lines) if line.startswith("read_data")) + 1
        edge = plumedtest.EDGE * self.SIGMA
        box = " ".join(f"{axis} final 0 {edge}" for axis in "xyz")
        lines.insert(at, f"change_box all {box} remap units box")
        switch = f"switch cubic d0 {1.2 * self.SIGMA} dmax {2.2 * self.SIGMA} precision double norm mean"
        return lines + [f"compute c all coord/gpu {switch}", f"compute d left coord/gpu group2 right {switch}"]

    def run_with(self, style, fix, steps=20):
        return coordtest.run_lammps(self.commands(style) + [fix] + thermo("b") + dump_of_last(steps) + [f"run {steps}"])

    def test_harmonic(self):
        for style, (energy, timestep, dt) in self.STYLES.items():
            k = 40 / energy, 8 / energy
            expected = self.run_with(style, f"fix b all coord/bias c_c c_d harmonic k {k[0]!r} {k[1]!r} s0 8.6 8.9")
            ours = expected.tables[0]
            self.assertGreater(ours["f_b"].min() * energy, 0.1)
            for name, (units, unit, length, time) in self.COMMANDS.items():
                with self.subTest(units=style, commands=name):
                    text = (units + extracv("cd") + f"r: RESTRAINT ARG=c,d AT=8.6,8.9 KAPPA={40 / unit!r},{8 / unit!r}\n"
                            "x: DISTANCE ATOMS=1,2\nPRINT ARG=c,r.bias,x FILE=COLVAR FMT=%.17g\n")
                    given = Input(text)
                    given.write("units.dat", "# of a file\nUNITS LENGTH=A ENERGY=kcal/mol\n")
                    given.write("more.dat", "INCLUDE FILE=units.dat\n")
                    run = self.run_with(style, f"fix b all coord/plumed c_c c_d {given.words}")
                    rows = run.tables[0]
                    for column in "f_b", "c_c", "TotEng", "Press":
                        self.assertLess(coordtest.error_of(rows[column], ours[column]), SAME, column)
                    for part in range(0, 9, 3):
                        found, reference = (last_of(one)[:, part:part + 3] for one in (run, expected))
                        self.assertLess(coordtest.error_of(found, reference), SAME)
                    dVdS = np.array([k[0] * (rows["c_c"] - 8.6), k[1] * (rows["c_d"] - 8.9)])
                    for v in range(2):
                        np.testing.assert_allclose(rows[f"f_b[{2 * v + 2}]"], -dVdS[v], SAME)
                    printed = given.columns("COLVAR")
                    np.testing.assert_allclose(printed["r.bias"] * unit, rows["f_b"] * energy, 1e-12)
                    np.testing.assert_allclose(printed["time"] * time, dt * np.arange(21), 0, TIME * time)
                    last = dumptest.read_dump(run.path("dump"))[-1]
                    d = last.x()[1] - last.x()[0]
                    d -= plumedtest.EDGE * self.SIGMA * np.round(d / (plumedtest.EDGE * self.SIGMA))
                    self.assertAlmostEqual(printed["x"][-1] * length, 0.1 * np.linalg.norm(d), delta=1e-12)

    def test_temperature(self):
        """Keyword temp sets the temperature of PLUMED's actions without TEMP."""
        biases = {}
        for style in self.STYLES:
            energy = self.STYLES[style][0]
            for keyword, words in ("TEMP=150", ""), ("", " temp 150"), ("TEMP=150", " temp 500"), ("", " temp 500"):
                given = Input(extracv("c") + f"OPES_METAD ARG=c PACE=2 BARRIER=10 SIGMA=0.1 {keyword} FILE=KERNELS\n"
                              "METAD ARG=c PACE=2 HEIGHT=1 SIGMA=0.1 BIASFACTOR=3 FILE=HILLS " + keyword + "\n")
                biases[style, keyword, words] = self.one(style, given, words) * energy
            expected = biases[style, "TEMP=150", ""]
            self.assertGreater(np.ptp(expected), 1)
            np.testing.assert_allclose(biases[style, "", " temp 150"], expected, 1e-5, 1e-5)
            np.testing.assert_allclose(biases[style, "TEMP=150", " temp 500"], expected, 1e-12)
            self.assertGreater(np.abs(biases[style, "", " temp 500"] - expected).max(), 0.01)

    def one(self, style, given, words):
        return coordtest.run_lammps(self.commands(style) + [f"fix b all coord/plumed c_c {given.words}{words}"] +
                                    thermo("b", size=2) + ["run 10"]).tables[0]["f_b"]

    def test_natural(self):
        """In units lj, PLUMED uses its natural units, and its numbers equal those of LAMMPS."""
        expected = simulate("fix b all coord/bias c_c harmonic k 100 s0 8.6", 20, 2).tables[0]
        for name, units in (("natural", "UNITS NATURAL\n"), ("include", "INCLUDE FILE=units.dat\n"), ("none", "")):
            with self.subTest(name):
                given = Input(units + extracv("c") + "r: RESTRAINT ARG=c AT=8.6 KAPPA=100\n"
                              "v: VOLUME\nPRINT ARG=r.bias,v FILE=COLVAR FMT=%.17g\n")
                given.write("units.dat", "UNITS NATURAL\n")
                rows = simulate(f"fix b all coord/plumed c_c {given.words}", 20, 2).tables[0]
                for column in "f_b", "c_c", "TotEng", "Press":
                    self.assertLess(coordtest.error_of(rows[column], expected[column]), SAME, column)
                printed = given.columns("COLVAR")
                np.testing.assert_allclose(printed["time"], DT * np.arange(21), 0, TIME)
                np.testing.assert_allclose(printed["v"], plumedtest.EDGE**3, 1e-12)
                np.testing.assert_allclose(rows["f_b[2]"], -100 * (rows["c_c"] - 8.6), 1e-9)


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
