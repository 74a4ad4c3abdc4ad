// Part of GPUCOORD, GPL-2.0. OPES as a kind of bias: its keywords, file and outputs.

#include "gpucoord/bias_warnings.h"
#include "gpucoord/device_terms.h"

#include "../core/checksum.h"
#include "../core/text_files.h"
#include "depositing_bias.h"
#include "opes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace gpucoord {

namespace {

  // exp(-barrier/kT) and its power must not be 0.
  constexpr double LARGEST_BARRIER = 700.0;    // kT

  std::string list(const std::vector<double> &numbers)
  {
    std::string text;
    for (const double number : numbers) text += " " + shortest_text(number);
    return text;
  }

  class OpesBias : public DepositingBias {
   public:
    OpesBias(const Words &, bool explore);

    std::string formula(std::int64_t first_step) const override;
    std::string warning_of_rerun() const override;
    bool needs_host(const Step &step) const override
    {
      return !has_begun() || is_deposit_due(step);
    }
    void on_device(const Step &, DeviceTerms &) const override;
    std::size_t bytes() const override
    {
      std::size_t count = opes->all_kernels().rows().capacity();
      if (saved) count += saved->all_kernels().rows().capacity();
      return DepositingBias::bytes() + count * sizeof(double);
    }
    std::string memory_advice() const override
    {
      return " for " + std::to_string(opes->all_kernels().size()) +
          " kernels - use fewer variables, or a larger threshold, sigma or pace";
    }

    void begin(const BiasStart &start) override
    {
      const std::string text = warning_of_barrier(options.barrier, options.kt, context.units);
      if (!text.empty()) context.warn(text);
      DepositingBias::begin(start);
      saved.reset();
    }
    void begin_run(std::int64_t step) override
    {
      DepositingBias::begin_run(step);
      averaged_step = step;
    }

    std::vector<std::string> caller_energies() const override
    {
      return extra.empty() ? std::vector<std::string>() : std::vector<std::string>{extra};
    }
    // All ranks decide alike, so they do not ask for is_deposit_due().
    void set_energies(const Step &step,
                      const std::function<double(const std::string &)> &energy_of) override
    {
      if (extra.empty() || step.phase != Step::Phase::LAST_OF_STEP || step.timestep % pace) return;
      extra_energy = energy_of(extra);
    }
    void save(ArchiveParts &) const override;
    void load(ArchiveParts &) override;

   protected:
    double potential(const Step &, const double *s, double *dVdS) override;
    DepositFormat format() const override { return options.format(); }
    Deposit propose(double time, const double *s, double v) const override
    {
      return opes->propose(time, s, v + extra_energy);
    }
    void complete(std::vector<Deposit> &round) override { opes->complete(round); }
    void add_round(const std::vector<Deposit> &) override;
    double sum(const double *s, double *dVdS) const override { return opes->evaluate(s, dVdS); }
    std::uint64_t checksum() const override
    {
      Checksum sum = rows;
      for (const double number : {opes->all_kernels().overlap(), opes->neff()}) sum.add(number);
      return sum.value();
    }
    void warn_of_other_constants(const std::map<std::string, std::string> &found) const override
    {
      const std::string others = opes->other_constants(found);
      if (!others.empty())
        context.warn("kernels file " + path + " has " + others +
                     " - check the values of this command");
    }
    std::string restore(const std::vector<Deposit> &) override;
    std::string too_large() const override { return "barrier"; }
    void write_sum(const std::string &name) const override
    {
      opes->write_state(name, context.program, context.units);
    }
    std::vector<Setting> settings() const override;
    double sigma_of_basin(int v) const override
    {
      return options.explore || options.is_adaptive() ? 0.0 : options.sigma[v];
    }
    std::string keyword_of_sigma() const override
    {
      return options.is_adaptive() ? "sigma/min" : "sigma";
    }
    bool can_deposit() const override { return opes->is_ready(); }
    void load_shared(ArchiveParts &) override;
    std::size_t nremoved() const override    // averages that nobody needs
    {
      return options.is_adaptive() ? 0 : 1 + 2 * static_cast<std::size_t>(nvariables());
    }

