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

#include "coord_points.h"

#include "gpucoord_box_edges.h"

#include "gpucoord/bytes_of.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

using namespace LAMMPS_NS;

static constexpr int NOT_HERE = gpucoord::ResidentPoints::NOT_HERE;

/* ---------------------------------------------------------------------- */

void CoordPoints::set_points(const std::vector<tagint> &ids_in, int nvalues)
{
  ids = ids_in;
  values.resize(nvalues);
  gradients.resize(3 * ids.size() * nvalues);
  virials.resize(6 * ids.size() * nvalues);
  set_outputs_of_values(nvalues);
}

void CoordPoints::init()
{
  if (!atom->tag_enable || atom->map_style == Atom::MAP_NONE)
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: the atoms are found by their IDs - use atom_modify map array or hash, and leave "
        "out atom_modify id no",
        name);
  CoordVariable::init();
  print_once(fmt::format("{}: {}, {}\n", name, description(), data_path()));
}

// Evaluates S if it must be printed; see ComputeCoordPair::setup().
void CoordPoints::setup()
{
  const bool has_atoms = kokkosable || !lmp->kokkos;
  if (!must_print_value || !has_atoms) return;
  begin_setup();
  evaluate_now(gpucoord::VALUE);
  end_setup();
}

int CoordPoints::groups() const
{
  return group->bitmask[0];
}

// The values and virials follow from the positions.
int CoordPoints::nsums(unsigned /*want*/) const
{
  return NHEADER + 3 * static_cast<int>(ids.size());
}

/* ---------------------------------------------------------------------- */

std::vector<int> CoordPoints::rows_of_points() const
{
  std::vector<int> all;
  for (const tagint id : ids) {
    const int i = id <= atom->map_tag_max ? atom->map(id) : NOT_HERE;
    all.push_back(i < atom->nlocal ? i : NOT_HERE);
  }
  return all;
}

int CoordPoints::read_positions(double *x)
{
  const std::vector<int> here = rows_of_points();
  for (std::size_t p = 0; p < here.size(); ++p)
    if (here[p] != NOT_HERE) std::copy_n(atom->x[here[p]], 3, x + 3 * p);
  return static_cast<int>(here.size() - std::count(here.begin(), here.end(), NOT_HERE));
}

void CoordPoints::get_local_sums(double *local_sums)
{
  std::fill_n(local_sums, nsums(wanted), 0.0);
  VariableHeader mine;
  mine.natoms_a = read_positions(local_sums + NHEADER);
  set_header(mine, local_sums);
}

void CoordPoints::finish(const double *sums)
{
  const double *const x = sums + NHEADER, *const end = sums + nsums(wanted);
  const bool has_all = header_of(sums).natoms_a == static_cast<double>(ids.size());
  const double *const bad = std::find_if(x, end, [](double number) {
    return !std::isfinite(number);
  });
  if (is_in_setup && (!has_all || bad != end)) {
    std::fill(values.begin(), values.end(), NAN);
    return;
  }
  if (!has_all) raise_missing();
  if (bad != end)
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: the position of atom ID {} is not a finite number - the simulation is unstable, "
        "or positions were set wrongly",
        name, ids[(bad - x) / 3]);
  evaluate(current_box(lmp, name), x);
  const auto is_finite = [](const std::vector<double> &all) {
    return std::all_of(all.begin(), all.end(), [](double one) {
      return std::isfinite(one);
    });
  };
  if (!is_in_setup && !(is_finite(values) && is_finite(gradients) && is_finite(virials)))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: S or a derivative is not a finite number, although all positions are - use "
               "atoms at positions where both are defined",
               name);
  state = State::HOST;
  if (!must_print_value) return;
  must_print_value = false;
  std::string mesg = fmt::format("{}: S", name);
  for (const double one : values) mesg += fmt::format(" {:.6g}", one);
  if (comm->me == 0) utils::logmesg(lmp, mesg + "\n");
}

// Collective.
void CoordPoints::raise_missing() const
{
  std::vector<int> mine = rows_of_points(), all(mine.size());
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT, MPI_MAX, world);
  const auto missing = std::find(all.begin(), all.end(), NOT_HERE) - all.begin();
  if (missing == static_cast<std::ptrdiff_t>(all.size()))
    error->all(FLERR, Error::NOLASTLINE, "{}: two atoms have the same ID - use unique IDs", name);
  error->all(FLERR, Error::NOLASTLINE, "{}: atom {} does not exist - use IDs of atoms", name,
             ids[missing]);
}

/* ---------------------------------------------------------------------- */

// Calls visit(row, factor, index) for each value and each point of this rank. index: of the point
// in gradients and virials
template <class Visit>
void CoordPoints::for_each_point(const gpucoord::ItemFactors &factors, const Visit &visit) const
{
  const std::vector<int> here = rows_of_points();
  for (int k = 0; k < factors.n; ++k) {
    const double factor = factors.host_factor(k);
    const bool has_item = !factors.item || factors.item[k] != gpucoord::ItemFactors::NO_ITEM;
    if (factor == 0.0 || !has_item) continue;
    const std::size_t first = here.size() * (factors.item ? factors.item[k] : k);
    for (std::size_t p = 0; p < here.size(); ++p) visit(here[p], factor, first + p);
  }
}

void CoordPoints::add_forces(const gpucoord::ItemFactors &factors)
{
  gpucoord::ItemFactors minus = factors;
  minus.host = -factors.host;
  add_gradients(minus, atom->f, 0);
}

void CoordPoints::add_gradients(const gpucoord::ItemFactors &factors, double **array,
                                int first_column) const
{
  for_each_point(factors, [&](int row, double factor, std::size_t index) {
    for (int c = 0; c < 3 && row != NOT_HERE; ++c)
      array[row][first_column + c] += factor * gradients[3 * index + c];
  });
}

void CoordPoints::add_virial(const gpucoord::ItemFactors &factors, double *virial) const
{
  for_each_point(factors, [&](int /*row*/, double factor, std::size_t index) {
    for (int c = 0; c < 6; ++c) virial[c] += factor * virials[6 * index + c];
  });
}

void CoordPoints::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  for_each_point(factors, [&](int row, double factor, std::size_t index) {
    for (int c = 0; c < 6 && row != NOT_HERE; ++c) vatom[row][c] += factor * virials[6 * index + c];
  });
}

double CoordPoints::memory_usage()
{
  return CoordVariable::memory_usage() +
      static_cast<double>(gpucoord::bytes_of(values, gradients, virials, ids));
}
