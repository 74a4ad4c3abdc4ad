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

// The grid is a LAMMPS Grid3d with its default rule: a rank has the points whose cell centers are
// in its part of the box. The grids of fix ave/grid and dump grid then have the same points on each
// rank. With align corner, a point itself may be outside the rank's part by half a cell.

#include "compute_potential_grid.h"

#include "gpucoord_backend.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_lammps_compat.h"
#include "potential_arguments.h"
#include "potential_far.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "grid3d.h"
#include "group.h"
#include "memory.h"
#include "neighbor.h"
#include "pair.h"
#include "region.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

using namespace LAMMPS_NS;

// Indices of the data that other commands can request. There is one grid.
enum { PHI, FIELD, NEAR, FAR };

/* ---------------------------------------------------------------------- */

ComputePotentialGrid::ComputePotentialGrid(LAMMPS *lmp, int narg, char **arg) :
    Compute(lmp, narg, arg), is_fetched(true), evaluated_at(-1), is_set_up(false),
    has_warned(false), has_warned_of_overflow(false), is_empty(false), listener(nullptr),
    reference_value(0.0), nmax(0), first_owned(0)
{
  settings = std::make_unique<PotentialArguments>(lmp, narg, arg);
  if (!atom->q_flag)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Compute potential/grid needs charges, but atom_style {} has none - use atom_style "
               "charge or full",
               atom->get_style());
  if (domain->dimension != 3)
    error->all(
        FLERR, LammpsCompat::WHOLE_COMMAND,
        "Compute potential/grid is for three dimensions - use dimension 3 with one thick layer");
  for (int k = 3; k < narg; ++k)
    if ((settings->is_direct() && std::string(arg[k]) == "direct") ||
        (settings->has_far() && k == settings->far_position))
      check_box(k);
  settings->map.tiny = coincidence_tolerance();
  check_distances(true);
  backend = std::make_unique<MapBackend>(lmp, settings->device, "Compute potential/grid",
                                         settings->device_position);

  pergrid_flag = 1;
  peratom_flag = 1;
  size_peratom_cols = 0;
  if (!settings->is_direct()) comm_forward = 2;
  if (settings->has_far()) {
    comm_reverse = 1;
    try {
      potential_far =
          std::make_unique<PotentialFar>(lmp, *backend, settings->map.cutoff, settings->far_error(),
                                         settings->n, settings->at_corners);
    } catch (const std::runtime_error &e) {
      error->all(FLERR, settings->far_position, "Compute potential/grid {}", e.what());
    }
  }
  allocate_grid();
}

ComputePotentialGrid::~ComputePotentialGrid()
{
  if (listener) listener->compute_deleted();
  memory->destroy(vector_atom);
}

/* ---------------------------------------------------------------------- */

void ComputePotentialGrid::init()
{
  const std::string why = settings->why_not_in(settings->units);
  if (!why.empty()) error->all(FLERR, Error::NOLASTLINE, "Compute potential/grid {}: {}", id, why);
  check_box(Error::NOLASTLINE);
  if (!settings->is_direct()) {
    // Neighbor and Comm set their cutoffs after init() of the computes.
    double cutghost = comm->cutghostuser;
    if (force->pair) cutghost = MAX(cutghost, force->pair->cutforce + neighbor->skin);
    check_ghost_shell(cutghost);
  }
  settings->map.tiny = coincidence_tolerance();
  check_distances(false);
  evaluated_at = -1;    // a run may begin at the last timestep of the previous run
  if (!settings->reference.empty()) reference_region();
  is_set_up = has_warned_of_overflow = false;
  if (!potential_far) set_up();
}

/* ----------------------------------------------------------------------
   Makes the backend after all options are known. Collective.
------------------------------------------------------------------------- */

void ComputePotentialGrid::set_up()
{
  backend->reset();
  backend->init(settings->map, settings->precision, settings->bins,
                fmt::format("Compute potential/grid {}", id));
  if (comm->me == 0) print_setup();
  is_set_up = true;
}

/* ----------------------------------------------------------------------
   Returns the distance between opposite faces of the box.
------------------------------------------------------------------------- */

double ComputePotentialGrid::height_of_box(int axis) const
{
  gpucoord::FarBox box;
  get_box_edges(domain, box.edge);
  return box.height(axis);
}

/* ----------------------------------------------------------------------
   Returns the largest distance of a point of any rank from the rank's part of the box.
------------------------------------------------------------------------- */

