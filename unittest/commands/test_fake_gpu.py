"""What ranks do with GPUs that are few, missing or fail: with a plugin of its own in which the host plays the GPUs
(fake_gpu.cpp). A program of its own, because a plugin stays in the process that has loaded it.
"""

import os
import re
import unittest

import coordtest
import errortest
from errortest import PRINT_S, SYSTEM, errors_in, run_program
from test_device import AUTO, COMPUTE, CUDA, GATHERED, OWNED, PATHS, run, run_all, setup_line


class FakeGPU(unittest.TestCase):
    """Ranks whose GPUs the environment states."""

    def setUp(self):
        self.plugin = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "fake_gpu", "gpucoordplugin.so")
        self.assertTrue(os.path.exists(self.plugin), f"there is no {self.plugin}")
        self.load = f"plugin unload compute coord/gpu\nplugin load {self.plugin}\n"

    def check_stops(self, cases):
        """script after SYSTEM, ranks, environment, pattern of the only error"""
        results = run_all([(self.load + SYSTEM + script + "print 'went on'\n", ranks, environment)
                           for script, ranks, environment, _ in cases])
        for (script, ranks, environment, message), (code, output) in zip(cases, results):
            with self.subTest(script=script, ranks=ranks, **environment):
                found, = errors_in(output)    # of all ranks
                self.assertRegex(found, f"^{message}$")
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")

    def test_not_every_rank_has_a_gpu(self):
        message = "Compute coord/gpu device cuda: rank {} has no GPU: {{fake}} none - use device host or device auto"
        self.check_stops([(CUDA, 2, {"FAKE_GPUS": "1,0"}, message.format(1)),
                          (CUDA, 3, {"FAKE_GPUS": "0,1,0"}, message.format(0))])
        for gpus, rank in ("1,0", " on rank 1"), ("0,1", ""):
            line = setup_line(run(self.load + SYSTEM + AUTO + "run 0\n", 2, FAKE_GPUS=gpus))
            self.assertRegex(line, rf"^host \([^;]+, 1 thread per rank; no GPU{rank}: {{fake}} none\), precision "
                                   f"double, engine cells, {OWNED}$")

    def test_device_of_each_rank(self):
        for ranks, gpus, devices, sharing in ((1, 1, [0], ""), (2, 1, [0, 0], ", 2 ranks share it"),
                                              (2, 2, [0, 1], ""), (3, 2, [0, 0, 1], ", 2 ranks share it")):
            output = run(self.load + SYSTEM + CUDA + "run 0\n", ranks, FAKE_GPUS=str(gpus))
            self.assertEqual(setup_line(output), f"cuda (Fake, device 0{sharing}), precision double, engine cells, "
                                                 f"{OWNED} copied to the GPU at every evaluation")
            self.assertEqual(sorted(map(int, re.findall(r"fake GPU: device (\S+)", output))), devices)

    def test_partitions_take_different_devices(self):
        with open("in.partition", "w") as file:
            file.write(self.load + SYSTEM + CUDA + "run 0\n")
        code, output = run_program([os.environ["GPUCOORD_LMP"], "-in", "in.partition", "-log", "none", "-partition",
                                    "2x1", "-plog", "none", "-pscreen", "none"], 2, FAKE_GPUS="2")
        self.assertEqual(code, 0, output)
        self.assertEqual(sorted(re.findall(r"fake GPU: device (\S+)", output)), ["0", "1"])

    def test_setup_line(self):
        for words, (engine, data) in PATHS.items():
            group = "a" if words == "pairs b" else "all"
            line = setup_line(run(self.load + SYSTEM + COMPUTE.format(group, words, "") + "run 0\n", FAKE_GPUS="1"))
            linked = data if data == OWNED else data + " and"
            self.assertEqual(line, f"cuda (Fake, device 0), precision double, engine {engine}, {linked} copied to the "
                                   "GPU at every evaluation")

    def test_backend_cannot_be_made(self):
        message = "Compute coord/gpu c: the GPU of rank {} cannot be used: {{fake}} busy - use device host"
        self.check_stops([(script + "run 0\n", ranks, {"FAKE_GPUS": "1", "FAKE_INIT": failing}, message.format(rank))
                          for script in (AUTO, CUDA)
                          for ranks, failing, rank in ((1, "1", 0), (2, "0,1", 1), (2, "1", 0), (3, "0,1,0", 1))])

    def test_evaluation_fails(self):
        gpu = (r"Compute coord/gpu c: rank {} failed with \d+ owned atoms of the groups and {}: {{fake}} out of "
               "memory: 3 GB asked, 1 GB free - use device host, more GPUs or fewer ranks per GPU")
        cases = []
        for words, (_, data) in PATHS.items():
            script = COMPUTE.format("a" if words == "pairs b" else "all", words, "") + "run 4\n"
            atoms = r"\d+ ghost atoms" if data == OWNED else rf"{16 if words == 'pairs b' else 64} {GATHERED}"
            for ranks, fails, rank in ((1, "1", 0), (2, "0,1", 1), (2, "3,0", 0), (2, "2", 0), (3, "4,3,3", 1)):
                cases.append((script, ranks, {"FAKE_GPUS": "1", "FAKE_FAILS": fails}, gpu.format(rank, atoms)))
        host = (r"Compute coord/gpu c: rank 1 failed with \d+ owned atoms of the groups and \d+ ghost atoms: out of "
                "memory - use more ranks or a smaller dmax")
        cases.append((CUDA + "run 4\n", 2, {"FAKE_GPUS": "1", "FAKE_FAILS": "0,2", "FAKE_NO_MEMORY": "1"}, host))
        self.check_stops(cases)

    def test_next_run_makes_the_backend_anew(self):
        """The third evaluation of each backend fails. One run is one evaluation."""
        os.environ.update(FAKE_GPUS="1", FAKE_FAILS="3")
        try:
            with errortest.start() as lmp:
                errortest.commands(lmp, self.load + SYSTEM + errortest.GOOD + "\n" + PRINT_S)
                for turn in range(7):
                    with self.subTest(turn=turn):
                        if turn % 3 == 2:
                            self.assertIn("out of memory", errortest.error_of(lmp, "run 0")[0])
                        else:
                            lmp.command("run 0")
                            self.assertAlmostEqual(errortest.value(lmp), errortest.expected_of_good(lmp), delta=1e-5)
        finally:
            del os.environ["FAKE_GPUS"], os.environ["FAKE_FAILS"]

    def test_versions_of_neighbor_lists(self):
        """A list is copied where it was built, and only there. The fake fails where a list has changed since."""
        start = (self.load + SYSTEM.replace("map array", "map array sort 1 0.0") +
                 "neigh_modify every 5 delay 0 check no\nvelocity all create 3000 4711\nfix move all nve\n"
                 "timestep 0.002\ndump d all custom 5 trajectory id type x y z\n" +
                 COMPUTE.format("all", "engine list", "") + "compute c2 a coord/gpu group2 b switch cubic dmax 2.5 "
                 "engine list\nthermo_style custom step c_c c_c[1] c_c2\n")
        # copies by each of two computes: builds at setup and at every fifth step
        for script, copies in (("run 0", 1), ("run 4", 1), ("run 20", 5), ("run 20\nrun 4\nrun 0", 7),
                               ("run 7\nrun 7 pre no", 3), ("run 12 every 4 NULL", 3),
                               ("run 12 pre no every 4 'displace_atoms all random 0.1 0.1 0.1 5'", 3),
                               ("min_style cg\nminimize 0 0 3 10", None),
                               ("run 10\nundump d\nreset_timestep 0\nrun 0", 4),
                               ("run 10\nundump d\nrerun trajectory dump x y z", 6), ("run 6\nclear\n" + SYSTEM, 2)):
            for ranks in 1, 2:
                with self.subTest(script, ranks=ranks):
                    output = run(start + script + "\n", ranks, FAKE_GPUS="1")
                    found = output.count("fake GPU: neighbor list copied")
                    if copies:
                        self.assertEqual(found, 2 * ranks * copies)
                    self.assertGreater(found, 0)


if __name__ == "__main__":
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
