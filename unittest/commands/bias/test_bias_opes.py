"""OPES of fix coord/bias: runs continue to the last bit, and only timesteps are samples of adaptive sigma."""

import re
import unittest

import numpy as np

import coordtest
from test_bias_hills import Folder, hill_lines, rows, script

ONE = "c_c opes barrier 20 temp 1.5 sigma 0.2 pace 10 file H"
TWO = "c_c c_d opes barrier 20 temp 1.5 sigma/adaptive 40 pace 10 file H write_state 50 S"
EXPLORE = "c_c opes/explore barrier 30 temp 1.5 pace 10 sigma/adaptive 50 sigma/min 0.01 file H"
PLUMED = "c_c c_d opes barrier 20 temp 1.5 sigma 0.2 0.3 pace 10 kernel plumed force plumed biasfactor inf file H"


def outputs(log):
    """Return the rows of a log by step: S, V and outputs of the fix, without the step."""
    return {step: found[-1] for step, found in rows(log).items()}


class Continued(unittest.TestCase):
    @coordtest.not_where(coordtest.ON_KOKKOS_GPU, coordtest.NO_SAME_BITS)
    def test_same_bits(self):
        for bias in ONE, TWO, EXPLORE, PLUMED:
            # At 35 there is no kernel of adaptive sigma yet.
            for at in 35, 150:
                with self.subTest(bias, at=at):
                    work = Folder()
                    whole = work.run(bias, "run 300", restart=f"restart {at} r", every=5)
                    kernels = work.read("H")
                    self.assertEqual(len(hill_lines(kernels)), 27 if "adaptive 40" in bias else 26 if "50" in bias else 30)
                    state = work.read("S") if "write_state" in bias else None
                    log = work.run(bias, "run 300 upto", old=f"r.{at}", restart=f"restart {at} r", every=5)
                    found, expected = outputs(log), outputs(whole)
                    self.assertEqual(sorted(found), list(range(at, 301, 5)))
                    for step in found:
                        self.assertEqual(found[step], expected[step], f"step {step}")
                    self.assertEqual(work.read("H"), kernels)
                    if state:
                        self.assertEqual(work.read("S"), state)
                    self.assertRegex(log, "continues with [0-9]+ kernels of H")
                    self.assertRegex(log, "kernels of H that are later than the restart file are now in bck.0.H")
                    # The numbers at the end are those of the last row of the file.
                    values = [float(word) for word in found[300]]
                    row = [float(word) for word in hill_lines(kernels)[-1].split()]
                    n = 1 + ("c_d" in bias)
                    self.assertEqual(values[5::4][:n], row[1:1 + n])
                    self.assertEqual(values[3 + 4 * n + 1], len(hill_lines(kernels)))
                    self.assertEqual(values[-1], row[-1])

    def test_kernels_file_continues(self):
        """Without adaptive sigma the kernels file has all that is needed."""
        for bias in ONE, PLUMED:
            with self.subTest(bias):
                work = Folder()
                whole = work.run(bias, "run 200\nwrite_data data nocoeff")
                log = work.run(bias + " append yes", "run 0", data="data")
                self.assertIn("continues with 20 kernels of H", log)
                np.testing.assert_allclose(float(outputs(log)[0][2]), float(outputs(whole)[200][2]), rtol=0, atol=1e-9)
                self.assertEqual(outputs(log)[0][-5:], outputs(whole)[200][-5:])

    def samples(self, work):
        """Return the number of samples in the averages of adaptive sigma."""
        return int(re.search(r"SET adaptive_counter (\d+)", work.read("S").decode()).group(1))

    def test_samples_of_adaptive_sigma(self):
        """Each timestep is one sample. Setups, inner evaluations of rRESPA, and minimizations add none."""
        whole = Folder()
        expected = outputs(whole.run(TWO, "run 200"))[200]
        pieces = Folder()
        found = outputs(pieces.run(TWO, "run 33\nrun 0\nrun 67\nrun 50\nrun 50"))[200]
        np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-9, atol=1e-9)
        respa = Folder()
        respa.run(TWO, "run_style respa 2 4 pair 2\nfix_modify b respa 1\nrun 200")
        for work in whole, pieces, respa:
            self.assertEqual(len(hill_lines(work.read("H"))), 17)
            self.assertEqual(self.samples(work), 200)
        minimized = Folder()
        log = minimized.run(TWO.replace("write_state 50", "write_state 10"), "minimize 0 0 23 100\nrun 100", every=1)
        last = max(outputs(log))
        self.assertGreater(last, 110)
        self.assertEqual(self.samples(minimized), 100 - last % 10)