   private:
    void parse_energies(const Words &);
    void parse_kernels(const Words &);
    void parse_sigma(const Words &);
    void show(double logweight);
    bool adds_sample(const Step &) const;

    enum { RCT, ZED, NEFF, KERNELS, LOGWEIGHT, NSHOWN };
    std::size_t shown(int k) const { return static_cast<std::size_t>(CENTER + nvariables() + k); }
    // Averages of adaptive sigma are kept in 'own', because a GPU also adds samples.
    double *averages() { return now.own.data() + shown(NSHOWN); }

    OpesOptions options;
    std::string state_file;    // to read, or ""
    std::string extra;         // the caller's bias that enters the weights, or ""
    double extra_energy = 0.0;
    std::unique_ptr<Opes> opes;
    std::unique_ptr<Opes> saved;       // that of a restart file, or null
    Checksum rows;                     // of the file
    std::int64_t averaged_step = 0;    // last timestep in the averages of adaptive sigma
  };

  OpesBias::OpesBias(const Words &words, bool explore) : DepositingBias(words, "kernel", "kernels")
  {
    options.explore = explore;
    options.names = names();
    options.labels = labels();
    options.period = context.periods;
    parse_energies(words);
    parse_kernels(words);
    parse_file(words);
    parse_sigma(words);
    parse_sum_file(words, "write_state", "state file");
    parse_guard(words);
    parse_walkers(words, false);
    if (words.has("read_state")) {
      state_file = words.values("read_state", 1, ", a file")[0];
      if (append)
        words.fail("read_state",
                   "keyword read_state is not possible with append yes, which takes all kernels "
                   "from the kernels file - leave out one of them");
    }
    if (words.has("extra")) {
      const std::string text = words.values("extra", 1, ", f_ID")[0];
      if (text.size() < 3 || text.rfind("f_", 0) != 0)
        words.fail("extra", 0, "extra must be f_ID, the energy of another fix, not '" + text + "'");
      extra = text.substr(2);
    }
    opes = std::make_unique<Opes>(options);
    now.own.resize(shown(NSHOWN) + opes->naverages(), 0.0);
    show(0.0);
    const char *const texts[] = {"rct", "zed", "neff", "kernels after merging",
                                 "V/kT at the last kernel"};
    for (int k = 0; k < NSHOWN; ++k)
      add_output(texts[k], [this, k] {
        return now.own[shown(k)];
      });
    add_outputs_of_rounds();
  }

  void OpesBias::parse_energies(const Words &words)
  {
    options.barrier = words.above_0("barrier");
    parse_pace(words);
    words.above_0("temp");
    parse_temperature(words);
    options.kt = context.boltzmann * temp;
    const double barrier = options.barrier / options.kt;
    const std::string barrier_in_kt =
        "barrier " + shortest_text(options.barrier) + " is " + short_text(barrier, 4) + " kT";
    options.biasfactor = barrier;
    if (words.has("biasfactor")) {
      const bool is_infinite = words.values("biasfactor", 1, "")[0] == "inf";
      options.biasfactor = is_infinite ? HUGE_VAL : words.real("biasfactor");
      if (is_infinite && options.explore)
        words.fail("biasfactor", 0, "takes no biasfactor inf - use kind opes");
      if (!(options.biasfactor > 1.0))
        words.fail("biasfactor", 0,
                   "biasfactor is " + shortest_text(options.biasfactor) +
                       " but must be > 1, or inf");
    } else if (!(barrier > 1.0))
      words.fail("barrier", 0,
                 barrier_in_kt +
                     ", but biasfactor, which is barrier/kT, must be > 1 - check temp "
                     "and units, or use keyword biasfactor");
    if (!(barrier * std::max(1.0, 1.0 / options.a()) <= LARGEST_BARRIER))
      words.fail("barrier", 0,
                 barrier_in_kt + ", and " + short_text(barrier / options.a(), 4) +
                     " kT/a with a = " + short_text(options.a(), 4) + ", but at most " +
                     short_text(LARGEST_BARRIER) + " are possible - check temp and units");
    options.epsilon = words.has("epsilon") ? words.above_0("epsilon")
                                           : std::exp(-barrier / options.a());
    if (!(std::pow(options.epsilon, options.a()) > 0.0))
      words.fail(
          "epsilon", 0,
          "epsilon is " + shortest_text(options.epsilon) + ", whose power " +
              short_text(options.a(), 4) +
              ", the weight of the sample before the first kernel, is too small for a number "
              "- use a larger epsilon");
    options.cutoff = words.has("cutoff")
        ? words.above_0("cutoff")
        : std::sqrt(2.0 * barrier / (options.explore ? 1.0 : options.a()));
  }

