"""Errors of compute coord/geometry: their texts, and the words of the command that they mark."""

import os
import unittest

import coordtest
from errortest import SYSTEM, error_of, by_release

OWNER = "Compute coord/geometry"
ITEMS = "items are distance, component, position, angle, dihedral"
# Words after the style, text, and the marked word (None: the command).
CASES = (
    ("", "has no items - give at least one, such as distance 1 2", None),
    ("scale 2", "has no items - give at least one, such as distance 1 2", None),
    ("bond 1 2", f": 'bond' is no item and no keyword - {ITEMS}, distances and file, keywords are center, unwrap, image, scale and output", "bond"),
    ("distance 1 2 3", f": '3' is no item and no keyword - {ITEMS}, distances and file, keywords are center, unwrap, image, scale and output", "3"),
    ("distance 1", ": distance takes 2 points, atom IDs or groups, but 1 word follows", "distance"),
    ("position x", ": position takes x, y or z and 1 point, atom IDs or groups, but 1 word follows", "position"),
    ("dihedral 1 2", ": dihedral takes 4 points, atom IDs or groups, but 2 words follow", "dihedral"),
    ("component w 1 2", ": component needs x, y or z, not 'w'", "w"),
    ("position 4 x", ": position needs x, y or z, not '4'", "4"),
    ("angle 1 2 none", ": point 3 of angle must be an atom ID or a group, but group 'none' does not exist - define it before the compute", "none"),
    ("distance 0 1", f": atom ID 0 must be from 1 to {2**31 - 1}", "0"),
    ("distance 7 -3", f": atom ID -3 must be from 1 to {2**31 - 1}", "-3"),
    ("distance 7 99999999999999999999", f": atom ID 99999999999999999999 must be from 1 to {2**31 - 1}", "99999999999999999999"),
    ("dihedral a 3 4 a", ": dihedral a 3 4 a has point a twice - use different points", "a"),
    ("distance 3 03", ": distance 3 03 has point 03 twice - use different points", "03"),
    ("scale 0 distance 1 2", ": scale is 0 but must be > 0 and finite", "0"),
    ("distance 1 2 scale -1.5", ": scale is -1.5 but must be > 0 and finite", "-1.5"),
    ("distance 1 2 scale a", ": scale must be a number, not 'a'", "a"),
    ("distances none", ": group none does not exist - define it before the compute", "none"),
    ("distances empty", ": distances takes a group of 2 to 1000 atoms, but empty has 0 - use a group with more atoms, or single items", "empty"),
    ("distances", ": distances takes a group", "distances"),
    ("file nofile", " file nofile cannot be used: it cannot be opened: No such file or directory - give the path of a file that can be read", "nofile"),
)
# Content of a file, and text.
FILES = (
    ("# nothing\n\n", "cannot be used: it has no items"),
    ("distance 1 2\nangle 1 2\n", ": angle takes 3 points, atom IDs or groups, but 2 words follow in line 2"),
    ("distance 1 2 scale 2\n", ": 'scale' follows distance 1 2 - use one line for each item in line 1"),
    ("\nscale 2\n", f": 'scale' is no item - {ITEMS} and distances in line 2"),
    ("distance 1 nobody\n", ": point 2 of distance must be an atom ID or a group, but group 'nobody' does not exist - define it before the compute in line 1"),
    ("distances empty\n", ": distances takes a group of 2 to 1000 atoms, but empty has 0 - use a group with more atoms, or single items in line 1"),
)


