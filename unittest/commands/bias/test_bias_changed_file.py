"""Another program changes the hills file of fix coord/bias during a run, or the run changes its
directory."""

import os
import re
import tempfile
import unittest

from errortest import SYSTEM, commands, error_of, errors_in, run_script, start

VARIABLE = """
compute cv a coord/gpu group2 b switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
"""
METAD = "fix b all coord/bias c_cv metad sigma 0.2 height 0.1 pace 1 file H"
BEGIN = SYSTEM + VARIABLE + METAD
GRID = " grid 0 8 bins 80"


def read(name):
    with open(name, "rb") as file:
        return file.read()


def error_text(what, after):
    return f"Fix coord/bias b: hills file H was changed by another program during the run: it {what} - {after}"


def saved(folder, note=""):
    return (f"all its hills are in {folder}/bck.0.H{note}; rename that file to {folder}/H and continue from the last "
            "restart file, or with append yes")


LOST = ("text of its hills is lost, and a bias on a grid keeps no hills; the remaining text is in {}/bck.0.H - use a "
        "backup of the hills file, and continue from a restart file of the same time")
TIME_0 = ", with time 0 because their text is lost"


class ChangedFile(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(dir="."))
        self.before = os.getcwd()
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self.before)

    def remove_files(self):
        for name in os.listdir("."):
            if not os.path.isdir(name):
                os.remove(name)

    def test_changed_in_the_run(self):
        """The next hill detects the change. No bias includes this hill, and the hills are saved.
        The run then continues as the message says."""
        truncated = "has 10 bytes in place of the {} that were written"
        for change, what, grid, note in (("rm H", "was deleted", GRID, ""),
                                         ("sed -i 5d H", "was replaced by another file", GRID, ""),
                                         ("truncate -s 10 H", truncated, GRID, None),
                                         ("truncate -s 10 H", truncated, "", TIME_0)):
            for ranks in 1, 2:
                with self.subTest(change, grid=grid, ranks=ranks):
                    self.remove_files()
                    code, output = run_script(f"{BEGIN}{grid}\nrun 4\nwrite_restart r\nrun 1\nshell cp H whole\n"
                                              f"shell {change}\nrun 10 pre no\n", ranks)
                    whole = read("whole")
                    after = LOST.format(self.folder) if note is None else saved(self.folder, note)
                    self.assertEqual(errors_in(output), [error_text(what.format(len(whole)), after)])
                    self.assertNotEqual(code, 0)
                    if note is None:
                        self.assertEqual(read("bck.0.H"), whole[:10])
                        continue
                    expected = re.sub(rb"(?m)^ \S+", b" 0", whole) if note else whole
                    self.assertEqual(read("bck.0.H"), expected)
                    os.replace("bck.0.H", "H")
                    code, output = run_script(f"read_restart r\n{VARIABLE}{METAD}{grid}\nrun 0\n", ranks)
                    self.assertEqual(code, 0, output)
                    self.assertIn("continues with 4 hills of H", output)

    def test_run_after_a_caught_error(self):
        """The error is repeated, and the hills are saved once."""
        lmp = start()
        commands(lmp, BEGIN + "\nrun 3")
        whole = read("H")
        os.remove("H")
        for _ in range(3):
            message, _ = error_of(lmp, "run 2")
            self.assertEqual(message, error_text("was deleted", saved(self.folder)))
        self.assertEqual(sorted(os.listdir(".")), ["bck.0.H"])
        self.assertEqual(read("bck.0.H"), whole)
        lmp.close()

    def test_change_of_directory(self):
        """The run continues with its file, and detects a change of that file."""
        os.mkdir("sub")
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                self.remove_files()
                code, output = run_script(f"{BEGIN}\nrun 3\nshell cd sub\nrun 3\nshell cp ../H ../whole\n"
                                          "shell rm ../H\nrun 3\n", ranks)
                self.assertEqual(errors_in(output), [error_text("was deleted", saved(self.folder))])
                self.assertNotEqual(code, 0)
                self.assertEqual(len(re.findall(rb"(?m)^ ", read("whole"))), 6)
                self.assertEqual(read("bck.0.H"), read("whole"))
                self.assertEqual(os.listdir("sub"), [])

    def test_device(self):
        """A device has no size to compare."""
        os.symlink("/dev/null", "H")
        code, output = run_script(f"{BEGIN}\nrun 3\nrun 3\n", 1)
        self.assertEqual(code, 0, output)
        self.assertEqual(os.listdir("."), ["H"])


def tearDownModule():
    start().finalize()  # mpirun reports an error for a rank that ends without this call


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main()
