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
// A walker that has waited for too long leaves its record behind. If LAMMPS is a library, it can
// then send another one. So records have numbers, and an answer has the number of the record.

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
  };
  void send(const std::vector<int> &to, const void *bytes, std::size_t size);
  Message receive(int walker);
  std::string receive_bytes(int walker);
  bool has_come(int walker);
  void wait(int walker, const std::function<bool()> &is_done);

  LAMMPS *const lmp;
  class Universe *const universe;
  const std::string its_name;
  // Of the last record: of each walker on walker 0, and its own on others.
  std::vector<std::int64_t> numbers;
};

}    // namespace LAMMPS_NS

#endif
