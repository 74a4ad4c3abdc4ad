"""Behavior of ranks with too few, missing or failing GPUs: a special plugin, in which the host
imitates GPUs (fake_gpu.cpp). This is a separate program, because a plugin stays in the process that
loaded it."""
# Processors: 2
# Without: gpu, gpu/kokkos

import os
import re
import unittest

import coordtest
import errortest
import test_bias_walkers
import test_potential_grid_errors
from errortest import PRINT_S, SYSTEM, errors_in, run_program
from test_device import AUTO, COMPUTE, CUDA, GATHERED, OWNED, PATHS, run, run_all, setup_line


STYLE = "pair_style coord {}\npair_coeff * * 0.7 cubic d0 1.0 dmax 3.0\n"
LEVELS = "run_style respa 3 2 2 inner 1 1.0 1.5 middle 2 2.0 2.5 outer 3\n"


class WithFakeGPUs(unittest.TestCase):
    """Ranks with the GPUs that the environment defines."""

    SYSTEM = SYSTEM

    def setUp(self):
        self.plugin = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "fake_gpu", "gpucoordplugin.so")
        self.assertTrue(os.path.exists(self.plugin), f"there is no {self.plugin}")
        styles = [(kind, name) for kind, style in (("compute", "coord/gpu"), *(("compute", order) for order in coordtest.ORDER_STYLES),
                                                   ("compute", "potential/grid"), ("pair", "coord"), ("pair", "multisite"),
                                                   ("fix", "coord/bias"))
                  for name in coordtest.names_of(style)]
        self.load = "".join(f"plugin unload {kind} {name}\n" for kind, name in styles) + f"plugin load {self.plugin}\n"

    def check_stops(self, cases):
        """cases: script after SYSTEM, ranks, environment, pattern of the only error."""
        results = run_all([(self.load + self.SYSTEM + script + "print 'went on'\n", ranks, environment)
                           for script, ranks, environment, _ in cases])
        for (script, ranks, environment, message), (code, output) in zip(cases, results):
            with self.subTest(script=script, ranks=ranks, **environment):
                found, = errors_in(output)    # the only error on all ranks
                self.assertRegex(found, f"^{message}$")
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")

    def check_restart(self, script, style):
        """Any machine reads a restart file of any device; device cuda uses a GPU again if there is
        one."""
        message = "{}: the restart file was written with device cuda, but there is no GPU{}: {{fake}} none - it runs on the host\n"
        for stored, first, second, rank in (("cuda", "0", "1", ""), ("cuda", "1,0", "2", " on rank 1"), ("auto", "0", "1", None),
                                            ("host", "1", "0", None)):
            with self.subTest(stored, first=first, second=second):
                energies = []
                for commands, gpus in ((script.format(f"device {stored}"), "1"), ("read_restart written\n", first),
                                       ("read_restart written\n", second)):
                    output = run(f"{self.load}{commands}thermo_style custom step pe\nthermo_modify format float %.15g\nrun 0\n"
                                 "write_restart written\n", 2, FAKE_GPUS=gpus)
                    energies.append(float(re.search(r"^ +0 +(\S+)", output, re.MULTILINE)[1]))
                    backend, = re.findall(rf"^{style}: (host|cuda) \(", output, re.MULTILINE)
                    self.assertEqual(backend, "host" if stored == "host" or "0" in gpus else "cuda")
                    lines = re.findall(rf"^{style}: the restart file.*\n", output, re.MULTILINE)
                    self.assertEqual(lines, [message.format(style, rank)] if rank is not None and "0" in gpus else [])
                self.assertNotEqual(energies[0], 0.0)
                for energy in energies[1:]:
                    self.assertAlmostEqual(energy, energies[0], delta=1e-10)