class Extra(unittest.TestCase):
    WALL = "fix w all coord/bias c_c harmonic k 2 s0 1\n"
    FIX = ONE + " extra f_w"

    def text(self, before="", after="", steps="run 20"):
        text = script(self.FIX, steps, every=1).replace("fix b all", before + "fix b all")
        return text.replace("thermo_style custom step pe ke f_b", after + "thermo_style custom step pe f_w f_b")

    def test_weights(self):
        """The first kernel is added at V = -barrier."""
        work = Folder()
        self.assertEqual(work.start(self.text(self.WALL)).wait(), 0, work.log()[-2000:])
        self.assertIn("weights exp((V + f_w)/kT)", work.log())
        values = outputs(work.log())[10]
        wall = float(values[1])
        self.assertGreater(wall, 0.1)
        row = [float(word) for word in hill_lines(work.read("H"))[0].split()]
        self.assertAlmostEqual(row[-1], (-20 + wall) / 1.5, delta=1e-12)
        self.assertAlmostEqual(float(values[-1]), row[-1], delta=1e-15)
        scale = (1 + np.exp(-20 / 1.5) + np.exp(row[-1]))**2 / (1 + np.exp(-40 / 1.5) + np.exp(2 * row[-1])) * 3 / 4
        self.assertAlmostEqual(row[2] / (0.2 * scale**-0.2), 1, delta=1e-12)
        self.assertAlmostEqual(row[3] / (np.exp(row[-1]) * scale**0.2), 1, delta=1e-12)

    def test_rrespa(self):
        """The energy is that of the last inner evaluation, which is one of the whole timestep."""
        before = self.WALL + "run_style respa 2 4 pair 2\n"
        work = Folder()
        self.assertEqual(work.start(self.text(before + "fix_modify w respa 1\n", steps="run 10")).wait(), 0, work.log()[-2000:])
        before_it, at = (float(outputs(work.log())[step][1]) for step in (9, 10))
        self.assertGreater(abs(at - before_it), 1e-4)
        self.assertAlmostEqual(float(hill_lines(work.read("H"))[0].split()[-1]), (-20 + at) / 1.5, delta=1e-12)
        work = Folder()
        self.assertNotEqual(work.start(self.text(before).replace("thermo 1\n", "fix_modify b respa 1\nthermo 1\n")).wait(), 0)
        self.assertIn("Fix coord/bias b: fix w has rRESPA level 2, and this fix has level 1, which is evaluated before it - use "
                      "fix_modify b respa 2, so that the energy is that of the same timestep", re.sub(r"\s+", " ", work.log()))

    def test_deleted(self):
        work = Folder()
        self.assertNotEqual(work.start(self.text(self.WALL, steps="run 5\nunfix w\nrun 20 pre no").replace("step pe f_w", "step pe")).wait(), 0)
        self.assertIn("Fix coord/bias b: fix w was deleted after the last setup - use run without pre no", work.log())

    def test_errors(self):
        for before, after, message in (
                ("", "", "fix w does not exist - define it before this fix"),
                ("fix w all nve\n", "",
                 f"fix w of style nve{'/kk' if coordtest.KOKKOS else ''} has no energy, which is a global scalar - give keyword "
                 "extra another fix, or leave it out"),
                (self.WALL.replace("\n", " stride 4\n"), "",
                 "fix w has stride 4, but its energy is needed every 10 steps - use multiples of its stride"),
                ("", self.WALL, "fix w must be defined before this fix, so that its energy is that of the same timestep")):
            with self.subTest(message):
                work = Folder()
                text = self.text(before, after).replace(" f_w f_b", " f_b")
                self.assertNotEqual(work.start(text).wait(), 0)
                self.assertIn("Fix coord/bias b: " + message, re.sub(r"\s+", " ", work.log()))


if __name__ == "__main__":
    unittest.main()
