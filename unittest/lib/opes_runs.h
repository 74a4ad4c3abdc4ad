// Part of GPUCOORD, GPL-2.0. OPES on the series of reference data, for its tests.

#ifndef GPUCOORD_TEST_OPES_RUNS_H
#define GPUCOORD_TEST_OPES_RUNS_H

#include "gpucoord/bias.h"

#include "bias_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

// Returns the folder with reference data of OPES, or "".
inline std::string opes_data()
{
  const char *const data = std::getenv("GPUCOORD_TEST_DATA");
  const std::string folder = std::string(data ? data : "") + "/opes";
  return std::ifstream(folder + "/reference.dat") ? folder : "";
}

// Returns an output of a bias by its name.
inline double output(const Bias &bias, const std::string &name)
{
  for (const auto &output : bias.outputs())
    if (output.name == name) return output.value();
  ADD_FAILURE() << "no output " << name;
  return NAN;
}

class OpesRuns : public Files {
 protected:
  static std::vector<std::string> words(const std::string &text)
  {
    std::istringstream stream(text);
    std::vector<std::string> result;
    for (std::string word; stream >> word;) result.push_back(word);
    return result;
  }
  // Makes "opes" with these words, a file, and kT = 1. A bias of n variables
  std::unique_ptr<Bias> make(const std::string &more, int n = 1, std::vector<Period> periods = {})
  {
    BiasContext context;
    context.command = "fix bias";
    context.names = {"cv", "cw", "cx"};
    context.names.resize(n);
    for (const auto &name : context.names) context.labels.push_back("c_" + name);
    context.periods = std::move(periods);
    context.program = "program";
    context.units = "none";
    context.print = context.warn = [this](const std::string &text) {
      messages.push_back(text);
    };
    auto given = words(more);
    given.insert(given.end(), {"file", path});
    return make_bias(given, context);
  }
  std::unique_ptr<Bias> begin(const std::string &more, int n = 1, std::vector<Period> periods = {})
  {
    auto bias = make(more, n, std::move(periods));
    bias->begin({});
    bias->begin_run(0);
    return bias;
  }
  static double evaluate(Bias &bias, std::int64_t timestep, const std::vector<double> &s,
                         Step::Phase phase = Step::Phase::LAST_OF_STEP)
  {
    Step step;
    step.phase = phase;
    step.timestep = step.elapsed = timestep;
    step.time = 0.002 * static_cast<double>(timestep);
    bias.evaluate(step, s.data());
    return bias.state().energy;
  }
  // A series in two wells
  static std::vector<double> well(int frame, int n)
  {
    const double first = std::tanh(4.0 * std::sin(0.011 * frame)) + 0.25 * std::sin(2.3 * frame);
    const double second = 0.7 * std::cos(0.037 * frame) + 0.2 * std::sin(1.7 * frame);
    std::vector<double> s = {first, second, first * second + 0.1 * std::cos(3.1 * frame)};
    s.resize(n);
    return s;
  }
  static void run(Bias &bias, int from, int to, int n = 1)
  {
    bias.begin_run(from);
    for (int frame = from; frame <= to; ++frame)
      evaluate(bias, frame, well(frame, n),
               frame == from ? Step::Phase::SETUP : Step::Phase::LAST_OF_STEP);
  }
  std::string error_of(const std::string &more, int n = 1)
  {
    try {
      make(more, n);
    } catch (const ParseError &e) {
      const auto given = words(more);
      const auto at = static_cast<std::size_t>(e.word);
      return (at < given.size() ? given[at] : "") + ": " + e.what();
    }
    return "";
  }

  std::vector<std::string> messages;
};

#endif
