"""Commands around fix coord/bias that run, but probably not as intended, give one warning with the values and the way out."""
# Processors: 2
# Without: gpu

import os
import re
import tempfile
import unittest

import numpy as np

import coordtest
import test_bias_hills
from errortest import commands, few, run_script, start, start_all, without_suffix
from test_bias_errors import FIX, METAD, SYSTEM, VARIABLES

HARMONIC = FIX + "c_cv harmonic k 1 s0 2\n"
TWICE = "run 1\nrun 1"
HOT = "Fix coord/bias b: hills heat the system, but no fix is a thermostat - use one, such as fix nvt or fix langevin"
PLANE = """
units metal
dimension 2
atom_modify map array
lattice sq 2.5
region box block 0 4 0 4 -0.5 0.5
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random 0.2 0.2 0.0 4711
pair_style zero 3.0
pair_coeff * *
group a id 1:8
group b id 9:16
compute cv a coord/gpu group2 b switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
"""


def warnings_of(output):
    return [without_suffix(found) for found in re.findall(r"^WARNING: (Fix coord.*) \(\S+:\d+\)$", output, re.MULTILINE)]


class Warnings(unittest.TestCase):
    def check(self, cases, system=SYSTEM):
        """Run each case on 1 and 2 ranks: (script, warnings). {} is a number that is different in each run."""
        cases = few((ranks, script.replace("{}", f"{k}.{ranks}"), [text.replace("{}", f"{k}.{ranks}") for text in messages])
                    for k, (script, messages) in enumerate(cases) for ranks in (1, 2))
        results = start_all(run_script, [(system + script, ranks) for ranks, script, _ in cases])
        for (ranks, script, messages), result in zip(cases, results):
            with self.subTest(script, ranks=ranks):
                code, output = result.result()
                self.assertEqual(code, 0, output)
                self.assertEqual(warnings_of(output), messages)