  void OpesBias::parse_kernels(const Words &words)
  {
    if (words.has("threshold")) options.threshold = words.real("threshold");
    if (!(options.threshold >= 0.0 && options.threshold < options.cutoff)) {
      const std::string text = "threshold is " + shortest_text(options.threshold) +
          " but must be >= 0 and below cutoff " + short_text(options.cutoff, 6);
      if (words.has("threshold")) words.fail("threshold", 0, text);
      words.fail(text + " - use keyword threshold, or a larger cutoff");
    }
    options.fixed_sigma = words.yes_no("fixed_sigma", false);
    options.recursive = words.yes_no("recursive", true);
    options.normalize = words.yes_no("normalize", true);
    if (words.has("kernel") && words.choice("kernel", {"smooth", "plumed"}) == "plumed")
      options.form = KernelForm::PLUMED;
    if (!words.has("force")) return;
    if (options.form == KernelForm::SMOOTH)
      words.fail("force", "keyword force needs kernel plumed");
    if (words.choice("force", {"exact", "plumed"}) == "plumed")
      options.form = KernelForm::PLUMED_FORCE;
  }

  void OpesBias::parse_sigma(const Words &words)
  {
    const auto widths = [this, &words](const char *keyword) {
      const auto result = words.reals(keyword);
      for (int v = 0; v < nvariables(); ++v) words.above_0(keyword, v);
      return result;
    };
    if (words.has("sigma/min")) options.sigma_min = widths("sigma/min");
    if (words.has("sigma")) {
      if (words.has("sigma/adaptive"))
        words.fail("sigma/adaptive",
                   "keywords sigma and sigma/adaptive exclude each other - leave out one of them");
      options.sigma = widths("sigma");
      for (int v = 0; v < nvariables() && !options.sigma_min.empty(); ++v)
        if (options.sigma_min[v] > options.sigma[v])
          words.fail("sigma/min", v,
                     "sigma/min is " + shortest_text(options.sigma_min[v]) +
                         ", which must not be above sigma " + shortest_text(options.sigma[v]));
      return;
    }
    options.stride = 10 * static_cast<std::int64_t>(pace);
    if (words.has("sigma/adaptive")) {
      words.values("sigma/adaptive", 1, "");
      options.stride = words.integer("sigma/adaptive", 0, pace, "a number of steps");
    }
    const std::string way_out = " - use keyword sigma for a sigma that is not adaptive";
    if (std::isinf(options.biasfactor))
      words.fail("biasfactor", 0, "biasfactor inf is not possible with adaptive sigma" + way_out);
    if (stride() > 1)
      words.fail("stride", 0,
                 "stride " + std::to_string(stride()) +
                     " is not possible with adaptive sigma, which needs S at every step" + way_out);
    if (append)
      words.fail("append", 0,
                 "append yes is not possible with adaptive sigma, whose averages are not in the "
                 "kernels file - continue from a restart file, or use keyword read_state");
  }

