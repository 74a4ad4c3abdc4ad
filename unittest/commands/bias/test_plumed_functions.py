"""Functions of coordination numbers compared with PLUMED's COORDINATIONNUMBER: values, derivatives
and virial, of one group and of two, in orthogonal and triclinic boxes."""

import unittest

import numpy as np

import coordtest
import plumedtest
from brutetest import Box
from plumedtest import Input

TOLERANCE = 1e-9    # relative to the largest component
N = 60
LEFT, RIGHT = np.arange(35), np.arange(25, N)    # both have atoms 26 to 35
BOXES = {"orthogonal": Box((5.0, 5.4, 5.6)), "triclinic": Box((5.2, 5.0, 5.6), tilt=(1.4, -1.3, 1.2))}
# Switching functions of both programs, up to less than half of the boxes.
SWITCHES = {"rational 0.9 nn 6 mm 12 dmax 2.3": "RATIONAL R_0=0.9 NN=6 MM=12 D_MAX=2.3",
            "cubic d0 0.9 dmax 2.1": "CUBIC D_0=0.9 D_MAX=2.1"}
# Function, and keyword and value of PLUMED.
CASES = [
    ("more_than rational 3 nn 6 mm 12", "MORE_THAN={RATIONAL R_0=3 NN=6 MM=12}", "morethan"),
    ("more_than rational 2 nn 8 mm 20 d0 0.5", "MORE_THAN={RATIONAL R_0=2 D_0=0.5 NN=8 MM=20}", "morethan"),
    ("more_than cubic d0 1 dmax 6", "MORE_THAN={CUBIC D_0=1 D_MAX=6}", "morethan"),
    ("less_than exp 2 d0 0.3", "LESS_THAN={EXP R_0=2 D_0=0.3}", "lessthan"),
    ("less_than gaussian 1.5", "LESS_THAN={GAUSSIAN R_0=1.5}", "lessthan"),
    ("between 1.5 3 smear 0.4", "BETWEEN={GAUSSIAN LOWER=1.5 UPPER=3 SMEAR=0.4}", "between"),
    ("sum norm mean", "MEAN", "mean"),
    ("min 0.5", "MIN={BETA=0.5}", "min"),
    ("max 0.7", "MAX={BETA=0.7}", "max"),
    ("alt_min 1.2", "ALT_MIN={BETA=1.2}", "altmin"),
    ("custom s^2/(1+s)", None, "f: CUSTOM ARG=c FUNC=x^2/(1+x) PERIODIC=NO\ns: SUM ARG=f PERIODIC=NO\n"),
    ("sum", None, "s: SUM ARG=c PERIODIC=NO\n"),
]
plumedtest.require()
if plumedtest.version() < (2, 10):    # PLUMED 2.10 has vectors
    CASES = [case for case in CASES if case[1]]


def atoms(indices):
    return f"{indices[0] + 1}-{indices[-1] + 1}"


class COORDINATIONNUMBER(unittest.TestCase):
    def by_plumed(self, x, box, species, switch, keyword, name):
        """Return S, dS/dx and W."""
        text = f"c: COORDINATIONNUMBER {species} SWITCH={{{switch}}} {keyword or ''}\n"
        if not keyword:
            text += name
        return plumedtest.derivatives_by_driver(text, "s" if not keyword else f"c.{name}", x, box)

    def test_equal(self):
        for seed, (title, box) in enumerate(BOXES.items()):
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            rng = np.random.default_rng(seed)
            coordtest.make_system(lmp, box, coordtest.random_positions(rng, box, N, closest=0.3), ghosts=2.7)
            coordtest.define_group(lmp, "left", LEFT)
            coordtest.define_group(lmp, "right", RIGHT)
            computes = {}
            for switch, plumed_switch in SWITCHES.items():
                for words, keyword, name in CASES:
                    for groups, species in (("all coord/gpu", f"SPECIES=1-{N}"),
                                            ("left coord/gpu group2 right",
                                             f"SPECIESA={atoms(LEFT)} SPECIESB={atoms(RIGHT)}")):
                        ident = f"c{len(computes)}"
                        lmp.command(f"compute {ident} {groups} switch {switch} precision double function {words}")
                        computes[ident] = (species, plumed_switch, keyword, name)
            lmp.command("run 0")
            x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
            worst = 0.0
            for ident, case in computes.items():
                with self.subTest(box=title, case=case):
                    value, gradients, virial = self.by_plumed(x, box, *case)
                    found = coordtest.scalar_of(lmp, ident)
                    self.assertGreater(abs(value), 1e-3)
                    self.assertGreater(np.abs(gradients).max(), 1e-5)
                    w = coordtest.virial_of(lmp, ident)
                    w_of_plumed = np.array([virial[a, b] for a, b in coordtest.COMPONENTS])
                    errors = (abs(found / value - 1),
                              coordtest.error_of(coordtest.atoms_of(lmp, ident)[:, 1:4], gradients),
                              coordtest.error_of(w, w_of_plumed))
                    worst = max(worst, *errors)
                    self.assertLessEqual(max(errors), TOLERANCE, f"S, dS/dx, W: {errors}")
            print(f"{title}: largest difference {worst:.1e}")


