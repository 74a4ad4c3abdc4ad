"""compute coord/energy and coord/volume through fix coord/plumed against LAMMPS' fix plumed with PLUMED's ENERGY and VOLUME:
restraints, metadynamics, and OPES_EXPANDED in temperature and pressure."""

import unittest

import numpy as np

import coordtest
import dumptest
import plumedtest
import test_plumed_peer
from plumedtest import Input, extracv
from test_bias_parallel import crystal, forces

STEPS = 40
THEIRS, OURS = "u: ENERGY\nv: VOLUME\n", extracv("uv")
THERMAL = "m: OPES_EXPANDED ARG=e.* PACE=2 OBSERVATION_STEPS=5 FILE=DELTAFS PRINT_STRIDE=2\n"
# Inputs after those lines. The energy is about -480, the volume 120.
INPUTS = {
    "energy": "r: RESTRAINT ARG=u AT=-500 KAPPA=0.01\n",
    "both": "r: RESTRAINT ARG=u,v AT=-470,125 KAPPA=0.01,0.5\n",
    "function": "f: CUSTOM ARG=u,v FUNC=x/100+0.1*y+0.001*x*y PERIODIC=NO\nr: RESTRAINT ARG=f AT=-30 KAPPA=0.5\n",
    "metad": "m: METAD ARG=u,v SIGMA=5,1 HEIGHT=3 PACE=4 FILE=HILLS\n",
    "multithermal": "e: ECV_MULTITHERMAL ARG=u TEMP=1.4 TEMP_MIN=1.0 TEMP_MAX=2.0 TEMP_STEPS=5\n" + THERMAL,
    "multithermal and multibaric": "e: ECV_MULTITHERMAL_MULTIBARIC ARG=u,v TEMP=1.4 PRESSURE=3 TEMP_MIN=1.0 TEMP_MAX=2.0 TEMP_STEPS=4 "
    "PRESSURE_MIN=1 PRESSURE_MAX=6 PRESSURE_STEPS=3\n" + THERMAL,
}
# fix plumed adds its own energy of the previous step to ENERGY without this.
WITHOUT_ITS_OWN = "fix_modify b energy no"


class Energy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plugin = test_plumed_peer.plugin_of_lammps()

    def run_with(self, fix):
        output = ["thermo_style custom step pe ke press pxx pyy pzz pxy pxz pyz vol", "thermo_modify norm no format float %.17g",
                  "thermo 1", "dump d all custom 5 dump id type x y z vx vy vz fx fy fz",
                  "dump_modify d format float %.17g sort id", f"run {STEPS}"]
        move = "fix move all npt temp 1.4 1.4 0.2 aniso 3 3 0.5"
        lines = crystal() + forces()[:-1] + ["compute u all coord/energy", "compute v all coord/volume",
                                           f"plugin load {self.plugin}", fix, WITHOUT_ITS_OWN, move] + output
        run = coordtest.run_lammps(lines)
        return run, dumptest.read_dump(run.path("dump"))

    def results(self, text):
        found = []
        for style, variables, lines in (("plumed", "", THEIRS), ("coord/plumed", "c_u c_v", OURS)):
            given = Input(lines + text + "PRINT ARG=*.bias,u,v FILE=COLVAR FMT=%.17g\n")
            found.append(self.run_with(f"fix b all {style} {variables} {given.words}"))
            found[-1][0].given = given
        return found

    assert_same = test_plumed_peer.Peer.assert_same

    def test_same_trajectory(self):
        without = self.run_with("fix b all coord/bias c_u harmonic k 0 s0 0")
        for what, text in INPUTS.items():
            with self.subTest(what):
                theirs, ours = self.results(text)
                self.assert_same(ours, theirs, what)
                change = np.abs(ours[0].tables[0]["Pxx"] - without[0].tables[0]["Pxx"]).max()
                print(f"{what}: changes the pressure by {change:.2g}")
                self.assertGreater(change, 1e-3, what)
                for name in ["COLVAR"] + ["DELTAFS"] * ("DELTAFS" in text) + ["HILLS"] * ("HILLS" in text):
                    found, expected = ours[0].given.columns(name), theirs[0].given.columns(name)
                    self.assertEqual(list(found), list(expected), what)
                    self.assertGreater(len(found["time"]), 5, what)
                    for column in expected:
                        self.assertLess(coordtest.error_of(found[column], expected[column]), coordtest.rounded(1e-9), f"{what}: {name} {column}")


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
