// Part of GPUCOORD, GPL-2.0. Keeps the counters and prints them when the process ends.

#include "gpucoord/counters.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace gpucoord {

namespace {

  constexpr std::size_t N = static_cast<std::size_t>(Counter::NUMBER_OF_COUNTERS);
  constexpr std::array<const char *, N> NAMES = {
      "Coordination (host)", "Coordination (CUDA)",  "ResidentCoordination", "PotentialMap (host)",
      "PotentialMap (CUDA)", "ResidentPotentialMap", "FarField (CUDA)",      "Multisite (host)",
      "Multisite (CUDA)",    "ResidentMultisite",    "restraints (host)",    "Metadynamics (host)",
      "ResidentBias",        "kernel launches",      "stream waits",         "event waits",
      "device waits",        "blocking copies",      "bytes to device",      "bytes to host"};
  // Number of timesteps with separate counts. The totals include all timesteps.
  constexpr std::size_t MAX_ROWS = 1000;

  using Counts = std::array<std::int64_t, N>;
  struct Row {
    std::int64_t step;
    Counts counts;
  };

  class Table {
   public:
    void add(Counter counter, std::int64_t n)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto k = static_cast<std::size_t>(counter);
      totals[k] += n;
      if (ntimesteps <= MAX_ROWS && !rows.empty()) rows.back().counts[k] += n;
    }

    void begin(std::int64_t timestep)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (ntimesteps > 0 && timestep == last) return;
      last = timestep;
      ++ntimesteps;
      if (ntimesteps <= MAX_ROWS) rows.push_back({timestep, {}});
    }

    ~Table()
    {
      bool is_empty = true;
      for (const auto n : totals) is_empty = is_empty && n == 0;
      if (is_empty) return;
      std::FILE *file = stderr;
      if (const char *given = std::getenv("GPUCOORD_COUNTERS_FILE")) {
        std::string name(given);
        const auto at = name.find("%p");    // process ID, for runs on several ranks
        if (at != std::string::npos) name.replace(at, 2, std::to_string(getpid()));
        file = std::fopen(name.c_str(), "w");
        if (!file) {
          std::fprintf(stderr, "GPUCOORD counters: cannot write %s of GPUCOORD_COUNTERS_FILE\n",
                       name.c_str());
          return;
        }
      }
      print(file);
      if (file != stderr) std::fclose(file);
    }

   private:
    void print(std::FILE *file) const
    {
      std::fprintf(file, "GPUCOORD counters, %lld timesteps\n%-20s %14s %14s\n",
                   static_cast<long long>(ntimesteps), "# counter", "total", "a timestep");
      for (std::size_t k = 0; k < N; ++k)
        if (totals[k] > 0)
          std::fprintf(file, "%-20s %14lld %14.6g\n", NAMES[k], static_cast<long long>(totals[k]),
                       static_cast<double>(totals[k]) /
                           static_cast<double>(ntimesteps > 0 ? ntimesteps : 1));
      if (file == stderr) return;
      for (const auto &row : rows) {
        std::fprintf(file, "timestep %lld:", static_cast<long long>(row.step));
        const char *separator = " ";
        for (std::size_t k = 0; k < N; ++k)
          if (row.counts[k] > 0) {
            std::fprintf(file, "%s%s %lld", separator, NAMES[k],
                         static_cast<long long>(row.counts[k]));
            separator = ", ";
          }
        std::fprintf(file, "\n");
      }
    }

    std::mutex mutex;
    Counts totals = {};
    std::vector<Row> rows;
    std::int64_t last = 0, ntimesteps = 0;
  };

  Table table;

}    // namespace

void count(Counter counter, std::int64_t n)
{
  table.add(counter, n);
}

void count_timestep(std::int64_t step)
{
  table.begin(step);
}

}    // namespace gpucoord
