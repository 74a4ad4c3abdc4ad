"""clear, instances side by side, and unloading and loading the plugin while a compute is in use."""

import os
import unittest

import numpy as np

import coordtest
from coordtest import Box, Switch, brute_force

BOX = Box((6.0, 6.5, 7.0))
SWITCH = Switch("rational", 1.0, dmax=2.7)


def positions(seed, n=90):
    return coordtest.random_positions(np.random.default_rng(seed), BOX, n)


def plugin_file():
    for place in os.environ.get("LAMMPS_PLUGIN_PATH", "").split(":"):
        path = os.path.join(place, "gpucoordplugin.so")
        if os.path.exists(path):
            return path
    raise unittest.SkipTest("gpucoordplugin.so is not in LAMMPS_PLUGIN_PATH: the package may be built in")


STYLES = [["command", "set_multisite"], ["command", "write_grid"], ["compute", "coord/gpu"], ["compute", "potential/grid"],
          ["fix", "ave/potential/grid"], ["fix", "coord/bias"], ["fix", "multisite/linear"], ["pair", "coord"], ["pair", "multisite"]]


class Plugin(unittest.TestCase):
    OPTIONS = "precision double"

    def define(self, lmp, x):
        coordtest.make_system(lmp, BOX, x, ghosts=3.1)
        for engine in ("cells", "list", "allpairs"):
            lmp.command(f"compute {engine} all coord/gpu {SWITCH.keywords} engine {engine} {self.OPTIONS}")

    def check(self, lmp, x, what):
        lmp.command("run 0")
        self.compare(lmp, x, what)

    def compare(self, lmp, x, what):
        expected = brute_force(BOX, x, SWITCH, np.arange(len(x)))
        for engine in ("cells", "list", "allpairs"):
            coordtest.assert_same(coordtest.result_of(lmp, engine), expected, coordtest.DOUBLE, f"{what}, {engine}")

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
            for engine in ("cells", "list", "allpairs"):
                lmp.command(f"uncompute {engine}")
            lmp.command("run 0")
            for engine in ("cells", "list", "allpairs"):
                lmp.command(f"compute {engine} all coord/gpu {SWITCH.keywords} engine {engine} {self.OPTIONS}")
            self.check(lmp, x, "again")

    def test_two_instances(self):
        """Evaluated in turns, and one goes on after the other is closed."""
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
            self.assertEqual(sorted(style for style in lmp.available_plugins() if "/kk" not in style[1]), STYLES)
            for style, name in STYLES[:2]:
                lmp.command(f"plugin unload {style} {name}")
                with self.assertRaisesRegex(Exception, f"Unknown command: {name}"):
                    lmp.command(name)
            lmp.command(f"plugin load {path}")
            self.assertIn(["command", "write_grid"], lmp.available_plugins())
            with self.assertRaisesRegex(Exception, "Write_grid needs the simulation box"):
                lmp.command("write_grid c_phi:grid:phi phi.dx")

    def test_unload_and_load_while_in_use(self):
        path = plugin_file()
        with coordtest.start() as lmp:
            x = positions(7)
            self.define(lmp, x)
            self.check(lmp, x, "before")
            for turn in range(2):
                for name in coordtest.names_of("coord/gpu"):
                    self.assertIn(["compute", name], lmp.available_plugins())
                    lmp.command(f"plugin unload compute {name}")
                    self.assertNotIn(["compute", name], lmp.available_plugins())
                self.assertNotIn("cells", lmp.available_ids("compute"))
                lmp.command("run 0")
                with self.assertRaisesRegex(Exception, "coord/gpu"):
                    lmp.command(f"compute cells all coord/gpu {SWITCH.keywords}")
                lmp.command(f"plugin load {path}")
                for engine in ("cells", "list", "allpairs"):
                    lmp.command(f"compute {engine} all coord/gpu {SWITCH.keywords} engine {engine} {self.OPTIONS}")
                self.check(lmp, x, f"loaded again, turn {turn}")
            lmp.command(f"plugin load {path}")    # a second load of what is loaded
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
                self.assertIn(["compute", "potential/grid"], lmp.available_plugins())
                lmp.command("plugin unload compute potential/grid")
                self.assertNotIn("phi", lmp.available_ids("compute"))
                with self.assertRaisesRegex(Exception, "potential/grid"):
                    lmp.command("compute phi all potential/grid 3 3 3 cutoff 3.0")
                lmp.command(f"plugin load {path}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
