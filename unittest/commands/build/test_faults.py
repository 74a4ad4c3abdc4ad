"""A failure of one rank of two ends both with one message and without a hang: host memory that one
rank lacks at each place of a function that allocates (fault.cpp), and a pair style next to other
styles that sum over ranks (fake_gpu.cpp). After an error, computes can be deleted."""
# Processors: 2
# Without: gpu, gpu/kokkos

import os
import re
import tempfile
import unittest

import coordtest
import errortest
import test_fake_gpu
import test_potential_grid_errors
from errortest import SYSTEM, error_of, errors_in, run_program, start_all

FAULT = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "fault", "fault.so")
LAMMPS_NO_MEMORY = "C++ memory allocation failed: std::bad_alloc"    # message of LAMMPS' main program
MAX_SITES = 3

CHARGES = test_potential_grid_errors.SYSTEM
VARIABLE = "compute c {} switch cubic d0 1.0 dmax 3.0 device host\n"
MAP = "compute c all potential/grid 9 9 9 cutoff 3.0 device host {}\n"
FAR = "comm_modify cutoff 4.5\n" + MAP.format("far fft 1e-3 field yes")


def run_faulty(script, rank, function, call, site):
    """Return the exit code and the output of two ranks, of which one fails, in a folder of their
    own."""
    folder = tempfile.mkdtemp(dir=".")
    name = os.path.join(folder, "in")
    with open(name, "w") as file:
        file.write(f"shell cd {folder}\n{script}print 'went on'\n")
    return run_program(["env", f"LD_PRELOAD={FAULT}", *coordtest.lmp_program(), "-in", name, "-log", "none", "-nocite"], 2,
                       FAULT_RANK=str(rank), FAULT_IN=function, FAULT_CALL=str(call), FAULT_SITE=str(site))


