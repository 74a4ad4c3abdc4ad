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

#include "coord_members.h"

#include "gpucoord_atom_mass.h"
#include "gpucoord_box_edges.h"

#include "gpucoord/bytes_of.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "group.h"
#include "neighbor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>

using namespace LAMMPS_NS;

static constexpr int NOT_HERE = gpucoord::PointSelection::NOT_HERE;

/* ---------------------------------------------------------------------- */

CoordMembers::CoordMembers(LAMMPS *lmp, int narg, char **arg) :
    CoordVariable(lmp, narg, arg), unwrap(gpucoord::Unwrap::IMAGE), box{}, members_version(0),
    counts(false), is_defined(false), last_build(-1, -1), warned_extent(false)
{
}

void CoordMembers::set_points(std::vector<Point> points_in, gpucoord::Unwrap unwrap_in)
{
  points = std::move(points_in);
  unwrap = unwrap_in;
  references.resize(3 * points.size());
  set_outputs_of_values(size());
}

void CoordMembers::init()
{
  const bool has_ids = std::any_of(points.begin(), points.end(), [](const Point &point) {
    return point.id > 0;
  });
  if (!atom->tag_enable || (has_ids && atom->map_style == Atom::MAP_NONE))
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: the atoms are found by their IDs - use atom_modify map array or hash, and leave "
        "out atom_modify id no",
        name);
  groupbits.clear();
  std::string sizes;    // of the groups, unless they change in a run
  for (const Point &point : points) {
    const int which = point.group.empty() ? -1 : group->find(point.group);
    if (which < 0 && !point.group.empty())
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: group {} no longer exists - keep it while the compute uses it", name,
                 point.group);
    groupbits.push_back(which < 0 ? 0 : group->bitmask[which]);
    if (which >= 0 && !group->dynamic[which])
      sizes += fmt::format(" {} {}", point.group, group->count(which));
  }
  CoordVariable::init();
  last_build = {-1, -1};                                // Neighbor's counts restart in each run
  if (seen.nsingular == 0) seen.first_singular = -1;    // else it is another frame of a rerun
  seen.first_far = -1;
  warned_extent = false;
  print_once(fmt::format("{}: {}, {}\n", name, description(), data_path()), sizes);
}

// Evaluates S if it must be printed; see ComputeCoordPair::setup().
void CoordMembers::setup()
{
  const bool has_atoms = kokkosable || !lmp->kokkos;
  if (!must_print_value || !has_atoms) return;
  begin_setup();
  evaluate_now(gpucoord::VALUE);
  end_setup();
}

void CoordMembers::end_setup()
{
  CoordVariable::end_setup();
  last_build = {-1, -1};
}

void CoordMembers::end_run()
{
  if (seen.nsingular > 0 && comm->me == 0)
    utils::logmesg(lmp, "{}: singular evaluations of values in this run: {} - {}\n", name,
                   seen.nsingular, way_out_of_singular(seen.first_singular));
  seen.nsingular = 0;
}

std::string CoordMembers::dynamic_group() const
{
  for (const Point &point : points) {
    const int which = point.group.empty() ? -1 : group->find(point.group);
    if (which >= 0 && group->dynamic[which]) return point.group;
  }
  return "";
}

int CoordMembers::groups() const
{
  int bits = 0;
  for (const int bit : groupbits) bits |= bit ? bit : group->bitmask[0];
  return bits;
}

/* ----------------------------------------------------------------------
   members
------------------------------------------------------------------------- */

// Rows change when LAMMPS builds its neighbor lists. Commands between runs may change IDs and
// groups, and timesteps the members of a dynamic group.
void CoordMembers::start(bool is_for_forces)
{
  state = State::STARTED;
  counts = is_for_forces;
  failed.clear();
  sums_again.clear();
  box.box = current_box(lmp, name);
  get_box_edges(domain, box.edges);
  for (int c = 0; c < 3; ++c) {
    box.fixed[c] = 0.5 * (domain->boxlo[c] + domain->boxhi[c]);
    box.fixed_in_shear[c] = domain->boxlo[c];
  }
  const auto build = std::make_pair(neighbor->ncalls, neighbor->lastcall);
  const bool is_first = last_build.first < 0;
  if (is_for_forces && !is_first && dynamic_group().empty() &&
      (build == last_build || !needs_members()))
    return;
  find_members();
  last_build = build;
}

