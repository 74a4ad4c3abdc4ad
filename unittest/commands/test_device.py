"""device auto, cuda and host: who computes, what the setup line says, failures of single ranks, and on a GPU the
same numbers as on the host.

Tests that need a GPU are skipped where there is none, and fail there with GPUCOORD_REQUIRE_GPU=1. What ranks do with
GPUs that are few, missing or fail is tested with a plugin of its own in which the host plays the GPUs (fake_gpu.cpp).
"""

import functools
import os
import re
import unittest

import numpy as np

import coordtest
import errortest
import test_plugin
from coordtest import Box, Switch
from errortest import PRINT_S, SYSTEM, errors_in, run_program, run_script, start_all

COMPUTE = "compute c {} coord/gpu {} switch cubic d0 1.0 dmax 3.0 precision double {}\n" + PRINT_S
AUTO = COMPUTE.format("all", "", "")
CUDA = COMPUTE.format("all", "", "device cuda")
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}

OWNED = "owned and ghost atoms"
GATHERED = "atoms gathered over ranks"
PATHS = {"engine cells": ("cells", OWNED), "engine list": ("list", OWNED), "engine allpairs": ("allpairs", GATHERED),
         "pairs b": ("pairs", GATHERED)}


def setup_line(output, ident="c"):
    """Who computes, and all that follows, in the only setup line of a compute."""
    line, = re.findall(rf"^Compute coord/gpu {ident}: ((?:host|cuda) \(.*)$", output, re.MULTILINE)
    return line


def run(script, ranks=1, **environment):
    code, output = run_script(script, ranks, **environment)
    if code != 0:
        raise AssertionError(output)
    return output


def run_all(cases):
    """Exit code and output of each (script, ranks, environment)."""
    futures = start_all(lambda text, ranks, environment: run_script(text, ranks, **environment), cases)
    return [future.result() for future in futures]


def values_in(output):
    return [float(s) for s in re.findall(r"^ +\d+ +(\S+) *$", output, re.MULTILINE)]


@functools.lru_cache(maxsize=None)
def why_no_gpu():
    """Empty where device auto takes a GPU, else the reason in its setup line."""
    line = setup_line(run(SYSTEM + AUTO + "run 0\n"))
    return "" if line.startswith("cuda (") else re.match(r"host \([^;]*; no GPU: (.*)\), precision", line)[1]


def gpu_or_skip():
    if why_no_gpu():
        if os.environ.get("GPUCOORD_REQUIRE_GPU") == "1":
            raise AssertionError("GPUCOORD_REQUIRE_GPU=1, but there is no GPU: " + why_no_gpu())
        print("SKIPPED: needs a GPU: " + why_no_gpu(), flush=True)
        raise unittest.SkipTest("needs a GPU: " + why_no_gpu())


def one_gpu():
    """Environment in which ranks see one GPU."""
    return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]}


class WithoutGPU(unittest.TestCase):
    """Also where there is a GPU, which the environment hides."""

    def test_cuda_is_an_error(self):
        for ranks, (code, output) in zip((1, 2), run_all([(SYSTEM + CUDA + "print 'went on'\n", ranks, NO_GPU)
                                                          for ranks in (1, 2)])):
            with self.subTest(ranks=ranks):
                message, = errors_in(output)
                self.assertRegex(message, "^Compute coord/gpu device cuda: rank 0 has no GPU: .+ - use device host or "
                                          "device auto$")
                self.assertRegex(output, r"(?m)^Last input line: compute c .* device cuda *\n +\^\^\^\^$")
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")

    def test_setup_line(self):
        for words, (engine, data) in PATHS.items():
            for device in "", "device auto", "device host":
                group = "a" if words == "pairs b" else "all"
                line = setup_line(run(SYSTEM + COMPUTE.format(group, words, device) + "run 0\n", **NO_GPU))
                reason = "" if device == "device host" else "; no GPU: .+"
                self.assertRegex(line, rf"^host \([^;]+, 1 thread per rank{reason}\), precision double, "
                                       rf"engine {engine}, {data}$")


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


BOX = Box((6.0, 6.5, 7.0), tilt=(1.1, -0.7, 0.9))
N = 150
RATIONAL = Switch("rational", 1.0, dmax=2.7).keywords
# forms of the compute: group and keywords
FORMS = {"self": ("all", ""), "some": ("left", ""), "two": ("left", "group2 right"), "overlap": ("left", "group2 late"),
         "same": ("left", "group2 left norm mean"), "empty": ("left", "group2 none")}
ENGINES = {"cells": "engine cells", "list": "engine list", "allpairs": "engine allpairs"}
SWITCHES = {"exp": "switch exp 0.8 d0 0.4 dmax 2.6", "gaussian": "switch gaussian 1.1 dmax 2.6 nostretch",
            "smap": "switch smap 1.2 a 2.5 b 5 dmax 2.6", "cubic": "switch cubic d0 0.7 dmax 2.6",
            "tanh": "switch tanh 1.3 dmax 2.6", "cosinus": "switch cosinus 2.2 d0 0.3",
            "q": "switch q ref 1.1 beta 4.0 dmax 2.6", "custom": "switch custom 1.2 func 1/(1+x^5)*exp(-x/3) dmax 2.6",
            "powers": "switch rational 1.2 nn 5.5 mm 11.3 dmax 2.6"}


