"""Results of benchmarks, and the pages that are written from them. Expected texts are written by hand."""

import contextlib
import copy
import io
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import launch
import pages
import plots
import results
from results import Number, ResultError, text_of

TABLE = {"source": "bench/run.py", "machine": "one GPU", "gpu": "A", "cpu": None, "date": "2026-11-27", "commit": "0123abc",
         "lammps": "4 Jul 2026", "precision": None, "spread": "half the range of 3 runs", "note": "A note.",
         "columns": ["atoms", "precision", "ms", "unused"],
         "rows": [[1000, "mixed", Number(0.1234, 0.0049), None], [2000, "mixed", 0.5, None], [2000, "double", 2.0, None]]}
PEER_COLUMNS = ["program", "table", "column", "atoms", "precision", "value", "source"]
PEERS = {**TABLE, "columns": PEER_COLUMNS,
         "rows": [["Other", "some-part/S", "ms", 2100, "mixed", 10, "its machine"],
                  ["Other", "some-part/S", "ms", 3000, "double", 10, "its machine"]]}


class Texts(unittest.TestCase):
    def test_rounding(self):
        for cell, text in ((None, ""), ("a, b", "a, b"), (0, "0"), (46656, "46,656"), (1_000_000, "1,000,000"), (0.0, "0"),
                           (0.0138, "0.0138"), (0.12345, "0.123"), (-0.2, "-0.2"), (2.996, "3"), (99.96, "100"), (999.6, "1,000"),
                           (1201.2, "1,200"), (123456.0, "123,000"), (1.2e-15, "1.2e-15"), (4e-4, "4e-4"), (9.996e-4, "0.001"),
                           (1.84e12, "1.8e12"), (999_400.0, "999,000"), (999_600.0, "1e6"), (1e-13, "1e-13")):
            self.assertEqual(text_of(cell), text, cell)

    def test_spread(self):
        for value, spread, text in ((0.1234, 0.0049, "0.123 ± 0.005"), (2.64, 0.04, "2.64 ± 0.04"), (6.03, 0.19, "6.03 ± 0.19"),
                                    (73.0, 13.0, "73 ± 13"), (1234.0, 230.0, "1,200 ± 200"), (0.5, 0.0, "0.5 ± 0"),
                                    (0.26, 30.0, "0.3 ± 30"), (-3.3, 9.2, "-3 ± 9"), (1.4e-3, 1e-3, "0.0014 ± 0.0010"),
                                    (3.3e-6, 2e-7, "(3.3 ± 0.2)e-6"), (2.5e6, 3e5, "(2.5 ± 0.3)e6")):
            self.assertEqual(text_of(Number(value, spread)), text)

    def test_names_of_gpus(self):
        for name, short in (("NVIDIA H100 80GB HBM3", "H100"), ("NVIDIA H200", "H200"), ("NVIDIA A100-SXM4-80GB", "A100-SXM4"),
                            ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090")):
            self.assertEqual(launch.short_name(name), short)

    def test_use_of_the_gpu(self):
        """Numbers are samples. Those of the first second of a run may be from before it."""
        use = launch.GpuUse()
        use.process = types.SimpleNamespace(stdout=["40\n", "[N/A]\n", "\n", "60\n"])
        use.read()
        self.assertEqual([percent for _, percent in use.samples], [40, 60])
        use.samples = [(10.5, 1.0), (11.5, 2.0), (12.0, 3.0), (12.5, 4.0)]
        self.assertEqual(use.between(10.2, 12.1), [2, 3])

    def test_measured(self):
        """Median and half of the range."""
        self.assertEqual(results.measured([5.0, 1.0, 2.0]), Number(2.0, 2.0))

    def test_same_size(self):
        for atoms, other, is_same in ((10000, 10648, True), (90, 100, True), (89, 100, False), (100, 111, True), (100, 112, False)):
            self.assertEqual(results.is_same_size(atoms, other), is_same)
            self.assertEqual(results.is_same_size(other, atoms), is_same)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.doc = folder.name
        self.results = os.path.join(self.doc, "results")
        os.mkdir(self.results)
        self.save("some-part", {"S": TABLE})
        self.save("peers", {"figures": PEERS})

    def save(self, part, tables):
        results.save(os.path.join(self.results, part + ".json"), part, tables)

    def page(self, text):
        path = os.path.join(self.doc, "performance.in.md")
        with open(path, "w") as file:
            file.write(text)
        return pages.page(pages.Results(self.results), path)

    def change(self, change):
        path = os.path.join(self.results, "some-part.json")
        with open(path) as file:
            content = json.load(file)
        change(content["tables"]["S"])
        with open(path, "w") as file:
            json.dump(content, file)

    def assert_error(self, error, words, text):
        with self.assertRaisesRegex(error, words):
            self.page(text)


class Results(Folder):
    def test_round_trip(self):
        self.assertEqual(results.load(self.results, "some-part"), {"S": TABLE})

    def test_one_line_for_each_row(self):
        with open(os.path.join(self.results, "some-part.json")) as file:
            self.assertIn('        [2000, "double", 2.0, null]\n', file.read())

    def test_absent(self):
        with self.assertRaisesRegex(ResultError, "no results .*other.json: run `make bench PARTS=other`"):
            results.load(self.results, "other")

    def test_damaged(self):
        original = os.path.join(self.results, "some-part.json")
        with open(original) as file:
            text = file.read()
        for change, words in (
                (lambda table: table.pop("commit"), "fields must be"),
                (lambda table: table.update(commit=None), "commit is None and must be a text"),
                (lambda table: table.update(commit="0123abc for a"), "the commit is '0123abc for a' and must be 7 to 40 hexadecimal"),
                (lambda table: table.update(columns=["atoms", "precision", "ms", "commit"],
                                            rows=[[1000, "mixed", 1.0, "0123abc"], [1000, "double", 2.0, "today, 0123abc"]]),
                 "the commit of a row is 'today, 0123abc' and must be"),
                (lambda table: table["rows"][0].pop(), r"the row .* must have 4 cells"),
                (lambda table: table["rows"][0].__setitem__(2, {"value": 1}), "value and spread"),
                (lambda table: table["rows"][0].__setitem__(2, [1, 2]), "each a number"),
                (lambda table: table["rows"][0].__setitem__(2, float("nan")), "each a number"),
                (lambda table: table.update(spread=None), "the field spread must say")):
            self.change(change)
            with self.assertRaisesRegex(ResultError, "some-part.json, table S: .*" + words):
                results.load(self.results, "some-part")
            with open(original, "w") as file:
                file.write(text)
        with open(original, "w") as file:
            file.write(text[:-20])
        with self.assertRaisesRegex(ResultError, "some-part.json: "):
            results.load(self.results, "some-part")

    def test_rows_have_all_cells(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            table = results.Table("S", ["a", "b"], {})
            table.row(1, 0.5)
            with self.assertRaisesRegex(ValueError, "table S has 2 columns, and a row has 1 cells"):
                table.row(1)
        self.assertEqual(printed.getvalue(), "\nS\n\n| a | b |\n|---|---|\n| 1 | 0.5 |\n")


class Pages(Folder):
    def test_table(self):
        """Also a figure of another program, scaled from 2,100 to 2,000 atoms; 3,000 are too many."""
        self.assertEqual(self.page("# Title\n\nWords.\n{{some-part/S}}\n\nMore.\n"), f"""{pages.GENERATED}
# Title

Words.
One GPU; LAMMPS 4 Jul 2026; 2026-11-27, commit 0123abc ([data](results/some-part.md)). ± is half the
range of 3 runs. A note. Other: its machine.

| atoms | precision | ms | Other, ms | times faster |
|---|---|---|---|---|
| 1,000 | mixed | 0.123 ± 0.005 |  |  |
| 2,000 | mixed | 0.5 | 10 | 19 |
| 2,000 | double | 2 |  |  |

More.
""")

    def test_rate(self):
        """A rate of another program is that of any number of atoms, and larger is faster."""
        table = {**TABLE, "columns": ["model", "updates/s"], "rows": [["a", 30.0], ["b", 4.0]]}
        self.save("some-part", {"S": table})
        self.save("peers", {"figures": {**PEERS, "columns": ["program", "table", "column", "model", "value", "source"],
                                        "rows": [["Other", "some-part/S", "updates/s", "a", 5, "it"]]}})
        self.assertIn("| a | 30 | 5 | 6 |\n| b | 4 |  |  |", self.page("{{some-part/S}}\n"))

    def test_conditions(self):
        text = self.page("{{some-part/S where precision = mixed and atoms = 2,000}}\n")
        self.assertIn("One GPU; precision mixed; atoms 2,000; LAMMPS 4 Jul 2026; 2026-11-27, commit 0123abc ([all "
                      "rows](results/some-part.md)).", text.replace("\n", " "))
        self.assertTrue(text.endswith("| ms | Other, ms | times faster |\n|---|---|---|\n| 0.5 | 10 | 19 |\n"), text)

    def test_commits_of_rows(self):
        """Rows of another commit than that of their table."""
        table = {**TABLE, "columns": ["atoms", "ms", "commit"],
                 "rows": [[1000, 0.5, None], [1000, 0.6, "3456def+"], [2000, 0.7, "2026-11-25, 789abcd"], [3000, 0.8, None]]}
        self.save("some-part", {"S": table})
        self.save("peers", {"figures": {**PEERS, "rows": []}})
        for condition, words, rows in (
                ("", "2026-11-27, commit 0123abc unless a row names another (", "| 1,000 | 0.5 |  |\n| 1,000 | 0.6 | 3456def+ |\n"),
                (" where atoms = 2,000", "atoms 2,000; LAMMPS 4 Jul 2026; each row names its commit (", "| 0.7 | 2026-11-25, 789abcd |"),
                (" where atoms = 3,000", "2026-11-27, commit 0123abc (", "| ms |\n|---|\n| 0.8 |")):
            text = self.page(f"{{{{some-part/S{condition}}}}}\n")
            self.assertIn(words, text.replace("\n", " "))
            self.assertIn(rows, text)

    def test_command(self):
        """A part of bench/run.py names its command."""
        self.save("kokkos", {"S": TABLE})
        self.assertIn("([data](results/kokkos.md), `make bench PARTS=kokkos`)", self.page("{{kokkos/S}}\n").replace("\n", " "))

    def test_several_parts(self):
        """One table with the rows of both. Rows of several commits name theirs."""
        self.save("peers", {"figures": {**PEERS, "rows": []}})
        table = {**TABLE, "columns": ["system", "ns/day"], "rows": [["water", 40.0]]}
        self.save("real-water", {"S": table})
        self.save("real-mw", {"S": {**table, "rows": [["ice", 300.0]]}})
        text = self.page("{{real-water+real-mw/S}}\n")
        self.assertTrue(text.endswith("| system | ns/day |\n|---|---|\n| water | 40 |\n| ice | 300 |\n"), text)
        self.assertIn('2026-11-27, commit 0123abc ([real-water](results/real-water.md), [real-mw](results/real-mw.md), `make bench '
                      'PARTS="real-water real-mw"`). ', text.replace("\n", " "))
        self.save("real-mw", {"S": {**table, "date": "2026-11-28", "commit": "3456def", "rows": [["ice", 300.0]]}})
        text = self.page("{{real-water+real-mw/S}}\n")
        self.assertIn("; each row names its commit (", text.replace("\n", " "))
        self.assertTrue(text.endswith("| water | 40 | 2026-11-27, 0123abc |\n| ice | 300 | 2026-11-28, 3456def |\n"), text)
        self.save("real-mw", {"S": {**table, "machine": "another GPU"}})
        self.assert_error(pages.PageError, "table 'S' has machine one GPU in real-water.json and another GPU in real-mw.json",
                          "{{real-water+real-mw/S}}\n")

    def test_readme(self):
        """A table between two lines is replaced, and stays where it is current."""
        path = os.path.join(self.doc, "README.md")

        def written(text):
            with open(path, "w") as file:
                file.write(text)
            return pages.with_tables(pages.Results(self.results), path)

        self.assertEqual(written("# A\n\nWords.\n"), "# A\n\nWords.\n")
        begin, end = "# A\n\n<!-- {{some-part/S where atoms = 1,000}} -->\n", "<!-- end of table -->\n\nMore.\n"
        for old in "", "\nold\n\n| a |\n":
            text = written(begin + old + end)
            self.assertTrue(text.startswith(begin + "\nOne GPU; atoms 1,000; LAMMPS"), text)
            self.assertIn("([all rows](doc/results/some-part.md))", text.replace("\n", " "))
            self.assertTrue(text.endswith("\n| mixed | 0.123 ± 0.005 |\n\n" + end), text)
            self.assertEqual(written(text), text)
        self.assertEqual(written(2 * (begin + end)).count("One GPU"), 2)
        for bad in (begin, end, begin + begin + end, "{{some-part/S}}\n"):
            with self.assertRaisesRegex(pages.PageError, "README.md: a table must be between the lines"):
                written(bad)
        with self.assertRaisesRegex(pages.PageError, "README.md: no row meets atoms = 5"):
            written("<!-- {{some-part/S where atoms = 5}} -->\n" + end)

    def test_bad_placeholders(self):
        where = r"performance.in.md:2: "
        for placeholder, words in (
                ("{{absent/S}}", "no results .*absent.json"),
                ("{{some-part/T}}", "no table 'T' in some-part.json, which has S"),
                ("{{some-part}}", "the placeholder is 'some-part' and must be PART/TABLE"),
                ("{{some-part/S whose ms = 1}}", "the placeholder is .* and must be PART/TABLE"),
                ("{{some-part/S where size = 1}}", "the condition is 'size = 1' and must be .* atoms, precision, ms, unused"),
                ("{{some-part/S where atoms}}", "the condition is 'atoms' and must be COLUMN = TEXT"),
                ("{{some-part/S where atoms = 5}}", "no row meets atoms = 5"),
                ("see {{some-part/S}}", "a placeholder must be alone on its line"),
                ("{{some-part/S", "a placeholder must be alone on its line")):
            self.assert_error(pages.PageError, where + words, f"\n{placeholder}\n")

    def test_peer_of_an_absent_column(self):
        table = copy.deepcopy(PEERS)
        table["rows"][0][2] = "us"
        self.save("peers", {"figures": table})
        self.assert_error(pages.PageError, "Other has figures of column 'us', and the table has atoms", "{{some-part/S}}\n")

    def check_peers(self, *reasons):
        self.save("peers", {"figures": {**PEERS, "columns": [*PEER_COLUMNS, "no row"],
                                        "rows": [[*row, reason] for row, reason in zip(PEERS["rows"], reasons)]}})
        pages.check_peers(pages.Results(self.results))

    def test_peer_without_a_row(self):
        self.check_peers(None, "not measured")
        where = "peers.json: the figure of Other with atoms "
        with self.assertRaisesRegex(pages.PageError, where + "3,000, precision double meets no row of some-part/S: correct its "):
            self.check_peers(None, None)
        with self.assertRaisesRegex(pages.PageError, where + "2,100, precision mixed meets a row of some-part/S, but its column 'no"):
            self.check_peers("not measured", "not measured")

    def test_peer_of_an_empty_cell(self):
        table = copy.deepcopy(TABLE)
        for row in table["rows"]:
            row[table["columns"].index("ms")] = None
        self.save("some-part", {"S": table})
        with self.assertRaisesRegex(pages.PageError, "2,100, precision mixed meets no row"):
            self.check_peers(None, "not measured")

    def test_second_peer_of_a_row(self):
        """Only the first figure that a row meets is shown."""
        peers = copy.deepcopy(PEERS)
        peers["rows"][1][3:5] = [2050, "mixed"]
        self.save("peers", {"figures": peers})
        with self.assertRaisesRegex(pages.PageError, "2,050, precision mixed meets no row"):
            pages.check_peers(pages.Results(self.results))


class Repository(unittest.TestCase):
    def test_pages_are_current(self):
        self.assertEqual(pages.differing(os.path.join(ROOT, "doc")), [])

    def test_changes_are_found(self):
        """A changed figure, page or plot, and an absent plot."""
        with tempfile.TemporaryDirectory() as doc:
            subprocess.run(["cp", "-r", os.path.join(ROOT, "doc") + "/.", doc], check=True)
            folder = os.path.join(doc, "results")
            tables = results.load(folder, "kokkos")
            columns, rows = (tables["coordination"][key] for key in ("columns", "rows"))
            row = next(row for row in rows if row[columns.index("group")] == row[columns.index("atoms")] == plots.MELTS[0])
            row[columns.index("ms added")] = 1.0
            results.save(os.path.join(folder, "kokkos.json"), "kokkos", tables)
            step = os.path.join(doc, "images", "performance-step.png")
            self.assertEqual(pages.differing(doc), [os.path.join(doc, "performance.md"),
                                                    os.path.join(doc, "results", "kokkos.md"), step])
            subprocess.run(["cp", os.path.join(ROOT, "doc", "results", "kokkos.json"), folder], check=True)
            os.remove(step)
            self.assertEqual(pages.differing(doc), [step])
            self.assertEqual(plots.differing(doc), [step])

    def test_peers_are_checked(self):
        with tempfile.TemporaryDirectory() as doc:
            subprocess.run(["cp", "-r", os.path.join(ROOT, "doc") + "/.", doc], check=True)
            folder = os.path.join(doc, "results")
            tables = results.load(folder, "peers")
            tables["figures"]["rows"][0][tables["figures"]["columns"].index("atoms")] = 20000
            results.save(os.path.join(folder, "peers.json"), "peers", tables)
            with self.assertRaisesRegex(pages.PageError, "figure of cudaCoord with atoms 20,000, .* meets no row"):
                pages.build(doc)

    def test_empty_series_of_plots(self):
        for part, table, column, cell, words in (
                ("peers", "figures", "program", "another", "performance-atoms: no row .* 'cudaCoord, GPU'"),
                ("coordination-gpu", "arrays", "neighbors", 66, "performance-atoms: no row .* 'GPUCOORD, GPU, host arrays'"),
                ("coordination-host", "S", "atoms", 5000, "performance-partners: no row .* 'GPUCOORD, host'"),
                ("kokkos", "orders", "bias", "another", "performance-step: no row .* 'q6 local'")):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(["cp", "-r", os.path.join(ROOT, "doc", "results") + "/.", folder], check=True)
                tables = results.load(folder, part)
                for row in tables[table]["rows"]:
                    row[tables[table]["columns"].index(column)] = cell
                results.save(os.path.join(folder, f"{part}.json"), part, tables)
                with self.assertRaisesRegex(ResultError, "plot " + words):
                    plots.data_of(folder)

    def test_data_of_plots(self):
        """A few points that are typed here from the tables of the pages."""
        data = plots.data_of(os.path.join(ROOT, "doc", "results"))
        series = data["performance-atoms"]["series"]
        self.assertIn([1_000_000, 150], series["cudaCoord, GPU"])
        self.assertEqual(series["fix colvars/kk"], [[1000, 19], [4000, 271]])
        self.assertEqual(len({(line[0], line[1]) for line in data["performance-partners"]["series"]}),
                         len(data["performance-partners"]["series"]))
        self.assertEqual(len({tuple(row[:2]) for row in data["performance-step"]}), len(data["performance-step"]))


class Needs(unittest.TestCase):
    """The runner names what is absent before it measures."""

    def run_parts(self, *words):
        with tempfile.TemporaryDirectory() as build:
            command = [sys.executable, os.path.join(ROOT, "bench", "run.py"), build, "--commit", "0123abc", "--out", build, *words]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual([name for name in os.listdir(build) if name.endswith(".json")], [])
        return run

    def test_absent_program(self):
        run = self.run_parts("--parts", "maps-host")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"Part maps-host cannot run: .*/bench/bench_map is absent: build it, or copy it")

    def test_all_parts_are_listed(self):
        run = self.run_parts()
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr.count("cannot run"), len(pages.PARTS))

    def test_trials_without_kokkos(self):
        for words, error in (((), "give --scale below 1 and --parts"), (("--scale", "0.1", "--parts", "kokkos"), "is for the parts real-"),
                             (("--parts", "real-lj"), "give --scale below 1")):
            run = self.run_parts("--kokkos", "off", *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn(error, run.stderr)

    def test_other_needs(self):
        with tempfile.TemporaryDirectory() as build:
            bench = launch.Bench(build)
            bench.gpus = ["A"]
            self.assertEqual(bench.missing(gpus=1), None)
            self.assertEqual(bench.missing(gpus=2), "it needs 2 GPUs, and nvidia-smi lists 1")
            self.assertIn("the program no-such-program is not on the PATH", bench.missing(commands=("no-such-program",)))
            self.assertIn("NO_SUCH_VARIABLE", bench.missing(environment=("NO_SUCH_VARIABLE",)))
            for last, reason in (("exit 1", "/lmp -h` fails"), ("", None)):
                with open(bench.lmp, "w") as file:
                    file.write(f"#!/bin/sh\necho KOKKOS package API: OpenMP Serial\n{last}\n")
                os.chmod(bench.lmp, 0o700)
                self.assertIn(reason or "None", str(bench.missing(programs=("lmp",))))
            self.assertIn("has no KOKKOS for CUDA", bench.missing(kokkos=True))
            bench = launch.Bench(build, kokkos="on t 1")
            self.assertEqual(bench.missing(kokkos=True, gpus=2, commands=("nvidia-cuda-mps-control",)), None)

    def test_bad_arguments(self):
        for words, message in ((("--parts", "maps"), "the part is 'maps' and must be one of coordination-host, "),
                               (("--scale", "2"), "--scale is 2 and must be above 0 and at most 1"),
                               (("--threads", "0"), "--threads is 0 and must be at least 1"),
                               (("--scale", "0.5", "--out", results.FOLDER), "give another folder by --out"),
                               (("--commit", "main"), "the commit is 'main' and must be 7 to 40 hexadecimal digits")):
            run = self.run_parts(*words)
            self.assertEqual(run.returncode, 2)
            self.assertIn(message, run.stderr)


if __name__ == "__main__":
    unittest.main()
