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

#include "gpucoord_backend.h"

#include "gpucoord_broadcast_text.h"

#include "comm.h"
#include "error.h"
#include "info.h"
#include "universe.h"
#include "utils.h"

#include <cstdlib>
#include <functional>
#include <utility>

using namespace LAMMPS_NS;

// For the library, this number means the current GPU of the process.
static constexpr int CURRENT_DEVICE = -1;

/* ---------------------------------------------------------------------- */

DeviceChoice::DeviceChoice(LAMMPS *lmp, Parse::Device wanted, const std::string &style,
                           int argument) :
    Pointers(lmp)
{
  if (wanted == Parse::Device::HOST) return;

  const auto devices = gpucoord::find_cuda_devices();
  std::string reason = devices.count > 0 ? "" : devices.why_none;
  const int rank_without = broadcast_first(reason);
  if (rank_without < 0) {
    cuda = true;
    choose_device(devices.count);
    return;
  }
  if (wanted == Parse::Device::CUDA)
    error->all(FLERR, argument,
               "{} device cuda: rank {} has no GPU: {} - use device host or device auto", style,
               rank_without, reason);
  why_host = rank_without ? fmt::format("no GPU on rank {}: {}", rank_without, reason)
                          : "no GPU: " + reason;
}

Parse::Device DeviceChoice::restarted(LAMMPS *lmp, Parse::Device stored, const std::string &style)
{
  if (stored != Parse::Device::CUDA) return stored;
  const DeviceChoice choice(lmp, Parse::Device::AUTO, style, Error::NOLASTLINE);
  if (!choice.cuda && lmp->comm->me == 0)
    utils::logmesg(lmp,
                   "{}: the restart file was written with device cuda, but there is {} - it runs "
                   "on the host\n",
                   style, choice.why_host);
  return Parse::Device::AUTO;
}

/* ----------------------------------------------------------------------
   Replaces the text on all ranks by the text of the lowest rank whose text is not empty. Returns
   that rank, or -1 if all texts are empty. Collective.
------------------------------------------------------------------------- */

int DeviceChoice::broadcast_first(std::string &text) const
{
  int mine = text.empty() ? comm->nprocs : comm->me;
  int first;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world);
  if (first == comm->nprocs) return -1;
  broadcast_text(text, first, world);
  return first;
}

/* ----------------------------------------------------------------------
   Assigns GPUs round-robin to the ranks of a node. Collective.
------------------------------------------------------------------------- */

void DeviceChoice::choose_device(int count)
{
  // KOKKOS for CUDA has chosen the GPU of this process, and its kernels rely on this choice.
  if (lmp->kokkos && Info::has_accelerator_feature("KOKKOS", "api", "cuda")) {
    device = CURRENT_DEVICE;
    return;
  }
#if defined(MPI_STUBS)
  device = 0;
#else
  MPI_Comm node, same;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, comm->me, MPI_INFO_NULL, &node);
  int local;
  MPI_Comm_rank(node, &local);
  // Partitions start at different GPUs, because a partition does not know which others are on this
  // node.
  device = (universe->root_proc[universe->iworld] + local) % count;

  // A launcher may make a different GPU visible to each rank under the same number.
  const char *const visible = getenv("CUDA_VISIBLE_DEVICES");
  const auto key = std::hash<std::string>()(fmt::format("{} {}", device, visible ? visible : ""));
  MPI_Comm_split(node, static_cast<int>(key % MAXSMALLINT), local, &same);
  MPI_Comm_size(same, &ranks_per_device);
  MPI_Comm_free(&same);
  MPI_Comm_free(&node);
#endif
}

/* ---------------------------------------------------------------------- */

bool DeviceChoice::make_on_all(const std::string &owner, const std::function<void(int)> &make,
                               std::string &failure)
{
  if (nthreads == comm->nthreads) return true;
  try {
    if (cuda && device != CURRENT_DEVICE) device_name = gpucoord::cuda_device_name(device);
    make(device);
  } catch (const gpucoord::DeviceError &e) {
    failure = fmt::format("{}: the GPU of rank {} cannot be used: {} - use device host", owner,
                          comm->me, e.what());
  }
  int any = 0;
  int mine = failure.empty() ? 0 : 1;
  if (cuda) MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world);
  if (!any) nthreads = comm->nthreads;
  return !any;
}

void DeviceChoice::stop_all(std::string failure)
{
  broadcast_first(failure);
  error->all(FLERR, Error::NOLASTLINE, failure);
}

void Backend::init(const gpucoord::SwitchTable &table, gpucoord::Precision precision,
                   const std::string &owner)
{
  init_by(owner, [&](int device) {
    return is_cuda() ? gpucoord::make_cuda_coordination(table, precision, device, comm->nthreads)
                     : gpucoord::make_host_coordination(table, precision, comm->nthreads);
  });
}

void MultisiteBackend::init(const gpucoord::MultisiteModel &model, gpucoord::Precision precision,
                            const std::string &owner)
{
  init_by(owner, [&](int device) {
    return is_cuda() ? gpucoord::make_cuda_multisite(model, precision, device, comm->nthreads)
                     : gpucoord::make_host_multisite(model, precision, comm->nthreads);
  });
}

void OrderBackend::init(const Make &make, const std::string &owner)
{
  init_by(owner, make);
}

void MapBackend::init(const gpucoord::MapOptions &options, gpucoord::Precision precision,
                      const gpucoord::MapBins &bins, const std::string &owner)
{
  init_by(owner, [&](int device) {
    return is_cuda()
        ? gpucoord::make_cuda_potential_map(options, precision, device, comm->nthreads, bins)
        : gpucoord::make_host_potential_map(options, precision, comm->nthreads, bins);
  });
}

/* ---------------------------------------------------------------------- */

std::string DeviceChoice::description() const
{
  if (!cuda)
    return fmt::format("host ({}, {} thread{} per rank{})", gpucoord::host_instruction_set(),
                       nthreads, nthreads == 1 ? "" : "s", why_host.empty() ? "" : "; " + why_host);
  if (device == CURRENT_DEVICE) return "cuda (the GPU of KOKKOS)";
  return fmt::format("cuda ({}, device {}{})", device_name, device,
                     ranks_per_device > 1 ? fmt::format(", {} ranks share it", ranks_per_device)
                                          : "");
}
