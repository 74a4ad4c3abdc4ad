// Part of GPUCOORD, GPL-2.0. A bias that is a sum of deposits, such as the hills of metadynamics.
//
// In timesteps that are multiples of 'pace', a deposit at S is written to a file and then added to
// the sum, on rank 0. A run that continues an earlier one reads the deposits of this file: all of
// them, or those in the bias of the restart file. The derived kind defines deposits and their sum.

#ifndef GPUCOORD_DEPOSITING_BIAS_H
#define GPUCOORD_DEPOSITING_BIAS_H

#include "gpucoord/bias.h"
#include "gpucoord/deposit_file.h"

#include "deposit_statistics.h"
#include "words.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpucoord {

class GPUCOORD_TEST_API DepositingBias : public Bias {
 public:
  std::string warning_of_rerun() const override;
  bool on_rank_0() const override { return true; }
  double temperature() const override { return temp; }
  std::vector<File> written_files() const override;
  void begin(const BiasStart &) override;
  void begin_run(std::int64_t step) override;
  std::string deposits() const override { return plural; }
  void set_walls_of_others(const std::vector<Walls> &walls) override { walls_of_others = walls; }
  std::string summary() override;
  std::size_t bytes() const override { return statistics.bytes(); }
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

  virtual DepositFormat format() const = 0;
  // Returns the deposit to make at s. v: V at s
  virtual Deposit propose(double time, const double *s, double v) const = 0;
  // Adds deposits to the sum, in this order.
  virtual void add_round(const std::vector<Deposit> &) = 0;
  // Returns V at s, and sets dVdS.
  virtual double sum(const double *s, double *dVdS) const = 0;
  virtual std::uint64_t checksum() const = 0;
  // Makes the sum of the deposits of an earlier run, or of none. Returns the end of the line that
  // tells their number.
  virtual std::string restore(const std::vector<Deposit> &) = 0;
  // Warns of deposits of an earlier run that differ from those of this command.
  virtual void warn_of_other_deposits(const std::vector<Deposit> &) const {}
  // Returns all deposits, if the sum keeps them.
  virtual std::optional<std::vector<Deposit>> kept_deposits() const { return {}; }
  // Returns the height in V.
  virtual double height_in_bias(const Deposit &deposit) const { return deposit.height(); }
  virtual void write_sum(const std::string & /*path*/) const {}

  double potential(const Step &, const double *s, double *dVdS) override;
  bool is_deposit_due(const Step &) const;
  bool continues(const BiasStart &start) const { return start.is_restarted || append; }
  std::int64_t ndeposits() const { return static_cast<std::int64_t>(now.own[COUNT]); }
  bool has_begun() const { return file != nullptr; }    // on this rank

  // Indices in BiasState::own, which all ranks know. HEIGHT and CENTER belong to the last deposit;
  // CENTER is the first of one element per variable.
  enum { COUNT, HEIGHT, CENTER };

  const std::string noun, plural;
  int pace = 0;
  double temp = 0.0;    // 0: not given
  std::string path;     // of the file of deposits

 private:
  void resume(bool is_restarted, DepositFile &);
  void set_last(const Deposit &);
  void observe(const Step &, const double *s, const Deposit &);
  void check_statistics(const Deposit &);
  bool is_inside_wall(const double *s) const;
  double sum_at(const double *s) const;

  const std::string part;
  bool append = false;
  bool has_earlier = false;    // continues with the deposits of an earlier run
  std::string backup;          // new name of the file of an earlier run, or ""
  struct {
    int every = 0;    // 0: not written
    std::string keyword, kind, path;
  } sum_file;

  std::unique_ptr<DepositFile> file;    // only on rank 0, set by begin()
  // Checksum of the sum, on rank 0. Empty before begin() and load().
  std::optional<std::uint64_t> saved_checksum;
  std::int64_t last_step = 0;    // timestep of the last deposit, or of the start of the run

  // Of the deposits of this fix since a timestep, on rank 0.
  DepositStatistics statistics;
  std::int64_t since = 0, ninside_walls = 0, nsummarized = 0;
  bool has_warned_of_jump = false, has_warned_of_walls = false;
  std::vector<Walls> walls_of_others;    // of each variable, or empty
};

}    // namespace gpucoord

#endif
