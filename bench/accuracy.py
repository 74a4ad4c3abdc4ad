"""Parts accuracy-host and accuracy-gpu: errors that the tests print, with independent references.

test_precision: S, s_i, dS/dx and W of liquids by all engines, against brute force.
test_switching: s and ds/dr against closed forms in 113-bit arithmetic; the worst of each group.
test_multisite_ls1: energy U, virial W, forces and torques against ls1-MarDyn.
test_potential_map: potential and field against a sum in double, relative to the sum of |terms|.
"""

import os
import re
import subprocess
import sys

SWITCHING, MAP = "unittest/test_switching", "unittest/test_potential_map"
NUMBER = r"([0-9.]+e[-+][0-9]+)"


def output_of(words, **environment):
    run = subprocess.run(words, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(f"{run.stdout}\n{' '.join(words)} failed")
    return run.stdout


def ctest(bench, name):
    output = output_of(["ctest", "--test-dir", bench.build, "--no-tests=error", "-V", "-R", f"^{name}$"])
    skipped = re.search(r"SKIPPED: .*", output)
    if skipped:
        sys.exit(f"{name}: {skipped.group()}")
    return output


def floats(groups):
    return [float(text) for text in groups]


def group_of(case):
    """Return the group of a case of test_switching."""
    kind, *words = case.split()
    if kind != "rational":
        return kind
    n, m = map(float, words[0].split("/"))
    if n != int(n) or m != int(m):
        return "rational, exponents that are no integers" + (" and nearly equal" if m - n < 0.01 else "")
    return f"rational, exponents to {next(maximum for maximum in (24, 48, 100, 514) if m <= maximum)}"


def worst_of_groups(output):
    """Return group -> the largest errors of s and ds/dr in double, and in float."""
    worst = {}
    for case, how, *errors in re.findall(rf"^\| (.*?) \| (.*?) \| {NUMBER} \| {NUMBER} \|", output, re.M):
        found = worst.setdefault(group_of(case), [0.0] * 4)
        for k, error in enumerate(floats(errors)):
            column = k + (0 if "double" in how else 2)
            found[column] = max(found[column], error)
    return worst


def measure(bench, on_gpu):
    prefix = "gpu/" if on_gpu else ""
    backend = {"GPUCOORD_TEST_BACKEND": "auto"} if on_gpu else {}
    fields = {"lammps": True, "gpus": on_gpu}

    output = ctest(bench, prefix + "commands/coordination/test_precision")
    table = bench.table("coordination", "precision", "S", "s_i", "dS/dx", "W", **fields)
    for precision, *errors in re.findall(r"\| (double|mixed|single) " + rf"\| {NUMBER} " * 4, output):
        table.row(precision, *floats(errors))

    output = output_of([os.path.join(bench.build, SWITCHING), *["--gtest_filter=*backend_equals*"] * on_gpu], **backend)
    table = bench.table("switching", "function", "s, double", "ds/dr, double", "s, float", "ds/dr, float", gpus=on_gpu)
    for group, errors in worst_of_groups(output).items():
        table.row(group, *errors)

    output = ctest(bench, prefix + "commands/multisite/test_multisite_ls1")
    table = bench.table("molecules", "case", "precision", "U", "W", "force", "torque", **fields)
    for case, precision, *errors in re.findall(r"(\w+) +(double|mixed|single) +" + rf" *{NUMBER}" * 4, output):
        table.row(case, precision, *floats(errors))

    output = output_of([os.path.join(bench.build, MAP)], **backend)
    table = bench.table("maps", "precision", "potential", "field", gpus=on_gpu)
    for precision, *errors in re.findall(rf"precision (\d): potential {NUMBER}, field {NUMBER}", output):
        table.row(("double", "mixed", "single")[int(precision)], *floats(errors))


def host(bench):
    measure(bench, False)


def gpu(bench):
    measure(bench, True)
