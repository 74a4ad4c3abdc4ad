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

#include "geometry_arguments.h"

#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"
#include "gpucoord_parse.h"

#include "gpucoord/printable.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <sstream>

using namespace LAMMPS_NS;
using Kind = gpucoord::GeometryItem::Kind;
using gpucoord::Unwrap;
using Parse::choose;

static constexpr const char *COMMAND = "compute coord/geometry", *OWNER = "Compute coord/geometry";
static constexpr int ITEMS = 3;    // index of the first argument after the style

namespace {

struct Word {
  const char *name;
  Kind kind;
  int npoints;
  bool has_axis;
};
constexpr Word WORDS[] = {{"distance", Kind::DISTANCE, 2, false},
                          {"component", Kind::COMPONENT, 2, true},
                          {"position", Kind::POSITION, 1, true},
                          {"angle", Kind::ANGLE, 3, false},
                          {"dihedral", Kind::DIHEDRAL, 4, false}};

std::string joined(const std::vector<std::string> &words, std::size_t first, std::size_t end)
{
  std::string text = words[first];
  for (std::size_t k = first + 1; k < end; ++k) text += " " + words[k];
  return text;
}

}    // namespace

/* ----------------------------------------------------------------------
   compute ID all coord/geometry item [item ...] [keyword value ...]
------------------------------------------------------------------------- */

GeometryArguments::GeometryArguments(LAMMPS *lmp, int narg, char **arg) : Pointers(lmp)
{
  if (strcmp(arg[1], "all") != 0)
    error->all(FLERR, 1,
               "{} group must be all, not {}: the items name atoms and groups - use group all",
               OWNER, arg[1]);
  const std::vector<std::string> words(arg, arg + narg);
  const Fail fail = [this](std::size_t word, const std::string &text) {
    error->all(FLERR, static_cast<int>(word), "{}: {}", OWNER, text);
  };
  bool by_mass = true;
  int scale_position = 0;
  for (int iarg = ITEMS; iarg < narg;) {
    const std::string &word = words[iarg];
    auto k = static_cast<std::size_t>(iarg);
    if (read_item(words, k, fail)) {
      iarg = static_cast<int>(k);
      continue;
    }
    if (word == "file") {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, fmt::format("{} file", COMMAND), error);
      read_file(iarg + 1, arg[iarg + 1]);
    } else if (word == "center") {
      by_mass = choose<bool>(fmt::format("{} center", COMMAND), iarg, narg, arg,
                             {{"mass", true}, {"geometry", false}}, input, error);
    } else if (word == "unwrap") {
      options.unwrap =
          choose<Unwrap>(fmt::format("{} unwrap", COMMAND), iarg, narg, arg,
                         {{"image", Unwrap::IMAGE}, {"nearest", Unwrap::NEAREST}}, input, error);
    } else if (word == "image") {
      options.nearest = choose<bool>(fmt::format("{} image", COMMAND), iarg, narg, arg,
                                     {{"nearest", true}, {"none", false}}, input, error);
    } else if (word == "output") {
      options.sincos = choose<bool>(fmt::format("{} output", COMMAND), iarg, narg, arg,
                                    {{"angle", false}, {"sincos", true}}, input, error);
    } else if (word == "scale") {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, fmt::format("{} scale", COMMAND), error);
      scale_position = iarg + 1;
      if (!utils::is_double(words[iarg + 1]))
        fail(iarg + 1, fmt::format("scale must be a number, not '{}'", words[iarg + 1]));
      options.scale = utils::numeric(FLERR, arg[iarg + 1], false, lmp);
    } else
      fail(iarg,
           fmt::format("'{}' is no item and no keyword - items are distance, component, position, "
                       "angle, dihedral, distances and file, keywords are center, unwrap, image, "
                       "scale and output",
                       word));
    iarg += 2;
  }
  if (items.empty())
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "{} has no items - give at least one, such as distance 1 2", OWNER);
  for (CoordMembers::Point &point : points) point.by_mass = by_mass && !point.id;
  options.npoints = static_cast<int>(points.size());
  try {
    gpucoord::Geometry unused(options);
  } catch (const gpucoord::OptionError &e) {
    fail(scale_position, e.what());
  }
}

// Returns false if the word is not that of an item.
bool GeometryArguments::read_item(const std::vector<std::string> &words, std::size_t &k,
                                  const Fail &fail)
{
  const std::size_t first = k;
  if (words[k] == "distances") {
    if (k + 1 == words.size()) fail(k, "distances takes a group");
    read_distances(words[k + 1], [&](std::size_t /*word*/, const std::string &text) {
      fail(first + 1, text);
    });
    k += 2;
    return true;
  }
  const auto *const word = std::find_if(std::begin(WORDS), std::end(WORDS), [&](const Word &one) {
    return words[k] == one.name;
  });
  if (word == std::end(WORDS)) return false;
  const std::size_t end = k + 1 + (word->has_axis ? 1 : 0) + word->npoints;
  if (end > words.size())
    fail(k,
         fmt::format("{} takes {}{} point{}, atom IDs or groups, but {} word{} follow{}", words[k],
                     word->has_axis ? "x, y or z and " : "", word->npoints,
                     word->npoints == 1 ? "" : "s", words.size() - k - 1,
                     words.size() - k == 2 ? "" : "s", words.size() - k == 2 ? "s" : ""));
  gpucoord::GeometryItem item;
  item.kind = word->kind;
  ++k;
  if (word->has_axis) {
    item.axis = words[k] == "x" ? 0 : words[k] == "y" ? 1 : words[k] == "z" ? 2 : -1;
    if (item.axis < 0) fail(k, fmt::format("{} needs x, y or z, not '{}'", word->name, words[k]));
    ++k;
  }
  for (int p = 0; p < word->npoints; ++p, ++k) {
    tagint id = 0;
    if (utils::is_integer(words[k])) {
      const double number = std::stod(words[k]);
      if (!(number >= 1.0 && number <= static_cast<double>(MAXTAGINT)))
        fail(k, fmt::format("atom ID {} must be from 1 to {}", words[k], MAXTAGINT));
      id = utils::tnumeric(FLERR, words[k], false, lmp);
    } else if (group->find(words[k]) < 0)
      fail(k,
           fmt::format("point {} of {} must be an atom ID or a group, but group '{}' does not "
                       "exist - define it before the compute",
                       p + 1, word->name, words[k]));
    item.point[p] = point_of(id, words[k]);
    if (std::find(item.point, item.point + p, item.point[p]) != item.point + p)
      fail(k,
           fmt::format("{} has point {} twice - use different points", joined(words, first, end),
                       words[k]));
  }
  add_item(item, joined(words, first, end));
  return true;
}

