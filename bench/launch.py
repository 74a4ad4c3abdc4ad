"""The build and the machine that a benchmark uses: LAMMPS, programs, GPUs, and the tables measured."""

import datetime
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import results

RUNS = 3    # runs of a program; medians, and half of the range as the spread
SPREAD = f"half the range of {RUNS} runs"


def output_of(*words):
    """Return the output of a command, or None if it is absent or fails."""
    try:
        run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return run.stdout if run.returncode == 0 else None


def gpu_names():
    names = output_of("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    return names.split("\n")[:-1] if names else []


def short_name(gpu):
    """Return the name of a GPU without vendor, memory and what follows it: H100 for NVIDIA H100 80GB HBM3."""
    return re.sub(r"[ -]\d+GB\b.*", "", gpu.removeprefix("NVIDIA "))


def cpu_name():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    return found.group(1).strip() if found else None


def run_lammps(lmp, folder, script, *words, threads=None, ranks=1):
    """Return the screen output of LAMMPS for the commands of script, run in folder with additional
    command line words."""
    path = os.path.join(folder, "in.bench")
    with open(path, "w") as file:
        file.write(script)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)} if threads else None
    launcher = ["mpirun", "-np", str(ranks)] if ranks > 1 else []
    run = subprocess.run([*launcher, lmp, "-in", path, "-log", "none", "-nocite", *words], cwd=folder, env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout)
    return run.stdout


class GpuUse:
    """Samples of the use of the first GPU by nvidia-smi, while this is entered; none without nvidia-smi."""

    def __init__(self):
        self.samples = []    # time, percent
        self.process = None

    def __enter__(self):
        words = ["nvidia-smi", "-i", "0", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "200"]
        try:
            self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            return self
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def read(self):
        for line in self.process.stdout:
            if re.fullmatch(r"[0-9.]+", line.strip()):    # otherwise '[N/A]'
                self.samples.append((time.time(), float(line)))

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.thread.join()
            self.process.wait()

    def between(self, begin, end):
        """Return samples between two times. Each is a mean over up to a second before it."""
        return [percent for at, percent in self.samples if begin + 1 <= at <= end]


class Bench:
    """A build folder and a machine. scale below 1 makes systems smaller and runs shorter, to try a
    part; kokkos are the words after LAMMPS' option -k, where {n} stands for the number of GPUs, or 'off' to
    try a part without KOKKOS."""

    def __init__(self, build, threads=None, kokkos="on g {n}", scale=1.0, commit=None):
        self.build = os.path.abspath(build)
        self.lmp = os.path.join(self.build, "lmp")
        self.cores = len(os.sched_getaffinity(0))
        self.threads = threads or self.cores
        self.kokkos_words = kokkos
        self.scale = scale
        self.gpus = gpu_names()
        self.commit = commit
        self.tables = []

    # --- what this machine and this build have ---

    def kokkos(self, n=1):
        return self.kokkos_words.format(n=n).split()

    def missing(self, programs=(), gpus=0, kokkos=False, environment=(), commands=()):
        """Return why a part cannot run here, or None."""
        if kokkos and "g" not in self.kokkos():    # a trial on the host
            gpus, commands = 0, [name for name in commands if not name.startswith("nvidia")]
        for name in programs:
            path = os.path.join(self.build, name)
            if not os.access(path, os.X_OK):
                return f"{path} is absent: build it, or copy it to this machine"
            if name == "lmp" and output_of(path, "-h") is None:
                return f"`{path} -h` fails: what it loads is absent"
        for name in commands:
            if shutil.which(name) is None:
                return f"the program {name} is not on the PATH"
        for name in environment:
            if not os.path.isfile(os.environ.get(name, "")):
                return f"the variable {name} of the environment must name a file"
        if len(self.gpus) < gpus:
            return f"it needs {gpus} GPU{'s' * (gpus > 1)}, and nvidia-smi lists {len(self.gpus)}"
        return self.missing_kokkos() if kokkos and self.kokkos() != ["off"] else None

    def missing_kokkos(self):
        words = output_of(self.lmp, "-h") or ""
        is_cuda = "g" in self.kokkos()
        if not re.search("^KOKKOS package API:.*" + ("CUDA" if is_cuda else ""), words, re.M):
            return f"the LAMMPS {self.lmp} has no KOKKOS" + " for CUDA" * is_cuda
        probe = subprocess.run([self.lmp, "-k", *self.kokkos(), "-log", "none"], input="", stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        if probe.returncode != 0:
            first = re.search(".*error.*", probe.stdout, re.I)
            return "KOKKOS does not start: " + (first.group() if first else f"exit status {probe.returncode}")
        return None

    # --- runs ---

    def size(self, number, minimum=1):
        """Return a length of a system at this scale."""
        return max(minimum, round(number * self.scale))

    def steps(self, number):
        """Return a number of steps at this scale: a multiple of 20, after which neighbor lists are
        rebuilt."""
        return max(20, round(number * self.scale**3) // 20 * 20)

    def program(self, name, *words):
        """Return the numbers that a program prints, each with its spread over several runs."""
        path = os.path.join(self.build, name)
        runs = []
        for _ in range(RUNS):
            run = subprocess.run([path, *map(str, words)], stdout=subprocess.PIPE, text=True)
            if run.returncode != 0:
                sys.exit(f"{path} {' '.join(map(str, words))} ended with status {run.returncode}")
            runs.append([float(word) for word in run.stdout.split()])
        return [results.measured(samples) for samples in zip(*runs)]

    def lammps(self, folder, script, *words, threads=None, ranks=1):
        return run_lammps(self.lmp, folder, script, *words, threads=threads, ranks=ranks)

    # --- results ---

    def table(self, name, *columns, precision=None, spread=None, lammps=False, gpus=0):
        """Begin a table. gpus: the number of GPUs that its figures use, 0 on the host."""
        used = self.gpus[:gpus]
        cores = f"{self.cores} CPU cores" if used else f"{self.cores} cores of {cpu_name() or 'a CPU'}"
        release = re.search(r"Massively Parallel Simulator - (.*)", output_of(self.lmp, "-h") or "") if lammps else None
        table = results.Table(name, columns, {
            "source": "bench/run.py",
            "machine": f"{'one' if gpus == 1 else gpus} {short_name(used[0])}, {cores}" if used else cores,
            "gpu": used[0] if used else None,
            "cpu": cpu_name(),
            "date": datetime.date.today().isoformat(),
            "commit": self.commit,
            "lammps": release.group(1) if release else None,
            "precision": precision,
            "spread": spread,
            "note": None if self.scale == 1 else f"Systems of scale {self.scale}, to try the benchmark.",
        })
        self.tables.append(table)
        return table

    def save(self, folder, part):
        """Write the tables of a part, and forget them."""
        results.save(os.path.join(folder, part + ".json"), part,
                     {table.name: {**table.fields, "columns": table.columns, "rows": table.rows} for table in self.tables})
        self.tables = []
