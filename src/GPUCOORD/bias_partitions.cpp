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
    lmp(lmp_in), universe(lmp->universe), its_name(std::move(name)), number(0)
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
    its_record = record;
    Message message;
    do {
      message = receive(0);
    } while (!message.is_question());    // the end of a meeting that this walker has left
    answer(message);
    return {};
  }
  static std::atomic<std::int64_t> nmeetings(0);    // of all biases
  number = ++nmeetings;
  send_to_others("");
  std::vector<WalkerRecord> records(count(), record);
  for (int w = 1; w < count(); ++w) {
    Message message;
    do {
      message = receive(w);
    } while (message.number != number);    // of a meeting that walker 0 has left
    if (message.bytes.size() != sizeof(record))
      throw std::runtime_error(
          fmt::format("walker {} uses another version of GPUCOORD - use the same for all", w));
    memcpy(static_cast<void *>(&records[w]), message.bytes.data(), sizeof(record));
  }
  return records;
}

void PartitionWalkers::send_to_all(std::string &bytes)
{
  if (mine() == 0) {
    send_to_others(bytes);
    return;
  }
  Message message;
  do {
    message = receive(0);
    if (message.is_question()) answer(message);    // walker 0 has come again
  } while (message.is_question() || message.number != number);
  bytes = message.bytes;
}

void PartitionWalkers::answer(const Message &question)
{
  number = question.number;
  send({0}, &its_record, sizeof(its_record));
}

void PartitionWalkers::send_to_others(const std::string &bytes)
{
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
    std::int64_t number;
    std::vector<MPI_Request> requests;
  };
  const auto *const begin = static_cast<const char *>(bytes);
  auto *const sending =
      new Sending{{begin, begin + size}, number, std::vector<MPI_Request>(2 * to.size())};
  for (std::size_t k = 0; k < to.size(); ++k) {
    const int rank = universe->root_proc[to[k]];
    MPI_Isend(&sending->number, sizeof(std::int64_t), MPI_BYTE, rank, TAG, universe->uworld,
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

std::string PartitionWalkers::receive_bytes(int walker)
{
  const int source = universe->root_proc[walker];
  wait(walker, [&] {
    int has_come;
    MPI_Iprobe(source, TAG, universe->uworld, &has_come, MPI_STATUS_IGNORE);
    return has_come != 0;
  });
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
          fmt::format("waited {:g} seconds for walker {} - see why partition {} does not come, or "
                      "give a larger patience",
                      patience, walker, walker));
    if (waited > WARN * patience && !has_warned) {
      lmp->error->warning(FLERR,
                          "{}: waiting for walker {} since {:.3g} seconds - patience {:g} ends it, "
                          "so see why partition {} does not come, or give a larger patience",
                          its_name, walker, waited, patience, walker);
      utils::flush_buffers(lmp);
      has_warned = true;
    }
    if (waited > BUSY) platform::usleep(50);
  }
}
