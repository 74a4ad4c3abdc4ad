// Part of GPUCOORD, GPL-2.0. Simulations that share one bias, which are called walkers.
//
// Walkers meet in a fixed order: when the bias begins, at the beginning and the end of each run,
// and at each deposit. In each meeting all walkers send a record to walker 0, which sends all of
// them back. So all walkers know the same and decide the same. A caller implements how records are
// sent.

#ifndef GPUCOORD_WALKERS_H
#define GPUCOORD_WALKERS_H

#include "gpucoord/export.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gpucoord {

// Of fixed size, so that a walker that has no memory left can still send one.
struct WalkerRecord {
  static constexpr int MAX_COLUMNS = 16, MAX_TEXT = 1024;
  enum Meeting { START, RUN, ROUND, END };
  enum Status { DEPOSIT, SKIP, FAILED, LEFT };

  std::int32_t meeting = START, status = SKIP;
  std::uint64_t settings = 0;    // checksum of the settings of the bias
  std::uint64_t bias = 0;        // checksum of all deposits
  std::int64_t rounds = 0;       // number of meetings at deposits, in all runs
  std::int64_t timestep = 0;
  std::int64_t remaining = 0;    // RUN: number of rounds of this run
  std::int64_t is_restarted = 0;
  double size_of_timestep = 0.0;
  double time = 0.0;    // of the deposit
  std::int64_t ncolumns = 0;
  double row[MAX_COLUMNS] = {};    // columns of the deposit after the time
  char text[MAX_TEXT] = "";        // START: settings, one a line; FAILED: why

  void set_text(const std::string &);    // shortened if it is too long
};

class GPUCOORD_API Walkers {
 public:
  virtual ~Walkers();
  virtual int count() const = 0;
  virtual int mine() const = 0;            // number of this walker, from 0
  virtual std::string name() const = 0;    // of this bias in the caller's input, "fix b"

  // Both throw std::runtime_error if another walker has not come within 'patience' seconds. They
  // are called on the rank that evaluates the bias.
  // Sends a record to walker 0. Returns those of all walkers on walker 0, and none on others.
  virtual std::vector<WalkerRecord> gather(const WalkerRecord &) = 0;
  // Sends bytes of walker 0 to all others.
  virtual void send_to_all(std::string &bytes) = 0;

  double patience = 1800.0;
};

}    // namespace gpucoord

#endif
