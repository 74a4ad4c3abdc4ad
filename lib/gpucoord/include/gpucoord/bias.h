// Part of GPUCOORD, GPL-2.0. Bias potentials V(S) of one or more variables S.
//
// A kind of bias is a class derived from Bias in a file of src/bias, which parses its own keywords,
// and a line in src/bias/bias_kinds.def. The caller knows class Bias only. A caller can derive a
// bias of its own.

#ifndef GPUCOORD_BIAS_H
#define GPUCOORD_BIAS_H

#include "gpucoord/archive.h"
#include "gpucoord/export.h"
#include "gpucoord/metadynamics.h"
#include "gpucoord/restraint.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpucoord {

class Words;

// The caller, as a bias needs to know it.
struct BiasContext {
  std::string command;                // begins messages about words: "fix coord/bias"
  std::vector<std::string> names;     // variables as in files: cv
  std::vector<std::string> labels;    // variables as the user writes them: c_cv
  double boltzmann = 1.0;             // energy over temperature units
  std::string program, units;         // named in files
  // Print a line, or a warning. They are called by each rank that evaluates the bias.
  std::function<void(const std::string &)> say, warn;
};

// The user's words are wrong; what() is the whole message.
class GPUCOORD_API ParseError : public std::invalid_argument {
 public:
  static constexpr int WHOLE_COMMAND = -1;
  ParseError(int word_in, const std::string &text) : std::invalid_argument(text), word(word_in) {}
  const int word;    // index in the words given to make_bias(), or WHOLE_COMMAND
};

// An evaluation of the forces.
struct Step {
  enum class Moment {
    SETUP,           // before the first timestep of a run or minimization
    STEP,            // more evaluations follow in this timestep
    LAST_OF_STEP,    // hills are deposited
    MINIMIZATION     // an iteration of a minimization, which takes no time
  };
  Moment moment = Moment::LAST_OF_STEP;
  std::int64_t number = 0;     // timestep
  std::int64_t elapsed = 0;    // timesteps since the bias was defined, except in minimizations
  double time = 0.0;           // the caller's units
};

// Begin of the first run with a bias.
struct BiasStart {
  static constexpr std::int64_t NONE = -1;
  bool is_restarted = false;           // load() was called
  std::int64_t restart_step = NONE;    // timestep at which load() was called
  double timestep = 0.0;               // the caller's units
};

// The bias after an evaluation, the same on all ranks.
struct BiasState {
  double energy = 0.0;            // V
  double work = 0.0;              // sum of the changes of V at fixed S
  std::vector<double> s, dVdS;    // one a variable
  std::vector<double> own;        // fixed number of values, whose meaning is the kind's
};

// A bias in a form that a GPU evaluates without the host (resident_bias.h): either a term of V for
// each variable, or values on a grid, or neither. Pointers are valid until the bias is evaluated or
// destroyed.
struct DeviceTerms {
  std::vector<Restraint> now;     // with the parameters of this evaluation
  std::vector<Restraint> last;    // with those of the evaluation before
  bool moves = false;             // these differ, and the difference of V counts as work

  struct Grid {
    std::vector<GridAxis> axes;
    std::vector<Interval> interval;                 // one an axis, or none: V is constant beyond it
    const std::vector<double> *values = nullptr;    // Metadynamics::grid_values()
    std::int64_t version = 0;                       // differs where the values differ
  };
  Grid grid;

  bool has_grid() const { return grid.values != nullptr; }
  bool empty() const { return now.empty() && !has_grid(); }
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
  // The bias acts every this many timesteps, with forces that are this many times those of V.
  int stride() const { return every; }

  // V with its numbers, for a user; lines after the first one are indented by 2. first_step:
  // timestep at which the bias was defined.
  virtual std::string formula(std::int64_t first_step) const = 0;
  // Text for a user who evaluates the bias on stored configurations, or "".
  virtual std::string warning_of_rerun() const { return ""; }