double ComputePotentialGrid::protrusion() const
{
  double maximum = 0.0;
  for (int c = 0; c < 3; ++c) maximum = MAX(maximum, outside[c] * height_of_box(c));
  return maximum;
}

/* ----------------------------------------------------------------------
   Prints the setup. Prints it again only if something other than alpha has changed; alpha follows
   from the box and the charges.
------------------------------------------------------------------------- */

void ComputePotentialGrid::print_setup()
{
  const std::string range =
      settings->is_direct() ? "" : fmt::format(", cutoff {:.10g}", settings->map.cutoff);
  // Both are the same on a GPU.
  const bool is_mixed = settings->precision == gpucoord::Precision::SINGLE && backend->is_cuda();
  const std::string mesg = fmt::format(
      "Compute potential/grid {}: {}, precision {}, kernel {}{}, overlap {}, {}\n"
      "  {} x {} x {} points at {} of cells, units {}{}\n",
      id, backend->description(),
      is_mixed ? "mixed" : Parse::name_of(settings->precision, Parse::PRECISIONS),
      settings->kernel_name(), range, settings->overlap_in_words() + settings->bins_in_words(),
      data_path(), settings->n[0], settings->n[1], settings->n[2],
      settings->at_corners ? "corners" : "centers", settings->units_in_words(),
      settings->field ? ", with field" : "");
  const std::string mesh = mesh_in_words(),
                    far_field = potential_far
      ? fmt::format("  reciprocal-space part by {} of {}, alpha {:.6g}, tolerance {:.6g}\n",
                    potential_far->is_on_gpu() ? "cuFFT on the GPU" : "LAMMPS' Fourier transforms",
                    mesh, potential_far->alpha(), settings->far_tolerance)
      : "";
  if (mesg + mesh == printed) return;
  utils::logmesg(lmp, mesg + far_field);
  printed = mesg + mesh;
  const int *const n = settings->n;
  const auto &tile = gpucoord::MAP_TILE_OF_GPU;
  if (backend->is_cuda() && (n[0] < tile[0] || n[1] < tile[1] || n[2] < tile[2]))
    error->warning(FLERR,
                   "Compute potential/grid {}: a grid of {} x {} x {} points is smaller than a "
                   "tile of the GPU, {} x {} x {} points: {:.0f} % of its work is for points "
                   "outside the grid - device host may be faster",
                   id, n[0], n[1], n[2], tile[0], tile[1], tile[2],
                   100.0 * (1.0 - used_fraction_of_tiles()));
}

std::string ComputePotentialGrid::data_path() const
{
  return settings->is_direct() ? "atoms gathered over ranks" : "owned and ghost atoms";
}

/* ----------------------------------------------------------------------
   Returns the number of grid points over the number of points in a GPU's tiles that cover them.
------------------------------------------------------------------------- */

double ComputePotentialGrid::used_fraction_of_tiles() const
{
  double fraction = 1.0;
  for (int a = 0; a < 3; ++a) {
    const int n = settings->n[a], tile = gpucoord::MAP_TILE_OF_GPU[a];
    fraction *= n / (tile * std::ceil(static_cast<double>(n) / tile));
  }
  return fraction;
}

std::string ComputePotentialGrid::mesh_in_words() const
{
  if (!potential_far) return "";
  const int *const n = potential_far->mesh().n;
  return fmt::format("a mesh of {} x {} x {}", n[0], n[1], n[2]);
}

/* ----------------------------------------------------------------------
   Gets the bounds of this rank's part of the box, as fractions of the box edge.
------------------------------------------------------------------------- */

void ComputePotentialGrid::part_of_box(int axis, double &from, double &to) const
{
  const double *const split = axis == 0 ? comm->xsplit : axis == 1 ? comm->ysplit : comm->zsplit;
  const bool is_tiled = comm->layout == Comm::LAYOUT_TILED;
  from = is_tiled ? comm->mysplit[axis][0] : split[comm->myloc[axis]];
  to = is_tiled ? comm->mysplit[axis][1] : split[comm->myloc[axis] + 1];
}

/* ----------------------------------------------------------------------
   Collective.
------------------------------------------------------------------------- */

