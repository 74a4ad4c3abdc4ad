"""Shared parts of the tests of order parameters: systems, runs, and checks of derivatives and biases."""

import numpy as np

import coordtest
import dumptest
from coordtest import error_of, rounded

# A warm crystal.
CRYSTAL = ["units lj", "atom_modify map array", "lattice fcc 1.0", "region box block 0 3 0 3 0 3", "create_box 1 box",
           "create_atoms 1 box", "mass * 1.0", "displace_atoms all random 0.05 0.05 0.05 4711",
           "pair_style lj/smooth/linear 2.3", "pair_coeff * * 1.0 1.0", "neighbor 0.3 bin",
           "neigh_modify every 1 delay 0 check yes"]
SOLID = [*CRYSTAL, "velocity all create 1.2 4711 loop geom"]
FREE = [line for line in SOLID if "pair_" not in line] + ["pair_style zero 2.3", "pair_coeff * *"]


def setup(box, x, groups, ghosts, newton="on", types=None):
    """Return the commands of a system that LAMMPS reads from a file. groups: name, consecutive atoms."""
    data = f"{coordtest.folder()}/data{int(box.tilted)}"
    coordtest.write_data(data, x, box, types)
    return ["units lj", f"newton {newton}", "atom_modify map array", "box tilt large", f"read_data {data}", "mass * 1.0",
            "pair_style zero 1.0 nocoeff", "pair_coeff * *", "neighbor 0.3 bin", "neigh_modify every 1 delay 0 check yes",
            f"comm_modify cutoff {ghosts}",
            *(f"group {name} id {members[0] + 1}:{members[-1] + 1}" for name, members in groups.items())]


def trajectory(lines, names, steps, ranks=1, threads=1):
    """Run these commands and some steps. Return the run, and a dictionary of the per-atom columns of each compute for each step."""
    columns = " ".join(f"c_{name} c_{name}[*]" for name in names)
    run = coordtest.run_lammps([*lines, "timestep 0.02", "velocity all create 4.0 4711 loop all", "fix move all nve",
                                f"thermo_style custom step {columns}", "thermo_modify format float %.17g norm no", "thermo 1",
                                "dump d all custom 1 dump id x y z " + " ".join(f"c_{name}[*]" for name in names),
                                "dump_modify d format float %.17g sort id", f"run {steps}"], ranks, threads)
    frames = dumptest.read_dump(run.path("dump"))
    return run, [{name: np.column_stack([frame.columns[f"c_{name}[{k}]"] for k in range(1, 6)]) for name in names}
                 for frame in frames]


# ---------------------------------------------------------------- derivatives

def check_differences(test, lmp, box, names, step, least, least_virial=None):
    """Compare dS/dx and W of computes with differences of S. least: of their largest dS/dx; least_virial: of each component."""
    gradients = {name: coordtest.atoms_of(lmp, name)[:, 1:4] for name in names}
    virials = {name: coordtest.virial_of(lmp, name) for name in names}

    def value():
        lmp.command("run 0 post no")
        return np.array([coordtest.scalar_of(lmp, name) for name in names])

    atoms = [3, 25, 41, 70]
    position, strain = coordtest.differences(lmp, box, atoms, value, step)
    for k, name in enumerate(names):
        largest = np.abs(gradients[name]).max()
        test.assertGreater(largest, least, name)
        spread = coordtest.rounding_of_difference(box, gradients[name], step)
        test.assertLess(np.abs(position[:, :, k] - gradients[name][atoms]).max(), 1e-6 * largest + spread, name)
        if least_virial is not None:
            test.assertGreater(np.abs(virials[name]).min(), least_virial, name)
        largest = np.abs(virials[name]).max()
        test.assertLess(np.abs(strain[:, k] + virials[name]).max(), 1e-6 * largest + 3 * spread, name)


def check_momentum(test, lmp, names):
    for name in names:
        gradients = coordtest.atoms_of(lmp, name)[:, 1:4]
        test.assertLess(np.abs(gradients.sum(axis=0)).max(), 1e-12 * np.abs(gradients).sum(), name)


# ---------------------------------------------------------------- biases

def output(columns, every=5):
    return [f"thermo_style custom step {columns}", "thermo_modify norm no format float %.17g", f"thermo {every}"]


def check_energy(test, lines, value, dt, what):
    """Fluctuations of the energy of NVE fall as the square of the timestep. lines: with fix nve, and fix b that biases c_value."""
    spreads = []
    for halved in 1, 2:
        table = coordtest.run_lammps([*lines, "fix_modify b energy yes", *output(f"etotal c_{value} f_b", 5 * halved),
                                      f"timestep {dt / halved}", f"run {60 * halved}"], 2).tables[-1]
        spreads.append(np.std(table["TotEng"]))
        test.assertGreater(np.ptp(table["f_b"]), 50 * np.ptp(table["TotEng"]), what)
    print(f"{what}: spread falls by {spreads[0] / spreads[1]:.2f}")
    if not coordtest.POSITION_ROUNDOFF:
        test.assertAlmostEqual(spreads[0] / spreads[1], 4, delta=0.6, msg=what)


