// Part of GPUCOORD, GPL-2.0. Restraints and walls. Each variable has one term in closed form
// (restraint.h).

#include "gpucoord/bias.h"
#include "gpucoord/counters.h"
#include "gpucoord/device_terms.h"

#include "../core/text_files.h"
#include "words.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gpucoord {

namespace {

  // Largest exponent of a wall: 2^1000 is close to the largest double.
  constexpr double MAX_EXPONENT = 1000.0;

  // A parameter of one variable: a value that changes from start to stop, or a variable of the
  // caller.
  struct Parameter {
    double start = 0.0, stop = 0.0;
    std::string variable;
  };

  class RestraintBias : public Bias {
   public:
    RestraintBias(const Words &, Restraint::Kind, bool is_moving);

    std::string formula(std::int64_t first_step) const override;
    bool moves() const override { return is_moving; }
    std::vector<std::string> caller_variables() const override;
    void begin(const BiasStart &start) override
    {
      // Other stops and steps explain other parameters.
      const bool has_other_settings = warn_of_other_settings();
      if (has_loaded && !(has_other_settings && steps)) restart_step = start.restart_step;
    }
    void set(const Step &, const std::function<double(const std::string &)> &value_of) override;
    bool needs_host(const Step &) const override { return false; }
    void on_device(const Step &, DeviceTerms &) const override;
    Stiffness stiffness(int v, double s) const override;
    Walls walls(int v) const override;
    void save(ArchiveParts &) const override;
    void load(ArchiveParts &) override;

   protected:
    double potential(const Step &, const double *s, double *dVdS) override;
    std::vector<Setting> settings() const override;
    std::string too_large() const override
    {
      return is_wall() ? "k, s0, exponent or offset" : "k or s0";
    }

   private:
    bool is_wall() const
    {
      return form == Restraint::Kind::UPPER_WALL || form == Restraint::Kind::LOWER_WALL;
    }
    std::vector<Parameter> parameters(const Words &, const std::string &keyword) const;
    void parse_exponents(const Words &);
    void parse_motion(const Words &);
    double change_by_parameters(const double *s) const;
    void warn_of_other_parameters() const;

    const Restraint::Kind form;
    const bool is_moving;
    std::vector<Parameter> k, s0;
    std::int64_t steps = 0;                    // number of timesteps from start to stop
    std::vector<std::string> stop_keywords;    // those given of k/stop and s0/stop

    std::vector<Restraint> terms, last_terms;    // current and previous evaluation
    bool have_parameters = false;                // terms have been set
    bool has_loaded = false;                     // terms come from a restart file
    bool have_moved = false;                     // terms have changed since the previous evaluation
    std::int64_t restart_step =
        BiasStart::NONE;    // until parameters are compared with those of the restart file
  };

  RestraintBias::RestraintBias(const Words &words, Restraint::Kind form_in, bool is_moving_in) :
      Bias(words), form(form_in), is_moving(is_moving_in)
  {
    Restraint term;
    term.kind = form;
    terms.assign(nvariables(), term);
    for (int v = 0; v < nvariables(); ++v) {
      if (!period(v).exists()) continue;
      if (form != Restraint::Kind::HARMONIC)
        words.fail("cannot act on " + labels()[v] + ", which is periodic from " +
                   text_of_bound(period(v).lo) + " to " + text_of_bound(period(v).hi()) +
                   ": V would jump at the ends - use kind harmonic or moving, or its sine and "
                   "cosine: output sincos of compute coord/geometry, or compute coord/custom");
      terms[v].period = period(v).length;
    }
    k = parameters(words, "k");
    if (form == Restraint::Kind::LINEAR && !words.has("s0"))
      s0.resize(nvariables());
    else
      s0 = parameters(words, "s0");
    if (is_wall()) parse_exponents(words);
    if (form != Restraint::Kind::LINEAR)
      for (int v = 0; v < nvariables(); ++v)
        if (k[v].variable.empty() && !(k[v].start >= 0.0))
          words.fail("k", v, "k is " + shortest_text(k[v].start) + " but must be >= 0");
    if (is_moving) parse_motion(words);
    last_terms = terms;

    for (int v = 0; v < nvariables(); ++v)
      add_outputs_of_variable(
          v, "s0",
          [this, v] {
            return terms[v].s0;
          },
          "k",
          [this, v] {
            return terms[v].k;
          });
    add_output_of_work();
  }