class AROUND(unittest.TestCase):
    """Keyword within compared with PLUMED's AROUND: sums and means of coordination numbers and of Steinhardt parameters in
    slabs around a point in space. PLUMED's W is for a point that moves with the box."""
    SWITCH, PLUMED_SWITCH = next(iter(SWITCHES.items()))
    Q = f"q: Q4 SPECIES=1-{N} SWITCH={{{PLUMED_SWITCH}}}\n"
    COORDINATION = f"q: COORDINATIONNUMBER SPECIES=1-{N} SWITCH={{{PLUMED_SWITCH}}}\n"
    VARIABLES = {"coord/gpu function sum": (COORDINATION, 1.0), "coord/orientorder l 4": (Q, (4 * np.pi / 9)**-0.5)}

    def test_equal(self):
        box = BOXES["orthogonal"]
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        coordtest.make_system(lmp, box, coordtest.random_positions(np.random.default_rng(4), box, N, closest=0.3), ghosts=2.7)
        cases = {}
        for words, (lines, ratio) in self.VARIABLES.items():
            for axis in "xyz":
                for norm in "sum", "mean":
                    ident = f"c{len(cases)}"
                    lmp.command(f"compute {ident} all {words} switch {self.SWITCH} precision double norm {norm} "
                                f"within {axis} -0.7 1.1 smear 0.2")
                    cases[ident] = (lines, axis.upper(), norm, ratio)
        lmp.command("run 0")
        x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
        worst = 0.0
        for ident, (lines, axis, norm, ratio) in cases.items():
            with self.subTest(ident=ident, axis=axis, norm=norm):
                text = (f"g: FIXEDATOM AT=0,0,0\n{lines}a: AROUND DATA=q ATOM=g {axis}LOWER=-0.7 {axis}UPPER=1.1 SIGMA=0.2 "
                        f"KERNEL=gaussian {norm.upper()}\n")
                value, gradients, _ = plumedtest.derivatives_by_driver(text, f"a.{norm}", x, box)
                self.assertGreater(min(abs(value), np.abs(gradients).max()), 1e-3)
                errors = (abs(coordtest.scalar_of(lmp, ident) / value * ratio - 1),
                          coordtest.error_of(ratio * coordtest.atoms_of(lmp, ident)[:, 1:4], gradients))
                worst = max(worst, *errors)
                self.assertLessEqual(max(errors), TOLERANCE, f"S, dS/dx: {errors}")
        print(f"largest difference {worst:.1e}")


class Biased(unittest.TestCase):
    def test_restraint_of_plumed(self):
        """A RESTRAINT of fix coord/plumed on functions has the energy and the forces of k (S - s0)^2/2."""
        box = BOXES["triclinic"]
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        coordtest.make_system(lmp, box, coordtest.random_positions(np.random.default_rng(3), box, N, closest=0.3), ghosts=2.7)
        switch = "switch gaussian 0.5 d0 0.3 dmax 2.3 precision double"
        for line in (f"compute more all coord/gpu {switch} function more_than rational 3",
                     f"compute least all coord/gpu {switch} engine allpairs function min 0.5", "run 0"):
            lmp.command(line)
        s = {name: coordtest.scalar_of(lmp, name) for name in ("more", "least")}
        given = Input("UNITS NATURAL\n" + plumedtest.extracv(s) +
                      f"RESTRAINT ARG=more,least AT={s['more'] - 0.4!r},{s['least'] + 0.2!r} KAPPA=3,50\n")
        lmp.command(f"fix p all coord/plumed c_more c_least {given.words}")
        lmp.command("run 0")
        self.assertAlmostEqual(lmp.extract_fix("p", 0, 0), 0.5 * 3 * 0.4**2 + 0.5 * 50 * 0.2**2, 10)
        gradients = {name: coordtest.atoms_of(lmp, name)[:, 1:4] for name in s}
        expected = -3 * 0.4 * gradients["more"] + 50 * 0.2 * gradients["least"]
        self.assertGreater(np.abs(expected).max(), 1e-3)
        self.assertLessEqual(coordtest.error_of(coordtest.forces_of(lmp), expected), TOLERANCE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
