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

#include "coord_gather.h"

#include "atom.h"
#include "comm.h"
#include "error.h"

#include <algorithm>
#include <cmath>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

void CoordGather::gather()
{
  nowned = static_cast<int>(mine.size());
  counts.assign(comm->nprocs, 0);
  first.assign(comm->nprocs + 1, 0);
  if (comm->nprocs == 1) {
    atoms = mine;
    first_owned = 0;
    return;
  }
  MPI_Datatype type;
  MPI_Type_contiguous(sizeof(Atom), MPI_BYTE, &type);
  MPI_Type_commit(&type);

  MPI_Allgather(&nowned, 1, MPI_INT, counts.data(), 1, MPI_INT, world);
  bigint total = 0;
  for (int r = 0; r < comm->nprocs; ++r) {
    total += counts[r];
    if (total > MAXSMALLINT)
      error->all(
          FLERR, Error::NOLASTLINE,
          "{}: more than {} atoms to gather on every rank - use smaller groups, or engine cells",
          owner, MAXSMALLINT);
    first[r + 1] = static_cast<int>(total);
  }
  first_owned = first[comm->me];
  atoms.resize(first[comm->nprocs]);
  MPI_Allgatherv(mine.data(), nowned, type, atoms.data(), counts.data(), first.data(), type, world);
  MPI_Type_free(&type);
}

/* ---------------------------------------------------------------------- */

void CoordGather::gather_numbers(const double *row_numbers)
{
  std::vector<double> &local_numbers = numbers_out;
  local_numbers.clear();
  for (const Atom &one : mine) local_numbers.push_back(row_numbers[one.row]);
  numbers.resize(atoms.size());
  if (comm->nprocs == 1)
    numbers = local_numbers;
  else
    MPI_Allgatherv(local_numbers.data(), nowned, MPI_DOUBLE, numbers.data(), counts.data(),
                   first.data(), MPI_DOUBLE, world);
}

const std::vector<double> &CoordGather::numbers_of_group(const double *row_numbers)
{
  gather_numbers(row_numbers);
  numbers_out.clear();
  for (const std::int64_t k : a.id) numbers_out.push_back(numbers[k]);
  return numbers_out;
}

const std::vector<double> &CoordGather::numbers_of_pairs(const double *row_numbers)
{
  gather_numbers(row_numbers);
  numbers_out.clear();
  for (const int k : pairs.first) numbers_out.push_back(numbers[k]);
  return numbers_out;
}

/* ---------------------------------------------------------------------- */

void CoordGather::groups(int groupbit, int groupbit2)
{
  mine.clear();
  for (int i = 0; i < atom->nlocal; ++i) {
    const int member = (atom->mask[i] & groupbit ? 1 : 0) | (atom->mask[i] & groupbit2 ? 2 : 0);
    if (!member) continue;
    const double *const x = atom->x[i];
    mine.push_back(
        {{x[0], x[1], x[2]}, atom->tag_enable ? atom->tag[i] : 0, member, i, atom->type[i]});
  }
  gather();

  two = groupbit2 != 0;
  for (int side = 0; side < 2; ++side) {
    GatheredGroup &g = side ? b : a;
    g.clear();
    for (int k = 0; k < static_cast<int>(atoms.size()); ++k) {
      if (!(atoms[k].member & (side ? 2 : 1))) continue;
      if (k < first_owned) ++g.first_owned;
      if (k >= first_owned && k < first_owned + nowned) g.row.push_back(atoms[k].row);
      g.x.insert(g.x.end(), atoms[k].x, atoms[k].x + 3);
      g.id.push_back(k);
      g.type.push_back(atoms[k].type);
    }
  }
}

/* ---------------------------------------------------------------------- */

void CoordGather::ids(const std::vector<tagint> &sorted_ids)
{
  mine.clear();
  for (int i = 0; i < atom->nlocal; ++i) {
    if (!std::binary_search(sorted_ids.begin(), sorted_ids.end(), atom->tag[i])) continue;
    const double *const x = atom->x[i];
    mine.push_back({{x[0], x[1], x[2]}, atom->tag[i], atom->mask[i], i, atom->type[i]});
  }
  gather();
}

/* ---------------------------------------------------------------------- */

void GatheredGroup::clear()
{
  x.clear();
  id.clear();
  row.clear();
  type.clear();
  first_owned = 0;
}

gpucoord::AllPairsInput::Group GatheredGroup::view() const
{
  gpucoord::AllPairsInput::Group g;
  g.x = x.data();
  g.n = static_cast<std::int64_t>(id.size());
  g.first_owned = first_owned;
  g.nowned = static_cast<std::int64_t>(row.size());
  g.id = id.data();
  g.row = row.data();
  g.type = type.data();
  return g;
}

bigint CoordGather::bad_atom() const
{
  for (const auto &one : atoms)
    if (!std::isfinite(one.x[0]) || !std::isfinite(one.x[1]) || !std::isfinite(one.x[2]))
      return atom->tag_enable ? one.tag : -1;
  return 0;
}