class FakeGPU(WithFakeGPUs):
    def test_not_every_rank_has_a_gpu(self):
        message = "Compute coord/gpu device cuda: rank {} has no GPU: {{fake}} none - use device host or device auto"
        self.check_stops([(CUDA, 2, {"FAKE_GPUS": "1,0"}, message.format(1)),
                          (CUDA, 3, {"FAKE_GPUS": "0,1,0"}, message.format(0))])
        for gpus, rank in ("1,0", " on rank 1"), ("0,1", ""):
            line = setup_line(run(self.load + SYSTEM + AUTO + "run 0\n", 2, FAKE_GPUS=gpus))
            self.assertRegex(line, rf"^host \([^;]+, 1 thread per rank; no GPU{rank}: {{fake}} none\), precision "
                                   f"double, engine cells, {OWNED}, S summed over 2 ranks by MPI$")

    def test_device_of_each_rank(self):
        for ranks, gpus, devices, sharing in ((1, 1, [0], ""), (2, 1, [0, 0], ", 2 ranks share it"),
                                              (2, 2, [0, 1], ""), (3, 2, [0, 0, 1], ", 2 ranks share it")):
            output = run(self.load + SYSTEM + CUDA + "run 0\n", ranks, FAKE_GPUS=str(gpus))
            summed = f", S summed over {ranks} ranks by MPI" if ranks > 1 else ""
            self.assertEqual(setup_line(output), f"cuda (Fake, device 0{sharing}), precision double, engine cells, "
                                                 f"{OWNED} copied to the GPU at every evaluation{summed}")
            self.assertEqual(sorted(map(int, re.findall(r"fake GPU: device (\S+)", output))), devices)

    def test_partitions_take_different_devices(self):
        with open("in.partition", "w") as file:
            file.write(self.load + SYSTEM + CUDA + "run 0\n")
        code, output = run_program([*coordtest.lmp_program(), "-in", "in.partition", "-log", "none", "-partition",
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

    def test_order_parameters(self):
        """Other ranks wait for the numbers of a rank that fails."""
        script = "compute c all coord/orientorder order {} switch cubic d0 2.6 dmax 3.0 precision double device cuda\n" \
                 "thermo_style custom step c_c c_c[1]\nrun 4\n"
        name = "Compute coord/orientorder"
        output = run(self.load + SYSTEM + script.format("dot"), 2, FAKE_GPUS="1")
        self.assertRegex(output, rf"\n{name} c: cuda \(Fake, device 0, 2 ranks share it\), precision double, engine cells, {OWNED} copied "
                                 "to the GPU at every evaluation, S summed over 2 ranks by MPI\n")
        cases = [(script.format("local"), 2, {"FAKE_GPUS": "1,0"},
                  f"{name} device cuda: rank 1 has no GPU: {{fake}} none - use device host or device auto"),
                 (script.format("local"), 2, {"FAKE_GPUS": "1", "FAKE_INIT": "0,1"},
                  f"{name} c: the GPU of rank 1 cannot be used: {{fake}} busy - use device host")]
        message = rf"{name} c: rank {{}} failed with \d+ owned atoms of the groups and \d+ ghost atoms: {{{{fake}}}} out of memory: " \
                  "3 GB asked, 1 GB free - use device host, more GPUs or fewer ranks per GPU"
        for order in "local", "local function max 0.1", "average", "dot", "connections rational 0.5", "global":
            for ranks, fails, rank in ((1, "1", 0), (2, "0,2", 1), (2, "3,0", 0)):
                cases.append((script.format(order), ranks, {"FAKE_GPUS": "1", "FAKE_FAILS": fails}, message.format(rank)))
        script = "compute c all coord/envsim structure fcc 3.0 sigma 0.1 precision double device cuda{}\n" \
                 "thermo_style custom step c_c c_c[1]\nrun 4\n"
        message = message.replace("orientorder", "envsim")
        for words in "", " function max 0.1":
            for ranks, fails, rank in ((1, "1", 0), (2, "0,2", 1), (2, "3,0", 0)):
                cases.append((script.format(words), ranks, {"FAKE_GPUS": "1", "FAKE_FAILS": fails}, message.format(rank)))
        script = "compute c all coord/pairentropy cutoff 2.2 sigma 0.1 bins 40 precision double device cuda\n" \
                 "thermo_style custom step c_c c_c[1]\nrun 4\n"
        message = message.replace("envsim", "pairentropy")
        for ranks, fails, rank in ((1, "1", 0), (2, "0,2", 1), (2, "3,0", 0)):
            cases.append((script, ranks, {"FAKE_GPUS": "1", "FAKE_FAILS": fails}, message.format(rank)))
        self.check_stops(cases)

    def test_check_of_gradients(self):
        """Keyword check finds a wrong dS/dx of one atom, where S, s_i and W are right."""
        message = r"Compute coord/gpu c: check: dS/dx differs by 0\.01 from the reference of magnitude \S+, more than \S+ - " \
                  "use a higher precision, or report a bug"
        uses = "dump d all custom 1 dump id c_c[2]\nrun 0\n", "fix b all coord/bias c_c linear k 1\nrun 0\n"
        wrong, without_check, right = [], [], []
        for words in PATHS:
            group = "a" if words == "pairs b" else "all"
            for use in uses:
                script = COMPUTE.format(group, words, "device cuda check 1 1e-6") + use
                for ranks, gradient in (1, "1"), (2, "0,1"):
                    wrong.append((script, ranks, {"FAKE_GPUS": "1", "FAKE_GRADIENT": gradient}, message))
                right.append((script, 2, {"FAKE_GPUS": "1"}))
                without_check.append((script.replace("check 1 1e-6", ""), 2, {"FAKE_GPUS": "1", "FAKE_GRADIENT": "1"}))
        self.check_stops(wrong)
        for (script, *_), (code, output) in zip(right + without_check, run_all([(self.load + SYSTEM + script, ranks, environment)
                                                for script, ranks, environment in right + without_check])):
            self.assertEqual(code, 0, script + output)

    def test_next_run_makes_the_backend_anew(self):
        """The third evaluation of each backend fails. One run is one evaluation, and the first run one
        more, for the line with S."""
        os.environ.update(FAKE_GPUS="1", FAKE_FAILS="3")
        try:
            with errortest.start() as lmp:
                errortest.commands(lmp, self.load + SYSTEM + errortest.GOOD + "\n" + PRINT_S)
                for turn in range(7):
                    with self.subTest(turn=turn):
                        if turn % 3 == 1:
                            self.assertIn("out of memory", errortest.error_of(lmp, "run 0")[0])
                        else:
                            lmp.command("run 0")
                            self.assertAlmostEqual(errortest.value(lmp), errortest.expected_of_good(lmp), delta=1e-5)
        finally:
            del os.environ["FAKE_GPUS"], os.environ["FAKE_FAILS"]

    def test_versions_of_neighbor_lists(self):
        """A list is copied after it was built, and at no other time. The fake GPU fails if a list
        differs from its copy."""
        start = (self.load + SYSTEM.replace("map array", "map array sort 1 0.0") +
                 "neigh_modify every 5 delay 0 check no\nvelocity all create 3000 4711\nfix move all nve\n"
                 "timestep 0.002\ndump d all custom 5 trajectory id type x y z\n" +
                 STYLE.format("engine neigh"))
        # Builds at setup and at every fifth step.
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
                        self.assertEqual(found, ranks * copies)
                    self.assertGreater(found, 0)


class Bias(WithFakeGPUs):
    """A rank that fails in an evaluation for fix coord/bias ends all ranks. The variables of all
    fixes are evaluated together: a variable on the host is evaluated after one that failed, with
    the collective calls of its engine."""

    TERM = " coord/gpu {} switch cubic d0 1.0 dmax 3.0 precision double device {}\n"
    FAILS = (r"Compute coord/gpu {}: rank {} failed with \d+ owned atoms of the groups and \d+ "
             r"(?:ghost atoms|atoms gathered over ranks): {}")
    GPU = "{fake} out of memory: 3 GB asked, 1 GB free - use device host, more GPUs or fewer ranks per GPU"
    MEMORY = "out of memory - use more ranks or a smaller dmax"
    FIX = "fix b all coord/bias c_c c_d {}\n"
    HARMONIC = "harmonic k 1 1 s0 2 2"

    def two(self, engine, other, devices):
        return "".join(f"compute {name} {'a' if 'pairs' in words else 'all'}" + self.TERM.format(words, device)
                       for name, words, device in zip("cd", (engine, other), devices))

    def test_evaluation_fails(self):
        """Each pair of engines, where the first or the second variable fails on one rank, at setup
        or in the run."""
        cases = []
        for number, (engine, other) in enumerate((engine, other) for engine in PATHS for other in PATHS):
            rank = number % 2
            evaluation = 1 + number % 3
            for name, devices in ("c", ("cuda", "host")), ("d", ("host", "cuda")):
                cases.append((self.two(engine, other, devices) + self.FIX.format(self.HARMONIC) + "run 4\n", 2,
                              {"FAKE_GPUS": "1", "FAKE_FAILS": f"0,{evaluation}" if rank else f"{evaluation},0"},
                              self.FAILS.format(name, rank, self.GPU)))
        self.check_stops(cases)

    def test_no_memory(self):
        self.check_stops([(self.two(engine, "engine allpairs", ("cuda", "host")) + self.FIX.format(self.HARMONIC) + "run 4\n", 2,
                           {"FAKE_GPUS": "1", "FAKE_FAILS": "0,2", "FAKE_NO_MEMORY": "1"}, self.FAILS.format("c", 1, self.MEMORY))
                          for engine in PATHS])

    def test_both_variables_fail(self):
        """The error is that of the first variable on the lowest rank that failed."""
        self.check_stops([(self.two("", "engine allpairs", ("cuda", "cuda")) + self.FIX.format(self.HARMONIC) + "run 4\n", 2,
                           {"FAKE_GPUS": "1", "FAKE_FAILS": fails}, self.FAILS.format("c", rank, self.GPU))
                          for fails, rank in (("2,2", 0), ("3,2", 1))])

    def test_kinds_and_runs(self):
        """Metadynamics, where rank 0 shares its state after the evaluation; two fixes; rRESPA; a
        minimization."""
        metad = "metad sigma 0.5 0.5 height 0.1 pace 1 file H{}"
        two = self.two("", "engine allpairs", ("cuda", "host"))
        scripts = [two + self.FIX.format(metad.format("{}")) + "run 4\n",
                   two + "fix b all coord/bias c_d harmonic k 1 s0 2\nfix b2 all coord/bias c_c linear k 1\nrun 4\n",
                   two + self.FIX.format(self.HARMONIC) + "fix_modify b respa 2\nrun_style respa 2 2 pair 1\nrun 4\n",
                   two + self.FIX.format(self.HARMONIC) + "min_style cg\nminimize 0 0 3 10\n"]
        self.check_stops([(script.format(f"{number}{rank}"), 2, {"FAKE_GPUS": "1", "FAKE_FAILS": fails},
                           self.FAILS.format("c", rank, self.GPU))
                          for number, script in enumerate(scripts) for fails, rank in (("3,0", 0), ("0,3", 1))])

    def test_no_memory_for_walkers(self):
        """Rank 1 of the second of two partitions fails between two hills. As a library, LAMMPS aborts nobody: its
        rank 0 tells the other partition in their next meeting."""
        partitions = test_bias_walkers.Partitions()
        partitions.setUp()
        metad = "metad sigma 0.5 0.5 height 0.1 pace 10 file H walkers partitions"
        script = self.load + SYSTEM + self.two("", "engine allpairs", ("cuda", "host")) + self.FIX.format(metad) + "run 30\n"
        caught = partitions.caught(script, "2x2", FAKE_GPUS="1", FAKE_FAILS="0,0,0,3", FAKE_NO_MEMORY="1")
        failed = self.FAILS.format("c", 1, self.MEMORY)
        for rank, text in enumerate(caught):
            self.assertRegex(text, ("Fix coord/bias b: walker 1: " if rank < 2 else "ERROR: ") + failed)

    def test_next_run_makes_the_backend_anew(self):
        """The third evaluation of each backend fails. One run is one evaluation, and the first run one
        more, for the line with S."""
        os.environ.update(FAKE_GPUS="1", FAKE_FAILS="3")
        try:
            with errortest.start() as lmp:
                errortest.commands(lmp, self.load + SYSTEM + errortest.GOOD + "\nfix b all coord/bias c_c harmonic k 2 s0 1.5")
                for turn in range(7):
                    with self.subTest(turn=turn):
                        if turn % 3 == 1:
                            self.assertIn("out of memory", errortest.error_of(lmp, "run 0")[0])
                        else:
                            lmp.command("run 0")
                            self.assertAlmostEqual(lmp.extract_fix("b", 0, 0), (errortest.expected_of_good(lmp) - 1.5)**2,
                                                   delta=1e-3)
        finally:
            del os.environ["FAKE_GPUS"], os.environ["FAKE_FAILS"]


class PotentialGrid(WithFakeGPUs):
    """The same tests for compute potential/grid."""

    SYSTEM = test_potential_grid_errors.SYSTEM
    COMPUTE = "compute c all potential/grid {} cutoff 3.0 device {} {}\nvariable phi atom c_c\n"
    # The map twice, and the potential at atoms.
    OUTPUT = "dump g all grid 1 grid.dump c_c:grid:phi\ndump a all custom 2 atom.dump id v_phi\n"

    def test_devices(self):
        self.check_stops([(self.COMPUTE.format("9 9 9", "cuda", ""), 2, {"FAKE_GPUS": "1,0"},
                           "Compute potential/grid device cuda: rank 1 has no GPU: {fake} none - use device host or device auto"),
                          (self.COMPUTE.format("9 9 9", "auto", "") + "run 0\n", 2, {"FAKE_GPUS": "1", "FAKE_INIT": "0,1"},
                           "Compute potential/grid c: the GPU of rank 1 cannot be used: {fake} busy - use device host")])
        for words, gpus, line in (("auto", "1", r"cuda \(Fake, device 0\)"), ("host", "1", r"host \([^;]*, 1 thread per rank\)"),
                                  ("auto", "0", r"host \(.*, 1 thread per rank; no GPU: {fake} none\)")):
            output = run(self.load + self.SYSTEM + self.COMPUTE.format("9 9 9", words, "") + "run 0\n", FAKE_GPUS=gpus)
            self.assertRegex(output, rf"(?m)^Compute potential/grid c: {line}, precision mixed, ")

    def test_evaluation_fails(self):
        message = (r"Compute potential/grid c: {} on rank {} with \d+ charges - {}")
        gpu = "{{fake}} out of memory: 3 GB asked, 1 GB free", "use device host, more GPUs or fewer ranks per GPU"
        script = self.COMPUTE.format("9 9 9", "cuda", "") + self.OUTPUT + "run 3\n"
        far = "comm_modify cutoff 4.5\n" + self.COMPUTE.format("9 9 9", "cuda", "far fft 1e-3") + self.OUTPUT + "run 3\n"
        cases = [(script, ranks, {"FAKE_GPUS": "1", "FAKE_FAILS": fails}, message.format(gpu[0], rank, gpu[1]).replace("{{", "{").replace("}}", "}"))
                 for script in (script, far)
                 for ranks, fails, rank in ((1, "1", 0), (2, "0,1", 1), (2, "3,0", 0), (3, "4,3,3", 1))]
        cases.append((script, 2, {"FAKE_GPUS": "1", "FAKE_FAILS": "0,2", "FAKE_NO_MEMORY": "1"},
                      message.format("out of memory", 1, "use more ranks or a smaller cutoff")))
        self.check_stops(cases)

    FAR = "comm_modify cutoff 4.5\n" + COMPUTE.format("9 9 9", "{}", "far fft 1e-3") + "{}run 0\n"

    def test_far_field(self):
        """The GPU computes the far field if one rank has the whole mesh."""
        for ranks, device, far in ((1, "cuda", "0"), (2, "cuda", "1"), (1, "host", "1")):
            output = run(self.load + self.SYSTEM + self.FAR.format(device, self.OUTPUT), ranks, FAKE_GPUS="1", FAKE_FAR=far)
            self.assertIn("  reciprocal-space part by LAMMPS' Fourier transforms of a mesh of ", output)
        message = (r"Compute potential/grid c: {fake} no transforms on rank 0 with \d+ charges - use device host, more GPUs or fewer ranks "
                   "per GPU")
        for dump in self.OUTPUT.splitlines(True):    # the map, and the potential at atoms
            self.check_stops([(self.FAR.format("cuda", dump), 1, {"FAKE_GPUS": "1", "FAKE_FAR": "1"}, message)])

    def test_grid_smaller_than_a_tile(self):
        warning = ("WARNING: Compute potential/grid c: a grid of {} points is smaller than a tile of the GPU, 2 x 4 "
                   "x 4 points: {} % of its work is for points outside the grid - device host may be faster")
        for grid, device, percentage in (("8 3 16", "cuda", 25), ("2 4 4", "cuda", None), ("1 9 4", "cuda", 62), ("3 5 4", "cuda", None), ("3 3 3", "host", None)):
            output = run(self.load + self.SYSTEM + self.COMPUTE.format(grid, device, "") + "run 0\nrun 0\n", FAKE_GPUS="1")
            self.assertEqual(output.count(warning.format(grid.replace(" ", " x "), percentage)), 0 if percentage is None else 1, output)
            self.assertEqual("smaller than a tile" in output, percentage is not None)


class PairStyle(WithFakeGPUs):
    """The same tests for pair_style coord."""

    def pair_line(self, script, ranks=1, **environment):
        output = run(self.load + script, ranks, **environment)
        line, = re.findall(r"^Pair coord: ((?:host|cuda) \(.*)$", output, re.MULTILINE)
        return line

    def test_not_every_rank_has_a_gpu(self):
        message = "Pair_style coord device cuda: rank {} has no GPU: {{fake}} none - use device host or device auto"
        self.check_stops([(STYLE.format("device cuda"), 2, {"FAKE_GPUS": "1,0"}, message.format(1)),
                          (STYLE.format("device cuda"), 3, {"FAKE_GPUS": "0,1,0"}, message.format(0))])
        for gpus, rank in ("1,0", " on rank 1"), ("0,1", ""):
            line = self.pair_line(SYSTEM + STYLE.format("") + "run 0\n", 2, FAKE_GPUS=gpus)
            self.assertRegex(line, rf"^host \([^;]+, 1 thread per rank; no GPU{rank}: {{fake}} none\), precision "
                                   "double, engine neigh, full neighbor list$")

    def test_backend_cannot_be_made(self):
        message = "Pair coord: the GPU of rank {} cannot be used: {{fake}} busy - use device host"
        self.check_stops([(STYLE.format(words) + levels + "run 0\n", ranks, {"FAKE_GPUS": "1", "FAKE_INIT": failing},
                           message.format(rank)) for words, levels in (("", ""), ("device cuda", LEVELS))
                          for ranks, failing, rank in ((1, "1", 0), (2, "0,1", 1), (2, "1", 0))])

    def test_evaluation_fails(self):
        """One rank stops the others, as LAMMPS does in a run."""
        gpu = (r"Pair coord: rank {} failed with \d+ owned and \d+ ghost atoms: {{fake}} out of memory: 3 GB asked, 1 "
               "GB free - use device host, more GPUs or fewer ranks per GPU")
        memory = (r"Pair coord: out of memory on rank {} with \d+ owned and \d+ ghost atoms - use more ranks or a "
                  "smaller dmax")
        self.check_stops([(STYLE.format(f"engine {engine}") + levels + "run 4\n", ranks,
                           {"FAKE_GPUS": "1", "FAKE_FAILS": fails, **more}, message.format(rank))
                          for engine, levels in (("cells", ""), ("neigh", ""), ("neigh", LEVELS))
                          for ranks, fails, rank in ((1, "1", 0), (2, "0,2", 1), (2, "4,0", 0))
                          for message, more in ((gpu, {}), (memory, {"FAKE_NO_MEMORY": "1"}))])

    def in_process(self, commands, **environment):
        os.environ.update(environment)
        self.addCleanup(lambda: [os.environ.pop(name) for name in environment])
        lmp = errortest.start()
        self.addCleanup(lmp.close)
        errortest.commands(lmp, self.load + SYSTEM + commands)
        return lmp

    def check_energy(self, lmp):
        lmp.command("run 0")
        self.assertAlmostEqual(lmp.get_thermo("pe"), 0.7 * errortest.expected_of_good(lmp), delta=1e-6)

    def test_next_run_makes_the_backend_anew(self):
        """The third evaluation of each backend fails. One run is one evaluation."""
        for engine in "cells", "neigh":
            lmp = self.in_process(STYLE.format(f"engine {engine}"), FAKE_GPUS="1", FAKE_FAILS="3")
            for turn in range(7):
                with self.subTest(engine, turn=turn):
                    if turn % 3 == 2:
                        self.assertIn("out of memory", errortest.error_of(lmp, "run 0")[0])
                    else:
                        self.check_energy(lmp)
            self.doCleanups()

    def test_refused_device_leaves_the_old_one(self):
        lmp = self.in_process(STYLE.format("device host"), FAKE_GPUS="0")
        self.assertEqual(errortest.error_of(lmp, "pair_style coord precision single device cuda engine cells"), (
            "Pair_style coord device cuda: rank 0 has no GPU: {fake} none - use device host or device auto",
            "pair_style coord precision single device [cuda] engine cells"))
        self.check_energy(lmp)

    def test_restart_without_a_gpu(self):
        self.check_restart(SYSTEM + STYLE, "Pair coord")

    def test_engine_of_the_gpu(self):
        """Uses bins, unless they would raise an error."""
        molecules = (SYSTEM.replace("atom_modify", "atom_style bond\natom_modify").replace(
            "create_box 1 box", "create_box 1 box bond/types 1 extra/bond/per/atom 1 extra/special/per/atom 2") +
            "bond_style zero\nbond_coeff 1\nspecial_bonds lj/coul {}\n")
        cells = "engine cells, owned and ghost atoms copied to the GPU"
        neigh = "engine neigh, full neighbor list copied to the GPU"
        cases = [(SYSTEM + STYLE.format(""), cells), (SYSTEM + STYLE.format("engine neigh"), neigh),
                 (SYSTEM + STYLE.format("") + "neigh_modify exclude group a b\n", neigh),
                 (SYSTEM + STYLE.format("") + LEVELS, neigh),
                 (SYSTEM + STYLE.format("") + "run_style respa 2 2 pair 2\n", cells),
                 (molecules.format("1 1 1") + STYLE.format(""), cells),
                 (molecules.format("0 1 1") + STYLE.format(""), neigh)]
        if not coordtest.kokkos_lacks_pair("hybrid/molecular"):
            cases.append((molecules.format("1 1 1") + "pair_style hybrid/molecular coord zero 3.0\n"
                          "pair_coeff * * coord 0.3 cubic dmax 3.0\npair_coeff * * zero\n", neigh))
        for script, expected in cases:
            for device in "", " device cuda":
                line = self.pair_line(script.replace("pair_style coord", "pair_style coord" + device) + "run 0\n",
                                      FAKE_GPUS="1")
                self.assertEqual(line, "cuda (Fake, device 0), precision double, " + expected)

    def test_versions_of_neighbor_lists(self):
        """A list is copied after it was built, and at no other time, for each level of rRESPA."""
        start = (self.load + SYSTEM.replace("map array", "map array sort 1 0.0") +
                 "neigh_modify every 5 delay 0 check no\nvelocity all create 3000 4711\nfix move all nve\n"
                 "timestep 0.002\n" + STYLE.format("engine neigh"))
        for script, copies in (("run 0", 1), ("run 4", 1), ("run 20", 5), ("run 20\nrun 4\nrun 0", 7),
                               ("run 7\nrun 7 pre no", 3), ("min_style cg\nminimize 0 0 3 10", None),
                               (LEVELS + "run 20", None),
                               (LEVELS + "run 7\nrun_style verlet\nrun 7\n" + LEVELS + "run 7", None)):
            for ranks in 1, 2:
                with self.subTest(script, ranks=ranks):
                    found = run(start + script + "\n", ranks, FAKE_GPUS="1").count("fake GPU: neighbor list copied")
                    if copies:
                        self.assertEqual(found, ranks * copies)
                    self.assertGreater(found, 0)


MOLECULES = SYSTEM.replace("atom_modify", "atom_style ellipsoid\natom_modify").replace("mass 1 1.0", "set group all mass 1.0\n"
                                                                                     "set group all shape 1 1 1")
MOLECULES += "pair_style multisite 3.0 {}\npair_coeff * * components one\n"


class Multisite(WithFakeGPUs):
    """The same tests for pair_style multisite."""

    SYSTEM = ""

    def setUp(self):
        super().setUp()
        with open("components", "w") as file:
            file.write("component one\nmass 1\ncenter 0 0 0 0.01 2.0\ncharge 0 0 0 0.1\n")

    def test_setup_line(self):
        for words, gpus, backend in (("", "1", r"cuda \(Fake, device 0, 2 ranks share it\)"), ("device host", "1", r"host \([^;]+\)"),
                                 ("", "1,0", r"host \([^;]+, 1 thread per rank; no GPU on rank 1: {fake} none\)"),
                                 ("device cuda", "2", r"cuda \(Fake, device 0\)")):
            output = run(self.load + MOLECULES.format(words + " precision mixed") + "run 0\n", 2, FAKE_GPUS=gpus)
            copied = " copied to the GPU" if backend.startswith("cuda") else ""
            self.assertRegex(output, rf"(?m)^Pair multisite: {backend}, precision mixed, engine cells, owned and ghost "
                                     rf"molecules{copied}$")

    def test_not_every_rank_has_a_gpu(self):
        message = "Pair_style multisite device cuda: rank {} has no GPU: {{fake}} none - use device host or device auto"
        self.check_stops([(MOLECULES.format("device cuda"), 2, {"FAKE_GPUS": "1,0"}, message.format(1))])

    def test_restart_without_a_gpu(self):
        self.check_restart(MOLECULES, "Pair multisite")

    def test_backend_cannot_be_made(self):
        message = "Pair multisite: the GPU of rank {} cannot be used: {{fake}} busy - use device host"
        self.check_stops([(MOLECULES.format("") + "run 0\n", ranks, {"FAKE_GPUS": "1", "FAKE_INIT": failing},
                           message.format(rank)) for ranks, failing, rank in ((1, "1", 0), (2, "0,1", 1), (2, "1", 0))])

    def test_evaluation_fails(self):
        gpu = (r"Pair multisite: rank {} failed with \d+ owned and \d+ ghost molecules: {{fake}} out of memory: 3 GB asked, 1 GB "
               "free - use device host, more GPUs or fewer ranks per GPU")
        memory = (r"Pair multisite: out of memory on rank {} with \d+ owned and \d+ ghost molecules - use more ranks or a "
                  "smaller cutoff")
        self.check_stops([(MOLECULES.format("") + "run 4\n", ranks, {"FAKE_GPUS": "1", "FAKE_FAILS": fails, **more},
                           message.format(rank))
                          for ranks, fails, rank in ((1, "1", 0), (2, "0,2", 1), (2, "4,0", 0))
                          for message, more in ((gpu, {}), (memory, {"FAKE_NO_MEMORY": "1"}))])


if __name__ == "__main__":
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