void ComputePotentialGrid::allocate_grid()
{
  const int *const n = settings->n;
  for (GridValues *const values : {&phi, &field, &near, &far}) values->clear();
  check_size();
  grid = std::make_unique<Grid3d>(lmp, world, n[0], n[1], n[2]);
  int ghost[6];
  grid->setup_grid(lo[0], hi[0], lo[1], hi[1], lo[2], hi[2], ghost[0], ghost[1], ghost[2], ghost[3],
                   ghost[4], ghost[5]);

  const double shift = settings->at_corners ? 0.0 : 0.5;
  double from[3], to[3], mine[3] = {0.0, 0.0, 0.0};
  for (int c = 0; c < 3; ++c) {
    part_of_box(c, from[c], to[c]);
    if (hi[c] < lo[c]) continue;
    constexpr double ROUNDING = 1e-12;
    const double maximum = MAX(from[c] - (lo[c] + shift) / n[c], (hi[c] + shift) / n[c] - to[c]);
    if (maximum > ROUNDING) mine[c] = maximum;
  }
  MPI_Allreduce(mine, outside, 3, MPI_DOUBLE, MPI_MAX, world);

  if (potential_far) potential_far->set_points(lo, hi, from, to);
  check_memory();
  try {
    phi.create(lo, hi, 0);
    if (settings->field) field.create(lo, hi, 3);
    if (potential_far) {
      near.create(lo, hi, 0);
      far.create(lo, hi, 0);
    }
  } catch (const std::bad_alloc &) {
    error->one(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: out of memory on rank {} for its part of a grid of {} x "
               "{} x {} points - use a "
               "coarser grid or more ranks",
               id, comm->me, n[0], n[1], n[2]);
  }
}

/* ----------------------------------------------------------------------
   Load balancing has changed the ranks' parts of the box.
------------------------------------------------------------------------- */

void ComputePotentialGrid::reset_grid()
{
  if (listener) listener->before_new_grid();
  const std::unique_ptr<Grid3d> old_grid = std::move(grid);
  allocate_grid();
  evaluated_at = -1;
  if (listener) listener->after_new_grid(old_grid.get(), grid.get());
}

/* ---------------------------------------------------------------------- */

int ComputePotentialGrid::get_grid_by_name(const std::string &name, int &dim)
{
  dim = 3;
  return name == "grid" ? 0 : -1;
}

void *ComputePotentialGrid::get_grid_by_index(int index)
{
  return index == 0 ? grid.get() : nullptr;
}

int ComputePotentialGrid::get_griddata_by_name(int igrid, const std::string &name, int &ncol)
{
  if (igrid == 0 && name == "phi") {
    ncol = 0;
    return PHI;
  }
  if (igrid == 0 && name == "efield" && settings->field) {
    ncol = 3;
    return FIELD;
  }
  if (igrid == 0 && potential_far && (name == "near" || name == "far")) {
    ncol = 0;
    return name == "near" ? NEAR : FAR;
  }
  return -1;
}

/* ----------------------------------------------------------------------
   Fix ave/grid checks whether the compute was invoked, but does not clear that flag for the next
   timestep. Without this check of the timestep, it would average one map repeatedly. All commands
   that read a grid do so on all ranks.
------------------------------------------------------------------------- */

void *ComputePotentialGrid::get_griddata_by_index(int index)
{
  if (is_initialized() && evaluated_at != update->ntimestep) compute_pergrid();
  if (!is_fetched)
    run_backend([this] {
      fetch_from_gpu();
    });
  is_fetched = true;
  if (index == PHI) return phi.for_lammps();
  if (index == FIELD) return field.for_lammps();
  if (index == NEAR) return near.for_lammps();
  if (index == FAR) return far.for_lammps();
  return nullptr;
}

bool ComputePotentialGrid::is_at_corners() const
{
  return settings->at_corners;
}

/* ---------------------------------------------------------------------- */

void ComputePotentialGrid::begin_evaluation(bool on_gpu)
{
  if (!is_initialized())
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {} is used before a run has set it up - use run 0 first",
               id);
  if (!on_gpu) atoms_to_host();
  if (!settings->is_direct()) {
    check_ghost_shell(MAX(comm->cutghostuser, neighbor->cutneighmax));
    if (!on_gpu)
      refresh_ghosts();
    else if (domain->box_change)
      // As in refresh_ghosts(), the ghost atoms may belong to the old box.
      comm->forward_comm();
  }
  bigint bad;
  const Sums mine = on_gpu ? begin_on_gpu(bad) : select_charges(bad), sums = reduce_sums(mine, bad);
  if (settings->is_direct()) gather_charges();
  if (potential_far) begin_far(sums);
}

