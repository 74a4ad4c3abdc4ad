#!/usr/bin/env python3
"""Writes fixtures/REVISION: files of this revision that later ones must read
(commands/build/test_old_files.py).

    write_fixtures.py BUILD NAME...

Each folder has in.first, which writes the files; in.read, which reads them; and in.then, the run that
follows either of them. Some have more than one way to read: in.read-append and in.then-append, and so
on. WRITTEN_BY names the revision, the last commit of src and lib that BUILD was made of. Run it where
a format of files changes, for the folders whose files have the new format. Keep the files of releases,
because users have such files, and delete those of other revisions.
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True    # the source tree stays as it is
import dump

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")

# ---------------------------------------------------------------- biases

BEGIN = ["units lj", "atom_modify map array sort 0 0"]
ATOMS = ["region box block 0 6 0 6 0 6", "create_box 1 box", "create_atoms 1 random 24 4711 box overlap 1.1",
         "mass 1 1.0", "velocity all create 1.5 4711"]
READ = ["read_restart restart"]
VARIABLES = ["pair_style lj/cut 2.5", "pair_coeff 1 1 1 1", "comm_modify cutoff 4.5",
             "group a id 1:8", "group b id 9:24",
             "compute s a coord/gpu group2 b switch rational 1.5 dmax 2.9 precision double",
             "compute t all coord/gpu norm mean switch gaussian 1.0 dmax 2.8 precision double",
             "fix n all nve", "timestep 0.003"]
KINDS = {
    "moving-two": "c_s c_t moving k 5.0 20.0 s0 15.0 2.0 k/stop 2.0 30.0 steps 50",
    "metad-grid-two": "c_s c_t metad sigma 2.0 0.4 height 0.4 pace 2 biasfactor 6 temp 1.5 "
                      "grid 0 32 0 4 bins 16 10 file HILLS write_grid 10 GRID",
}
# Several fixes in one restart file
THREE = ["fix b all coord/bias c_s c_t metad sigma 0.3 0.1 height 0.4 pace 2 biasfactor 6 temp 1.5 file HILLS",
         "fix c all coord/bias c_s moving k 5.0 s0 15.0 s0/stop 25.0 k/stop 9.0 steps 16",
         "fix d all coord/bias c_s wall/upper k 5.0 s0 5.0 exponent 3"]


def output(columns, dumped="x y z vx vy vz fx fy fz", more=()):
    return [f"thermo_style custom step pe ke pxx pyy pzz pxy pxz pyz {columns}", "thermo 2",
            "thermo_modify norm no format float %.17g", *more, f"dump d all custom 5 dump id {dumped}",
            "dump_modify d sort id format float %.17g", "run 10"]


def bias(words, fix="b", work=True):
    """Commands of the fix and of what is compared."""
    size = 5 + 4 * ("c_t" in words)
    last = size + ("metad" in words) + ("grid" in words) + ("grid" in words and "temp" in words)
    vector = [f"f_{fix}[{k}]" for k in range(1, last + 1) if work or k != size]
    columns = " ".join(["c_s c_s[*] c_t c_t[*]", f"f_{fix}", *vector])
    return (f"fix {fix} all coord/bias {words}",
            output(columns, "x y z vx vy vz fx fy fz c_s[*] c_t[*]"))


def biases():
    """Names, in.first, and in.read and in.then by how files are read."""
    for name, words in KINDS.items():
        fix, then = bias(words)
        ways = {"": ([*BEGIN, *READ, *VARIABLES, fix], then)}
        if "metad" in words:
            # A fix with another ID does not use the data of the fix in the restart file.
            again, then = bias(words, "again", work=False)
            ways["-append"] = [*BEGIN, *READ, *VARIABLES, f"{again} append yes"], then
            again = again.replace("write_grid 10", "append yes read_grid")
            ways["-read-grid"] = [*BEGIN, *READ, *VARIABLES, again], then
        yield f"bias-{name}", [*BEGIN, *ATOMS, *VARIABLES, fix, "run 10", "write_restart restart"], ways
    yield "bias-three", [*BEGIN, *ATOMS, *VARIABLES, *THREE, "run 10", "write_restart restart"], {
        "": ([*BEGIN, *READ, *VARIABLES, *THREE], output(
            "c_s c_t f_b f_b[1] f_b[2] f_b[9] f_b[10] f_c f_c[1] f_c[3] f_c[4] f_c[5] f_d f_d[2]"))}


# ---------------------------------------------------------------- pair style coord

TYPED = ["region box block 0 6 0 6 0 6", "create_box 3 box",
         *(f"create_atoms {k} random 12 {k} box overlap 0.9" for k in (1, 2, 3)), "mass * 1.0",
         "velocity all create 1.0 4711"]
MOVE = ["fix n all nve", "timestep 0.003"]
PAIRS = {
    "functions-1": ["pair_coeff 1 1 8.0 gaussian 0.7 dmax 2.2 nostretch",
                    "pair_coeff 2 2 -1.5 rational 1.0 dmax 2.3", "pair_coeff 3 3 5.0 cubic d0 0.3 dmax 1.6",
                    "pair_coeff 1 2 3.0 tanh 0.8 dmax 2.0", "pair_coeff 1 3 2.5 cosinus 1.6",
                    "pair_coeff 2 3 -1.0 q ref 0.7 beta 6.0 lambda 1.6 dmax 2.0"],
    "functions-2": ["pair_coeff 1 1 8.0 exp 0.7 d0 0.2 dmax 2.2",
                    "pair_coeff 2 2 3.0 smap 1.2 a 8 b 14 dmax 2.3",
                    'pair_coeff 3 3 5.0 custom 1.1 func "1/(1+x^6)" dmax 2.0',
                    "pair_coeff 1 2 3.0 rational 0.9 nn 5.5 mm 12.3 dmax 2.0",
                    "pair_coeff 1 3 2.5 rational 0.9 nn 3 mm 7 dmax 2.2 nostretch",
                    "pair_coeff 2 3 1.0 rational 0.4"],
}


def pairs():
    for engine, name in ("cells", "functions-1"), ("neigh", "functions-2"):
        style = f"pair_style coord engine {engine}"
        yield f"pair-{name}", [*BEGIN, *TYPED, style, *PAIRS[name], *MOVE, "run 10",
                               "write_restart restart"], {"": ([*BEGIN, *READ, *MOVE], output("evdwl"))}
    yield "pair-data-file", [
        *BEGIN, *TYPED, "pair_style coord", *PAIRS["functions-2"], *MOVE, "run 10",
        "write_data data pair ij"], {
        "": ([*BEGIN, "pair_style coord", "read_data data", *MOVE, "reset_timestep 10"], output("evdwl"))}


# ---------------------------------------------------------------- rigid molecules

COMPONENTS = """# UNITS: lj
# FORMAT: 1
component all
mass 2.0
inertia 0.4 0.5 0.7
center 0.1 0.2 -0.15 0.8 0.9
center -0.2 0.05 0.25 1.3 0.7
charge 0.15 -0.1 0.2 0.6
charge -0.1 0.2 -0.05 -0.6
dipole 0.05 0.1 0.2 0.3 -1.2 0.5 0.35
quadrupole -0.15 0.1 0.05 0.2 0.7 -0.4 0.3
component linear
mass 1.5
inertia 0.3 0.3 0
center 0 0 0.3 1.0 0.8
center 0 0 -0.3 1.0 0.8
quadrupole 0 0 0 0 0 1 -0.4
component polar
mass 1.2
inertia 0.2 0.25 0.3
center 0 0.05 0 0.9 1.0
dipole 0 0.1 0.05 0 1 0.3 0.5
"""
MOLECULES = ["units lj", "atom_style ellipsoid", "atom_modify map array sort 0 0",
             "region box block 0 6.4 0 6.4 0 6.4", "create_box 3 box",
             *(f"create_atoms {k} random 7 {k} box overlap 1.6 maxtry 1000" for k in (1, 2, 3)),
             "neighbor 0.3 bin"]
SET = ["set_multisite all", "set group all quat/random 4711", "velocity all create 1.0 4711"]
TURN = ["fix n all nve/asphere", "fix line all multisite/linear", "timestep 0.002"]
COEFFICIENTS = ["pair_coeff * * components all linear polar", "pair_coeff 1 2 mix 0.9 1.05",
                "pair_coeff 2 3 mix 0.8 0.95"]
TURNED = output("evdwl ecoul etail", "x y z vx vy vz fx fy fz tqx tqy tqz angmomx angmomy angmomz c_q[*]",
                ["compute q all property/atom quatw quati quatj quatk"])


def molecules():
    begin = ["units lj", "atom_style ellipsoid", "atom_modify map array sort 0 0"]
    yield "multisite", [
        *MOLECULES, "pair_style multisite 2.2 2.8 rf inf tail yes", *COEFFICIENTS, *SET, *TURN, "run 10",
        "write_restart restart"], {"": ([*begin, *READ, "neighbor 0.3 bin", *TURN], TURNED)}
    # The component file is read again.
    yield "multisite-components", [
        *MOLECULES, "pair_style multisite 2.2 2.8", *COEFFICIENTS, *SET, *TURN, "run 10",
        "write_restart restart"], {"": ([*begin, *READ, "neighbor 0.3 bin", *COEFFICIENTS, *TURN], TURNED)}


# ---------------------------------------------------------------- all of them

KEPT = "restart", "HILLS", "GRID", "data"


def on_host(line):
    """The device in restart files is the host, where every build can read them."""
    line = line.replace("pair_style coord", "pair_style coord device host")
    line = line.replace("multisite 2.2 2.8", "multisite 2.2 2.8 device host")
    return line + " device host" if " coord/gpu " in line and line.startswith("compute") else line


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, wanted = os.path.abspath(sys.argv[1]), set(sys.argv[2:])
    revision = subprocess.run(["git", "-C", os.path.dirname(HERE), "log", "-1", "--format=%h %cs %s", "--",
                               "../../src", "../../lib"], capture_output=True, text=True).stdout
    of_revision = os.path.join(HERE, revision.split()[0])
    known = {name for make in (biases, pairs, molecules) for name, *_ in make()}
    if not wanted <= known:
        sys.exit(f"no such files: {', '.join(sorted(wanted - known))} - known are {', '.join(sorted(known))}")
    for make in biases, pairs, molecules:
        for name, first, ways in make():
            folder_of_revision = os.path.join(of_revision, name)
            if name not in wanted:
                continue
            os.makedirs(folder_of_revision)
            inputs = {"first": first}
            for way, (read, then) in ways.items():
                inputs.update({f"read{way}": read, f"then{way}": then})
            for part, lines in inputs.items():
                with open(os.path.join(folder_of_revision, f"in.{part}"), "w") as file:
                    file.write("\n".join(map(on_host, lines)) + "\n")
            with tempfile.TemporaryDirectory() as folder:
                if name.startswith("multisite"):
                    for path in folder_of_revision, folder:
                        with open(os.path.join(path, "components"), "w") as file:
                            file.write(COMPONENTS)
                with open(os.path.join(folder, "in"), "w") as file:
                    file.write("\n".join(map(on_host, first)) + "\n")
                done = subprocess.run([f"{build}/lmp", "-in", "in", "-log", "none", "-nocite"], cwd=folder,
                                      env=dump.environment(build), stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(f"{name}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
                for file in KEPT:
                    if os.path.exists(os.path.join(folder, file)):
                        os.rename(os.path.join(folder, file), os.path.join(folder_of_revision, file))
    with open(os.path.join(of_revision, "WRITTEN_BY"), "w") as file:
        file.write(revision)


if __name__ == "__main__":
    main()