void GeometryArguments::add_item(const gpucoord::GeometryItem &item, const std::string &text)
{
  options.items.push_back(item);
  items.push_back(text);
}

// Returns the index of a point, and adds it if it is new. name: of the group if the ID is 0
int GeometryArguments::point_of(tagint id, const std::string &name)
{
  const auto added = indices.insert({{id, id ? "" : name}, static_cast<int>(points.size())});
  if (added.second) points.push_back({id, id ? "" : name});
  return added.first->second;
}

// Adds the distances of all pairs of the atoms that the group has now, by ascending IDs.
void GeometryArguments::read_distances(const std::string &name, const Fail &fail)
{
  constexpr int MOST = 1000;
  const int which = group->find(name);
  if (which < 0)
    fail(0, fmt::format("group {} does not exist - define it before the compute", name));
  if (!atom->tag_enable) fail(0, "distances needs atom IDs - leave out atom_modify id no");
  const bigint natoms = group->count(which);
  if (natoms < 2 || natoms > MOST)
    fail(0,
         fmt::format("distances takes a group of 2 to {} atoms, but {} has {} - use a group with "
                     "{} atoms, or single items",
                     MOST, name, natoms, natoms < 2 ? "more" : "fewer"));
  std::vector<tagint> mine, ids(natoms);
  for (int i = 0; i < atom->nlocal; ++i)
    if (atom->mask[i] & group->bitmask[which]) mine.push_back(atom->tag[i]);
  int n = static_cast<int>(mine.size());
  std::vector<int> counts(comm->nprocs), begins(comm->nprocs, 0);
  MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, world);
  std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  MPI_Allgatherv(mine.data(), n, MPI_LMP_TAGINT, ids.data(), counts.data(), begins.data(),
                 MPI_LMP_TAGINT, world);
  std::sort(ids.begin(), ids.end());
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (std::size_t j = i + 1; j < ids.size(); ++j) {
      gpucoord::GeometryItem item;
      item.point[0] = point_of(ids[i], "");
      item.point[1] = point_of(ids[j], "");
      add_item(item, fmt::format("distance {} {}", ids[i], ids[j]));
    }
}

// Rank 0 reads the file, and all ranks its items.
void GeometryArguments::read_file(int iarg, const char *name)
{
  std::string failure;
  std::istringstream lines(read_and_broadcast(name, failure, world));
  const std::size_t before = items.size();
  int number = 0;
  for (std::string line; failure.empty() && std::getline(lines, line);) {
    ++number;
    auto words = Parse::in_line(line);
    if (words.empty()) continue;
    for (std::string &word : words) word = gpucoord::printable(word);
    const Fail fail = [&](std::size_t /*word*/, const std::string &why) {
      error->all(FLERR, iarg, "{} file {}: {} in line {}", OWNER, name, why, number);
    };
    std::size_t k = 0;
    if (!read_item(words, k, fail))
      fail(0,
           fmt::format("'{}' is no item - items are distance, component, position, angle, "
                       "dihedral and distances",
                       words[0]));
    if (k < words.size())
      fail(k,
           fmt::format("'{}' follows {} - use one line for each item", words[k],
                       joined(words, 0, k)));
  }
  if (failure.empty() && items.size() == before) failure = "it has no items";
  if (!failure.empty())
    error->all(FLERR, iarg, "{} file {} cannot be used: {}", OWNER, name, failure);
}

/* ---------------------------------------------------------------------- */

std::string GeometryArguments::description() const
{
  constexpr std::size_t MANY = 4;
  std::string text;
  for (std::size_t k = 0; k < items.size() && items.size() <= MANY; ++k)
    text += (k == 0 ? "" : ", ") + items[k];
  if (items.size() > MANY)
    text = fmt::format("{} items, {} to {}", items.size(), items.front(), items.back());
  const auto has = [this](Kind kind) {
    return std::any_of(options.items.begin(), options.items.end(), [kind](const auto &item) {
      return item.kind == kind;
    });
  };
  if (options.sincos && (has(Kind::ANGLE) || has(Kind::DIHEDRAL)))
    text += ", sine and cosine of angles";
  if (options.scale != 1.0) text += fmt::format(", lengths times {:.10g}", options.scale);
  text += options.nearest ? ", nearest images between points" : ", no images between points";
  const auto center = std::find_if(points.begin(), points.end(), [](const auto &point) {
    return !point.group.empty();
  });
  if (center != points.end())
    text += fmt::format(", {} of groups joined {}",
                        center->by_mass ? "centers of mass" : "geometric centers",
                        options.unwrap == Unwrap::IMAGE ? "by image flags" : "as nearest images");
  if (has(Kind::POSITION))
    text += ", virial of positions for a barostat that leaves the center of the box in place";
  return text;
}
