// Part of GPUCOORD, GPL-2.0. Walkers in independent jobs, which share hills by files, for tests:
// several biases of one process, and files that the test changes.

#ifndef GPUCOORD_TEST_WALKERS_BY_FILES_H
#define GPUCOORD_TEST_WALKERS_BY_FILES_H

#include "gpucoord/bias.h"

#include "bias_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fs = std::filesystem;
constexpr int PACE = 5, EVERY = 10;

struct Line {
  double center, height;
  int walker;
};

inline double sum_of_hills(const std::vector<Line> &hills, double s)
{
  const double end = std::exp(-6.25);
  double v = 0.0;
  for (const auto &hill : hills) {
    const double u = (s - hill.center) * (s - hill.center) / (2.0 * 0.5 * 0.5);
    if (u < 6.25) v += hill.height * (std::exp(-u) - end) / (1.0 - end);
  }
  return v;
}

inline double position(char name, int step)
{
  return 2.0 + std::sin(step + 0.7 * (name - 'a'));
}

class WalkersByFiles : public Files {
 protected:
  using Words = std::vector<std::string>;
  struct Job {
    std::string name;
    std::unique_ptr<Bias> bias;
    std::vector<std::string> messages;
  };
  using Position = std::function<double(char name, int step)>;

  void SetUp() override
  {
    Files::SetUp();
    shared = (folder / "S").string();
  }
  std::string file_of(const std::string &name) const { return shared + "/" + name + ".w"; }
  std::string journal_of(const std::string &name) const
  {
    return (folder / ("H." + name)).string();
  }
  std::string shortened(std::string text) const
  {
    const std::string begin = folder.string() + "/";
    for (std::size_t at; (at = text.find(begin)) != text.npos;) text.erase(at, begin.size());
    return text;
  }

  Job &make(const std::string &name, const Words &more = {}, int every = EVERY)
  {
    jobs.erase(name);
    Job &job = jobs[name];
    job.name = name;
    BiasContext context = context_of_s();
    context.periods = periods;
    context.boltzmann = boltzmann;
    context.print = context.warn = [this, &job](const std::string &text) {
      // The positions of these tests are not those of atoms.
      if (text.find(" between two evaluations of the bias") == text.npos)
        job.messages.push_back(shortened(text));
    };
    Words words = {
        "metad", "sigma",          "0.5",     "height", "1",    "pace", std::to_string(PACE),
        "file",  journal_of(name), "walkers", "files",  shared, name,   std::to_string(every)};
    words.insert(words.end(), more.begin(), more.end());
    job.bias = make_bias(words, context);
    return job;
  }
  void begin(const Words &names, const Words &more = {})
  {
    for (const auto &name : names) {
      make(name, more).bias->begin({});
      at(*jobs[name].bias, 2.0);    // of the setup: the file of the walker begins
    }
  }
  // Runs jobs side by side: each step of all, in the order of their names.
  void run(const Words &names, int from, int to, const Position &s = position)
  {
    for (const auto &name : names) jobs[name].bias->begin_run(from);
    for (int k = from; k <= to; ++k)
      for (const auto &name : names) {
        Step step;
        step.phase = k == from ? Step::Phase::SETUP : Step::Phase::LAST_OF_STEP;
        step.timestep = step.elapsed = k;
        step.time = 0.5 * k;
        const double at = s(name[0], k);
        jobs[name].bias->set(step, [](const std::string &) {
          return 1.0;
        });
        jobs[name].bias->evaluate(step, &at);
      }
  }
  std::string error_of_run(const std::string &name, int from, int to)
  {
    try {
      run({name}, from, to);
    } catch (const std::runtime_error &e) {
      return shortened(e.what());
    }
    return "";
  }
  std::string error_of_begin(Job &job, bool is_restarted = false, bool is_rerun = false)
  {
    BiasStart start;
    start.is_rerun = is_rerun;
    start.is_restarted = is_restarted;
    try {
      job.bias->begin(start);
    } catch (const std::runtime_error &e) {
      return shortened(e.what());
    }
    return "";
  }
  Job &restart(const std::string &name, ArchiveParts saved, const Words &more = {})
  {
    Job &job = make(name, more);
    job.bias->load(saved);
    saved.check_all_are_taken();
    EXPECT_EQ(error_of_begin(job, true), "");
    at(*job.bias, 2.0);
    return job;
  }
  ArchiveParts saved(const std::string &name)
  {
    ArchiveParts result;
    jobs[name].bias->save(result);
    return result;
  }
  static std::vector<Line> lines(const std::string &file)
  {
    std::vector<Line> result;
    std::istringstream in(content(file));
    for (std::string line; std::getline(in, line);) {
      if (line[0] == '#') continue;
      std::istringstream words(line);
      double time, sigma, biasfactor;
      Line found = {0.0, 0.0, 0};
      words >> time >> found.center >> sigma >> found.height >> biasfactor >> found.walker;
      result.push_back(found);
    }
    return result;
  }
  static std::string centers(const std::string &file, int walker = -1)
  {
    std::string result;
    for (const auto &line : lines(file))
      if (walker < 0 || line.walker == walker) result += std::to_string(line.center) + " ";
    return result;
  }
  static std::string of(const std::vector<std::pair<char, int>> &hills)
  {
    std::string result;
    for (const auto &[name, step] : hills) result += std::to_string(position(name, step)) + " ";
    return result;
  }
  static double at(Bias &bias, double s)
  {
    Step step;
    step.phase = Step::Phase::SETUP;
    bias.evaluate(step, &s);
    return bias.state().energy;
  }
  void expect_sum_of_journal(const std::string &name)
  {
    const auto hills = lines(journal_of(name));
    Bias &bias = *jobs[name].bias;
    for (double s = 0.5; s < 3.6; s += 0.1) EXPECT_NEAR(at(bias, s), sum_of_hills(hills, s), 1e-12);
    EXPECT_EQ(bias.outputs()[5].value(), static_cast<double>(hills.size()));
  }
  void expect_no_messages(const Words &names)
  {
    for (const auto &name : names)
      for (const auto &text : jobs[name].messages) EXPECT_EQ(text.rfind("adds ", 0), 0u) << text;
  }
  // A file of a walker that the test writes
  std::string header() const
  {
    const std::string text = content(file_of("a"));
    return text.substr(0, text.find("format 1\n") + 9);
  }
  void put(const std::string &name, const std::string &text, bool appends = false) const
  {
    std::ofstream(file_of(name), std::ios::binary | (appends ? std::ios::app : std::ios::trunc))
        << text;
  }
  static std::string hill(double center, const std::string &end = " 0.5 1 -1\n")
  {
    return " 0.5 " + std::to_string(center) + end;
  }

  std::string shared;
  std::vector<Period> periods;
  double boltzmann = BiasContext().boltzmann;
  std::map<std::string, Job> jobs;
};

#endif