class OnGPU(unittest.TestCase):
    def setUp(self):
        gpu_or_skip()

    def compare(self, computes, tolerance, precision):
        """name: group and keywords; every one of them on the host and on the GPU"""
        with coordtest.start() as lmp:
            x = coordtest.random_positions(np.random.default_rng(8), BOX, N, closest=0.4)
            coordtest.make_system(lmp, BOX, x, ghosts=8.0)
            for group, ids in (("left", "1:90"), ("right", "91:150"), ("late", "60:149")):
                lmp.command(f"group {group} id {ids}")
            lmp.command("group none empty")
            for name, (group, keywords) in computes.items():
                for device in "host", "cuda":
                    lmp.command(f"compute {device}_{name} {group} coord/gpu {keywords} precision {precision} "
                                f"device {device}")
            for turn in range(3):    # buffers that grew and shrank, and lists that are kept
                lmp.command("run 0")
                for name in computes:
                    coordtest.assert_same(coordtest.result_of(lmp, f"cuda_{name}"),
                                          coordtest.result_of(lmp, f"host_{name}"), tolerance, f"{name}, turn {turn}")
                lmp.command(f"displace_atoms all random 0.1 0.1 0.1 {turn + 1}")

    def test_equals_host(self):
        """Every form, engine and function."""
        with open("ids", "w") as file:
            file.write("\n".join(f"{k} {(7 * k) % 90 + 60}" for k in range(1, 60)))
        computes = {f"{form}_{engine}": (group, f"{words} {RATIONAL} {keywords}")
                    for form, (group, words) in FORMS.items() for engine, keywords in ENGINES.items()}
        computes.update({name: ("all", f"{keywords} engine cells") for name, keywords in SWITCHES.items()})
        computes.update({
            "pairs": ("left", f"pairs late {RATIONAL}"), "listed": ("left", f"pairs/file ids {RATIONAL}"),
            "images": ("left", "switch cubic dmax 6.4 image all engine cells"),
            "images_list": ("left", "switch cubic dmax 6.4 image all engine list group2 late"),
            "minimum": ("left", "switch cubic dmax 6.4 image minimum"),
            "endless": ("left", "group2 right switch exp 1.0 image minimum"),
            "endless_custom": ("left", "switch custom 1.0 func exp(-x) image minimum")})
        self.compare(computes, coordtest.DOUBLE, "double")
        for precision in "mixed", "single":
            self.compare(computes, coordtest.FLOAT, precision)

    def test_setup_line(self):
        for words, (engine, data) in PATHS.items():
            for device in "", "device cuda":
                group = "a" if words == "pairs b" else "all"
                line = setup_line(run(SYSTEM + COMPUTE.format(group, words, device) + "run 0\n"))
                linked = data if data == OWNED else data + " and"
                self.assertRegex(line, rf"^cuda \(.+, device 0\), precision double, engine {engine}, {linked} copied "
                                       "to the GPU at every evaluation$")

    def test_ranks_share_a_gpu(self):
        for words in PATHS:
            group = "a" if words == "pairs b" else "all"
            script = (SYSTEM + "velocity all create 3000 4711\nfix move all nve\ntimestep 0.002\n"
                      "thermo_modify format float %.15g\n" + COMPUTE.format(group, words, "device {}") +
                      "thermo_modify format float %.15g\nrun 30\nrun 10 pre no\n")
            expected = values_in(run(script.format("host")))
            self.assertEqual(len(expected), 42)
            for ranks in 2, 3:
                output = run(script.format("cuda"), ranks, **one_gpu())
                self.assertRegex(setup_line(output), rf"^cuda \(.+, device 0, {ranks} ranks share it\), ")
                np.testing.assert_allclose(values_in(output), expected, rtol=coordtest.DOUBLE)

    def test_one_rank_without(self):
        with open("in.one", "w") as file:
            file.write(SYSTEM + AUTO + "run 0\n")
        hide = "[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 1 ] && export CUDA_VISIBLE_DEVICES=; exec "
        code, output = run_program(["sh", "-c", hide + os.environ["GPUCOORD_LMP"] + " -in in.one -log none"], 2)
        self.assertEqual(code, 0, output)
        self.assertRegex(setup_line(output), r"^host \([^;]+; no GPU on rank 1: ")

    def test_same_bits(self):
        """Run after run, at any number of threads."""
        for precision in "mixed", "double":
            for words in PATHS:
                script = SYSTEM + COMPUTE.format("a" if words == "pairs b" else "all", words, "device cuda").replace(
                    "precision double", f"precision {precision}")
                script += ("thermo_style custom step c_c c_c[*]\nthermo_modify format float %.17g\n"
                           "dump d all custom 1 dump.{} id c_c[*]\ndump_modify d format float %.17g sort id\nrun 0\n")
                texts = set()
                for threads in 1, 1, 3:
                    output = run(script.format(threads), OMP_NUM_THREADS=str(threads))
                    with open(f"dump.{threads}") as file:
                        texts.add("\n".join(re.findall(r"^ +0 .*$", output, re.MULTILINE)) + file.read())
                self.assertEqual(len(texts), 1, f"{precision}, {words}")


class PluginOnGPU(test_plugin.Plugin):
    """clear, two instances, and unloading and loading the plugin, on a GPU."""
    OPTIONS = "precision double device cuda"

    def setUp(self):
        gpu_or_skip()


if __name__ == "__main__":
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