  std::vector<Parameter> RestraintBias::parameters(const Words &words,
                                                   const std::string &keyword) const
  {
    const auto &values = words.values(keyword, nvariables(), words.for_each_variable("one"));
    std::vector<Parameter> result(nvariables());
    for (int v = 0; v < nvariables(); ++v) {
      if (is_moving) result[v].variable = variable_of(values[v]);
      if (result[v].variable.empty()) result[v].start = result[v].stop = words.real(keyword, v);
    }
    return result;
  }

  void RestraintBias::parse_exponents(const Words &words)
  {
    if (words.has("exponent")) {
      const auto exponents = words.reals("exponent");
      for (int v = 0; v < nvariables(); ++v)
        if (!(exponents[v] > 1.0))
          words.fail("exponent", v,
                     "exponent is " + shortest_text(exponents[v]) +
                         " but must be > 1, or the force jumps at the wall");
      for (int v = 0; v < nvariables(); ++v) {
        if (exponents[v] > MAX_EXPONENT)
          words.fail("exponent", v,
                     "exponent is " + shortest_text(exponents[v]) +
                         " but must be <= " + shortest_text(MAX_EXPONENT) +
                         ", because V is close to the largest double at 2 units beyond the wall - "
                         "use a larger k for a harder wall");
        terms[v].exponent = exponents[v];
      }
    }
    if (words.has("offset")) {
      const auto offsets = words.reals("offset");
      for (int v = 0; v < nvariables(); ++v) terms[v].offset = offsets[v];
    }
  }

  void RestraintBias::parse_motion(const Words &words)
  {
    bool moves = false;
    for (auto *const list : {&k, &s0}) {
      const std::string name = list == &k ? "k" : "s0", keyword = name + "/stop";
      for (const auto &value : *list) moves = moves || !value.variable.empty();
      if (!words.has(keyword)) continue;
      const auto stop = words.reals(keyword);
      for (int v = 0; v < nvariables(); ++v) {
        auto &value = (*list)[v];
        if (!value.variable.empty())
          words.fail(keyword, v,
                     ": " + name + " is the variable v_" + value.variable + ", so " + keyword +
                         " cannot change it");
        if (list == &k && !(stop[v] >= 0.0))
          words.fail(keyword, v, "k/stop is " + shortest_text(stop[v]) + " but must be >= 0");
        value.stop = stop[v];
      }
      stop_keywords.push_back(keyword);
    }
    if (!moves && stop_keywords.empty())
      words.fail("needs a parameter that changes: k/stop, s0/stop, or a variable v_name for k or "
                 "s0 - or use kind harmonic");
    if (stop_keywords.empty()) {
      if (words.has("steps"))
        words.fail("steps", "steps applies to k/stop and s0/stop - variables change by themselves");
      return;
    }
    if (!words.has("steps"))
      words.fail(stop_keywords[0],
                 "keyword " + stop_keywords[0] +
                     " needs keyword steps, the number of steps to the stop");
    words.values("steps", 1, "");
    steps = words.integer("steps", 0, 1, "a number of steps");
  }

  std::string RestraintBias::formula(std::int64_t first_step) const
  {
    const auto shown = [this, first_step](const Parameter &p) {
      if (!p.variable.empty()) return "v_" + p.variable;
      if (p.start == p.stop) return short_text(p.start);
      return "(" + short_text(p.start) + " -> " + short_text(p.stop) + " from step " +
          std::to_string(first_step) + " to " + std::to_string(first_step + steps) + ")";
    };
    std::string text = "V =";
    for (int v = 0; v < nvariables(); ++v) {
      const std::string &s = labels()[v];
      text += (v ? " + " : " ") + shown(k[v]);
      const double offset = terms[v].offset;
      switch (form) {
        case Restraint::Kind::HARMONIC:
          text += "/2 (" + s + " - " + shown(s0[v]) + ")^2";
          break;
        case Restraint::Kind::LINEAR:
          text += " (" + s + " - " + shown(s0[v]) + ")";
          break;
        case Restraint::Kind::UPPER_WALL: {
          const std::string wall = short_text(s0[v].start - offset);
          text += " (" + s + " - " + wall + ")^" + short_text(terms[v].exponent) + " where " + s +
              " > " + wall;
          break;
        }
        case Restraint::Kind::LOWER_WALL: {
          const std::string wall = short_text(s0[v].start + offset);
          text += " (" + wall + " - " + s + ")^" + short_text(terms[v].exponent) + " where " + s +
              " < " + wall;
          break;
        }
      }
    }
    return text + periods_in_words();
  }