  std::string OpesBias::formula(std::int64_t /*first_step*/) const
  {
    const bool is_smooth = options.form == KernelForm::SMOOTH;
    std::string text = "V = " + short_text(options.a(), 6) + " kT ln(P/Z + " +
        short_text(options.epsilon, 6) + "), P = sum over kernels of h (exp(-d/2) - exp(-c^2/2)" +
        (is_smooth ? " (1 + (c^2 - d)/2)" : "") +
        ") for d < c^2, c = " + short_text(options.cutoff, 6) + ", d =";
    for (int v = 0; v < nvariables(); ++v) {
      const std::string k = "_" + std::to_string(v + 1);
      text += (v ? " + (" : " (") + labels()[v] + " - s" + k + ")^2/sigma" + k + "^2";
    }
    if (options.form == KernelForm::PLUMED_FORCE)
      text += "\n  forces are those of PLUMED, which are not the derivatives of this V";
    text += "\n  divided by the " +
        std::string(options.explore ? "number of samples" : "sum of exp(V/kT)") +
        (options.normalize ? ", Z = mean of P at the kernels" : ", Z = 1") +
        ", kT = " + short_text(options.kt) + " at temp " + short_text(temp) + "\n  barrier " +
        short_text(options.barrier) + ", biasfactor " + short_text(options.biasfactor) +
        ", a kernel every " + std::to_string(pace) + " steps, kernels closer than " +
        short_text(options.threshold) + " sigma are merged" + (options.recursive ? "" : ", once") +
        "\n  ";
    text += options.is_adaptive()
        ? "adaptive sigma of averages over " + std::to_string(options.stride) + " steps"
        : "sigma" + list(options.sigma);
    if (!options.sigma_min.empty()) text += ", at least" + list(options.sigma_min);
    text += options.fixed_sigma ? ", fixed" : ", which shrinks with the number of samples";
    if (!extra.empty()) text += ", weights exp((V + f_" + extra + ")/kT)";
    return text + periods_in_words() + sharing_in_words() + "\n  kernels file " + path +
        ": units " + context.units;
  }

  std::string OpesBias::warning_of_rerun() const
  {
    if (state_file.empty()) return DepositingBias::warning_of_rerun();
    return "rerun adds no kernels, V is that of state file " + state_file + " and of the " +
        std::to_string(ndeposits()) + " later kernels in " + path;
  }

  std::vector<Bias::Setting> OpesBias::settings() const
  {
    const auto number = [](const std::string &name, double value) {
      return Setting{name, name + " " + shortest_text(value)};
    };
    const auto flag = [](const std::string &name, bool is_on) {
      return Setting{name, name + (is_on ? " yes" : " no")};
    };
    const char *const forms[] = {"kernel smooth", "kernel plumed force exact",
                                 "kernel plumed force plumed"};
    return {number("barrier", options.barrier),
            {"pace", "pace " + std::to_string(pace)},
            number("temp", temp),
            number("biasfactor", options.biasfactor),
            number("epsilon", options.epsilon),
            number("cutoff", options.cutoff),
            number("threshold", options.threshold),
            {"sigma",
             options.is_adaptive() ? "sigma/adaptive " + std::to_string(options.stride)
                                   : "sigma" + list(options.sigma)},
            {"sigma/min",
             options.sigma_min.empty() ? "no sigma/min" : "sigma/min" + list(options.sigma_min)},
            flag("fixed_sigma", options.fixed_sigma),
            flag("recursive", options.recursive),
            flag("normalize", options.normalize),
            {"kernel", forms[static_cast<int>(options.form)]},
            {"extra", extra.empty() ? "no extra" : "extra f_" + extra},
            {"stride", "stride " + std::to_string(stride())}};
  }

  /* ---------------------------------------------------------------------- */

  std::string OpesBias::restore(const std::vector<Deposit> &deposits)
  {
    rows = {};
    std::size_t number_of_row = 0;
    for (const auto &deposit : deposits) {
      for (const double number : deposit.row) rows.add(number);
      const std::string which =
          " of kernel " + std::to_string(++number_of_row) + " in kernels file " + path;
      Opes::check_weight(deposit.row.back(), "logweight" + which);
      if (!(deposit.height() > 0.0))
        throw std::runtime_error("height" + which + " is " + short_text(deposit.height()) +
                                 ", but must be > 0 - repair it, or use a backup of it");
    }
    opes = std::make_unique<Opes>(saved ? *saved : Opes(options));
    if (!saved && !state_file.empty()) {
      const std::string others = opes->read_state(state_file, context.program, context.units);
      if (!others.empty())
        context.warn("state file " + state_file + " has " + others +
                     " - check the values of this command");
      context.print("continues with " + std::to_string(opes->all_kernels().size()) +
                    " kernels of state file " + state_file);
    }
    if (!saved)
      for (const auto &deposit : deposits) opes->add(deposit);
    show(deposits.empty() ? 0.0 : deposits.back().row.back());
    opes->get_averages(averages());
    return "";
  }