int CoordMembers::row_of(const Point &point) const
{
  const tagint id = point.id;
  const int row = id > 0 && id <= atom->map_tag_max ? atom->map(id) : NOT_HERE;
  return row < atom->nlocal ? row : NOT_HERE;
}

void CoordMembers::list_members()
{
  members.clear();
  const auto add = [this](int row, std::size_t point) {
    members.push_back({row, static_cast<int>(point)});
  };
  for (std::size_t p = 0; p < points.size(); ++p) {
    const int row = row_of(points[p]);
    if (row != NOT_HERE) add(row, p);
  }
  const int nlocal = atom->nlocal;
  for (std::size_t p = 0; p < points.size(); ++p)
    for (int i = 0; i < nlocal && groupbits[p]; ++i)
      if (atom->mask[i] & groupbits[p]) add(i, p);
}

// Collective. The reference of a point is its member with the smallest ID.
void CoordMembers::find_members()
{
  atoms_to_host(true);
  list_members();
  ++members_version;
  problem.clear();

  const std::size_t npoints = points.size();
  std::vector<tagint> first(npoints, MAXTAGINT), first_of_all(npoints);
  for (const auto &member : members)
    first[member.point] = MIN(first[member.point], atom->tag[member.row]);
  MPI_Allreduce(first.data(), first_of_all.data(), static_cast<int>(npoints), MPI_LMP_TAGINT,
                MPI_MIN, world);

  // [npoints][4] position of the first member, and number of members
  std::vector<double> mine(4 * npoints, 0.0), all(4 * npoints);
  tagint at_limit = 0, any_at_limit;
  for (const auto &member : members) {
    double *const of_point = &mine[4 * static_cast<std::size_t>(member.point)];
    of_point[3] += 1.0;
    const imageint image = atom->image[member.row];
    for (const int bits : {0, IMGBITS, IMG2BITS}) {
      const int flag = static_cast<int>((image >> bits) & IMGMASK) - IMGMAX;
      if (flag >= IMGMAX - 1 || flag <= -IMGMAX) at_limit = atom->tag[member.row];
    }
    if (atom->tag[member.row] != first_of_all[member.point]) continue;
    const double *const x = atom->x[member.row];
    if (unwrap == gpucoord::Unwrap::IMAGE)
      domain->unmap(x, image, of_point);
    else
      std::copy_n(x, 3, of_point);
  }
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, world);
  MPI_Allreduce(&at_limit, &any_at_limit, 1, MPI_LMP_TAGINT, MPI_MAX, world);
  for (std::size_t p = 0; p < npoints; ++p) {
    std::copy_n(&all[4 * p], 3, &references[3 * p]);
    const double n = all[4 * p + 3];
    if (!problem.empty()) continue;
    if (n == 0.0)
      problem = points[p].id
          ? fmt::format("atom {} does not exist - use IDs of atoms", points[p].id)
          : fmt::format("group {} has no atoms - use a group with atoms", points[p].group);
    else if (n > 1.0 && points[p].id)
      problem = fmt::format("{:.0f} atoms have the ID {} - use unique IDs", n, points[p].id);
  }
  if (problem.empty() && any_at_limit && unwrap == gpucoord::Unwrap::IMAGE)
    problem = fmt::format(
        "an image flag of atom ID {} has reached its limit, {} to {} - use reset_atoms image "
        "between runs, {}or a LAMMPS with LAMMPS_SIZES=bigbig",
        any_at_limit, -IMGMAX, IMGMAX - 1, is_part ? "" : "unwrap nearest, ");
  if (problem.empty()) problem = set_own_references();
  if (problem.empty()) check_extent();
}

// Returns the part of a vector along the periodic directions.
static std::array<double, 3> in_lattice(const gpucoord::Box &box, const double *d)
{
  std::array<double, 3> part = {};
  for (int k = 0; k < box.nperiodic; ++k) {
    const double *const dual = box.dual[k];
    const double along = d[0] * dual[0] + d[1] * dual[1] + d[2] * dual[2];
    for (int c = 0; c < 3; ++c) part[c] += along * box.lattice[k][c];
  }
  return part;
}