class OrderOfFixes(Warnings):
    FIXES = ("setforce 0 0 0", "setforce NULL 0 NULL", "aveforce 0 0 0", "lineforce 1 0 0", "planeforce 1 0 0")

    def cases(self, words, bias=HARMONIC, style="coord/bias"):
        other = f"fix o a {words}\n"
        return [(other + bias + TWICE, [f"Fix {style} b is defined after fix o of style {words.split()[0]}, which does not see "
                                        "the forces of the bias - define fix b first"]), (bias + other + TWICE, [])]

    def test_fixes_of_forces(self):
        fixes = list(self.FIXES)
        if not coordtest.lacks_package("EXTRA-FIX"):
            fixes += ["ti/spring 1.0 100 100", "flow/gauss 1 0 0"]
        self.check([case for words in fixes for case in self.cases(words)])

    def test_groups(self):
        """A fix that acts on none of the atoms of the variables gives no warning."""
        groups = "group far id 17:64\ngroup one id 16 17\nvariable y atom id>16\ngroup changing dynamic all var y\n"
        custom = "compute e all coord/custom x x c_cv\ncompute d all coord/custom 2*x x c_e\n"
        with open("pair", "w") as file:
            file.write("1 17\n")
        pairs = "compute p a coord/gpu pairs/file pair switch cubic d0 1.0 dmax 3.0\n"
        cases = []
        for variables, begin, others in (("c_cv", "", "far empty"), ("c_cy", "", "a one far empty"), ("c_d", custom, "far empty"),
                                         ("c_d c_cy", custom, "far empty"), ("c_p", pairs, "empty")):
            bias = FIX + f"{variables} linear k" + " 1" * len(variables.split()) + "\n"
            for name in "a b short one far empty changing all".split():
                cases.append((groups + begin + f"fix o {name} setforce 0 0 0\n" + bias + TWICE, [] if name in others.split() else [
                    "Fix coord/bias b is defined after fix o of style setforce, which does not see the forces of the bias - "
                    "define fix b first"]))
        self.check(cases)

    def test_fixes_of_other_packages(self):
        """Fixes that a plugin defines under the names of LAMMPS' fixes: fix coord/bias knows these by name."""
        plugin = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "box_fix", "box_fix.so")
        self.assertTrue(os.path.exists(plugin), f"there is no {plugin}")
        self.check([(f"plugin load {plugin}\n" + script, messages)
                    for style in ("freeze", "damping/cundall", "neb", "alchemy", "grem", "lb/viscous", "smd/setvel", "pafi",
                                  "filter/corotate", "pimd/nvt", "append/atoms") for script, messages in self.cases(style)])
        # Fix alchemy acts on all atoms, whatever its group is.
        far = f"plugin load {plugin}\ngroup far id 17:64\nfix o far {{}}\n" + HARMONIC + TWICE
        self.check([(far.format("freeze"), []), (far.format("alchemy"), [self.cases("alchemy")[0][1][0]])])

    def test_enforce2d(self):
        self.check(self.cases("enforce2d"), PLANE)

    def test_plumed(self):
        if not os.environ.get("GPUCOORD_TEST_PLUMED"):
            coordtest.skip_part("fix coord/plumed", "GPUCOORD_TEST_PLUMED is not set")
            return
        import plumedtest    # noqa: F401: tells PLUMED's path to LAMMPS
        with open("plumed.dat", "w") as file:
            file.write("s: EXTRACV NAME=cv\nRESTRAINT ARG=s AT=1 KAPPA=1\n")
        with open("atoms.dat", "w") as file:
            file.write("s: EXTRACV NAME=cv\nd: DISTANCE ATOMS=1,17\nRESTRAINT ARG=s,d AT=1,1 KAPPA=1,1\n")
        bias = "fix b all coord/plumed c_cv plumedfile plumed.dat outfile log{} temp 300\n"
        far = "group far id 17:64\nfix o far setforce 0 0 0\n"
        self.check([*self.cases("setforce 0 0 0", bias, "coord/plumed"),
                    (far + bias + TWICE, []),
                    (far + bias.replace("plumed.dat", "atoms.dat") + TWICE, self.cases("setforce 0 0 0", bias, "coord/plumed")[0][1]),
                    ("velocity all create 300 4711\n" + bias + "fix n all nvt temp 600 600 0.1\nrun 3\nrun 3", [
                        "Fix coord/plumed b: temp is 300, but fix n of style nvt has the target 600 - temp must be the "
                        "temperature of the thermostat"])])

    def test_frozen_atoms(self):
        """The warning is right: frozen atoms move in the order that it names, and stay in the order that it asks for."""
        frozen, bias = "fix o a setforce 0 0 0\n", HARMONIC.replace("s0 2", "s0 9")
        for order, moves in ((frozen + bias, True), (bias + frozen, False)):
            with self.subTest(order):
                lmp = start()
                commands(lmp, SYSTEM + "fix move all nve\n" + order + "run 0")
                x = lambda: np.array(lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)[:8]
                before = x()
                lmp.command("run 100")
                self.assertEqual(np.abs(x() - before).max() > 1e-4, moves)
                lmp.close()