  std::vector<std::string> RestraintBias::caller_variables() const
  {
    std::vector<std::string> names;
    for (const auto *list : {&k, &s0})
      for (const auto &parameter : *list)
        if (!parameter.variable.empty()) names.push_back(parameter.variable);
    return names;
  }

  /* ---------------------------------------------------------------------- */

  void RestraintBias::set(const Step &step,
                          const std::function<double(const std::string &)> &value_of)
  {
    // Parameters do not change in a minimization.
    const bool move = is_moving && step.phase != Step::Phase::MINIMIZATION;
    have_moved = move && have_parameters;
    if (!move && have_parameters) return;
    last_terms = terms;
    double fraction = 0.0;
    if (steps)
      // elapsed is negative if stored configurations begin before the bias was defined.
      fraction = static_cast<double>(
                     std::min(std::max(step.elapsed, static_cast<std::int64_t>(0)), steps)) /
          static_cast<double>(steps);
    const auto value = [&](const Parameter &parameter) {
      return parameter.variable.empty()
          ? parameter.start + fraction * (parameter.stop - parameter.start)
          : value_of(parameter.variable);
    };
    for (int v = 0; v < nvariables(); ++v) {
      terms[v].k = value(k[v]);
      if (terms[v].k < 0.0 && !k[v].variable.empty())
        throw std::runtime_error("variable " + k[v].variable + " makes k " +
                                 shortest_text(terms[v].k) + ", but it must be >= 0");
      terms[v].s0 = value(s0[v]);
    }
    if ((have_moved || !is_moving) && step.phase == Step::Phase::SETUP &&
        step.timestep == restart_step) {
      restart_step = BiasStart::NONE;
      warn_of_other_parameters();
    }
    have_parameters = true;
  }

  // A restart file has the parameters of the timestep from which the run continues. They differ if
  // the user has changed them in the command.
  void RestraintBias::warn_of_other_parameters() const
  {
    for (int v = 0; v < nvariables(); ++v) {
      const auto &now_term = terms[v], &saved = last_terms[v];
      if ((k[v].variable.empty() && now_term.k != saved.k) ||
          (s0[v].variable.empty() && now_term.s0 != saved.s0))
        context.warn(labels()[v] + " continues with s0 " + shortest_text(now_term.s0) + " and k " +
                     shortest_text(now_term.k) + ", but the restart file had " +
                     shortest_text(saved.s0) + " and " + shortest_text(saved.k) +
                     " - check the values of this command");
    }
  }

  // Returns V minus V with the parameters of the previous evaluation, both at s.
  double RestraintBias::change_by_parameters(const double *s) const
  {
    double change = 0.0, dVdS;
    for (int v = 0; v < nvariables(); ++v) {
      change += terms[v].evaluate(s[v], dVdS);
      change -= last_terms[v].evaluate(s[v], dVdS);
    }
    return change;
  }

  // The work accumulates the changes of V due to k and s0, averaged over S before and after the
  // timestep. This corresponds to velocity Verlet (Jarzynski, PRL 78, 2690 (1997); Crooks, J. Stat.
  // Phys. 90, 1481 (1998)).
  double RestraintBias::potential(const Step &, const double *s, double *dVdS)
  {
    GPUCOORD_COUNT(RESTRAINTS);
    if (have_moved) {
      now.work += 0.5 * change_by_parameters(now.s.data());
      now.work += 0.5 * change_by_parameters(s);
    }
    double energy = 0.0;
    for (int v = 0; v < nvariables(); ++v) energy += terms[v].evaluate(s[v], dVdS[v]);
    return energy;
  }

  void RestraintBias::on_device(const Step &, DeviceTerms &result) const
  {
    result.now = terms;
    result.last = last_terms;
    result.moves = have_moved;
  }

