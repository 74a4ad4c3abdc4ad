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

// Both formats store planes of constant x one after the other. Rank 0 requests the planes in turn
// and stores one plane. Other ranks store their part of one. Ranks use MPI_Ssend, which waits until
// the data are received. With other sends, all planes could be in flight to rank 0 at once.

#include "write_grid.h"

#if defined(MPI_STUBS)    // a single rank sends nothing
#define MPI_Ssend MPI_Send
#endif

#include "compute_potential_grid.h"
#include "gpucoord_atom_mass.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"
#include "gpucoord_parse.h"
#include "potential_chemical_elements.h"
#include "potential_grid_source.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "grid3d.h"
#include "group.h"
#include "update.h"

#include <algorithm>
#include <map>
#include <memory>
#include <new>

using namespace LAMMPS_NS;

static const std::vector<Parse::Choice<bool>> ALIGNMENTS = {{"center", false}, {"corner", true}};

static constexpr double ANGSTROM_OF_BOHR = 0.529177210544;    // CODATA 2022

// Unit of mass in dalton, for unit styles that have one.
static const std::map<std::string, double> DALTON_OF_UNITS = {{"real", 1.0},
                                                              {"metal", 1.0},
                                                              {"electron", 1.0},
                                                              {"si", 1.0 / 1.66053906892e-27},
                                                              {"cgs", 1.0 / 1.66053906892e-24},
                                                              {"micro", 1.0 / 1.66053906892e-12},
                                                              {"nano", 1.0 / 1.66053906892e-6}};

namespace {
// Data of an atom that are sent to rank 0.
struct Sent {
  double id, mass, x[3];
};
}    // namespace

/* ----------------------------------------------------------------------
   write_grid c_ID:grid:data[k] FILE keywords
------------------------------------------------------------------------- */

void WriteGrid::command(int narg, char **arg)
{
  // Other ranks may wait for the data of this rank, or to send their data.
  try {
    write(narg, arg);
  } catch (const std::bad_alloc &) {
    error->one(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Write_grid: out of memory on rank {} - use a coarser grid, or a smaller group of "
               "atoms",
               comm->me);
  }
}

void WriteGrid::write(int narg, char **arg)
{
  if (!domain->box_exist)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Write_grid needs the simulation box - give it after create_box or read_data");
  if (domain->dimension != 3)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Write_grid is for grids of three dimensions - use dump grid in two");
  if (narg < 2) utils::missing_cmd_args(FLERR, "write_grid", error);
  PergridSource source(lmp, "Write_grid", arg[0], Error::ARGZERO);
  const GridFile::Format format = format_of(arg[1]);
  const auto *const potential = dynamic_cast<const ComputePotentialGrid *>(source.from_compute());
  bool at_corners = potential && potential->is_at_corners();
  int groupbit = 0;
  for (int iarg = 2; iarg < narg; iarg += 2) {
    const std::string keyword = arg[iarg];
    if (keyword == "align")
      at_corners = Parse::choose("write_grid align", iarg, narg, arg, ALIGNMENTS, input, error);
    else if (keyword == "atoms") {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, "write_grid atoms", error);
      if (format != GridFile::Format::CUBE)
        error->all(FLERR, iarg,
                   "Write_grid: a .dx file has no atoms - leave out atoms, or write a .cube file");
      const int igroup = group->find(arg[iarg + 1]);
      if (igroup < 0)
        error->all(FLERR, iarg + 1, "Write_grid: group {} does not exist", arg[iarg + 1]);
      groupbit = group->bitmask[igroup];
    } else
      error->all(FLERR, iarg, "Unknown write_grid keyword: {} - known are align, atoms", keyword);
  }

  // Open the file before the compute runs, because this may take long.
  const std::string name = utils::star_subst(arg[1], update->ntimestep, 0);
  std::unique_ptr<GridFile> file;
  if (comm->me == 0) file = std::make_unique<GridFile>(name, format);
  stop_at(file.get(), name);

  source.evaluate();
  const std::string units = update->unit_style;
  const bool is_converted =
      format == GridFile::Format::CUBE && units != "lj" && units != "electron";
  const double unit = is_converted ? 1.0 / (force->angstrom * ANGSTROM_OF_BOHR) : 1.0;
  GridFile::Header head = header(source, at_corners, unit);
  head.title = fmt::format("{} of LAMMPS at timestep {}", arg[0], update->ntimestep);
  if (format == GridFile::Format::DX) head.title += fmt::format(", lengths in units {}", units);
  head.length_unit = units == "lj" ? "sigma" : "Bohr";
  if (groupbit) head.atoms = gather_atoms(groupbit, unit);
  if (head.atoms.empty())    // readers treat 0 atoms as a file of orbitals
    head.atoms.push_back(
        {0, {unit * domain->boxlo[0], unit * domain->boxlo[1], unit * domain->boxlo[2]}});
  if (file) file->begin(head);
  const bool is_zero = gather_values(source, file.get());
  if (file) file->end();
  stop_at(file.get(), name);
  if (source.from_fix() && is_zero && comm->me == 0)
    error->warning(FLERR,
                   "Write_grid: all numbers of {} are 0 - a fix that averages has no data before "
                   "its first average is complete",
                   arg[0]);
}

