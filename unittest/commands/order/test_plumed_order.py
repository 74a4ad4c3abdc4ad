"""Steinhardt order parameters compared with PLUMED's Q3, Q4, Q6, LOCAL_AVERAGE and LOCAL_Q3, LOCAL_Q4,
LOCAL_Q6: values, derivatives and virial in orthogonal and triclinic boxes; and biases of PLUMED. All atoms have
partners, since PLUMED divides by their number."""

import math
import unittest

import numpy as np

import coordtest
import plumedtest
from brutetest import Box
from plumedtest import Input, extracv

TOLERANCE = 1e-8    # relative to the largest component
N = 60
BOXES = {"orthogonal": Box((5.0, 5.4, 5.6)), "triclinic": Box((5.2, 5.0, 5.6), tilt=(1.4, -1.3, 1.2))}
# Switching functions of both programs, up to less than half of the boxes.
SWITCHES = {"rational 0.9 nn 6 mm 12 dmax 2.3": "RATIONAL R_0=0.9 NN=6 MM=12 D_MAX=2.3",
            "cubic d0 0.9 dmax 2.1": "CUBIC D_0=0.9 D_MAX=2.1"}
MORE = "more_than rational {} nn 6 mm 12", "MORE_THAN={{RATIONAL R_0={} NN=6 MM=12}}"


def factor(degree):
    """Return PLUMED's Q over q: it leaves out sqrt(4 pi/(2l + 1))."""
    return math.sqrt((2 * degree + 1) / (4 * math.pi))


# Words of compute coord/orientorder; PLUMED's lines, where SWITCH is the switching function, and its value over ours.
CASES = []
for l in (3, 4, 6):
    q = f"q: Q{l} SPECIES=1-{N} SWITCH={{SWITCH}} "
    CASES += [
        (f"l {l} norm mean", q + "MEAN\n", "q", "mean", factor(l)),
        (f"l {l} function " + MORE[0].format(0.4), q + MORE[1].format(0.4 * factor(l)) + "\n", "q", "morethan", 1.0),
        (f"l {l} order average norm mean", q + "\na: LOCAL_AVERAGE SPECIES=q SWITCH={SWITCH} MEAN\n", "a", "mean",
         factor(l)),
    ]
for l in (3, 4, 6):
    q = f"q: Q{l} SPECIES=1-{N} SWITCH={{SWITCH}}\n"
    CASES.append((f"l {l} order dot norm mean", q + f"d: LOCAL_Q{l} SPECIES=q SWITCH={{SWITCH}} MEAN\n", "d", "mean", 1.0))
plumedtest.require()


class Steinhardt(unittest.TestCase):
    def by_plumed(self, x, box, switch, lines, label, name):
        """Return S, dS/dx and W."""
        separator = "_" if plumedtest.version() >= (2, 10) else "."
        text = lines.replace("SWITCH={SWITCH}", f"SWITCH={{{switch}}}")
        return plumedtest.derivatives_by_driver(text, f"{label}{separator}{name}", x, box)

    def test_equal(self):
        for seed, (title, box) in enumerate(BOXES.items()):
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            rng = np.random.default_rng(seed)
            coordtest.make_system(lmp, box, coordtest.random_positions(rng, box, N, closest=0.6), ghosts=2.7)
            computes = {}
            for switch, plumed_switch in SWITCHES.items():
                for words, *case in CASES:
                    ident = f"c{len(computes)}"
                    lmp.command(f"compute {ident} all coord/orientorder switch {switch} precision double {words}")
                    computes[ident] = (words, plumed_switch, *case)
            lmp.command("run 0")
            x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
            worst = 0.0
            for ident, (words, switch, lines, label, name, ratio) in computes.items():
                with self.subTest(box=title, switch=switch, words=words):
                    value, gradients, virial = self.by_plumed(x, box, switch, lines, label, name)
                    self.assertGreater(abs(value), 1e-3)
                    self.assertGreater(np.abs(gradients).max(), 1e-5)
                    w_of_plumed = np.array([virial[a, b] for a, b in coordtest.COMPONENTS])
                    errors = (abs(ratio * coordtest.scalar_of(lmp, ident) / value - 1),
                              coordtest.error_of(ratio * coordtest.atoms_of(lmp, ident)[:, 1:4], gradients),
                              coordtest.error_of(ratio * coordtest.virial_of(lmp, ident), w_of_plumed))
                    worst = max(worst, *errors)
                    self.assertLessEqual(max(errors), TOLERANCE, f"S, dS/dx, W: {errors}")
            print(f"{title}: largest difference {worst:.1e}")


class Biased(unittest.TestCase):
    def test_restraint_of_plumed(self):
        """A RESTRAINT of fix coord/plumed on order parameters has the energy, the forces and the virial of k (S - s0)^2/2."""
        for seed, (title, box) in enumerate(BOXES.items()):
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            coordtest.make_system(lmp, box, coordtest.random_positions(np.random.default_rng(seed), box, N, closest=0.6), ghosts=2.7)
            switch = f"switch {list(SWITCHES)[1]} precision double"
            for line in (f"compute q all coord/orientorder {switch} order average norm mean",
                         f"compute n all coord/orientorder l 4 {switch} order dot function {MORE[0].format(0.3)}",
                         "compute p all pressure NULL fix", "thermo_style custom step vol c_q c_n c_p[*]", "run 0"):
                lmp.command(line)
            s = {name: coordtest.scalar_of(lmp, name) for name in "qn"}
            given = Input("UNITS NATURAL\n" + extracv(s) +
                          f"RESTRAINT ARG=q,n AT={s['q'] - 0.04!r},{s['n'] + 0.2!r} KAPPA=3000,50\n")
            lmp.command(f"fix p all coord/plumed c_q c_n {given.words}")
            lmp.command("run 0")
            self.assertAlmostEqual(lmp.extract_fix("p", 0, 0), 0.5 * 3000 * 0.04**2 + 0.5 * 50 * 0.2**2, 10)
            parts = [3000 * 0.04 * np.vstack([coordtest.atoms_of(lmp, "q")[:, 1:4], -coordtest.virial_of(lmp, "q").reshape(2, 3)]),
                     -50 * 0.2 * np.vstack([coordtest.atoms_of(lmp, "n")[:, 1:4], -coordtest.virial_of(lmp, "n").reshape(2, 3)])]
            for part in parts:
                self.assertGreater(np.abs(part).max(), 1e-2, title)
            expected = -sum(parts)
            self.assertLessEqual(coordtest.error_of(coordtest.forces_of(lmp), expected[:N]), TOLERANCE, title)
            pressure = expected[N:].ravel() / np.linalg.det(box.edges)
            self.assertLessEqual(coordtest.error_of(coordtest.virial_of(lmp, "p"), pressure), TOLERANCE, title)


if __name__ == "__main__":
    unittest.main(verbosity=2)