class Errors(unittest.TestCase):
    def start(self, more="", system=SYSTEM):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in (system + more).strip().split("\n"):
            lmp.command(line)
        return lmp

    def test_arguments(self):
        lmp = self.start()
        for words, text, marked in CASES:
            with self.subTest(words):
                command = f"compute t all coord/geometry {words}".strip()
                found, where = error_of(lmp, command)
                self.assertEqual(found, OWNER + (" " if text.startswith("has") else "") + text)
                if marked and by_release(True, False):
                    self.assertIn(f"[{marked}]", where)

    def test_choices(self):
        lmp = self.start()
        for keyword, known in ("center", "mass, geometry"), ("unwrap", "image, nearest"), ("image", "nearest, none"), ("output", "angle, sincos"):
            found, _ = error_of(lmp, f"compute t all coord/geometry distance 1 2 {keyword} other")
            self.assertEqual(found, f"Unknown compute coord/geometry {keyword} option: other - known are {known}")
            found, _ = error_of(lmp, f"compute t all coord/geometry distance 1 2 {keyword}")
            self.assertRegex(found, f"Illegal compute coord/geometry {keyword} command: missing argument")

    def test_files(self):
        lmp = self.start()
        path = os.path.join(coordtest.folder(), "items")
        for content, text in FILES:
            with self.subTest(content):
                with open(path, "w") as file:
                    file.write(content)
                found, _ = error_of(lmp, f"compute t all coord/geometry file {path}")
                self.assertEqual(found, f"{OWNER} file {path}" + (" " if text.startswith("cannot") else "") + text)

    def test_group(self):
        found, _ = error_of(self.start(), "compute t a coord/geometry distance 1 2")
        self.assertEqual(found, f"{OWNER} group must be all, not a: the items name atoms and groups - use group all")

    def run_errors(self, commands, last="run 0", **system):
        lmp = self.start("compute t all coord/geometry distance 1 a\nfix b all coord/bias c_t harmonic k 1 s0 2\n", **system)
        for line in commands:
            lmp.command(line)
        return error_of(lmp, last)[0]

    def test_runs(self):
        owner = f"{OWNER} t: "
        self.assertEqual(self.run_errors(["delete_atoms group a compress no", "group a id 60"]), owner + "atom 1 does not exist - use IDs of atoms")
        self.assertEqual(self.run_errors(["group a clear"]), owner + "group a has no atoms - use a group with atoms")
        self.assertEqual(self.run_errors(["group a delete"]), owner + "group a no longer exists - keep it while the compute uses it")
        limit = owner + ("an image flag of atom ID 3 has reached its limit, -512 to 511 - use reset_atoms image between runs, unwrap nearest, or a "
                         "LAMMPS with LAMMPS_SIZES=bigbig")
        self.assertEqual(self.run_errors(["set atom 3 image 0 511 0"]), limit)
        self.assertEqual(self.run_errors(["set atom 3 image 0 0 -512"]), limit)
        self.assertEqual(self.run_errors([], system=SYSTEM.replace("map array", "id no").replace("group a id 1:8", "group a region box").replace(
            "group b id 9:16", "").replace("group short id 9:12", "").replace("group empty id 0", "")),
            owner + "the atoms are found by their IDs - use atom_modify map array or hash, and leave out atom_modify id no")

    def test_not_finite(self):
        bad = ["fix n all nve", "thermo_style custom step f_b", "variable bad atom exp(1000)-exp(1000)", "group bad id 3",
               "velocity bad set NULL v_bad NULL units box"]
        self.assertEqual(self.run_errors(bad, "run 1"),
                         f"{OWNER} t: the position of atom ID 3 is not a finite number - the simulation is unstable, or positions were set wrongly")

    def test_nearest(self):
        lmp = self.start("compute t all coord/geometry distance 1 all unwrap nearest\nfix b all coord/bias c_t harmonic k 1 s0 2\n")
        self.assertRegex(error_of(lmp, "run 0")[0],
                         rf"{OWNER} t: an atom of group all is [78]\.\d+ away from the atom with the smallest ID along periodic directions, but unwrap "
                         "nearest needs < 5, half of the shortest box vector - use unwrap image")

    def test_values(self):
        """A value of one, and the array where a number is needed."""
        lmp = self.start("compute d all coord/geometry distance 1 2\ncompute t all coord/geometry distance 1 2 angle 1 2 3\n")
        commands = "fix b all coord/bias {} harmonic k 1 s0 2", "compute e all coord/custom 2*a a {}"
        for word, text in (("c_t", "compute t has 2 values, so c_t is not a single value - use c_t[1] or c_t[2]"),
                           ("c_t[3]", "c_t[3] does not exist, because compute t has 2 values - use c_t[1] or c_t[2]")):
            for command in commands:
                self.assertIn(text, error_of(lmp, command.format(word))[0])
        for command, owner in zip(commands, ("Fix coord/bias", "Compute coord/custom")):
            self.assertIn(f"{owner} takes a whole variable, c_d, not c_d[1]", error_of(lmp, command.format("c_d[1]"))[0])

    def test_dynamic(self):
        """A dynamic group is for output only."""
        lmp = self.start("region left block 0 2 0 4 0 4\ngroup left dynamic all region left\ncompute t all coord/geometry distance 1 left\n"
                         "thermo_style custom step c_t\nfix n all nve\nrun 2\n")
        lmp.command("fix b all coord/bias c_t harmonic k 1 s0 2")
        self.assertIn("group left of compute t is dynamic", error_of(lmp, "run 0")[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
