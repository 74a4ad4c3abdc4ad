// Part of GPUCOORD, GPL-2.0. What walkers that share a bias do when they meet: checks, failures,
// and the deposits of a round. All walkers decide by the same records.

#ifndef GPUCOORD_WALKER_ROUNDS_H
#define GPUCOORD_WALKER_ROUNDS_H

#include "gpucoord/deposit_file.h"
#include "gpucoord/walkers.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

class GPUCOORD_TEST_API WalkerRounds {
 public:
  using Record = WalkerRecord;
  // noun: a deposit, "hill". ncolumns: size of its row
  WalkerRounds(std::shared_ptr<Walkers> walkers_in, const std::string &noun_in, int ncolumns_in) :
      walkers(std::move(walkers_in)), noun(noun_in), ncolumns(ncolumns_in)
  {
  }
  int count() const { return walkers->count(); }
  int mine() const { return walkers->mine(); }
  bool is_first() const { return mine() == 0; }

  // All functions throw std::runtime_error. Its text is that of all walkers.

  // Meeting when the bias begins. settings: one a line, "pace 500". bias: checksum of the restart
  // file. Returns a warning, or "".
  std::string start(const std::vector<std::string> &settings, bool is_restarted,
                    double size_of_timestep, std::uint64_t bias);
  // Sends bytes of walker 0 to all others, which call take().
  void share(const std::function<std::string()> &make,
             const std::function<void(const std::string &)> &take);
  void begin_run(std::int64_t step, std::int64_t last_step, int pace);

  struct Round {
    std::vector<Deposit> deposits;    // in the order of walkers
    bool is_same = true;              // the biases of all walkers were equal
  };
  // Meeting at a deposit. mine: one deposit, or none. write: called on walker 0 with all deposits,
  // before they are sent to others
  Round exchange(const std::vector<Deposit> &mine, std::int64_t step, std::uint64_t bias,
                 const std::function<void(const std::vector<Deposit> &)> &write);
  // Tells the others in their next meeting that this walker has failed, and returns the text for
  // all. Does nothing if the walkers have stopped already, or are in no run, and returns "".
  // before_runs: the meeting of the first run follows
  std::string fail(const std::string &why, bool before_runs = false);
  // Meeting at the end of a run. is_early: this walker has not reached its last step. Returns
  // whether only others have not.
  bool end_run(bool is_early);
  // Returns the number of the walker whose run ended before its last step, or -1.
  int left() const { return who_left; }

  std::int64_t nrounds() const { return rounds; }
  void set_nrounds(std::int64_t n) { rounds = n; }

 private:
  Record record(Record::Meeting, Record::Status) const;
  std::vector<Record> meet(const Record &mine,
                           const std::function<void(const std::vector<Record> &)> &on_first);
  void find_who_left(const std::vector<Record> &);
  std::string problem(const std::vector<Record> &) const;
  std::string problem_at_start(const Record &first, const Record &other) const;

  const std::shared_ptr<Walkers> walkers;
  const std::string noun;
  const int ncolumns;
  std::uint64_t settings = 0;
  std::int64_t rounds = 0;
  bool is_running = false;
  int who_left = -1;
  bool has_stopped = false;    // after an error
};

}    // namespace gpucoord

#endif
