"""device auto, cuda and host: the chosen backend, the setup line, and equal results on GPU and
host.

Tests that need a GPU are skipped on machines without one; with GPUCOORD_REQUIRE_GPU=1 they fail
instead.
"""
# Processors: 2
# Without: gpu/kokkos

import functools
import os
import re
import unittest

import numpy as np

import brutetest
import coordtest
import test_plugin
from brutetest import Box, Switch
from errortest import PRINT_S, SYSTEM, errors_in, run_program, run_script, start_all

COMPUTE = "compute c {} coord/gpu {} switch cubic d0 1.0 dmax 3.0 precision double {}\n" + PRINT_S
AUTO = COMPUTE.format("all", "", "")
CUDA = COMPUTE.format("all", "", "device cuda")
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}

OWNED = "owned and ghost atoms"
GATHERED = "atoms gathered over ranks"
PATHS = {"engine cells": ("cells", OWNED), "engine allpairs": ("allpairs", GATHERED),
         "pairs b": ("pairs", GATHERED)}


def setup_line(output, ident="c"):
    """Return backend and further text of the only setup line of a compute."""
    line, = re.findall(rf"^Compute coord/gpu {ident}: ((?:host|cuda) \(.*)$", output, re.MULTILINE)
    return line


def run(script, ranks=1, **environment):
    code, output = run_script(script, ranks, **environment)
    if code != 0:
        raise AssertionError(output)
    return output


def run_all(cases):
    """Return exit code and output of each (script, ranks, environment)."""
    futures = start_all(lambda text, ranks, environment: run_script(text, ranks, **environment), cases)
    return [future.result() for future in futures]


def values_in(output):
    return [float(s) for s in re.findall(r"^ +\d+ +(\S+) *$", output, re.MULTILINE)]


@functools.lru_cache(maxsize=None)
def why_no_gpu():
    """Return "" if device auto uses a GPU, else the reason in its setup line."""
    line = setup_line(run(SYSTEM + AUTO + "run 0\n"))
    return "" if line.startswith("cuda (") else re.match(r"host \([^;]*; no GPU: (.*)\), precision", line)[1]


def gpu_or_skip():
    if why_no_gpu():
        if int(os.environ.get("GPUCOORD_REQUIRE_GPU") or 0) >= 1:
            raise AssertionError("GPUCOORD_REQUIRE_GPU is set, but there is no GPU: " + why_no_gpu())
        raise unittest.SkipTest("needs a GPU: " + why_no_gpu())


def one_gpu():
    """Return an environment in which ranks see one GPU."""
    return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]}


class WithoutGPU(unittest.TestCase):
    """The environment hides GPUs of the machine."""

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


BOX = Box((6.0, 6.5, 7.0), tilt=(1.1, -0.7, 0.9))
N = 150
RATIONAL = Switch("rational", 1.0, dmax=2.7).keywords
# Forms of the compute: group and keywords.
FORMS = {"self": ("all", ""), "some": ("left", ""), "two": ("left", "group2 right"), "overlap": ("left", "group2 late"),
         "same": ("left", "group2 left norm mean"), "empty": ("left", "group2 none")}
ENGINES = {"cells": "engine cells", "allpairs": "engine allpairs"}
SWITCHES = {"exp": "switch exp 0.8 d0 0.4 dmax 2.6", "gaussian": "switch gaussian 1.1 dmax 2.6 nostretch",
            "smap": "switch smap 1.2 a 2.5 b 5 dmax 2.6", "cubic": "switch cubic d0 0.7 dmax 2.6",
            "tanh": "switch tanh 1.3 dmax 2.6", "cosinus": "switch cosinus 2.2 d0 0.3",
            "q": "switch q ref 1.1 beta 4.0 dmax 2.6", "custom": "switch custom 1.2 func 1/(1+x^5)*exp(-x/3) dmax 2.6",
            "powers": "switch rational 1.2 nn 5.5 mm 11.3 dmax 2.6"}


class OnGPU(unittest.TestCase):
    def setUp(self):
        gpu_or_skip()

    def compare(self, computes, tolerance, precision):
        """computes: name: group and keywords. Compares each on the host and on the GPU."""
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
            for turn in range(3):    # buffers grow and shrink, and lists are reused
                lmp.command("run 0")
                for name in computes:
                    coordtest.assert_same(brutetest.result_of(lmp, f"cuda_{name}"),
                                          brutetest.result_of(lmp, f"host_{name}"), tolerance, f"{name}, turn {turn}")
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
            "images_two": ("left", "switch cubic dmax 6.4 image all engine cells group2 late"),
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
        code, output = run_program(["sh", "-c", hide + " ".join(coordtest.lmp_program()) + " -in in.one -log none"], 2)
        self.assertEqual(code, 0, output)
        self.assertRegex(setup_line(output), r"^host \([^;]+; no GPU on rank 1: ")

    def test_same_bits(self):
        """Repeated runs and any number of threads give the same bits."""
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
