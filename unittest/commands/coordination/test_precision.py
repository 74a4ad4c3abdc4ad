"""Errors of precisions double, mixed and single, for each quantity and engine: a table of
doc/accuracy.md."""

import itertools
import unittest

import numpy as np

import brutetest
import coordtest
from brutetest import Box, Switch, brute_force

# Limits of the relative error: the largest difference over the largest magnitude of that quantity
# in the system. They are about five times the largest measured errors; float has a unit roundoff of
# 6e-8.
LIMITS = {
    "double": {"S": 5e-15, "s_i": 5e-15, "dS/dx": 5e-14, "W": 5e-15},
    "mixed": {"S": 5e-7, "s_i": 3e-6, "dS/dx": 3e-5, "W": 5e-7},
    "single": {"S": 5e-7, "s_i": 3e-6, "dS/dx": 3e-5, "W": 5e-7},
}
# Positions of ghost atoms are those of atoms plus a period, rounded at the distance from the
# origin: by 3.6e-12 at 3e4. No arithmetic of pairs can correct this.
ROUNDING_OF_POSITIONS = 3 * np.finfo(float).eps
# A float result with a smaller error than float allows must come from double.
FLOAT_AT_LEAST = 1e-8
ENGINES = ("cells", "allpairs")


def liquid(rng, cells, tilt=(0, 0, 0), lo=(0, 0, 0), displacement=0.15):
    """Return a box with 4 cells^3 atoms: fcc of density 0.84 with random displacements."""
    edge = cells * (4 / 0.84) ** (1 / 3)
    box = Box((edge,) * 3, np.multiply(tilt, edge), lo=lo)
    sites = [np.add(corner, site) for corner in itertools.product(range(cells), repeat=3)
             for site in ((0.25, 0.25, 0.25), (0.75, 0.75, 0.25), (0.75, 0.25, 0.75), (0.25, 0.75, 0.75))]
    x = np.array(sites) / cells @ box.edges + box.lo + displacement * rng.uniform(-1, 1, (len(sites), 3))
    return box, coordtest.on_grid(x)


def systems():
    """Yield name, box, positions and switch."""
    rng = np.random.default_rng(2)
    rational = Switch("rational", 1.2, dmax=3.0)
    yield "liquid, rational 6/12", *liquid(rng, 5), rational
    yield "liquid, cubic", *liquid(rng, 5), Switch("cubic", d0=1.2, dmax=1.9)
    yield "liquid, gaussian", *liquid(rng, 5), Switch("gaussian", 0.6, d0=0.5, dmax=3.0)
    yield "liquid, smap", *liquid(rng, 5), Switch("smap", 1.5, a=8, b=12, dmax=3.0)
    yield "tilted, rational 6/12", *liquid(rng, 5, tilt=(0.45, -0.3, 0.4)), rational
    far = 300.0 if coordtest.POSITION_ROUNDOFF else 3e4    # float would be too coarse for atoms
    yield "far from the origin, rational 6/12", *liquid(rng, 5, lo=(far, -2 * far / 3, far / 3)), rational
    yield "at random, rational 5/9", *liquid(rng, 5, displacement=3.0), Switch("rational", 1.0, n=5, m=9, dmax=4.0)
    yield "590 partners, rational 6/12", *liquid(rng, 7), Switch("rational", 3.0, dmax=5.5)