/* ---------------------------------------------------------------------- */

GridFile::Format WriteGrid::format_of(const std::string &name) const
{
  const auto ends_in = [&](const std::string &ending) {
    return name.size() > ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
  };
  if (ends_in(".dx")) return GridFile::Format::DX;
  if (ends_in(".cube")) return GridFile::Format::CUBE;
  error->all(FLERR, 1,
             "Write_grid: file name {} must end in .dx or .cube, which selects the format", name);
}

/* ----------------------------------------------------------------------
   Collective. file: set only on rank 0, null on the others
------------------------------------------------------------------------- */

void WriteGrid::stop_at(const GridFile *file, const std::string &name) const
{
  std::string why = file ? file->why_not() : "";
  broadcast_text(why, 0, world);
  if (!why.empty()) error->all(FLERR, 1, "Write_grid cannot write file {}: {}", name, why);
}

/* ----------------------------------------------------------------------
   Returns the header without atoms. unit: factor of LAMMPS' lengths
------------------------------------------------------------------------- */

GridFile::Header WriteGrid::header(const PergridSource &source, bool at_corners, double unit) const
{
  double edges[3][3];
  get_box_edges(domain, edges);
  GridFile::Header head;
  source.grid()->get_size(head.n[0], head.n[1], head.n[2]);
  for (int c = 0; c < 3; ++c) {
    head.origin[c] = unit * domain->boxlo[c];
    for (int k = 0; k < 3; ++k) {
      head.step[k][c] = unit * edges[k][c] / head.n[k];
      if (!at_corners) head.origin[c] += 0.5 * head.step[k][c];
    }
  }
  return head;
}

/* ----------------------------------------------------------------------
   Returns, on rank 0, the atoms of a group in the order of their IDs, wrapped into a periodic box.
------------------------------------------------------------------------- */