/* ----------------------------------------------------------------------
   Sums over all ranks. bad: ID of an atom whose position or charge is not finite; -1: the atom has
   no ID; 0: there is no such atom.
------------------------------------------------------------------------- */

ComputePotentialGrid::Sums ComputePotentialGrid::reduce_sums(const Sums &local_sums,
                                                             bigint bad) const
{
  Sums mine = local_sums, sums;
  mine.bad = bad ? 1.0 : 0.0;
  MPI_Allreduce(&mine, &sums, sizeof(Sums) / sizeof(double), MPI_DOUBLE, MPI_SUM, world);
  if (sums.bad > 0.0) {
    bigint any_bad;
    MPI_Allreduce(&bad, &any_bad, 1, MPI_LMP_BIGINT, MPI_MAX, world);
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: the position or the charge of {} is not a finite number "
               "- the simulation is unstable, or "
               "they were set wrongly",
               id, any_bad > 0 ? fmt::format("atom ID {}", any_bad) : std::string("an atom"));
  }
  // A dynamic group may be empty in some timesteps.
  if (sums.charged == 0.0 && !group->dynamic[igroup])
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: no atom of group {} has a charge - set charges, or use "
               "another group",
               id, group->names[igroup]);
  return sums;
}

/* ----------------------------------------------------------------------
   Selects the charges of the group, those of owned atoms first. Returns sums over the owned atoms.
   bad: see reduce_sums()
------------------------------------------------------------------------- */

ComputePotentialGrid::Sums ComputePotentialGrid::select_charges(bigint &bad)
{
  const int nlocal = atom->nlocal, nall = settings->is_direct() ? nlocal : nlocal + atom->nghost;
  Sums sums;
  bad = 0;
  x.clear();
  q.clear();
  owned.clear();
  first_owned = 0;
  for (int i = 0; i < nall; ++i) {
    if (!(atom->mask[i] & groupbit)) continue;
    const double *const xi = atom->x[i];
    if (!std::isfinite(xi[0] + xi[1] + xi[2]) || !std::isfinite(atom->q[i]))
      bad = atom->tag_enable ? atom->tag[i] : -1;
    x.insert(x.end(), xi, xi + 3);
    q.push_back(atom->q[i]);
    if (i < nlocal) {
      owned.push_back(i);
      if (atom->q[i] != 0.0) sums.charged += 1.0;
      sums.q += atom->q[i];
      sums.q_sq += atom->q[i] * atom->q[i];
      sums.size += std::fabs(atom->q[i]);
    }
  }
  return sums;
}

/* ----------------------------------------------------------------------
   Gathers the charges of all ranks, ordered by rank.
------------------------------------------------------------------------- */

void ComputePotentialGrid::gather_charges()
{
  if (comm->nprocs == 1) return;
  int mine = static_cast<int>(q.size());
  std::vector<int> counts(comm->nprocs), first(comm->nprocs + 1, 0);
  MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, world);
  bigint total = 0;
  for (int r = 0; r < comm->nprocs; ++r) {
    total += counts[r];
    if (total > MAXSMALLINT)
      error->all(FLERR, Error::NOLASTLINE,
                 "Compute potential/grid {}: kernel direct has more than {} atoms to gather on "
                 "every rank - use a smaller group, or a "
                 "kernel with a cutoff",
                 id, MAXSMALLINT);
    first[r + 1] = static_cast<int>(total);
  }
  first_owned = first[comm->me];
  MPI_Datatype position;
  MPI_Type_contiguous(3, MPI_DOUBLE, &position);
  MPI_Type_commit(&position);
  std::vector<double> all_x(3 * static_cast<std::size_t>(total)), all_q(total);
  MPI_Allgatherv(x.data(), mine, position, all_x.data(), counts.data(), first.data(), position,
                 world);
  MPI_Allgatherv(q.data(), mine, MPI_DOUBLE, all_q.data(), counts.data(), first.data(), MPI_DOUBLE,
                 world);
  MPI_Type_free(&position);
  x.swap(all_x);
  q.swap(all_q);
}

/* ----------------------------------------------------------------------
   Returns this rank's points in the current box.
------------------------------------------------------------------------- */