class Thermostats(Warnings):
    BIAS = "velocity all create 300 4711\n" + FIX + METAD.replace("file H", "biasfactor 5 temp 300 file T{}").replace("0.2", "1") + "\n"

    def cases(self, fixes, found="", run="run 10\nrun 10", bias=BIAS, first=()):
        message = f"Fix coord/bias b: temp is 300, but {found} - temp must be the temperature of the thermostat"
        return bias + fixes + "\n" + run, [*first, message] if found else list(first)

    def test_thermostats(self):
        nvt = "fix n all nvt temp {} {} 0.1"
        nve = "fix m all nve\n"
        langevin = nve + "fix n all langevin {} {} 0.1 4711"
        has = "fix n of style {} has the target {}"
        cases = [
            self.cases(nvt.format(600, 600), has.format("nvt", 600)), self.cases(nvt.format(300, 300)),
            self.cases(nvt.format(302, 302)), self.cases(nvt.format(200, 400)), self.cases(nvt.format(400, 200)),
            # The target of the second timestep of ten, 400 + 2/10 200
            self.cases(nvt.format(400, 600), has.format("nvt", 440)),
            self.cases(langevin.format(600, 600), has.format("langevin", 600)), self.cases(langevin.format(300, 300)),
            # The target of the first timestep, because fix langevin sets it after the bias
            self.cases("variable T equal 500+step\n" + langevin.format("v_T", 600), has.format("langevin", 501)),
            self.cases(nve + "fix n all temp/berendsen 600 600 0.1", has.format("temp/berendsen", 600)),
            self.cases(nve + "fix n all temp/rescale 1 600 600 1 0.5"), self.cases(nve, first=[HOT]),
            self.cases(nve + "fix n a langevin 600 600 0.1 4711\nfix o b langevin 300 300 0.1 4711"),
            self.cases(nve + "fix n a langevin 600 600 0.1 4711\nfix o b langevin 450 450 0.1 4711",
                       has.format("langevin", 600) + ", fix o of style langevin has the target 450"),
            self.cases("variable T atom 600\n" + langevin.format("v_T", 600)),    # has no target
            self.cases(nve + "fix n all temp/rescale 1 300 300 1 0.5\nfix o b langevin 600 600 0.1 4711"),
            self.cases(nvt.format(600, 600), "", "minimize 0 0 3 10"),
            # Runs of one timestep, and fixes that are defined after a first run
            self.cases(nve + "fix n all langevin 600 600 0.1 4711", has.format("langevin", 600), "run 1\nrun 1\nrun 1"),
            self.cases(nve, has.format("langevin", 600), "run 3\nfix n all langevin 600 600 0.1 4711\nrun 3\nrun 3", first=[HOT]),
            self.cases(nvt.format(600, 600), "", bias=self.BIAS.replace("temp 300", "").replace("biasfactor 5", ""))]
        if not coordtest.lacks_package("EXTRA-FIX"):
            cases += [self.cases(nve + f"fix n all temp/{style} 600 600 0.1 4711", has.format(f"temp/{style}", 600))
                      for style in ("csvr", "csld")]
        if not coordtest.KOKKOS:    # LAMMPS has no rRESPA there
            cases.append(self.cases(nvt.format(600, 600), has.format("nvt", 600),
                                    "run_style respa 2 2 bond 1 pair 2\nrun 10\nrun 10"))
        self.check(cases)

    def test_rigid_bodies(self):
        if coordtest.lacks_package("RIGID"):
            return
        self.check([self.cases("fix n short rigid/nvt group 1 short temp 600 600 0.1",
                               "fix n of style rigid/nvt has the target 600"),
                    self.cases("fix n short rigid group 1 short")])


class Rerun(Warnings):
    DUMP = "fix move all nve\ndump d all custom 1 d{} id type x y z\nvelocity all create 300 4711\n"
    HILLS = FIX + METAD.replace("pace 10 file H", "pace 1 file R{}")

    def script(self, then):
        return self.DUMP + self.HILLS + "\nrun 4\nunfix b\nundump d\nreset_timestep 0\n" + then + "\nrerun d{} dump x y z"

    def test_advice(self):
        message = "Fix coord/bias b: rerun adds no hills, V is that of the {0} hills in R{{}}"
        advice = "give append yes to have those of an earlier run"
        again = "\nreset_timestep 0\nrerun d{} dump x y z"
        new = self.HILLS.replace("R{}", "N{}")
        self.check([
            (self.script(self.HILLS + " append yes") + again, [HOT] + 2 * [message.format(4)]),
            (self.script(self.HILLS), [HOT, message.format(0) + " - rename bck.0.R{} to R{}, and " + advice]),
            (self.script("shell mv R{} N{}\n" + self.HILLS), [HOT, message.format(0) + " - " + advice]),
            # The hills of the run before, with the same fix
            (self.DUMP + new + "\nrun 4\nundump d\nreset_timestep 0\nrerun d{} dump x y z", [
                HOT, message.format(4).replace("R{}", "N{}")])])

    def test_advised_run(self):
        """The advice gives the bias of the hills."""
        run = coordtest.run_lammps(SYSTEM + self.script(
            self.HILLS + "\nrun 0\nunfix b\nshell mv bck.0.R{} R{}\n" + self.HILLS + " append yes\n"
            "thermo_style custom step c_cv f_b\nthermo_modify norm no format float %.17g\nthermo 1").replace("{}", "1"))
        with open(run.path("R1"), "rb") as file:
            lines = test_bias_hills.hill_lines(file.read())
        self.assertEqual(len(lines), 4)
        table = run.tables[-1]
        self.assertEqual(table["Step"].tolist(), [0, 1, 2, 3, 4])
        for s, v in zip(table["c_cv"], table["f_b"]):
            self.assertAlmostEqual(v, test_bias_hills.bias_of(lines, [s]), delta=coordtest.rounded(1e-12))
        self.assertGreater(table["f_b"].min(), 0.1)


