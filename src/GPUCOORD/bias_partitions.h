/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PARTITIONS_H
#define LMP_BIAS_PARTITIONS_H

#include "gpucoord/walkers.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class LAMMPS;

// Walkers that are the partitions of one LAMMPS. Rank 0 of each partition sends from point to
// point, so that a partition without the fix is noticed by those that wait for it, and hangs none.
//
// In a meeting, walker 0 asks all others for their records. A walker that has waited for too long
// leaves the meeting. If LAMMPS is a library, it can then come again. So meetings have numbers:
// what belongs to an earlier one counts for nothing.

class PartitionWalkers : public gpucoord::Walkers {
 public:
  // name: of the bias in the input script, "fix b"
  PartitionWalkers(LAMMPS *, std::string name);
  int count() const override;
  int mine() const override;
  std::string name() const override { return its_name; }
  std::vector<gpucoord::WalkerRecord> gather(const gpucoord::WalkerRecord &) override;
  void send_to_all(std::string &bytes) override;

 private:
  struct Message {
    std::int64_t number = 0;
    std::string bytes;
    bool is_question() const { return bytes.empty(); }
  };
  void answer(const Message &question);
  void send_to_others(const std::string &bytes);
  void send(const std::vector<int> &to, const void *bytes, std::size_t size);
  Message receive(int walker);
  std::string receive_bytes(int walker);
  void wait(int walker, const std::function<bool()> &is_done);

  LAMMPS *const lmp;
  class Universe *const universe;
  const std::string its_name;
  std::int64_t number;    // of the meeting
  gpucoord::WalkerRecord its_record;
};

}    // namespace LAMMPS_NS

#endif
