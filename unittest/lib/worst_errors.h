// Part of GPUCOORD, GPL-2.0. Largest errors over all tests of a program, printed at its end.

#ifndef GPUCOORD_TEST_WORST_ERRORS_H
#define GPUCOORD_TEST_WORST_ERRORS_H

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>

struct Worst {
  double relative_s = 0.0, relative_si = 0.0, relative_gradient = 0.0, relative_virial = 0.0,
         relative_atom_virial = 0.0;
  double measure = 0.0;    // the quantity that the program limits
};

// Indexed by the first column of the table.
inline std::map<std::string, Worst> &worst_of_all()
{
  static std::map<std::string, Worst> worst;
  return worst;
}

class PrintWorst : public testing::Environment {
 public:
  PrintWorst(std::string title_in, std::string measure_in) :
      title(std::move(title_in)), measure(std::move(measure_in))
  {
  }
  void TearDown() override
  {
    if (worst_of_all().empty()) return;
    std::printf("| %s | S, relative | s_i, of the largest | dS/dx, of the largest | W, of the "
                "largest | W_i, of the largest | %s |\n"
                "|---|---|---|---|---|---|---|\n",
                title.c_str(), measure.c_str());
    for (const auto &entry : worst_of_all()) {
      const Worst &w = entry.second;
      std::printf("| %s | %.1e | %.1e | %.1e | %.1e | %.1e | %.2f |\n", entry.first.c_str(),
                  w.relative_s, w.relative_si, w.relative_gradient, w.relative_virial,
                  w.relative_atom_virial, w.measure);
    }
  }

 private:
  const std::string title, measure;
};

#endif