class Precision(unittest.TestCase):
    def test_errors(self):
        worst = {precision: {quantity: 0.0 for quantity in LIMITS[precision]} for precision in LIMITS}
        rows = []
        for name, box, x, switch in systems():
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, box, x, ghosts=float(switch.dmax) + 0.31, cutoff=1.0)
                for precision in LIMITS:
                    for engine in ENGINES:
                        lmp.command(f"compute {precision}{engine} all coord/gpu {switch.keywords} engine {engine} "
                                    f"precision {precision}")
                lmp.command("run 0")
                expected = brute_force(box, lmp_positions(lmp), switch, np.arange(len(x)))
                for precision, limits in LIMITS.items():
                    for engine in ENGINES:
                        errors = coordtest.errors_of(brutetest.result_of(lmp, precision + engine), expected)
                        rows.append((name, precision, engine, errors, np.abs(x).max() * ROUNDING_OF_POSITIONS))
                        for quantity, error in errors.items():
                            if "origin" not in name:
                                worst[precision][quantity] = max(worst[precision][quantity], error)
        print("\nrelative errors: largest difference over largest magnitude")
        quantities = list(LIMITS["double"])
        print(f"{'system':36s}{'precision':11s}{'engine':10s}" + "".join(f"{q:>10s}" for q in quantities))
        for name, precision, engine, errors, _ in rows:
            print(f"{name:36s}{precision:11s}{engine:10s}" + "".join(f"{errors[q]:10.1e}" for q in quantities))
        print("\n| precision | " + " | ".join(quantities) + " |\n|---" + "|---" * len(quantities) + "|")
        for precision, errors in worst.items():
            print(f"| {precision} | " + " | ".join(f"{errors[q]:.1e}" for q in quantities) + " |")
        for name, precision, engine, errors, rounding in rows:
            for quantity, error in errors.items():
                self.assertLessEqual(error, LIMITS[precision][quantity] + rounding,
                                     f"{name}, {precision}, {engine}, {quantity}")
        for precision in ("mixed", "single"):
            for quantity in quantities:
                self.assertGreater(worst[precision][quantity], FLOAT_AT_LEAST, "this is not float arithmetic")

    def test_default_is_mixed(self):
        box, x = liquid(np.random.default_rng(1), 7)
        with coordtest.start() as lmp:
            coordtest.make_system(lmp, box, x, ghosts=6.0)
            for name, words in (("none", ""), ("mixed", "precision mixed"), ("double", "precision double"),
                                ("single", "precision single")):
                lmp.command(f"compute {name} all coord/gpu switch rational 3.0 dmax 5.5 {words}")
            lmp.command("run 0")
            value = {name: coordtest.scalar_of(lmp, name) for name in ("none", "mixed", "double", "single")}
            self.assertEqual(value["none"], value["mixed"])
            self.assertNotEqual(value["mixed"], value["double"])
            # With hundreds of partners, sums in float and in double differ. On a GPU several
            # threads share the partners of an atom of a small system, so each has few.
            if coordtest.DEVICE == "host":
                self.assertNotEqual(value["mixed"], value["single"])

    def test_check_compares(self):
        """check N TOL passes above the error of float, and stops the run below it."""
        box = Box((6.0, 6.0, 6.0))
        x = coordtest.random_positions(np.random.default_rng(1), box, 100)
        for engine in ENGINES:
            for tolerance, passes in ((1e-4, True), (1e-12, False)):
                with coordtest.start() as lmp:
                    coordtest.make_system(lmp, box, x, ghosts=3.0)
                    lmp.command(f"compute c all coord/gpu switch rational 1.0 dmax 2.5 engine {engine} "
                                f"check 1 {tolerance}")
                    lmp.command("run 0")
                    if passes:
                        brutetest.result_of(lmp, "c")
                        continue
                    with self.assertRaisesRegex(Exception, "differs by .* from the reference"):
                        coordtest.atoms_of(lmp, "c")

    def test_check_counts_each_kind_of_evaluation(self):
        """With S, W and dS/dx in turn, every second W is compared, not every second evaluation of
        any kind."""
        box = Box((6.0, 6.0, 6.0))
        x = coordtest.random_positions(np.random.default_rng(1), box, 100)
        for kind in (coordtest.virial_of, coordtest.atoms_of):
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, box, x, ghosts=3.0)
                lmp.command("compute c all coord/gpu switch rational 1.0 dmax 2.5 check 2 1e-12")
                lmp.command("run 0")
                with self.assertRaisesRegex(Exception, "differs by .* from the reference"):
                    for _ in range(2):
                        try:
                            coordtest.scalar_of(lmp, "c")
                        except Exception as error:
                            self.assertIn(": S (before norm) differs", str(error))
                        kind(lmp, "c")


def lmp_positions(lmp):
    """Return the positions in LAMMPS, which wrapping rounds far from the origin."""
    x = lmp.numpy.extract_atom("x")[:lmp.extract_global("nlocal")]
    tags = lmp.numpy.extract_atom("id")[:len(x)]
    ordered = np.empty_like(x)
    ordered[tags - 1] = x
    return ordered


if __name__ == "__main__":
    unittest.main(verbosity=2)