// Collective. Members of a group must be within half the box of the first one if they are joined as
// nearest images. Warns if nearest images would make a group that is wider than half the box
// narrower: it may be as wide, or image flags may be missing.
void CoordMembers::check_extent()
{
  const double half = gpucoord::first_ambiguous_range(box.box);
  // [points][2] largest distance of a member from the reference along periodic directions, as
  // nearest image and by image flags
  std::vector<double> mine(2 * points.size(), 0.0), all(mine.size());
  for (const auto &member : members) {
    const auto p = static_cast<std::size_t>(member.point);
    const double *const x = atom->x[member.row];
    double d[3], unwrapped[3];
    domain->unmap(x, atom->image[member.row], unwrapped);
    for (int c = 0; c < 3; ++c) {
      d[c] = x[c] - references[3 * p + c];
      unwrapped[c] -= references[3 * p + c];
    }
    const auto by_image = in_lattice(box.box, d), by_flags = in_lattice(box.box, unwrapped);
    const double distance = gpucoord::nearest_image_distance(box.box, by_image.data());
    mine[2 * p] = MAX(mine[2 * p], distance);
    mine[2 * p + 1] = MAX(mine[2 * p + 1], std::hypot(by_flags[0], by_flags[1], by_flags[2]));
  }
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX, world);
  for (std::size_t p = 0; p < points.size(); ++p) {
    const double nearest = all[2 * p], by_flags = all[2 * p + 1];
    if (unwrap == gpucoord::Unwrap::NEAREST && nearest >= half) {
      problem = fmt::format(
          "an atom of group {} is {:.6g} away from the atom with the smallest ID along periodic "
          "directions, but unwrap nearest needs < {:.6g}, half of the shortest box vector - use "
          "unwrap image",
          points[p].group, nearest, half);
      return;
    }
    const bool has_flags = unwrap == gpucoord::Unwrap::NEAREST || !(by_flags >= half);
    if (has_flags || nearest >= half || warned_extent || is_in_setup) continue;
    warned_extent = true;
    if (comm->me == 0)
      error->warning(
          FLERR,
          "{}: by image flags, an atom of group {} is {:.6g} away from the atom with "
          "the smallest ID, and as nearest image {:.6g} at most - if the group is not that "
          "wide, image flags are missing in the data or dump file: {}; if it is, such as a "
          "long chain, all is right",
          name, points[p].group, by_flags, nearest,
          is_part ? "set them by set image" : "use unwrap nearest");
  }
}

gpucoord::GeometryAtoms CoordMembers::member_atoms() const
{
  gpucoord::GeometryAtoms atoms;
  atoms.x = atom->nmax ? &atom->x[0][0] : nullptr;
  atoms.image = {atom->image, IMGBITS};
  atoms.member = members.data();
  atoms.n = members.size();
  return atoms;
}

/* ----------------------------------------------------------------------
   evaluation
------------------------------------------------------------------------- */

void CoordMembers::set_weights()
{
  for (auto &member : members)
    if (points[member.point].by_mass) member.weight = mass_of(atom, member.row);
}

// Masses may change in a run.
std::string CoordMembers::sum_members(double *sums)
{
  atoms_to_host(false);
  set_weights();
  function().sum(box, member_atoms(), references.data(), sums);
  return "";
}

void CoordMembers::get_local_sums(double *local_sums)
{
  VariableHeader mine;
  std::fill_n(local_sums, nsums(wanted), 0.0);
  if (failed.empty()) failed = sum_members(local_sums + NHEADER);
  mine.has_failed = failed.empty() ? 0.0 : 1.0;
  mine.has_bad_atom = std::all_of(local_sums + NHEADER, local_sums + nsums(wanted),
                                  [](double number) {
                                    return std::isfinite(number);
                                  })
      ? 0.0
      : 1.0;
  set_header(mine, local_sums);
}

// Collective.
std::string CoordMembers::text_of_bad_atom() const
{
  tagint mine = 0, any;
  for (const auto &member : members) {
    const double *const x = atom->x[member.row];
    if (!std::isfinite(x[0] + x[1] + x[2])) mine = MAX(mine, atom->tag[member.row]);
  }
  MPI_Allreduce(&mine, &any, 1, MPI_LMP_TAGINT, MPI_MAX, world);
  return any > 0 ? fmt::format("the position of atom ID {}", any) : "a sum of positions";
}

