// Part of GPUCOORD, GPL-2.0. A bias that is a sum of deposits, such as the hills of metadynamics.
//
// In timesteps that are multiples of 'pace', a deposit at S is written to a file and then added to
// the sum, on rank 0. A run that continues an earlier one reads the deposits of this file: all of
// them, or those in the bias of the restart file. The derived kind defines deposits and their sum.
//
// Walkers that share the bias make their deposits in rounds, one each. Walker 0 has the file. Or
// each has its file, and reads the deposits of the others from theirs (walker_files.h).

#ifndef GPUCOORD_DEPOSITING_BIAS_H
#define GPUCOORD_DEPOSITING_BIAS_H

#include "gpucoord/bias.h"
#include "gpucoord/deposit_file.h"

#include "deposit_guard.h"
#include "deposit_statistics.h"
#include "walker_files.h"
#include "walker_rounds.h"
#include "words.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpucoord {

class GPUCOORD_TEST_API DepositingBias : public Bias {
 public:
  // The keywords of parse_guard() and parse_walkers(), which a kind adds to its own.
  static std::vector<Words::Keyword> keywords()
  {
    return {"limits",
            {"deposit_if", 1},
            "max_skip",
            {"walkers", 1, "files", 4, "partitions", " DIR NAME N"},
            "patience"};
  }

  std::string warning_of_rerun() const override;
  bool on_rank_0() const override { return true; }
  double temperature() const override { return temp; }
  std::vector<File> written_files() const override;
  std::vector<std::string> caller_variables() const override;
  std::int64_t next_set(std::int64_t step) const override { return (step / pace + 1) * pace; }
  void set(const Step &, const std::function<double(const std::string &)> &value_of) override;
  void begin(const BiasStart &) override;
  void begin_run(std::int64_t step) override;
  std::string deposits() const override { return plural; }
  void set_walls_of_others(const std::vector<Walls> &walls) override { walls_of_others = walls; }
  std::string summary() override;
  bool has_walkers() const override { return rounds != nullptr; }
  void join_run(std::int64_t step, std::int64_t last) override;
  bool leave_run(std::int64_t step) override;
  void fail(const std::string &why) override { rounds->fail(why); }
  bool must_end() const override { return rounds && rounds->left() >= 0; }
  std::size_t bytes() const override
  {
    return statistics.bytes() + order.size() * sizeof(int) + (files ? files->bytes() : 0);
  }
  void save(ArchiveParts &) const override;
  void load(ArchiveParts &) override;

 protected:
  // Adds outputs: four for each variable, the work, and the number of deposits. noun: a deposit,
  // "hill". part: name of the part of a restart file
  DepositingBias(const Words &, std::string noun, std::string part);

  // Parse keywords: pace; temp, which is optional; file and append; and a keyword with a number of
  // steps and a file to which write_sum() then writes. kind: of that file, "grid file"
  void parse_pace(const Words &);
  void parse_temperature(const Words &);
  void parse_file(const Words &);
  void parse_sum_file(const Words &, const std::string &keyword, const std::string &kind);
  void parse_guard(const Words &words) { guard.parse(words, noun); }
  // can_read: deposits may be added in any order, so that walkers can share them by files
  void parse_walkers(const Words &, bool can_read);
  // Returns these keywords as lines of the formula.
  std::string sharing_in_words() const
  {
    return guard.in_words() +
        (rounds      ? "\n  walkers: all " + std::to_string(rounds->count()) + " partitions"
             : files ? "\n  walkers: " + files->in_words(plural)
                     : "");
  }
  // Adds outputs after all others, if keywords of parse_walkers() and parse_guard() are given.
  void add_outputs_of_rounds();

  virtual DepositFormat format() const = 0;
  // Returns the name of the column of the file for the number of a walker.
  virtual std::string walker_column() const { return "walker"; }
  // Returns the deposit to make at s. v: V at s
  virtual Deposit propose(double time, const double *s, double v) const = 0;
  // Returns the user's sigma if it should be about the fluctuation of S in a basin, or 0.
  virtual double sigma_of_basin(int /*variable*/) const { return 0.0; }
  // Returns the keyword by which the user makes the sigma of deposits larger.
  virtual std::string keyword_of_sigma() const { return "sigma"; }
  // Returns whether a deposit can be made yet.
  virtual bool can_deposit() const { return true; }
  // Completes deposits that depend on each other, before they are written and added.
  virtual void complete(std::vector<Deposit> &) {}
  // Throws std::runtime_error if deposits of other walkers cannot be added, and std::bad_alloc.
  virtual void check_room(const std::vector<Deposit> &) const {}
  // Returns the V of largest magnitude, to a few percent, at the centers of deposits from a number
  // on, with all of them added.
  virtual double largest_sum(const std::vector<Deposit> &, std::size_t /*first*/) const
  {
    return 0.0;
  }
  // Adds deposits to the sum, in this order.
  virtual void add_round(const std::vector<Deposit> &) = 0;
  // Returns V at s, and sets dVdS.
  virtual double sum(const double *s, double *dVdS) const = 0;
  virtual std::uint64_t checksum() const = 0;
  // Makes the sum of the deposits of an earlier run, or of none. Returns the end of the line that
  // tells their number.
  virtual std::string restore(const std::vector<Deposit> &) = 0;
  // Loads the state of walker 0, but keeps what each walker has of its own.
  virtual void load_shared(ArchiveParts &parts) { load(parts); }
  // Warns of deposits of an earlier run that differ from those of this command.
  virtual void warn_of_other_deposits(const std::vector<Deposit> &,
                                      const std::string & /*path*/) const
  {
  }
  // The same of constants in the file of an earlier run.
  virtual void warn_of_other_constants(const std::map<std::string, std::string> &) const {}
  // Returns all deposits, if the sum keeps them.
  virtual std::optional<std::vector<Deposit>> kept_deposits() const { return {}; }
  // Returns what a deposit adds to V at its center, or 0 if the kind limits V.
  virtual double added_at_center(const Deposit &) const { return 0.0; }
  // Returns the height in V.
  virtual double height_in_bias(const Deposit &deposit) const { return deposit.height(); }
  virtual void write_sum(const std::string & /*path*/) const {}
  void write_sum_file() const;