  // A wall whose exponent is not 2 has no largest V'': it is taken at s.
  Stiffness RestraintBias::stiffness(int v, double s) const
  {
    const auto &term = terms[v];
    const double largest = k[v].variable.empty() ? std::max(k[v].start, k[v].stop) : term.k;
    if (form == Restraint::Kind::LINEAR) return {};
    if (form == Restraint::Kind::HARMONIC) return {largest, "k", largest};
    const double e = term.exponent;
    const double sign = form == Restraint::Kind::UPPER_WALL ? 1.0 : -1.0;
    const double depth = sign * (s - s0[v].start) + term.offset;
    if (e != 2.0 && !(depth > 0.0)) return {};
    return {largest * e * (e - 1.0) * (e == 2.0 ? 1.0 : std::pow(depth, e - 2.0)), "k", largest};
  }

  Bias::Walls RestraintBias::walls(int v) const
  {
    Walls result;
    if (k[v].start > 0.0 && form == Restraint::Kind::UPPER_WALL)
      result.upper = s0[v].start - terms[v].offset;
    if (k[v].start > 0.0 && form == Restraint::Kind::LOWER_WALL)
      result.lower = s0[v].start + terms[v].offset;
    return result;
  }

  // k and s0 are compared at the timestep of the restart file: warn_of_other_parameters().
  std::vector<Bias::Setting> RestraintBias::settings() const
  {
    std::string exponents = "exponent", offsets = "offset";
    for (const auto &term : terms) {
      exponents += " " + shortest_text(term.exponent);
      offsets += " " + shortest_text(term.offset);
    }
    std::vector<Setting> list = {{"stride", "stride " + std::to_string(stride())}};
    if (is_wall()) list.insert(list.end(), {{"exponent", exponents}, {"offset", offsets}});
    for (const std::string &keyword : stop_keywords) {
      std::string stops = keyword;
      for (const Parameter &parameter : keyword == "k/stop" ? k : s0)
        stops += " " + shortest_text(parameter.stop);
      list.push_back({keyword, stops});
    }
    if (steps) list.push_back({"steps", "steps " + std::to_string(steps)});
    return list;
  }

  void RestraintBias::save(ArchiveParts &parts) const
  {
    Bias::save(parts);
    Archive archive;
    archive.write(static_cast<std::int64_t>(have_parameters));
    for (const auto &term : terms) {
      archive.write(term.s0);
      archive.write(term.k);
    }
    parts.add("restraint", 1, archive);
  }

  void RestraintBias::load(ArchiveParts &parts)
  {
    Bias::load(parts);
    parts.take("restraint", 1, [this](Archive &archive) {
      have_parameters = archive.read_integer() != 0;
      for (auto &term : terms) {
        term.s0 = archive.read_number();
        term.k = archive.read_number();
      }
    });
    has_loaded = have_parameters;
    // Parameters that do not move are those of the command, not of the file.
    if (!is_moving) have_parameters = false;
  }

}    // namespace

/* ---------------------------------------------------------------------- */

std::unique_ptr<Bias> make_harmonic_bias(Words &words)
{
  words.parse({"k", "s0"});
  return std::make_unique<RestraintBias>(words, Restraint::Kind::HARMONIC, false);
}

std::unique_ptr<Bias> make_moving_bias(Words &words)
{
  words.parse({"k", "s0", "k/stop", "s0/stop", "steps"});
  return std::make_unique<RestraintBias>(words, Restraint::Kind::HARMONIC, true);
}

std::unique_ptr<Bias> make_linear_bias(Words &words)
{
  words.parse({"k", "s0"});
  return std::make_unique<RestraintBias>(words, Restraint::Kind::LINEAR, false);
}

std::unique_ptr<Bias> make_upper_wall(Words &words)
{
  words.parse({"k", "s0", "exponent", "offset"});
  return std::make_unique<RestraintBias>(words, Restraint::Kind::UPPER_WALL, false);
}

std::unique_ptr<Bias> make_lower_wall(Words &words)
{
  words.parse({"k", "s0", "exponent", "offset"});
  return std::make_unique<RestraintBias>(words, Restraint::Kind::LOWER_WALL, false);
}

}    // namespace gpucoord