std::vector<GridFile::Atom> WriteGrid::gather_atoms(int groupbit, double unit) const
{
  std::vector<Sent> all;
  for (int i = 0; i < atom->nlocal; ++i) {
    if (!(atom->mask[i] & groupbit)) continue;
    Sent one = {atom->tag_enable ? static_cast<double>(atom->tag[i]) : 0.0,
                mass_of(atom, i),
                {atom->x[i][0], atom->x[i][1], atom->x[i][2]}};
    domain->remap(one.x);
    all.push_back(one);
  }
  MPI_Datatype sent;
  MPI_Type_contiguous(sizeof(Sent) / sizeof(double), MPI_DOUBLE, &sent);
  MPI_Type_commit(&sent);
  int mine = static_cast<int>(all.size());
  std::vector<int> counts(comm->nprocs);
  MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, world);
  if (comm->me != 0)
    MPI_Ssend(all.data(), mine, sent, 0, 0, world);
  else
    for (int rank = 1; rank < comm->nprocs; ++rank) {
      const std::size_t before = all.size();
      all.resize(before + counts[rank]);
      MPI_Recv(all.data() + before, counts[rank], sent, rank, 0, world, MPI_STATUS_IGNORE);
    }
  MPI_Type_free(&sent);
  if (comm->me != 0) return {};

  std::stable_sort(all.begin(), all.end(), [](const Sent &a, const Sent &b) {
    return a.id < b.id;
  });
  const auto dalton = DALTON_OF_UNITS.find(update->unit_style);
  std::vector<GridFile::Atom> atoms;
  atoms.reserve(all.size());
  for (const Sent &one : all)
    atoms.push_back(
        {dalton == DALTON_OF_UNITS.end() ? 0 : element_of_mass(one.mass * dalton->second),
         {unit * one.x[0], unit * one.x[1], unit * one.x[2]}});
  return atoms;
}

/* ----------------------------------------------------------------------
   Returns, on rank 0, whether all values are 0. file: set only on rank 0, null on the others
------------------------------------------------------------------------- */

bool WriteGrid::gather_values(const PergridSource &source, GridFile *file) const
{
  struct Brick {
    int lo[3], hi[3];    // hi included; a rank without points has hi < lo
    int size(int c) const { return std::max(0, hi[c] - lo[c] + 1); }
    bool has_plane(int ix) const
    {
      return ix >= lo[0] && ix <= hi[0] && size(1) > 0 && size(2) > 0;
    }
  };
  Brick mine;
  source.grid()->get_bounds_owned(mine.lo[0], mine.hi[0], mine.lo[1], mine.hi[1], mine.lo[2],
                                  mine.hi[2]);
  std::vector<Brick> bricks(comm->nprocs);
  MPI_Gather(&mine, 6, MPI_INT, bricks.data(), 6, MPI_INT, 0, world);

  std::vector<double> part;
  const auto pack = [&](int ix) {
    part.clear();
    for (int iy = mine.lo[1]; iy <= mine.hi[1]; ++iy)
      for (int iz = mine.lo[2]; iz <= mine.hi[2]; ++iz) part.push_back(source.value(ix, iy, iz));
  };
  if (comm->me != 0) {
    for (int ix = mine.lo[0]; ix <= mine.hi[0]; ++ix) {
      if (!mine.has_plane(ix)) continue;
      pack(ix);
      MPI_Ssend(part.data(), static_cast<int>(part.size()), MPI_DOUBLE, 0, 0, world);
    }
    return false;
  }

  int n[3];
  source.grid()->get_size(n[0], n[1], n[2]);
  std::vector<double> plane(static_cast<std::size_t>(n[1]) * n[2]);
  bool is_zero = true;
  for (int ix = 0; ix < n[0]; ++ix) {
    for (int rank = 0; rank < comm->nprocs; ++rank) {
      const Brick &brick = bricks[rank];
      if (!brick.has_plane(ix)) continue;
      if (rank == 0)
        pack(ix);
      else {
        part.resize(static_cast<std::size_t>(brick.size(1)) * brick.size(2));
        MPI_Recv(part.data(), static_cast<int>(part.size()), MPI_DOUBLE, rank, 0, world,
                 MPI_STATUS_IGNORE);
      }
      const std::size_t along_z = brick.size(2);
      for (int iy = brick.lo[1]; iy <= brick.hi[1]; ++iy)
        std::copy_n(part.data() + (iy - brick.lo[1]) * along_z, along_z,
                    plane.data() + static_cast<std::size_t>(iy) * n[2] + brick.lo[2]);
    }
    // A write error is reported later, because other ranks continue to send.
    file->add(plane.data(), plane.size());
    is_zero = is_zero && std::all_of(plane.begin(), plane.end(), [](double v) {
                return v == 0.0;
              });
  }
  return is_zero;
}