class Memory(unittest.TestCase):
    """std::bad_alloc on one rank."""

    def check(self, script, function, message, ranks=(1,), call=1):
        """message: pattern of the only error, with {} in place of the rank; call: number of
        the call that fails."""
        for rank in ranks:
            code, output = run_faulty(script, rank, function, call, 0)
            self.assertEqual(code, 0, output)
            counts = re.findall("^fault: (\\d+) sites$", output, re.MULTILINE)
            self.assertEqual(len(counts), 1, f"no memory is allocated in {function}\n{output}")
            count = int(counts[0])
            # The first site, the last, and one between them.
            chosen = sorted({1 + k * (count - 1) // (MAX_SITES - 1) for k in range(MAX_SITES)})
            results = start_all(run_faulty, [(script, rank, function, call, site) for site in chosen])
            for site, future in zip(chosen, results):
                code, output = future.result()
                with self.subTest(function=function, rank=rank, site=site, count=count):
                    self.assertEqual(output.count(f"fault: at site {site}\n"), 1, output)
                    found = errors_in(output) + re.findall(r"^C\+\+ memory.*$", output, re.MULTILINE)
                    self.assertEqual(len(found), 1, output)
                    self.assertRegex(found[0], f"^(?:{message.format(rank)})$")
                    self.assertNotEqual(code, 0)
                    self.assertNotRegex(output, "(?m)^went on")

    VARIABLE_MESSAGE = (r"Compute coord/gpu c: out of memory on rank {} with \d+ atoms of the groups - use more ranks or a smaller "
                        "dmax")

    def test_gathered_atoms(self):
        """MPI_Allgather and MPI_Allgatherv of engine allpairs and of pairs."""
        for words in "all coord/gpu engine allpairs", "a coord/gpu pairs b":
            for call in 1, 3:    # at setup, and in the run
                self.check(SYSTEM + VARIABLE.format(words) + "thermo_style custom step c_c\nrun 2\n", "CoordGather::",
                           self.VARIABLE_MESSAGE, call=call)

    def test_order_parameters(self):
        """Sums over ranks and communication with ghost atoms take place within the evaluation."""
        message = (r"Compute coord/orientorder c: (?:out of memory on rank {0} with \d+ atoms of the groups|rank {0} failed with \d+ "
                   r"owned atoms of the groups and \d+ ghost atoms: out of memory) - use more ranks or a smaller dmax")
        for order, function, rank in (("local function max 0.1", "evaluate", 0), ("dot", "evaluate", 1),
                                      ("average", "begin", 1)):
            self.check(SYSTEM + VARIABLE.format(f"all coord/orientorder order {order}") +
                       "thermo_style custom step c_c c_c[1]\nrun 2\n", f"OrderEvaluator::{function}(", message, ranks=(rank,))

    def test_environment_similarity(self):
        message = (r"Compute coord/envsim c: (?:out of memory on rank {0} with \d+ atoms of the groups|rank {0} failed with \d+ "
                   r"owned atoms of the groups and \d+ ghost atoms: out of memory) - use more ranks or a smaller reach "
                   r"\(longest vector \+ cutoff\*sigma\)")
        self.check(SYSTEM + "compute c all coord/envsim structure diamond 4.0 sigma 0.1 device host\n"
                   "thermo_style custom step c_c c_c[1]\nrun 2\n", "OrderEvaluator::evaluate(", message, ranks=(1,))

    def test_gathered_atoms_in_a_bias(self):
        """The bias sums two variables, and gathers for the second one."""
        self.check(SYSTEM + VARIABLE.format("all coord/gpu").replace(" c ", " d ") +
                   VARIABLE.format("all coord/gpu engine allpairs") + "fix b all coord/bias c_d c_c harmonic k 1 1 s0 2 2\nrun 2\n",
                   "CoordGather::", self.VARIABLE_MESSAGE)

    def test_bias(self):
        self.check(SYSTEM + VARIABLE.format("all coord/gpu engine allpairs") +
                   "fix b all coord/bias c_c metad sigma 0.5 height 0.1 pace 1 file H\nrun 2\n",
                   "FixCoordBias::post_force", "Fix coord/bias b: out of memory(?: - use keyword grid)?|Compute coord/gpu c: .*out of memory.*|" +
                   re.escape(LAMMPS_NO_MEMORY), ranks=(0, 1))

    def test_write_grid(self):
        """Rank 0 receives atoms and planes that rank 1 sends."""
        self.check(CHARGES + MAP.format("") + "run 0\nwrite_grid c_c:grid:phi map.cube atoms all\n", "WriteGrid::gather_",
                   "Write_grid: out of memory on rank {} - use a coarser grid, or a smaller group of atoms", ranks=(0, 1))

    MAP_MESSAGE = (r"Compute potential/grid c: out of memory on rank {} with \d+ charges - use more ranks, or a larger cutoff or "
                   "tolerance|Could not create 3d FFT plan")    # the latter by LAMMPS' transforms

    def test_far_field(self):
        """Fourier transforms for the map and for atoms, and reverse communication."""
        for output, function in (("dump g all grid 1 grid.dump c_c:grid:phi\n", "PotentialFar::on_grid"),
                                 ("variable phi atom c_c\ndump a all custom 1 atom.dump id v_phi\n", "::add_far_at_atoms")):
            self.check(CHARGES + FAR + output + "run 1\n", function, self.MAP_MESSAGE)

    def test_ghost_charges(self):
        """Forward communication of charges, and sums over ranks."""
        self.check(CHARGES + FAR + "run 0\nwrite_grid c_c:grid:phi map.dx\n", "ComputePotentialGrid::refresh_ghosts",
                   self.MAP_MESSAGE)

    def test_gathered_charges(self):
        self.check(CHARGES.replace("units metal", "units metal\nboundary f f f") +
                   MAP.replace("cutoff 3.0", "kernel direct").format("") + "dump g all grid 1 grid.dump c_c:grid:phi\nrun 1\n",
                   "ComputePotentialGrid::gather_charges",
                   r"Compute potential/grid c: out of memory on rank {} with \d+ charges - use more ranks")

    def test_mean(self):
        """fix ave/potential/grid evaluates the map, and moves its sum between ranks."""
        mean = CHARGES + MAP.format("") + "fix m all ave/potential/grid 1 c\n"
        self.check(mean + "run 2\n", "FixAvePotentialGrid::end_of_step",
                   r"Compute potential/grid c: out of memory on rank {} with \d+ charges - use more ranks or a smaller cutoff")
        self.check(mean + "run 1\nbalance 1.0 z 0.3\n" + "run 1\n",
                   "FixAvePotentialGrid::after_new_grid", re.escape(LAMMPS_NO_MEMORY))

    def test_init_of_kokkos_styles(self):
        if not coordtest.KOKKOS:
            self.skipTest("this is about KOKKOS")
        self.check(SYSTEM + VARIABLE.format("all coord/gpu/kk") + "fix b all coord/bias/kk c_c harmonic k 1 s0 2\nrun 0\n",
                   "ComputeCoordPairKokkos::init(", re.escape(LAMMPS_NO_MEMORY), ranks=(0, 1))


class PairNextToSums(test_fake_gpu.WithFakeGPUs):
    """The pair style of one rank fails in a run. The other rank waits in a sum of another style."""

    FAILS = r"Pair {}: rank {} failed with \d+ owned and \d+ ghost {}: {{fake}} out of memory: 3 GB asked, 1 GB free - use device " \
            "host, more GPUs or fewer ranks per GPU"
    ENVIRONMENTS = [({"FAKE_GPUS": "1", "FAKE_FAILS": fails}, rank) for fails, rank in (("3,0", 0), ("0,3", 1))]

    def check_pair(self, name, atoms, scripts):
        self.check_stops([(script, 2, environment, self.FAILS.format(name, rank, atoms))
                          for script in scripts for environment, rank in self.ENVIRONMENTS])

    def test_pair_coord(self):
        variable = "compute c all coord/gpu {} switch cubic d0 1.0 dmax 3.0 device host\n"
        sums = ["fix b all coord/bias c_c harmonic k 1 s0 2\n", "thermo_style custom step pe c_c\n"]
        self.check_pair("coord", "atoms", [
            test_fake_gpu.STYLE.format(f"engine {engine}") + variable.format(words) + other + "run 4\n"
            for engine in ("cells", "neigh") for words in ("", "engine allpairs") for other in sums])

    def test_pair_multisite(self):
        with open("components", "w") as file:
            file.write("component one\nmass 1\ncenter 0 0 0 0.01 2.0\ncharge 0 0 0 0.1\n")
        self.SYSTEM = ""
        self.check_pair("multisite", "molecules", [
            test_fake_gpu.MOLECULES.format("") + "compute c all coord/gpu switch cubic d0 1.0 dmax 3.0 device host\n" +
            "fix b all coord/bias c_c harmonic k 1 s0 2\n" + "run 4\n"])


class Mean(test_fake_gpu.WithFakeGPUs):
    SYSTEM = CHARGES

    def test_device_fails(self):
        """The sum over ranks of fix ave/potential/grid."""
        for fails, rank in ("3,0", 0), ("0,2", 1):
            self.check_stops([("compute c all potential/grid 9 9 9 cutoff 3.0 device cuda\nfix m all ave/potential/grid 1 c\nrun 4\n", 2,
                               {"FAKE_GPUS": "1", "FAKE_FAILS": fails},
                               fr"Compute potential/grid c: {{fake}} out of memory: 3 GB asked, 1 GB free on rank {rank} with \d+ "
                               "charges - use device host, more GPUs or fewer ranks per GPU")])


class Deleted(test_fake_gpu.WithFakeGPUs):
    """A run fails, and computes are deleted while fixes and other computes still use them."""

    def start(self, commands, fails=3):
        """The third evaluation of a backend fails, or the one with this number."""
        os.environ.update(FAKE_GPUS="1", FAKE_FAILS=str(fails))
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("FAKE_GPUS", "FAKE_FAILS")])
        lmp = errortest.start()
        self.addCleanup(lmp.close)
        # The expression and its variables must be of the same plugin.
        errortest.commands(lmp, "plugin unload compute coord/custom\n" + self.load + commands)
        self.assertIn("out of memory", error_of(lmp, "run 4")[0])
        return lmp

    def check_bias(self, kind):
        variable = "compute c all coord/gpu switch cubic d0 1.0 dmax 3.0 device {}\n"
        lmp = self.start(SYSTEM + variable.format("cuda") + "compute e all coord/custom 2*c c c_c\n"
                         f"fix b all coord/bias c_c c_e {kind}\nthermo_style custom step f_b f_b[1]\n",
                         fails=5)    # two evaluations are for the lines with S of both variables
        energy = lmp.extract_fix("b", 0, 0)
        self.assertGreater(energy, 0.0)
        lmp.command("uncompute c")
        self.assertEqual(lmp.extract_fix("b", 0, 0), energy)    # energy of the last evaluation
        gone = "Compute coord/custom e: compute c no longer exists - keep it while compute e uses it"
        self.assertEqual(error_of(lmp, "print $(c_e)")[0], gone)
        for command, message in (("run 0", gone), ("minimize 0 0 1 1", gone), ("write_restart after.restart", gone),
                                 ("run 1 pre no", "Fix coord/bias b: the fix or compute c was defined or deleted after the last setup - "
                                                  "use run without pre no")):
            self.assertEqual(error_of(lmp, command)[0], message)
        lmp.command("uncompute e")
        self.assertEqual(error_of(lmp, "run 0")[0], "Fix coord/bias b: compute c no longer exists - keep it while the fix uses it")
        errortest.commands(lmp, variable.format("host"))
        self.assertRegex(error_of(lmp, "run 0")[0], "^Fix coord/bias b: compute c was deleted and defined again")
        errortest.commands(lmp, "unfix b\nfix b all coord/bias c_c harmonic k 1 s0 2\nrun 1")
        self.assertAlmostEqual(lmp.extract_fix("b", 0, 0), 0.5 * (errortest.expected_of_good(lmp) - 2.0)**2, delta=1e-3)

    def test_variable_of_a_bias(self):
        self.check_bias("harmonic k 1 1 s0 2 2")

    def test_variable_of_metadynamics(self):
        self.check_bias("metad sigma 0.5 0.5 height 0.1 pace 1 file H")

    def test_map_of_a_mean(self):
        lmp = self.start(CHARGES + "compute c all potential/grid 9 9 9 cutoff 3.0 device cuda\nfix m all ave/potential/grid 1 c\n"
                         "thermo_style custom step f_m\n")
        lmp.command("uncompute c")
        self.assertEqual(lmp.extract_fix("m", 0, 0), 2.0)
        gone = "Fix ave/potential/grid m: compute c has been deleted - define it, unfix the fix and define it again"
        for command in "run 1", "run 1 pre no", "write_grid f_m:grid:data gone.dx":
            self.assertEqual(error_of(lmp, command)[0], gone)
        errortest.commands(lmp, "unfix m\ncompute c all potential/grid 9 9 9 cutoff 3.0 device host\n"
                                "fix m all ave/potential/grid 1 c\nrun 1")
        self.assertEqual(lmp.extract_fix("m", 0, 0), 1.0)


if __name__ == "__main__":
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