def check_npt_conserves(test, lines, bias, without, npt, dt, steps):
    """The virial is that of V by strain: with it, the quantity that NPT conserves fluctuates as without a bias. without: the
    command of a bias of strength 0."""
    spread = {}
    biases = {"no bias": [without], "with virial": [bias, "fix_modify b energy yes virial yes"],
              "without virial": [bias, "fix_modify b energy yes virial no"]}
    for name, commands in biases.items():
        table = coordtest.run_lammps([*lines, *commands, *output("econserve vol f_b"), f"timestep {dt}",
                                      f"fix move all npt {npt}", f"run {steps}"], 2).tables[0]
        spread[name] = np.std(table["Econserve"])
        test.assertGreater(np.ptp(table["Volume"]), 0.01 * table["Volume"][0])
    print(f"NPT {npt}:", ", ".join(f"{name} {value:.4f}" for name, value in spread.items()))
    test.assertLess(spread["with virial"], 2 * spread["no bias"])
    test.assertGreater(spread["without virial"], 20 * spread["with virial"])


def check_restart(test, start, again, biased, columns):
    """A run that continues from a restart file gives the same bits as an uninterrupted run. again:
    commands after read_restart; biased: computes and biases. Return the uninterrupted run, which
    dumps atoms."""
    more = [*biased, *output(columns), "timestep 0.002", "fix move all nve", "run 10"]
    whole = coordtest.run_lammps([*start, "dump d all custom 5 dump id x y z", "dump_modify d format float %.17g sort id", *more,
                                  "write_restart half", "run 10"])
    tail = coordtest.run_lammps([f"read_restart {whole.path('half')}", "neighbor 0.3 bin",
                                 "neigh_modify every 1 delay 0 check yes", *again, *more])
    for name, column in whole.tables[1].items():
        coordtest.assert_same_bits(tail.tables[0][name], column, name, in_pieces=True)
    return whole


class BiasedRuns:
    """Runs of SOLID with a bias of two variables. A test class derives from it, and defines the commands of the computes q and n,
    of their bias b, and of a weaker one."""
    VARIABLES = BIAS = WEAK = None
    COLUMNS = "etotal press c_q c_n f_b"
    LAST = ["xu", "yu", "zu", "vx", "vy", "vz"]

    def biased(self):
        return [*self.VARIABLES, self.BIAS, "fix_modify b energy yes virial yes"]

    def run_with(self, lines, ranks=1, start=SOLID, bias=()):
        dump = [f"dump d all custom 1000 dump id x y z {' '.join(self.LAST)}", "dump_modify d format float %.17g sort id first yes"]
        run = coordtest.run_lammps([*start, *([*self.VARIABLES, *bias] if bias else self.biased()), *output(self.COLUMNS), *dump,
                                    *lines, "write_dump all custom last id x y z " + " ".join(self.LAST) +
                                    " modify format float %.17g sort id"], ranks)
        last = dumptest.read_dump(run.path("last"))[0]
        return run.tables[-1], np.column_stack([last[name] for name in self.LAST])

    def test_restart_and_rerun(self):
        whole = check_restart(self, SOLID, [], self.biased(), self.COLUMNS)
        again = coordtest.run_lammps([*CRYSTAL, *self.biased(), *output(self.COLUMNS),
                                      f"rerun {whole.path('dump')} dump x y z"])
        for name in "c_q", "c_n", "f_b":
            expected = np.concatenate([whole.tables[0][name], whole.tables[1][name][1:]])
            np.testing.assert_allclose(again.tables[0][name], expected, rtol=rounded(1e-10), err_msg=name)

    def test_respa(self):
        """A bias at the outermost level equals a stronger bias at every fourth short timestep."""
        respa, last = self.run_with(["fix move all nve", "timestep 0.004", "run_style respa 2 4 pair 1", "run 20"], 2,
                                    bias=[self.WEAK])
        short = ["fix move all nve", "timestep 0.001", "run 80"]
        verlet, expected = self.run_with(short, 2, bias=[f"{self.WEAK} stride 4"])
        self.assertLess(error_of(last, expected), rounded(1e-9))
        for name in "c_q", "c_n", "f_b":
            self.assertAlmostEqual(respa[name][-1] / verlet[name][-1], 1, delta=rounded(1e-9), msg=name)
        _, other = self.run_with(short, 2, bias=["fix b all coord/bias c_q c_n linear k 0 0"])
        self.assertGreater(error_of(other, expected), 1e-3)

    def check_npt(self, kind):
        """A pressure that contains the bias, on 1, 2 and 4 ranks."""
        # From a file, because create_atoms gives other IDs on other numbers of ranks.
        path = f"{coordtest.folder()}/crystal"
        coordtest.run_lammps([*SOLID, f"write_data {path}"])
        start = [*SOLID[:2], f"read_data {path}", *SOLID[SOLID.index("pair_style lj/smooth/linear 2.3"):],
                 *(["change_box all triclinic"] if kind == "tri" else [])]
        lines = [f"fix move all npt temp 1.2 1.2 0.2 {kind} 5 5 0.5", "timestep 0.002", "run 30"]
        table, last = self.run_with(lines, 1, start)
        self.assertGreater(np.ptp(table["Press"]), 0.1)
        for ranks in 2, 4:
            found, found_last = self.run_with(lines, ranks, start)
            self.assertLess(error_of(found_last, last), rounded(1e-9), f"{kind}, {ranks} ranks")
            for name, column in table.items():
                self.assertLess(error_of(found[name], column), rounded(1e-9), f"{kind}, {ranks} ranks, {name}")
