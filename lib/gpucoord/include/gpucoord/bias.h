// Part of GPUCOORD, GPL-2.0. Bias potentials V(S) of one or more variables S.
//
// A kind of bias is a class derived from Bias in a file of src/bias, which parses its own keywords,
// and a line in src/bias/bias_kinds.def. The caller only knows class Bias. A caller can also derive
// its own bias.

#ifndef GPUCOORD_BIAS_H
#define GPUCOORD_BIAS_H

#include "gpucoord/archive.h"
#include "gpucoord/bias_warnings.h"
#include "gpucoord/export.h"
#include "gpucoord/period.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpucoord {

class Walkers;
class Words;
struct DeviceTerms;

// Information about the caller that a bias needs.
struct BiasContext {
  std::string command;                // prefix of messages about the user's words: "fix coord/bias"
  std::vector<std::string> names;     // names of the variables in files: cv
  std::vector<std::string> labels;    // variables as the user writes them: c_cv
  std::vector<Period> periods;        // of the variables; empty: no variable is periodic
  double boltzmann = 1.0;             // Boltzmann constant, energy/temperature
  std::string program, units;         // written to files
  // Simulations that share the bias if the user wants it. Null: the caller has none.
  std::shared_ptr<Walkers> walkers;
  // Print a line or a warning. Each rank that evaluates the bias calls them.
  std::function<void(const std::string &)> print, warn;
};

// The user's words are wrong. what() is the whole message.
class GPUCOORD_API ParseError : public std::invalid_argument {
 public:
  static constexpr int WHOLE_COMMAND = -1;
  ParseError(int word_in, const std::string &text) : std::invalid_argument(text), word(word_in) {}
  const int word;    // index in the words given to make_bias(), or WHOLE_COMMAND
};

// A force evaluation.
struct Step {
  enum class Phase {
    SETUP,           // before the first timestep of a run or minimization
    STEP,            // more evaluations follow in this timestep
    LAST_OF_STEP,    // deposits are made in this evaluation
    MINIMIZATION     // an iteration of a minimization; time does not advance
  };
  Phase phase = Phase::LAST_OF_STEP;
  std::int64_t timestep = 0;
  std::int64_t elapsed = 0;    // timesteps since the bias was defined, without minimizations
  double time = 0.0;           // caller's units
};

// Start of the first run with a bias.
struct BiasStart {
  static constexpr std::int64_t NONE = -1;
  bool is_restarted = false;           // load() was called
  std::int64_t restart_step = NONE;    // timestep at which load() was called
  double timestep = 0.0;               // caller's units
  bool is_rerun = false;               // evaluates stored configurations
};

// The state of a bias after an evaluation. It is the same on all ranks.
struct BiasState {
  double energy = 0.0;            // V
  double work = 0.0;              // sum of the changes of V at fixed S, energy
  std::vector<double> s, dVdS;    // one per variable
  std::vector<double> own;        // further values, whose number and meaning depend on the kind
};

class GPUCOORD_API Bias {
 public:
  virtual ~Bias();
  Bias(const Bias &) = delete;
  Bias &operator=(const Bias &) = delete;

  const std::string &kind() const { return kind_name; }
  int nvariables() const { return static_cast<int>(context.names.size()); }
  const std::vector<std::string> &names() const { return context.names; }
  const std::vector<std::string> &labels() const { return context.labels; }
  Period period(int variable) const
  {
    return context.periods.empty() ? Period() : context.periods[variable];
  }
  // The bias acts every this many timesteps, and its forces are multiplied by this number.
  int stride() const { return every; }

  // Returns V with its parameters, for the user. Lines after the first one are indented by 2.
  // first_step: timestep at which the bias was defined
  virtual std::string formula(std::int64_t first_step) const = 0;
  // Returns a warning for a user who evaluates the bias on stored configurations, or "".
  virtual std::string warning_of_rerun() const { return ""; }

  // Returns whether only rank 0 keeps deposits and files. If so, only rank 0 calls begin(),
  // evaluate() and outputs that are computed on demand. The other ranks call set_state() with the
  // state of rank 0 after begin() and evaluate().
  virtual bool on_rank_0() const { return false; }
  // Returns whether parameters change in time.
  virtual bool moves() const { return false; }
  // Returns the temperature that the user gave, or 0. It is the same on all ranks.
  virtual double temperature() const { return 0.0; }
  // Returns the files that the bias writes. A file may have one writer only. With on_rank_0(),
  // valid only on rank 0.
  struct File {
    std::string kind;    // "grid file"
    std::string path;
  };
  virtual std::vector<File> written_files() const { return {}; }
  // Returns the names of the caller's variables that set() evaluates.
  virtual std::vector<std::string> caller_variables() const { return {}; }

  // For warnings; the same on all ranks. stiffness(): how hard the bias holds a variable at s, with
  // its largest parameters. walls(): the values between which no wall acts on a variable.
  virtual Stiffness stiffness(int /*variable*/, double /*s*/) const { return {}; }
  struct Walls {
    double lower = -HUGE_VAL, upper = HUGE_VAL;
  };
  virtual Walls walls(int /*variable*/) const { return {}; }
  // Returns the name of its deposits, "hills", or "" if it makes none.
  virtual std::string deposits() const { return ""; }
  // Takes the walls of other biases on each variable. Called before each run.
  virtual void set_walls_of_others(const std::vector<Walls> &) {}
  // Returns a line for the end of a run, or "". With on_rank_0(), called only on rank 0.
  virtual std::string summary() { return ""; }