gpucoord::AllPairsInput CoordGather::allpairs(const gpucoord::Box &box) const
{
  gpucoord::AllPairsInput in;
  in.box = box;
  in.a = a.view();
  if (two) {
    static const double nothing[3] = {0.0, 0.0, 0.0};
    in.b = b.view();
    if (!in.b.x) in.b.x = nothing;    // an empty second group differs from no second group
  }
  return in;
}

/* ---------------------------------------------------------------------- */

void GatheredPairs::clear()
{
  xa.clear();
  xb.clear();
  for (auto *const column : {&first, &row_a, &row_b, &type_a, &type_b}) column->clear();
}

gpucoord::PairsInput GatheredPairs::view(const gpucoord::Box &box) const
{
  gpucoord::PairsInput in;
  in.box = box;
  in.n = static_cast<std::int64_t>(row_a.size());
  in.xa = xa.data();
  in.xb = xb.data();
  in.row_a = row_a.data();
  in.row_b = row_b.data();
  in.type_a = type_a.data();
  in.type_b = type_b.data();
  return in;
}

gpucoord::PairsInput CoordGather::make_pairs(const gpucoord::Box &box,
                                             const std::vector<std::pair<int, int>> &index_pairs)
{
  pairs.clear();
  const auto is_mine = [this](int k) {
    return k >= first_owned && k < first_owned + nowned;
  };
  for (const auto &[ia, ib] : index_pairs) {
    if (!is_mine(ia) && !is_mine(ib)) continue;
    pairs.xa.insert(pairs.xa.end(), atoms[ia].x, atoms[ia].x + 3);
    pairs.xb.insert(pairs.xb.end(), atoms[ib].x, atoms[ib].x + 3);
    pairs.first.push_back(ia);
    pairs.row_a.push_back(is_mine(ia) ? atoms[ia].row : -1);
    pairs.row_b.push_back(is_mine(ib) ? atoms[ib].row : -1);
    pairs.type_a.push_back(atoms[ia].type);
    pairs.type_b.push_back(atoms[ib].type);
  }
  return pairs.view(box);
}

gpucoord::PairsInput CoordGather::pairs_of_groups(const gpucoord::Box &box)
{
  std::vector<int> side[2];
  for (int k = 0; k < static_cast<int>(atoms.size()); ++k)
    for (int s = 0; s < 2; ++s)
      if (atoms[k].member & (1 << s)) side[s].push_back(k);
  if (side[0].size() != side[1].size())
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: pairs needs two groups of the same size, but the first has {} atoms and the second "
        "{} - change the groups, or use group2 for every pair of them",
        owner, side[0].size(), side[1].size());
  const auto by_tag = [this](int k, int l) {
    return atoms[k].tag < atoms[l].tag;
  };
  for (auto &members : side) std::sort(members.begin(), members.end(), by_tag);

  std::vector<std::pair<int, int>> index_pairs;
  for (std::size_t k = 0; k < side[0].size(); ++k) {
    if (side[0][k] == side[1][k])
      error->all(
          FLERR, Error::NOLASTLINE,
          "{}: atom ID {} would pair with itself, being number {} by ID in both groups of pairs - "
          "change the groups",
          owner, atoms[side[0][k]].tag, k + 1);
    index_pairs.emplace_back(side[0][k], side[1][k]);
  }
  return make_pairs(box, index_pairs);
}

gpucoord::PairsInput
CoordGather::pairs_of_ids(const gpucoord::Box &box,
                          const std::vector<std::pair<tagint, tagint>> &id_pairs, int groupbit,
                          const char *group_name)
{
  std::vector<int> by_tag(atoms.size());
  for (std::size_t k = 0; k < by_tag.size(); ++k) by_tag[k] = static_cast<int>(k);
  std::sort(by_tag.begin(), by_tag.end(), [this](int k, int l) {
    return atoms[k].tag < atoms[l].tag;
  });
  const auto find = [this, &by_tag](tagint tag) {
    const auto found = std::lower_bound(by_tag.begin(), by_tag.end(), tag, [this](int k, tagint t) {
      return atoms[k].tag < t;
    });
    if (found == by_tag.end() || atoms[*found].tag != tag)
      error->all(
          FLERR, Error::NOLASTLINE,
          "{}: pairs/file names atom ID {}, which does not exist - correct the file, or keep that "
          "atom",
          owner, tag);
    return *found;
  };
  std::vector<std::pair<int, int>> index_pairs;
  for (const auto &[tag_a, tag_b] : id_pairs) {
    const int ia = find(tag_a);
    if (!(atoms[ia].member & groupbit))
      error->all(
          FLERR, Error::NOLASTLINE,
          "{}: atom ID {} is first in a pair of pairs/file but not in group {} - use a group that "
          "holds the first atoms of all pairs",
          owner, tag_a, group_name);
    index_pairs.emplace_back(ia, find(tag_b));
  }
  return make_pairs(box, index_pairs);
}

double CoordGather::memory_usage() const
{
  return static_cast<double>(
      gpucoord::bytes_of(mine, atoms, counts, first, numbers, numbers_out, a, b, pairs));
}