gpucoord::MapGrid ComputePotentialGrid::brick() const
{
  double edges[3][3];
  get_box_edges(domain, edges);
  const double shift = settings->at_corners ? 0.0 : 0.5;
  gpucoord::MapGrid points;
  for (int c = 0; c < 3; ++c) points.origin[c] = domain->boxlo[c];
  for (int a = 0; a < 3; ++a) {
    points.n[a] = MAX(0, hi[a] - lo[a] + 1);
    for (int c = 0; c < 3; ++c) {
      points.step[a][c] = edges[a][c] / settings->n[a];
      points.origin[c] += (lo[a] + shift) / settings->n[a] * edges[a][c];
    }
  }
  return points;
}

template <class Evaluate> void ComputePotentialGrid::evaluate(const Evaluate &evaluate_map)
{
  try {
    begin_evaluation(false);
    evaluate_map(gpucoord::MapCharges{x.data(), q.data(), static_cast<int>(q.size())});
  } catch (const std::bad_alloc &) {
    error->one(
        FLERR, Error::NOLASTLINE,
        "Compute potential/grid {}: out of memory on rank {} with {} charges - use more ranks{}",
        id, comm->me, q.size(),
        settings->is_direct() ? ""
            : potential_far   ? ", or a larger cutoff or tolerance"
                              : " or a smaller cutoff");
  }
}

/* ---------------------------------------------------------------------- */

void ComputePotentialGrid::run_backend(const std::function<void()> &run)
{
  std::string failure;
  const auto failed = [&](const std::string &what, const std::string &way_out) {
    const std::string charges = is_fetched ? fmt::format(" with {} charges", q.size()) : "";
    failure = fmt::format("Compute potential/grid {}: {} on rank {}{} - {}", id, what, comm->me,
                          charges, way_out);
  };
  try {
    run();
  } catch (const gpucoord::DeviceError &e) {
    failed(e.what(), "use device host, more GPUs or fewer ranks per GPU");
  } catch (const std::invalid_argument &e) {
    failure = fmt::format("Compute potential/grid {}: {}", id, e.what());
  } catch (const std::bad_alloc &) {
    failed("out of memory",
           fmt::format("use more ranks{}", settings->is_direct() ? "" : " or a smaller cutoff"));
  }
  int any;
  int mine = failure.empty() ? 0 : 1;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world);
  if (any) backend->stop(failure);
}

void ComputePotentialGrid::check_overflow(const gpucoord::MapOverflow &mine)
{
  constexpr double MAX_OVERFLOW = 0.05;
  double counts[2] = {mine.charges, mine.overflowing}, sums[2];
  int my_depth = mine.better_depth, better_depth;
  MPI_Allreduce(counts, sums, 2, MPI_DOUBLE, MPI_SUM, world);
  MPI_Allreduce(&my_depth, &better_depth, 1, MPI_INT, MPI_MAX, world);
  if (sums[1] <= MAX_OVERFLOW * sums[0] || has_warned_of_overflow) return;
  has_warned_of_overflow = true;
  if (comm->me == 0)
    error->warning(FLERR,
                   "Compute potential/grid {}: {:.2f} % of charges overflow bins of size {:.10g} "
                   "and depth {}, which takes time - use "
                   "bins fixed {:.10g} {}",
                   id, 100.0 * sums[1] / sums[0], settings->bins.size, settings->bins.depth,
                   settings->bins.size, better_depth);
}

/* ---------------------------------------------------------------------- */

void ComputePotentialGrid::compute_pergrid()
{
  invoked_pergrid = evaluated_at = update->ntimestep;
  is_fetched = !is_on_gpu();
  if (!is_fetched) {
    begin_evaluation(true);
    gpucoord::MapOverflow overflow;
    run_backend([&] {
      overflow = map_on_gpu();
    });
    if (settings->bins.are_fixed) check_overflow(overflow);
    return;
  }
  evaluate([this](const gpucoord::MapCharges &charges) {
    if (is_empty) {    // alpha may then be unknown
      for (GridValues *const values : {&phi, &field, &near, &far})
        std::fill_n(values->data(), values->size(), 0.0);
      return;
    }
    const bool has_field = settings->field && field.size() > 0;
    run_backend([&] {
      (*backend)->on_grid(
          brick(), charges,
          {potential_far ? near.data() : phi.data(), has_field ? field.data() : nullptr});
    });
    if (settings->bins.are_fixed) check_overflow((*backend)->overflow());
    if (potential_far) add_far(charges);
  });
  const double scale = settings->scale();
  for (GridValues *const values : {&phi, &field, &near, &far})
    for (std::size_t k = 0; k < values->size(); ++k) values->data()[k] *= scale;
  if (!settings->reference.empty()) set_reference();
}