  double potential(const Step &, const double *s, double *dVdS) override;
  bool is_deposit_due(const Step &) const;
  bool continues(const BiasStart &start) const { return start.is_restarted || append; }
  std::int64_t ndeposits() const { return static_cast<std::int64_t>(now.own[COUNT]); }
  bool has_begun() const { return is_ready; }    // on this rank
  // The file of this walker is opened by the first evaluation on the host.
  bool must_open_file() const { return is_sharing && !has_own_file; }

  // Indices in BiasState::own, which all ranks know. HEIGHT and CENTER belong to the last deposit;
  // CENTER is the first of one element per variable.
  enum { COUNT, HEIGHT, CENTER };

  const std::string noun, plural;
  int pace = 0;
  double temp = 0.0;    // 0: not given
  std::string path;     // of the file of deposits
  bool append = false;

 private:
  std::vector<Deposit> begin_file(const BiasStart &);
  std::vector<Deposit> resume(bool is_restarted, DepositFile &);
  double evaluate_and_deposit(const Step &, const double *s, double *dVdS);
  std::vector<Deposit> round_of(const Step &, const std::vector<Deposit> &mine);
  std::vector<Deposit> read_others(const std::vector<Deposit> &mine);
  void write(std::vector<Deposit> &);
  void or_stop(const std::function<void()> &work);
  void add_deposits(const std::vector<Deposit> &);
  std::optional<std::vector<Deposit>> known_deposits() const;
  void begin_sharing(bool is_restarted);
  void begin_own_file();
  void begin_with_walkers(const BiasStart &);
  void share_deposits(const std::function<std::vector<Deposit>()> &of_first);
  void set_last(const Deposit &);
  void check_weight(double v, const std::string &way_out, double largest = 700.0) const;
  void observe(const Step &, const double *s, const Deposit &);
  void check_statistics();
  void warn_of_equal_walkers(const std::vector<Deposit> &first_round);
  bool is_inside_wall(const double *s) const;
  double sum_at(const double *s) const;

  const std::string part;
  DepositGuard guard;
  std::unique_ptr<WalkerRounds> rounds;    // null: no walkers that meet
  std::unique_ptr<WalkerFiles> files;      // null: no walkers that share files
  bool is_sharing = false;                 // their files are read
  bool has_own_file = false;               // that of this walker is open
  std::string failure_of_files;            // error after which V cannot be continued
  std::vector<int> order;                  // walkers of all deposits in the file, where it is
  bool has_compared_walkers = false;
  bool has_earlier = false;    // continues with the deposits of an earlier run
  std::string backup;          // new name of the file of an earlier run, or ""
  struct {
    int every = 0;    // 0: not written
    std::string keyword, kind, path;
  } sum_file;

  bool is_ready = false;                // begin() has been called on this rank
  std::unique_ptr<DepositFile> file;    // only on rank 0 of walker 0, set by begin()
  // Checksum of the sum, on rank 0. Empty before begin() and load().
  std::optional<std::uint64_t> saved_checksum;
  std::int64_t end_of_run = 0;
  std::int64_t last_step = 0;    // timestep of the last deposit, or of the start of the run

  // Of the deposits of this fix since a timestep, on rank 0.
  DepositStatistics statistics;
  std::int64_t since = -1;    // -1: no run has begun
  std::int64_t ninside_walls = 0, nsummarized = 0;
  bool is_since_restart = false;
  // What need not be checked again, also after a restart: pace and sigma, jumps of S, walls.
  struct Checked {
    bool sampling = false, jumps = false, walls = false;
  } checked;
  std::vector<Walls> walls_of_others;    // of each variable, or empty
};

}    // namespace gpucoord

#endif
