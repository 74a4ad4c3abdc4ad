"""Hills that fix coord/bias leaves out: limits, deposit_if and max_skip. Thermodynamic output of every step
tells which hills are expected."""

import unittest

import coordtest
from test_bias_hills import SUM, Folder, hill_lines, rows

STEPS, PACE = 200, 10
# Kinetic energy, temperature and potential energy need computes, which must be announced.
CONDITION = 'variable ok equal "(ke < {}) && (temp > 0) && (pe < 1e9)"\n'


def times(work):
    return [float(line.split()[0]) for line in hill_lines(work.read("H"))]


class LeftOut(unittest.TestCase):
    def run_with(self, more, before="", every=1):
        work = Folder()
        return work, work.run(SUM + more, f"run {STEPS}", restart=before + "timestep 0.005", every=every)

    def test_deposit_if(self):
        work, log = self.run_with(" deposit_if v_ok", CONDITION.format(1e9))
        self.assertEqual(len(times(work)), STEPS // PACE)
        energies = sorted(float(row[0][1]) for step, row in rows(log).items() if step and step % PACE == 0)
        for limit in energies[5], energies[10]:
            work, _ = self.run_with(" deposit_if v_ok max_skip 100", CONDITION.format(limit))
            self.assertTrue(0 < len(times(work)) < STEPS // PACE)
            # The variable needs no thermodynamic output in the same step.
            rare, _ = self.run_with(" deposit_if v_ok max_skip 100", CONDITION.format(limit), every=STEPS)
            self.assertEqual(times(rare), times(work))
            if not coordtest.ON_KOKKOS_GPU:
                self.assertEqual(rare.read("H"), work.read("H"))

    def test_limits(self):
        work, log = self.run_with(" limits 0 1.2 0 100 max_skip 100")
        expected = [0.005 * step for step, row in rows(log).items()
                    if step and step % PACE == 0 and float(row[0][3]) <= 1.2]
        self.assertTrue(0 < len(expected) < STEPS // PACE, log[-3000:])
        self.assertEqual([round(1000 * t) for t in times(work)], [round(1000 * t) for t in expected])


if __name__ == "__main__":
    unittest.main()