  // Opens files, and reads the files of an earlier run. Called once, before the first evaluation.
  // Throws std::runtime_error.
  virtual void begin(const BiasStart &) {}
  // Called at the setup of each run on all ranks, even if the bias is not evaluated in this
  // timestep.
  virtual void begin_run(std::int64_t /*step*/) {}

  // Returns whether walkers share the bias. If so, the caller calls on rank 0: join_run() at the
  // beginning of each run of timesteps, also if it has no setup; leave_run() after it, with its
  // last timestep; and fail() if an error ends the run outside of this class. Both others throw
  // std::runtime_error.
  virtual bool has_walkers() const { return false; }
  virtual void join_run(std::int64_t /*step*/, std::int64_t /*last_step*/) {}
  // Returns whether later runs must be left out, because another walker leaves them out.
  virtual bool leave_run(std::int64_t /*step*/) { return false; }
  virtual void fail(const std::string & /*why*/) {}
  // Returns on rank 0 whether this run must end, because that of another walker has ended.
  virtual bool must_end() const { return false; }

  // Returns the next timestep in which set() may need caller_variables().
  virtual std::int64_t next_set(std::int64_t step) const { return (step / every + 1) * every; }
  // Sets the parameters of the next evaluation. Called on all ranks. value_of: evaluates one of
  // caller_variables(). Throws std::runtime_error.
  virtual void set(const Step &, const std::function<double(const std::string &)> & /*value_of*/) {}
  // Returns the IDs of the caller's other biases whose energies set_energies() needs.
  virtual std::vector<std::string> caller_energies() const { return {}; }
  // Called on all ranks after set(). energy_of: returns the energy of one of caller_energies() in
  // this timestep
  virtual void set_energies(const Step &,
                            const std::function<double(const std::string &)> & /*energy_of*/)
  {
  }
  // Makes a deposit if one is due, then computes V and dV/dS and stores them in state(). s:
  // [nvariables()]. Throws std::runtime_error, also if V or dV/dS is not finite.
  void evaluate(const Step &, const double *s);
  // Throws std::runtime_error if the state is not finite.
  void check() const { check_finite(now.energy, now.s.data(), now.dVdS.data()); }

  // Returns whether the host must evaluate the bias in this timestep: because a GPU cannot evaluate
  // this kind of bias, or because there is more to do, such as a deposit.
  virtual bool needs_host(const Step &) const { return true; }
  // If not needs_host(): sets the form for a GPU (device_terms.h), with the parameters of this
  // evaluation.
  virtual void on_device(const Step &, DeviceTerms &) const {}

  const BiasState &state() const { return now; }
  // Returns strength dV/dS, one per variable.
  std::vector<double> factors(double strength) const;
  // Replaces the state by one that a GPU or another rank computed.
  void set_state(const BiasState &state) { now = state; }

  // Numbers for the user. Their number and order do not change after construction.
  struct Output {
    std::string name;
    std::function<double()> value;
    bool on_demand;    // expensive: computed only when requested
  };
  const std::vector<Output> &outputs() const { return shown; }

  // State for a restart file. Rank 0 saves it, and all ranks load it. A derived class adds a part.
  virtual void save(ArchiveParts &) const;
  virtual void load(ArchiveParts &);

  virtual std::size_t bytes() const { return 0; }
  // Returns the end of the message if memory is exhausted: why, and the way out.
  virtual std::string memory_advice() const { return ""; }

 protected:
  explicit Bias(const Words &);
  // A bias that the caller implements.
  Bias(BiasContext, std::string kind, int stride = 1);

  // Returns V at s, and sets dVdS; both arrays: [nvariables()]. During the call, state() is that of
  // the previous evaluation. The caller then stores V, s and dV/dS in it.
  virtual double potential(const Step &, const double *s, double *dVdS) = 0;
  // Returns the parameters to reduce if V is not finite: "k or s0".
  virtual std::string too_large() const = 0;

  void check_finite(double v, const double *s, const double *dVdS) const;
  void add_output(std::string name, std::function<double()> value, bool on_demand = false);
  void add_output_of_work()
  {
    add_output("work", [this] {
      return now.work;
    });
  }
  // Parameters of the command that a restart file contains, so that a change is noticed.
  struct Setting {
    std::string name;    // "temp"
    std::string text;    // "temp 300" or "no temp"
  };
  virtual std::vector<Setting> settings() const { return {}; }
  std::vector<Setting> all_settings() const;    // with the names of the variables
  Setting periods_as_setting() const;
  // Warns of settings that differ from those of load(). Returns whether any differ.
  bool warn_of_other_settings() const;

  // Returns how many numbers at the end of BiasState::own only older restart files have.
  virtual std::size_t nremoved() const { return 0; }

  // Returns a line for formula() that tells the periods of variables, or "".
  std::string periods_in_words() const;
  // Adds outputs: S, dV/dS, and two numbers of the kind.
  void add_outputs_of_variable(int v, const std::string &first, std::function<double()> first_value,
                               const std::string &second, std::function<double()> second_value);

  const BiasContext context;
  BiasState now;

 private:
  const std::string kind_name;
  const int every;
  std::vector<Output> shown;
  std::vector<Setting> saved_settings;    // of a restart file
};

// Returns the names of all kinds.
GPUCOORD_API std::vector<std::string> bias_kinds();

// Makes a bias. words: a kind, then its keywords, each with its values, as the user wrote them. A
// value v_NAME refers to the caller's variable NAME. Throws ParseError.
GPUCOORD_API std::unique_ptr<Bias> make_bias(const std::vector<std::string> &words,
                                             const BiasContext &);

}    // namespace gpucoord

#endif