  // Setups, minimizations, inner evaluations and repeated ones of a timestep are no samples.
  bool OpesBias::adds_sample(const Step &step) const
  {
    return options.is_adaptive() && step.phase == Step::Phase::LAST_OF_STEP &&
        step.timestep > averaged_step;
  }

  double OpesBias::potential(const Step &step, const double *s, double *dVdS)
  {
    opes->set_averages(averages());
    if (adds_sample(step)) {
      opes->average(s);
      averaged_step = step.timestep;
    }
    const double v = DepositingBias::potential(step, s, dVdS);
    opes->get_averages(averages());
    return v;
  }

  void OpesBias::on_device(const Step &step, DeviceTerms &result) const
  {
    result.kernels = {opes->sum_parameters(), &opes->all_kernels().rows(), ndeposits()};
    if (options.is_adaptive())
      result.averages = {static_cast<int>(shown(NSHOWN)), adds_sample(step),
                         static_cast<double>(options.stride)};
  }

  void OpesBias::add_round(const std::vector<Deposit> &deposits)
  {
    for (const auto &deposit : deposits) {
      opes->add(deposit);
      for (const double number : deposit.row) rows.add(number);
    }
    if (!deposits.empty()) show(deposits.back().row.back());
  }

  void OpesBias::show(double logweight)
  {
    now.own[shown(RCT)] = opes->rct();
    now.own[shown(ZED)] = opes->zed();
    now.own[shown(NEFF)] = opes->neff();
    now.own[shown(KERNELS)] = static_cast<double>(opes->all_kernels().size());
    now.own[shown(LOGWEIGHT)] = logweight;
  }

  void OpesBias::save(ArchiveParts &parts) const
  {
    DepositingBias::save(parts);
    Opes current = *opes;
    current.set_averages(now.own.data() + shown(NSHOWN));
    Archive archive;
    current.save(archive);
    parts.add("opes", 1, archive);
  }

  void OpesBias::load(ArchiveParts &parts)
  {
    DepositingBias::load(parts);
    parts.take("opes", 1, [this](Archive &archive) {
      saved = std::make_unique<Opes>(options);
      saved->load(archive);
      opes = std::make_unique<Opes>(*saved);
      opes->get_averages(averages());
    });
  }

  // The averages of adaptive sigma are those of this walker, unless it is new.
  void OpesBias::load_shared(ArchiveParts &parts)
  {
    const std::vector<double> mine(averages(), averages() + opes->naverages());
    load(parts);
    if (mine.empty() || mine[0] == 0.0) return;
    saved->set_averages(mine.data());
    std::copy(mine.begin(), mine.end(), averages());
  }

  std::unique_ptr<Bias> make_opes(Words &words, bool explore)
  {
    std::vector<Words::Keyword> known = {"barrier",
                                         "pace",
                                         "temp",
                                         "sigma",
                                         "sigma/adaptive",
                                         "sigma/min",
                                         "biasfactor",
                                         "epsilon",
                                         "cutoff",
                                         "threshold",
                                         {"fixed_sigma", 1},
                                         {"recursive", 1},
                                         {"normalize", 1},
                                         {"kernel", 1},
                                         {"force", 1},
                                         {"file", 1},
                                         {"append", 1},
                                         {"extra", 1},
                                         {"write_state", 2},
                                         {"read_state", 1}};
    for (const auto &keyword : DepositingBias::keywords()) known.push_back(keyword);
    words.parse(known);
    return std::make_unique<OpesBias>(words, explore);
  }

}    // namespace

std::unique_ptr<Bias> make_opes_bias(Words &words)
{
  return make_opes(words, false);
}

std::unique_ptr<Bias> make_opes_explore_bias(Words &words)
{
  return make_opes(words, true);
}

}    // namespace gpucoord