Region *ComputePotentialGrid::reference_region() const
{
  Region *const region = domain->get_region_by_id(settings->reference);
  if (!region)
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: its reference region {} no longer exists", id,
               settings->reference);
  return region;
}

/* ----------------------------------------------------------------------
   A periodic potential is defined up to a constant. The reference region sets this constant.
------------------------------------------------------------------------- */

void ComputePotentialGrid::set_reference()
{
  Region *const region = reference_region();
  region->prematch();
  const gpucoord::MapGrid points = brick();
  double mine[2] = {0.0, 0.0}, all[2];    // sum and number of points
  std::size_t p = 0;
  for (int k = 0; k < points.n[2]; ++k)
    for (int j = 0; j < points.n[1]; ++j)
      for (int i = 0; i < points.n[0]; ++i, ++p) {
        double at[3];
        for (int c = 0; c < 3; ++c)
          at[c] = points.origin[c] + i * points.step[0][c] + j * points.step[1][c] +
              k * points.step[2][c];
        if (!region->match(at[0], at[1], at[2])) continue;
        mine[0] += phi.data()[p];
        mine[1] += 1.0;
      }
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, world);
  if (all[1] == 0.0)
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: no point of its grid is in its reference region {} - "
               "use a larger region or a finer grid",
               id, settings->reference);
  reference_value = all[0] / all[1];
  for (std::size_t k = 0; k < phi.size(); ++k) phi.data()[k] -= reference_value;
}

/* ----------------------------------------------------------------------
   Computes potentials at the atoms of the group. An atom's own charge is excluded.
------------------------------------------------------------------------- */

void ComputePotentialGrid::compute_peratom()
{
  invoked_peratom = update->ntimestep;
  // LAMMPS does not allocate a buffer for reverse communication from ghost atoms in this case.
  if (potential_far && !force->newton)
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: potentials at atoms with far fft need reverse "
               "communication, which LAMMPS lacks with newton off - use newton on{}",
               id, lmp->kokkos ? ", with KOKKOS on a GPU package kokkos newton on neigh half" : "");
  if (atom->nmax > nmax) {
    memory->destroy(vector_atom);
    nmax = atom->nmax;
    memory->create(vector_atom, nmax, "potential/grid:vector_atom");
  }
  if (!settings->reference.empty() && evaluated_at != update->ntimestep)
    compute_pergrid();    // the reference is a mean over the grid
  std::vector<double> at_atoms;
  evaluate([&](const gpucoord::MapCharges &charges) {
    const int n = static_cast<int>(owned.size());
    std::vector<int> self(n);
    for (int k = 0; k < n; ++k) self[k] = first_owned + k;
    at_atoms.assign(n, 0.0);
    if (is_empty) return;
    run_backend([&] {
      (*backend)->at_points({charges.x + 3 * static_cast<std::size_t>(first_owned), self.data(), n},
                            charges, {at_atoms.data(), nullptr});
    });
    if (potential_far) add_far_at_atoms(charges, at_atoms);
  });
  std::fill(vector_atom, vector_atom + atom->nlocal, 0.0);
  const double scale = settings->scale();
  for (std::size_t k = 0; k < owned.size(); ++k)
    vector_atom[owned[k]] = scale * at_atoms[k] - reference_value;
}

/* ---------------------------------------------------------------------- */

int ComputePotentialGrid::number_of_points() const
{
  return static_cast<int>(phi.size());
}

void ComputePotentialGrid::set_listener(Listener *listener_in)
{
  listener = listener_in;
  if (!listener) sum.clear();
}

void ComputePotentialGrid::set_sum(const std::vector<double> &from)
{
  sum = from;
}

void ComputePotentialGrid::add_to_sum()
{
  if (evaluated_at != update->ntimestep) compute_pergrid();
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += phi.data()[k];
}

std::vector<double> ComputePotentialGrid::get_sum()
{
  return sum;
}

/* ---------------------------------------------------------------------- */

double ComputePotentialGrid::memory_usage()
{
  return phi.bytes() + field.bytes() + near.bytes() + far.bytes() +
      (potential_far ? potential_far->memory_usage(settings->field) : 0.0) + backend->bytes() +
      static_cast<double>(nmax) * sizeof(double) +
      static_cast<double>(gpucoord::bytes_of(sum, at_all, is_sent, x, q, owned));
}
