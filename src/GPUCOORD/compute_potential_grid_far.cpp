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

// The far field of compute potential/grid: its contributions at grid points and at atoms, without
// the charges that a point or an atom excludes.

#include "compute_potential_grid.h"

#include "potential_arguments.h"
#include "potential_far.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

using namespace LAMMPS_NS;

// Relative to the sum of magnitudes of charges. A smaller net charge is due to rounded charges of
// the user.
static constexpr double NEUTRAL = 1e-6;

/* ---------------------------------------------------------------------- */

void ComputePotentialGrid::begin_far(const Sums &sums)
{
  is_empty = sums.charged == 0.0;    // possible with a dynamic group
  if (is_empty) return;
  try {
    if (potential_far->prepare(sums.q_sq, sums.q) || !is_set_up) {
      check_memory();
      settings->map.alpha = potential_far->alpha();
      set_up();
    }
  } catch (const std::invalid_argument &e) {
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: far fft {}: {} - use a larger tolerance or cutoff", id,
               settings->far_tolerance, e.what());
  }
  if (std::fabs(sums.q) > NEUTRAL * sums.size && !has_warned && comm->me == 0)
    error->warning(FLERR,
                   "Compute potential/grid {}: charges of group {} add up to {:.6g}: its periodic "
                   "potential includes a uniform background that neutralizes them",
                   id, group->names[igroup], sums.q);
  has_warned = has_warned || std::fabs(sums.q) > NEUTRAL * sums.size;
}

/* ----------------------------------------------------------------------
   LAMMPS' FFTs are collective. Therefore this path needs no collective error check.
------------------------------------------------------------------------- */

void ComputePotentialGrid::run_far(const std::function<void()> &run)
{
  if (potential_far->is_on_gpu())
    run_backend(run);
  else
    run();
}

void ComputePotentialGrid::add_far(const gpucoord::MapCharges &charges)
{
  std::vector<double> far_field(field.size());
  run_far([&] {
    potential_far->on_grid(charges, far.data(), settings->field, far_field.data());
  });
  for (std::size_t k = 0; k < far_field.size(); ++k) field.data()[k] += far_field[k];
  for (std::size_t k = 0; k < far.size(); ++k) far.data()[k] += potential_far->background();
  if (settings->map.overlap == gpucoord::MapOverlap::SKIP) subtract_charges_on_points(charges);
  for (std::size_t k = 0; k < phi.size(); ++k) phi.data()[k] = near.data()[k] + far.data()[k];
}

/* ----------------------------------------------------------------------
   Subtracts the far field of charges that the near field excludes from the sum of a point.
------------------------------------------------------------------------- */

void ComputePotentialGrid::subtract_charges_on_points(const gpucoord::MapCharges &charges)
{
  const gpucoord::MapGrid points = brick();
  const double tiny_sq = settings->map.tiny * settings->map.tiny;
  for (int k = 0; k < charges.n; ++k) {
    double d[3];
    for (int c = 0; c < 3; ++c)
      d[c] = charges.x[3 * static_cast<std::size_t>(k) + c] - points.origin[c];
    std::size_t point = 0;
    bool is_here = true;
    for (int a = 2; a >= 0; --a) {    // step vector a has no component beyond axis a
      const double nearest = std::round(d[a] / points.step[a][a]);
      is_here = is_here && nearest >= 0.0 && nearest < points.n[a];
      if (!is_here) break;
      point = point * points.n[a] + static_cast<std::size_t>(nearest);
      for (int c = 0; c <= a; ++c) d[c] -= nearest * points.step[a][c];
    }
    if (is_here && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < tiny_sq)
      far.data()[point] -= charges.q[k] * potential_far->self_potential();
  }
}

/* ----------------------------------------------------------------------
   Points of this rank contribute to the owned and ghost atoms near them. Reverse communication adds
   the contributions of ghost atoms to their owners.
------------------------------------------------------------------------- */

void ComputePotentialGrid::add_far_at_atoms(const gpucoord::MapCharges &charges,
                                            std::vector<double> &at_atoms)
{
  const int nall = atom->nlocal + atom->nghost;
  at_all.resize(nall);
  run_far([&] {
    potential_far->at_positions(charges, atom->nmax ? &atom->x[0][0] : nullptr, nall,
                                at_all.data());
  });
  comm->reverse_comm(this);
  for (std::size_t k = 0; k < owned.size(); ++k)
    at_atoms[k] +=
        at_all[owned[k]] + potential_far->background() - q[k] * potential_far->self_potential();
  if (settings->map.overlap == gpucoord::MapOverlap::SKIP) subtract_coincident_charges(at_atoms);
}

/* ----------------------------------------------------------------------
   The near field of an atom excludes other atoms at the same position, such as shells on their
   cores. Subtracts their far field as well.
------------------------------------------------------------------------- */

void ComputePotentialGrid::subtract_coincident_charges(std::vector<double> &at_atoms) const
{
  std::vector<std::size_t> along_x(q.size());
  for (std::size_t k = 0; k < along_x.size(); ++k) along_x[k] = k;
  std::sort(along_x.begin(), along_x.end(), [this](std::size_t a, std::size_t b) {
    return x[3 * a] < x[3 * b];
  });
  const double tiny = settings->map.tiny;
  const auto subtract = [&](std::size_t from, std::size_t charge) {
    if (from < at_atoms.size()) at_atoms[from] -= q[charge] * potential_far->self_potential();
  };
  for (std::size_t i = 0; i < along_x.size(); ++i)
    for (std::size_t j = i + 1; j < along_x.size(); ++j) {
      const double *const a = &x[3 * along_x[i]], *const b = &x[3 * along_x[j]];
      if (b[0] - a[0] >= tiny) break;
      const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
      if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >= tiny * tiny) continue;
      subtract(along_x[i], along_x[j]);
      subtract(along_x[j], along_x[i]);
    }
}

int ComputePotentialGrid::pack_reverse_comm(int n, int first, double *buf)
{
  std::copy_n(at_all.begin() + first, n, buf);
  return n;
}

void ComputePotentialGrid::unpack_reverse_comm(int n, int *list, double *buf)
{
  for (int k = 0; k < n; ++k) at_all[list[k]] += buf[k];
}
