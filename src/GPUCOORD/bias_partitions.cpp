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

#include "bias_partitions.h"

#include "error.h"
#include "lammps.h"
#include "universe.h"

#include <climits>
#include <cstring>
#include <numeric>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::WalkerRecord;

#if !defined(MPI_STUBS)
static constexpr int TAG = 6204;    // commands temper and neb use 0
#endif

/* ---------------------------------------------------------------------- */

PartitionWalkers::PartitionWalkers(LAMMPS *lmp, std::string name) :
    error(lmp->error), universe(lmp->universe), its_name(std::move(name))
{
}

int PartitionWalkers::count() const
{
  return universe->nworlds;
}

int PartitionWalkers::mine() const
{
  return universe->iworld;
}

std::vector<WalkerRecord> PartitionWalkers::gather(const WalkerRecord &record)
{
  if (mine() != 0) {
    send({0}, &record, sizeof(record));
    return {};
  }
  std::vector<WalkerRecord> records(count(), record);
  for (int w = 1; w < count(); ++w) {
    const std::string bytes = receive(w);
    if (bytes.size() != sizeof(record))
      throw std::runtime_error(
          fmt::format("walker {} uses another version of GPUCOORD - use the same for all", w));
    memcpy(static_cast<void *>(&records[w]), bytes.data(), bytes.size());
  }
  return records;
}

void PartitionWalkers::send_to_all(std::string &bytes)
{
  if (mine() != 0) {
    bytes = receive(0);
    return;
  }
  std::vector<int> others(count() - 1);
  std::iota(others.begin(), others.end(), 1);
  send(others, bytes.data(), bytes.size());
}

/* ---------------------------------------------------------------------- */

// The library of MPI without ranks has a single partition, which sends nothing.
#if defined(MPI_STUBS)

void PartitionWalkers::send(const std::vector<int> &, const void *, std::size_t) {}

std::string PartitionWalkers::receive(int)
{
  return "";
}

#else

// To all at once: walkers that have waited for long look for messages only now and then.
void PartitionWalkers::send(const std::vector<int> &to, const void *bytes, std::size_t size)
{
  if (size > INT_MAX)
    throw std::runtime_error(fmt::format("the bias has {} bytes, more than the {} that can be sent "
                                         "to other walkers - use fewer deposits",
                                         size, INT_MAX));
  // Not deleted after a failure, because MPI may still read what it has not sent.
  struct Message {
    std::vector<char> bytes;
    std::vector<MPI_Request> requests;
  };
  const auto *const begin = static_cast<const char *>(bytes);
  auto *const sent = new Message{{begin, begin + size}, std::vector<MPI_Request>(to.size())};
  for (std::size_t k = 0; k < to.size(); ++k)
    MPI_Isend(sent->bytes.data(), static_cast<int>(size), MPI_BYTE, universe->root_proc[to[k]], TAG,
              universe->uworld, &sent->requests[k]);
  for (std::size_t k = 0; k < to.size(); ++k)
    wait(to[k], [&] {
      int is_sent;
      MPI_Test(&sent->requests[k], &is_sent, MPI_STATUS_IGNORE);
      return is_sent != 0;
    });
  delete sent;
}

std::string PartitionWalkers::receive(int walker)
{
  const int source = universe->root_proc[walker];
  MPI_Status status;
  wait(walker, [&] {
    int has_come;
    MPI_Iprobe(source, TAG, universe->uworld, &has_come, &status);
    return has_come != 0;
  });
  int size;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(size, '\0');
  MPI_Recv(&bytes[0], size, MPI_BYTE, source, TAG, universe->uworld, MPI_STATUS_IGNORE);
  return bytes;
}

#endif

// Never waits within MPI, so that a partition that does not come ends the others with an error.
void PartitionWalkers::wait(int walker, const std::function<bool()> &is_done)
{
  constexpr double BUSY = 1e-3, WARN = 0.1;
  const double begin = platform::walltime();
  for (bool has_warned = false; !is_done();) {
    const double waited = platform::walltime() - begin;
    if (waited > patience)
      throw std::runtime_error(
          fmt::format("waited {:g} seconds for walker {}, the partition of log.lammps.{} - see why "
                      "it does not come, or give a larger patience",
                      patience, walker, walker));
    if (waited > WARN * patience && !has_warned) {
      error->warning(FLERR,
                     "{}: waiting for walker {} since {:.3g} seconds - patience {:g} ends it, so "
                     "see log.lammps.{}, or give a larger patience",
                     its_name, walker, waited, patience, walker);
      has_warned = true;
    }
    if (waited > BUSY) platform::usleep(50);
  }
}
