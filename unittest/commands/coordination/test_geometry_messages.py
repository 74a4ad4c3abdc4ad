"""The number of sums over ranks in a step with compute coord/geometry, counted by a library that is loaded before MPI
(count_messages.cpp)."""
# Processors: 2
# Without: gpu, kokkos

import os
import re
import unittest

import coordtest
import errortest

COUNTER = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "count_messages", "count_messages.so")
ITEMS = "compute t all coord/geometry distance 1 60 dihedral 1 a b 4 angle 5 6 7\n"
FIXES = ("fix b all coord/bias c_t[1] harmonic k 1e-6 s0 2\n", "fix c all coord/bias c_t[3] harmonic k 1e-6 s0 2 stride 5\n")


class Messages(unittest.TestCase):
    def per_step(self, commands):
        calls = []
        for steps in 10, 30:
            with open("in", "w") as file:
                file.write(f"{errortest.SYSTEM}{commands}fix move all nve\nthermo 1000\nrun {steps}\n")
            program = ["env", f"LD_PRELOAD={COUNTER}", *coordtest.lmp_program(), "-in", "in", "-log", "none", "-nocite"]
            code, output = errortest.run_program(program, 2)
            self.assertEqual(code, 0, output)
            calls.append(int(re.search(r"^collective calls: (\d+)$", output, re.MULTILINE)[1]))
        return (calls[1] - calls[0]) / 20

    def test_steps(self):
        """All items and all fixes share one sum in a step. Atoms nearly rest, so members are found once."""
        without = self.per_step(ITEMS)
        self.assertEqual(self.per_step(ITEMS + FIXES[0]) - without, 1)
        self.assertAlmostEqual(self.per_step(ITEMS + FIXES[1]) - without, 0.2, delta=1e-9)
        self.assertEqual(self.per_step(ITEMS + FIXES[0] + FIXES[1]) - without, 1)


if __name__ == "__main__":
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