  // Whether hills and files are kept on rank 0. If so, rank 0 alone calls begin(), evaluate() and
  // outputs that are computed on demand; the other ranks take() its state after begin() and
  // evaluate().
  virtual bool on_rank_0() const { return false; }
  // Parameters change in time.
  virtual bool moves() const { return false; }
  // Names of the caller's variables that set() evaluates.
  virtual std::vector<std::string> caller_variables() const { return {}; }

  // Opens files, and reads those of an earlier run. Called once, before the first evaluation.
  // std::runtime_error.
  virtual void begin(const BiasStart &) {}
  // Called at the setup of each run, on all ranks, also where the bias is not evaluated in this
  // timestep.
  virtual void begin_run(std::int64_t /*step*/) {}

  // Sets the parameters of the next evaluation, on all ranks. value_of: evaluates one of
  // caller_variables(). std::runtime_error.
  virtual void set(const Step &, const std::function<double(const std::string &)> & /*value_of*/) {}
  // Deposits a hill if one is due, then computes V and dV/dS; state() has both. std::runtime_error,
  // also where they are not finite.
  void evaluate(const Step &, const double *s);
  // Throws std::runtime_error where the state is not finite.
  void check() const { check_finite(now.energy, now.s.data(), now.dVdS.data()); }

  // The host must evaluate the bias in this timestep.
  virtual bool needs_host(const Step &) const { return false; }
  virtual DeviceTerms on_device() const { return {}; }

  const BiasState &state() const { return now; }
  // Takes a state that a GPU or another rank computed.
  void take(const BiasState &state) { now = state; }

  // Numbers for a user, the same in number and order from construction on.
  struct Output {
    std::string name;
    std::function<double()> value;
    bool on_demand;    // costly: computed where it is asked for
  };
  const std::vector<Output> &outputs() const { return shown; }

  // State for a restart file: rank 0 saves, all ranks load.
  virtual void save(Archive &) const;
  virtual void load(Archive &);

  virtual std::size_t bytes() const { return 0; }

 protected:
  explicit Bias(const Words &);
  // A bias that the caller implements.
  Bias(BiasContext, std::string kind);

  // V at s, and dV/dS. state() is that of the evaluation before; the caller stores V, s and dV/dS
  // in it afterwards.
  virtual double potential(const Step &, const double *s, double *dVdS) = 0;
  // Parameters to reduce where V is not finite: "k or s0".
  virtual std::string too_large() const = 0;

  void check_finite(double v, const double *s, const double *dVdS) const;
  void add_output(std::string name, std::function<double()> value, bool on_demand = false);
  void add_output_of_work()
  {
    add_output("work", [this] {
      return now.work;
    });
  }
  // S, dV/dS, and two numbers of the kind.
  void add_outputs_of_variable(int v, const std::string &first, std::function<double()> first_value,
                               const std::string &second, std::function<double()> second_value);

  const BiasContext context;
  BiasState now;

 private:
  const std::string kind_name;
  const int every;
  std::vector<Output> shown;
};

// Names of all kinds.
GPUCOORD_API std::vector<std::string> bias_kinds();

// words: a kind, then its keywords, each with its values, as the user wrote them. A value v_NAME is
// the caller's variable NAME. Throws ParseError.
GPUCOORD_API std::unique_ptr<Bias> make_bias(const std::vector<std::string> &words,
                                             const BiasContext &);

// Contents of a restart file for a bias.
struct SavedBias {
  std::string kind;
  std::int64_t nvariables = 0;
  std::int64_t first_step = 0;    // timestep at which the bias was defined
  Archive state;                  // for Bias::load()
};
// Reads the numbers of a restart file of an earlier version, which has numbers of kinds in place of
// names.
GPUCOORD_API SavedBias read_numbered_bias(const double *numbers);

}    // namespace gpucoord

#endif
