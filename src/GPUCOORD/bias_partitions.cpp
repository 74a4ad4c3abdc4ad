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

#include <algorithm>
#include <atomic>
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
    send({0}, &record, sizeof(record));
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
  std::vector<int> others(count() - 1);
  std::iota(others.begin(), others.end(), 1);
  send(others, bytes.data(), bytes.size());
}

/* ---------------------------------------------------------------------- */

// The library of MPI without ranks has a single partition, which sends nothing.
#if defined(MPI_STUBS)

void PartitionWalkers::send(const std::vector<int> &, const void *, std::size_t) {}

PartitionWalkers::Message PartitionWalkers::receive(int)
{
  return {};
}

bool PartitionWalkers::has_come(int)
{
  return false;
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
  struct Sending {
    std::vector<char> bytes;
    std::vector<std::int64_t> numbers;
    std::vector<MPI_Request> requests;
  };
  const auto *const begin = static_cast<const char *>(bytes);
  auto *const sending = new Sending{{begin, begin + size}, {}, {}};
  for (const int walker : to) sending->numbers.push_back(numbers[mine() == 0 ? walker : mine()]);
  sending->requests.resize(2 * to.size());
  for (std::size_t k = 0; k < to.size(); ++k) {
    const int rank = universe->root_proc[to[k]];
    MPI_Isend(&sending->numbers[k], sizeof(std::int64_t), MPI_BYTE, rank, TAG, universe->uworld,
              &sending->requests[2 * k]);
    MPI_Isend(sending->bytes.data(), static_cast<int>(size), MPI_BYTE, rank, TAG, universe->uworld,
              &sending->requests[2 * k + 1]);
  }
  for (std::size_t k = 0; k < to.size(); ++k)
    wait(to[k], [&] {
      int is_sent;
      MPI_Testall(2, &sending->requests[2 * k], &is_sent, MPI_STATUSES_IGNORE);
      return is_sent != 0;
    });
  delete sending;
}

bool PartitionWalkers::has_come(int walker)
{
  // Open MPI looks for new messages at the end of a call that has found none.
  int result = 0;
  for (int k = 0; k < 2 && !result; ++k)
    MPI_Iprobe(universe->root_proc[walker], TAG, universe->uworld, &result, MPI_STATUS_IGNORE);
  return result != 0;
}

std::string PartitionWalkers::receive_bytes(int walker)
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
  return bytes;
}

PartitionWalkers::Message PartitionWalkers::receive(int walker)
{
  Message message;
  const std::string number = receive_bytes(walker);
  memcpy(&message.number, number.data(), std::min(number.size(), sizeof(message.number)));
  message.bytes = receive_bytes(walker);
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
      lmp->error->warning(FLERR,
                          "{}: waiting for walker {} since {:.3g} seconds - patience {:g} ends it, "
                          "so see log.lammps.{}, or give a larger patience",
                          its_name, walker, waited, patience, walker);
      utils::flush_buffers(lmp);
      has_warned = true;
    }
    if (waited > BUSY) platform::usleep(50);
  }
}