class OtherSettings(Warnings):
    """A run that continues from a restart file with other parameters says so."""
    METAD = ("c_cv c_cw metad sigma 0.2 0.3 height 0.1 pace 10 biasfactor 5 temp 300 grid 0 90 0 90 bins 900 900 "
             "interval 0 80 0 80 file S{}")

    def case(self, bias, changes, *warnings):
        changed = bias
        for old, new in changes:
            assert old in changed
            changed = changed.replace(old, new)
        script = (f"{FIX}{bias}\nrun 20\nwrite_restart r{{}}\nclear\nread_restart r{{}}\n{VARIABLES.strip()}\n"
                  f"{FIX}{changed}\n{TWICE}")
        return script, [f"Fix coord/bias b: {text}" for text in warnings]

    def test_settings(self):
        def differs(found, saved):
            return f"continues with {found}, but the restart file had {saved} - check the values of this command"

        short = self.METAD.replace("grid 0 90 0 90 bins 900 900 interval 0 80 0 80 ", "")
        converted = ("hills file S{} has hills with biasfactor 5, but the fix has biasfactor 4 - heights are converted with the "
                     "biasfactor of the file")
        self.check([
            self.case(self.METAD, []),
            self.case(short, [("0.2 0.3", "0.25 0.3")], differs("sigma 0.25 0.3", "sigma 0.2 0.3")),
            self.case(short, [("height 0.1", "height 0.05")], differs("height 0.05", "height 0.1")),
            self.case(short, [("pace 10", "pace 20")], differs("pace 20", "pace 10")),
            self.case(short, [("biasfactor 5", "biasfactor 4")], converted, differs("biasfactor 4", "biasfactor 5")),
            self.case(short, [("biasfactor 5 temp 300", "")], converted.replace("has biasfactor 4", "has no biasfactor"),
                      differs("no biasfactor, no temp", "biasfactor 5, temp 300")),
            self.case(short, [("temp 300", "temp 310")], differs("temp 310", "temp 300")),
            self.case(short, [("file", "stride 5 file")], differs("stride 5", "stride 1")),
            self.case(short, [("0.2 0.3", "0.4 0.3"), ("pace 10", "pace 5"), ("height 0.1", "height 0.4")],
                      differs("sigma 0.4 0.3, height 0.4, pace 5", "sigma 0.2 0.3, height 0.1, pace 10")),
            self.case(self.METAD, [("bins 900 900", "bins 1000 900")],
                      differs("grid 0 90 0 90 bins 1000 900", "grid 0 90 0 90 bins 900 900")),
            self.case(self.METAD, [("grid 0 90 0 90 bins 900 900 interval 0 80 0 80 ", "")],
                      differs("no grid, no interval", "grid 0 90 0 90 bins 900 900, interval 0 80 0 80")),
            self.case("c_cv wall/upper k 1 s0 2 exponent 4 offset 0.1", [("exponent 4", "exponent 3"), ("0.1", "0.2")],
                      differs("exponent 3, offset 0.2", "exponent 4, offset 0.1")),
            self.case("c_cv c_cw wall/lower k 1 1 s0 2 2", [("s0 2 2", "s0 2 2 offset 0 1")],
                      differs("offset 0 1", "offset 0 0")),
            self.case("c_cv harmonic k 1 s0 2", [("s0 2", "s0 2 stride 2")], differs("stride 2", "stride 1")),
            self.case("c_cv moving k 1 s0 2 s0/stop 3 steps 100", []),
            # Stops that were not given are not named, and other settings do not hide another k.
            self.case("c_cv moving k 1 s0 2 k/stop 3 steps 100", [("s0 2", "s0 3")],
                      "c_cv continues with s0 3 and k 1.4, but the restart file had 2 and 1.4 - check the values of this command"),
            self.case("c_cv harmonic k 1 s0 2", [("k 1", "k 2"), ("s0 2", "s0 2 stride 2")], differs("stride 2", "stride 1"),
                      "c_cv continues with s0 2 and k 2, but the restart file had 2 and 1 - check the values of this command"),
            # The same s0 at the step of the restart file
            self.case("c_cv moving k 1 s0 2 s0/stop 4 steps 100", [("stop 4 steps 100", "stop 3 steps 50")],
                      differs("s0/stop 3, steps 50", "s0/stop 4, steps 100"))])

    def test_same_variables(self):
        """S that is not of the timestep of the restart file is not compared: that of a bias with a stride before another
        timestep, and that of a variable that PLUMED does not need in each step."""
        again = f"clear\nread_restart w{{}}\n{VARIABLES.strip()}\n"
        bias = HARMONIC.replace("k 1 s0 2", "k 1e-3 s0 2 stride 10")
        cases = [("fix move all nve\n" + bias + "run 95\nreset_timestep 0\nwrite_restart w{}\n" + again + bias + TWICE, [])]
        if os.environ.get("GPUCOORD_TEST_PLUMED"):
            import plumedtest    # noqa: F401: tells PLUMED's path to LAMMPS
            with open("seldom", "w") as file:
                file.write("s: EXTRACV NAME=cv\nPRINT ARG=s STRIDE=10 FILE=print\n")
            plumed = "fix b all coord/plumed c_cv plumedfile e{} outfile log{}\n"
            # Runs at the same time must not print to one file.
            cases.append(("shell sed s/print/print{}/ seldom > e{}\nvelocity all create 3000 4711\nfix move all nve\n" + plumed + "run 9\nwrite_restart w{}\n" + again + plumed +
                          TWICE, []))
        self.check(cases)

    def test_other_variables(self):
        """A compute with the ID of the earlier run but another S, and the same computes in another order."""
        harmonic = FIX + "c_cv c_cw harmonic k 1 1 s0 2 2\n"
        for second, changed, order, labels in (
                (harmonic, VARIABLES.replace("group2 b ", "group2 b norm mean ", 1), [], ["c_cv"]),
                (harmonic.replace("c_cv c_cw", "c_cw c_cv"), VARIABLES, ["variables c_cw c_cv", "variables c_cv c_cw"],
                 ["c_cw", "c_cv"])):
            for ranks in (1, 2):
                with self.subTest(second, ranks=ranks):
                    code, output = run_script(SYSTEM + harmonic + "run 20\nwrite_restart v\n"
                                              f"clear\nread_restart v\n{changed.strip()}\n{second}{TWICE}", ranks)
                    self.assertEqual(code, 0, output)
                    found = warnings_of(output)
                    if order:
                        self.assertEqual(found.pop(0), f"Fix coord/bias b: continues with {order[0]}, but the restart file had "
                                         f"{order[1]} - check the values of this command")
                    values = [re.fullmatch(r"Fix coord/bias b: (\S+) is (\S+) at the step of the restart file, but in the earlier run "
                                           r"it was (\S+) - unless atoms or the box have changed since, check that the variable "
                                           r"and its groups are those of that run",
                                           text).groups() for text in found]
                    self.assertEqual([value[0] for value in values], labels)
                    if order:    # the values are exchanged
                        self.assertEqual(values[0][1:], values[1][:0:-1])
                    else:    # 8 atoms
                        self.assertAlmostEqual(float(values[0][1]) * 8, float(values[0][2]), delta=1e-4)

    def test_plumed(self):
        if not os.environ.get("GPUCOORD_TEST_PLUMED"):
            coordtest.skip_part("fix coord/plumed", "GPUCOORD_TEST_PLUMED is not set")
            return
        import plumedtest    # noqa: F401: tells PLUMED's path to LAMMPS
        with open("same", "w") as file:
            file.write("s: EXTRACV NAME=cv\nINCLUDE FILE=part\n")
        for name, begin, value in (("part", "", 1), ("start", "s: EXTRACV NAME=cv\n", 1), ("other", "s: EXTRACV NAME=cv\n", 2)):
            with open(name, "w") as file:
                file.write(begin + f"RESTRAINT ARG=s AT={value} KAPPA=1\n")
        fix = "fix b all coord/plumed c_cv plumedfile {} outfile l{{}}\n"
        message = ("Fix coord/plumed b: PLUMED file {}, or a file that it includes, has changed since the run that wrote the "
                   "restart file - check the files")

        def case(first, second, change, *warnings):
            return (f"{first}run 2\nwrite_restart q{{}}\nclear\n{change}read_restart q{{}}\n{VARIABLES.strip()}\n{second}{TWICE}",
                    [text.format(name) for text, name in warnings])

        start, other = fix.format("start"), fix.format("other")
        copy, include = fix.format("f{}"), fix.format("g{}")
        copied = "shell cp {} f{{}}\n"
        included = "shell cp part p{{}}\nshell sed s/part/p{{}}/ same > g{{}}\n"
        self.check([
            case(start, start, ""),
            case(start, other, "", (message, "other")),
            case(copied.format("start") + copy, copy, copied.format("other"), (message, "f{}")),
            case(included.format() + include, include, ""),
            case(included.format() + include, include, "shell sed -i s/AT=1/AT=2/ p{}\n", (message, "g{}"))])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main()
