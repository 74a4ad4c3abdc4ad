/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

// Requirements of readers beyond the formats:
// - VMD's .dx reader requires a line with gridconnections, and reads the name of the data from the
//   line 'object "..." class field'.
// - PyMOL's .dx reader compares the beginning of the line with gridpositions letter by letter.
//   Numbers may have at most 20 characters.
// - VMD's .cube reader, which PyMOL also uses, reads up to 255 characters of the first line, the
//   name of the data. It treats a file whose number of atoms is 0 or negative as a file of several
//   orbitals.

#include "potential_grid_file.h"

#include "utils.h"

#include "fmt/format.h"

#include <cstdio>

using namespace LAMMPS_NS;

static constexpr std::size_t AT_A_TIME = 1 << 20;    // characters
static constexpr std::size_t LONGEST_TITLE = 200;

/* ---------------------------------------------------------------------- */

GridFile::GridFile(const std::string &name, Format format) :
    name(name), partial(name + ".tmp"), format(format), file(std::fopen(partial.c_str(), "w"))
{
  if (!file) fail();
}

GridFile::~GridFile()
{
  if (!file) return;
  std::fclose(file);
  std::remove(partial.c_str());
}

void GridFile::fail()
{
  why = utils::getsyserror();
  if (!file) return;
  std::fclose(file);
  file = nullptr;
  std::remove(partial.c_str());
}

void GridFile::flush()
{
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
    fail();
  text.clear();
}

/* ---------------------------------------------------------------------- */

void GridFile::begin(const Header &header)
{
  if (!file) return;
  title = header.title.substr(0, LONGEST_TITLE);
  row = header.n[2];
  in_line = in_row = 0;
  if (format == Format::DX)
    begin_dx(header);
  else
    begin_cube(header);
}

void GridFile::begin_dx(const Header &header)
{
  const int *const n = header.n;
  const double *const origin = header.origin;
  text = fmt::format(
      "# {}\nobject 1 class gridpositions counts {} {} {}\norigin {:.10g} {:.10g} {:.10g}\n", title,
      n[0], n[1], n[2], origin[0], origin[1], origin[2]);
  for (const auto &step : header.step)
    text += fmt::format("delta {:.10g} {:.10g} {:.10g}\n", step[0], step[1], step[2]);
  text += fmt::format("object 2 class gridconnections counts {} {} {}\n"
                      "object 3 class array type double rank 0 items {} data follows\n",
                      n[0], n[1], n[2], static_cast<std::size_t>(n[0]) * n[1] * n[2]);
}

void GridFile::begin_cube(const Header &header)
{
  const auto line = [this](int number, const double *x) {
    text += fmt::format("{:5} {:16.9f} {:16.9f} {:16.9f}\n", number, x[0], x[1], x[2]);
  };
  text = fmt::format("{}\nx is the outer, y the middle, z the inner loop; lengths are in {}\n",
                     title, header.length_unit);
  line(static_cast<int>(header.atoms.size()), header.origin);
  for (int k = 0; k < 3; ++k) line(header.n[k], header.step[k]);
  for (const Atom &atom : header.atoms) {
    text += fmt::format("{:5} {:16.9f} {:16.9f} {:16.9f} {:16.9f}\n", atom.element,
                        static_cast<double>(atom.element), atom.x[0], atom.x[1], atom.x[2]);
    if (file && text.size() > AT_A_TIME) flush();
  }
}

/* ----------------------------------------------------------------------
   .dx: three values per line. .cube: six values per line, and each row along z begins a new line.
------------------------------------------------------------------------- */

void GridFile::add(const double *values, std::size_t count)
{
  const std::size_t a_line = format == Format::DX ? 3 : 6;
  for (std::size_t k = 0; file && k < count; ++k) {
    if (in_line > 0) text += ' ';
    text += fmt::format("{:16.9e}", values[k]);
    if (++in_row == row) in_row = 0;
    if (++in_line == a_line || (format == Format::CUBE && in_row == 0)) {
      text += '\n';
      in_line = 0;
    }
    if (text.size() > AT_A_TIME) flush();
  }
}

void GridFile::end()
{
  if (!file) return;
  if (in_line > 0) text += '\n';
  if (format == Format::DX)
    text += fmt::format("attribute \"dep\" string \"positions\"\nobject \"{}\" class "
                        "field\ncomponent \"positions\" value 1\n"
                        "component \"connections\" value 2\ncomponent \"data\" value 3\n",
                        title);
  flush();
  if (!file) return;
  std::FILE *const complete = file;
  file = nullptr;
  if (std::fclose(complete) == 0 && std::rename(partial.c_str(), name.c_str()) == 0) return;
  why = utils::getsyserror();
  std::remove(partial.c_str());
}
