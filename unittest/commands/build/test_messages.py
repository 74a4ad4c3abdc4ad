"""Memory that one rank of two lacks before each message to other ranks (fault.cpp) ends both with one error, and
without a hang: in evaluations, deposits, steps of PLUMED, sums of maps and restart files."""
# Processors: 2
# Without: gpu, kokkos

import os
import re
import tempfile
import unittest

import coordtest
import plumedtest
import test_faults
import test_memory
from errortest import SYSTEM, errors_in, run_program, start_all

SECONDS = 20    # runs take less than one

FUNCTION = "switch cubic d0 1.0 dmax 3.0 device host\n"
CV = "compute c {} coord/gpu " + FUNCTION
ALL = CV.format("all")
OUTPUT = "thermo_style custom step c_c c_c[1]\n"
PERATOM = "variable v atom c_c[2]\ndump d all custom 1 dump.c id v_v\n"
REFERENCE = coordtest.new_file()
with open(REFERENCE, "w") as positions:
    positions.write("".join(f"{k} {k % 3} {k // 3} 0\n" for k in range(1, 9)))
MAP = test_faults.CHARGES + test_faults.MAP
MOLECULES = test_memory.MOLECULES.format(4, "", "host")
METAD = "fix b all coord/bias c_c metad sigma 0.5 height 0.1 pace 1 file H"
RESTART = "restart 1 restart.*\n"
PLUMED = "fix b all coord/plumed c_c as cv plumedfile plumed.dat outfile log\n"

# By style, scripts that define and use it. They run on both ranks after SYSTEM, unless they begin with 'units'.
CASES = {
    "compute coord/gpu": [ALL + OUTPUT + PERATOM, CV.format("all").replace("gpu", "gpu engine allpairs") + OUTPUT,
                          CV.format("all").replace("gpu", "gpu function max 100") + OUTPUT,
                          CV.format("a").replace("gpu", "gpu pairs b") + OUTPUT],
    **{f"compute {style}": [f"compute c all {style} {example} device host\n" + OUTPUT + PERATOM]
       for style, example in coordtest.ORDER_STYLES.items()},
    "compute coord/energy": ["compute c all coord/energy\nfix b all coord/bias c_c harmonic k 1 s0 2\n" + OUTPUT + PERATOM],
    "compute coord/volume": ["compute c all coord/volume\n" + OUTPUT + PERATOM],
    "compute coord/custom": [ALL.replace(" c ", " d ") + "compute c all coord/custom 2*a a c_d\n" + OUTPUT + PERATOM],
    "compute coord/geometry": ["compute c all coord/geometry distance 1 a angle 1 2 9 dihedral a b 3 4 distances b\n"
                               "thermo_style custom step c_c[1] c_c[2][2]\n" + PERATOM.replace("c_c[2]", "c_c[4]")],
    "compute coord/shape": ["compute c all coord/shape gyration a\n" + OUTPUT + PERATOM,
                            f"compute c all coord/shape rmsd a reference {REFERENCE}\n" + OUTPUT],
    "compute coord/force": [ALL.replace(" c ", " d ") + "fix b all coord/bias c_d harmonic k 1 s0 2\n"
                            "compute c all coord/force b\n" + PERATOM],
    "compute potential/grid": [MAP.format("") + "dump g all grid 1 grid.dump c_c:grid:phi\n",
                               test_faults.CHARGES + test_faults.FAR +
                               "dump g all grid 1 grid.dump c_c:grid:phi\n"],
    "fix coord/bias": [ALL + METAD + "\n" + RESTART, ALL + METAD + " grid 0 100 bins 500\n" + RESTART,
                       ALL + "fix b all coord/bias c_c harmonic k 1 s0 2\nthermo_style custom step f_b f_b[1]\n"],
    "fix coord/plumed": [ALL + PLUMED + RESTART],
    "fix ave/potential/grid": [MAP.format("") + "fix m all ave/potential/grid 1 c\ndump g all grid 1 grid.dump f_m:grid:data\n"],
    "fix multisite/linear": [MOLECULES + "fix x all multisite/linear\n"],
    "pair coord": ["pair_style coord device host\npair_coeff * * 0.7 cubic d0 1.0 dmax 3.0\n" + RESTART],
    "pair multisite": [MOLECULES + RESTART],
}
ON_RANK_0 = "fix coord/bias", "fix coord/plumed", "pair multisite"


def run_faulty(script, rank, allocation):
    folder = tempfile.mkdtemp(dir=".")
    test_memory.write_inputs(4, folder)
    path = os.path.join(folder, "in")
    with open(path, "w") as file:
        file.write(f"shell cd {folder}\n{'' if 'units' in script else SYSTEM}{script}shell putenv FAULT_ON=1\n"
                   "run 2\nprint 'went on'\n")
    program = ["timeout", str(SECONDS), "env", f"LD_PRELOAD={test_faults.FAULT}", *coordtest.lmp_program(), "-in", path,
               "-log", "none", "-nocite"]
    return run_program(program, 2, FAULT_RANK=str(rank), FAULT_ALLOCATION=str(allocation))


class BeforeMessages(unittest.TestCase):
    def test_list_of_styles(self):
        self.assertEqual(set(CASES), test_memory.styles_of_package())

    def test_memory(self):
        cases = [(name, script, rank) for name, scripts in CASES.items() if plumedtest.PLUMED or "plumed" not in name
                 for script in scripts for rank in ((0, 1) if name in ON_RANK_0 else (1,))]
        known, faults = set(), []
        for (name, script, rank), future in zip(cases, start_all(run_faulty, [(script, rank, 0) for _, script, rank in cases])):
            code, output = future.result()
            self.assertEqual(code, 0, output)
            found = re.findall(r"^fault: allocation (\d+) before (\w+), places (\w+) (\w+)$", output, re.MULTILINE)
            # LAMMPS sends all messages of pair coord.
            (self.assertEqual if name == "pair coord" else self.assertGreater)(len(found), 0, output)
            for allocation, call, *places in found:
                if (rank, *places) not in known:
                    known.add((rank, *places))
                    faults.append((name, script, rank, allocation, call))
        self.assertGreater(len(faults), 95)    # those of PLUMED are more
        results = start_all(run_faulty, [fault[1:4] for fault in faults])
        for (name, script, rank, allocation, call), future in zip(faults, results):
            code, output = future.result()
            with self.subTest(name, script=script, rank=rank, allocation=allocation, call=call):
                self.assertEqual(output.count(f"fault: at allocation {allocation}\n"), 1, output)
                self.assertNotEqual(code, 124, "hangs:\n" + output)
                found = errors_in(output) + re.findall(r"^C\+\+ memory.*$", output, re.MULTILINE)
                self.assertEqual(len(found), 1, output)
                self.assertRegex(found[0], "out of memory|std::bad_alloc|Could not create 3d FFT plan")    # the latter two by LAMMPS
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")


if __name__ == "__main__":
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
