"""The number of collective calls of MPI in a step with fix coord/plumed, counted by a library that
is loaded before MPI (count_messages.cpp)."""
# Processors: 2
# Without: gpu, kokkos

import os
import re
import unittest

import coordtest
import errortest
import plumedtest

COUNTER = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "count_messages", "count_messages.so")
FIX = "compute cv a coord/gpu group2 b switch cubic d0 2.0 dmax 3.0\nfix p all coord/plumed {} plumedfile plumed.dat outfile log\n"
VARIABLE, ATOMS = "s: EXTRACV NAME=cv\n", "d: DISTANCE ATOMS=1,60\n"
RESTRAINT = "RESTRAINT ARG={} AT={} KAPPA={}\n"


class Messages(unittest.TestCase):
    def calls(self, commands, steps):
        with open("in", "w") as file:
            file.write(f"{errortest.SYSTEM}{commands}fix move all nve\nrun {steps}\n")
        program = ["env", f"LD_PRELOAD={COUNTER}", *coordtest.lmp_program(), "-in", "in", "-log", "none", "-nocite"]
        code, output = errortest.run_program(program, 2)
        self.assertEqual(code, 0, output)
        return int(re.search(r"^collective calls: (\d+)$", output, re.MULTILINE)[1])

    def calls_per_step(self, commands):
        return (self.calls(commands, 30) - self.calls(commands, 10)) / 20

    def test_steps(self):
        """PLUMED's request, positions, values and results are one message each. A request that changes is one more."""
        without = self.calls_per_step("")
        for name, variables, text, limit in (
                ("both", "c_cv", VARIABLE + ATOMS + RESTRAINT.format("s,d", "5,2", "1,1"), 4),
                ("variable", "c_cv", VARIABLE + RESTRAINT.format("s", 5, 1), 3),
                ("atoms", "", ATOMS + RESTRAINT.format("d", 2, 1), 3),
                ("metadynamics", "c_cv", VARIABLE + "METAD ARG=s SIGMA=0.2 HEIGHT=0.1 PACE=5\n", 3),
                ("changing", "c_cv", VARIABLE + ATOMS + RESTRAINT.format("s", 5, 1) + "RESTRAINT ARG=d AT=2 KAPPA=1 STRIDE=2\n", 5)):
            with self.subTest(name):
                with open("plumed.dat", "w") as file:
                    file.write(text)
                found = self.calls_per_step(FIX.format(variables)) - without
                self.assertGreaterEqual(found, 2)
                self.assertLessEqual(found, limit)


if __name__ == "__main__":
    plumedtest.require()
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
