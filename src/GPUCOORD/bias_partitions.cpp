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

#include <atomic>
#include <climits>
#include <cstring>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::WalkerRecord;

#if !defined(MPI_STUBS)
static constexpr int TAG = 6204;    // commands temper and neb use 0
#endif

/* ---------------------------------------------------------------------- */

PartitionWalkers::PartitionWalkers(LAMMPS *lmp_in, std::string name) :
    lmp(lmp_in), universe(lmp->universe), its_name(std::move(name)), numbers(count(), 0)
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
    static std::atomic<std::int64_t> nsent(0);    // of all biases
    numbers[mine()] = ++nsent;
    send(0, numbers[mine()], &record, sizeof(record));
    return {};
  }
  std::vector<WalkerRecord> records(count(), record);
  for (int w = 1; w < count(); ++w) {
    std::string bytes;
    do {    // the last record counts
      auto message = receive(w);
      numbers[w] = message.number;
      bytes = std::move(message.bytes);
    } while (has_come(w));
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
    Message message;
    do {
      message = receive(0);
    } while (message.number != numbers[mine()]);
    bytes = message.bytes;
    return;
  }
  for (int w = 1; w < count(); ++w) send(w, numbers[w], bytes.data(), bytes.size());
}

/* ---------------------------------------------------------------------- */

// The library of MPI without ranks has a single partition, which sends nothing.
#if defined(MPI_STUBS)

void PartitionWalkers::send(int, std::int64_t, const void *, std::size_t) {}

PartitionWalkers::Message PartitionWalkers::receive(int)
{
  return {};
}

bool PartitionWalkers::has_come(int)
{
  return false;
}

#else

void PartitionWalkers::send(int walker, std::int64_t number, const void *bytes, std::size_t size)
{
  if (size > INT_MAX - sizeof(number))
    throw std::runtime_error(fmt::format("the bias has {} bytes, more than the {} that can be sent "
                                         "to other walkers - use fewer deposits",
                                         size, INT_MAX));
  // A copy, because MPI may still read it after a failure.
  auto *const copy = new std::vector<char>(sizeof(number) + size);
  memcpy(copy->data(), &number, sizeof(number));
  memcpy(copy->data() + sizeof(number), bytes, size);
  MPI_Request request;
  MPI_Isend(copy->data(), static_cast<int>(copy->size()), MPI_BYTE, universe->root_proc[walker],
            TAG, universe->uworld, &request);
  wait(walker, [&] {
    int is_sent;
    MPI_Test(&request, &is_sent, MPI_STATUS_IGNORE);
    return is_sent != 0;
  });
  delete copy;
}

bool PartitionWalkers::has_come(int walker)
{
  // Open MPI looks for new messages at the end of a call that has found none.
  int result = 0;
  for (int k = 0; k < 2 && !result; ++k)
    MPI_Iprobe(universe->root_proc[walker], TAG, universe->uworld, &result, MPI_STATUS_IGNORE);
  return result != 0;
}

PartitionWalkers::Message PartitionWalkers::receive(int walker)
{
  wait(walker, [&] {
    return has_come(walker);
  });
  const int source = universe->root_proc[walker];
  MPI_Status status;
  MPI_Probe(source, TAG, universe->uworld, &status);
  int size;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(size, '\0');
  MPI_Recv(&bytes[0], size, MPI_BYTE, source, TAG, universe->uworld, MPI_STATUS_IGNORE);
  Message message;
  if (bytes.size() < sizeof(message.number)) return message;
  memcpy(&message.number, bytes.data(), sizeof(message.number));
  message.bytes = bytes.substr(sizeof(message.number));
  return message;
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
      lmp->error->warning(FLERR, "{}: waiting for walker {} since {:.3g} seconds", its_name, walker,
                          waited);
      utils::flush_buffers(lmp);
      has_warned = true;
    }
    if (waited > BUSY) platform::usleep(50);
  }
}