void CoordMembers::finish(const double *sums)
{
  const bool has_bad_atom = header_of(sums).has_bad_atom > 0.0;
  if (!is_in_setup && has_bad_atom) find_members();    // looks for a problem
  if (!is_in_setup && !problem.empty())
    error->all(FLERR, Error::NOLASTLINE, "{}: {}", name, problem);
  if (!is_in_setup && has_bad_atom)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: {} is not a finite number - the simulation is unstable, or positions were set "
               "wrongly",
               name, text_of_bad_atom());
  is_defined = problem.empty() && !has_bad_atom;
  if (is_defined) {
    try {
      const auto flags = evaluate(sums + NHEADER);
      if (counts) seen.nsingular += flags.nsingular;
      if (!is_in_setup) warn_of(flags);
    } catch (const std::invalid_argument &e) {
      find_members();
      error->all(FLERR, Error::NOLASTLINE, "{}: {}", name, problem.empty() ? e.what() : problem);
    }
    double virial[6] = {}, sum = 0.0;
    for (int k = 0; k < size(); ++k) {
      gpucoord::ItemFactors one;
      one.item = &k;
      function().add_virial(one, virial);
      sum += value(k);
    }
    for (const double one : virial) sum += one;
    if (!is_in_setup && !std::isfinite(sum))
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: S or a derivative is not a finite number, although all positions are - use "
                 "atoms at positions where both are defined",
                 name);
  }
  state = State::HOST;
  if (!must_print_value) return;
  must_print_value = false;
  std::string mesg = fmt::format("{}: S", name);
  constexpr int MANY = 10;
  for (int k = 0; k < MIN(size(), MANY); ++k) mesg += fmt::format(" {:.6g}", value(k));
  if (size() > MANY) mesg += fmt::format(" and {} more", size() - MANY);
  if (comm->me == 0) utils::logmesg(lmp, mesg + "\n");
}

// Collective.
gpucoord::GeometryFlags CoordMembers::evaluate(const double *sums)
{
  const auto flags = function().evaluate(box, sums, references.data());
  const int n = function().nsums_again();
  sums_again.resize(n);
  if (n == 0) return flags;
  std::vector<double> mine(n);
  sum_members_again(sums, mine.data());
  MPI_Allreduce(mine.data(), sums_again.data(), n, MPI_DOUBLE, MPI_SUM, world);
  return function().evaluate_again(sums_again.data());
}

void CoordMembers::sum_members_again(const double * /*sums*/, double *again)
{
  function().sum_again(member_atoms(), again);
}

void CoordMembers::warn_of(const gpucoord::GeometryFlags &flags)
{
  const int singular = flags.first_singular, far = flags.first_far;
  if (singular >= 0 && seen.first_singular < 0) {
    seen.first_singular = singular;
    if (comm->me == 0)
      error->warning(FLERR, "{}: {} - {}", name, text_of_singular(singular),
                     way_out_of_singular(singular));
  }
  if (far >= 0 && seen.first_far < 0) {
    seen.first_far = far;
    if (comm->me == 0) error->warning(FLERR, "{}: {}", name, text_of_far(far));
  }
}

/* ---------------------------------------------------------------------- */

void CoordMembers::add_forces(const gpucoord::ItemFactors &factors)
{
  gpucoord::ItemFactors minus = factors;
  minus.host = -factors.host;
  add_gradients(minus, atom->f, 0);
}

void CoordMembers::add_gradients(const gpucoord::ItemFactors &factors, double **array,
                                 int first_column) const
{
  if (members.empty()) return;
  const auto stride = static_cast<int>(atom->nmax > 1 ? array[1] - array[0] : 3);
  function().add_gradients(factors, member_atoms(), array[0] + first_column, stride);
}

void CoordMembers::add_virial(const gpucoord::ItemFactors &factors, double *virial) const
{
  function().add_virial(factors, virial);
}

void CoordMembers::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  if (!members.empty()) function().add_atom_virial(factors, member_atoms(), vatom[0], 6);
}

double CoordMembers::memory_usage()
{
  return CoordVariable::memory_usage() +
      static_cast<double>(gpucoord::bytes_of(members, references, groupbits, sums_again) +
                          function().bytes());
}
