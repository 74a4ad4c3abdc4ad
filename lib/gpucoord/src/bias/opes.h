// Part of GPUCOORD, GPL-2.0. OPES: a bias from an estimate of the probability of S that reweighted
// kernels make.
//
// Invernizzi and Parrinello, J. Phys. Chem. Lett. 11, 2731 (2020); OPES EXPLORE: J. Chem. Theory
// Comput. 18, 3988 (2022). With G of kernel_sum.h, norm = sum of weights exp(V/kT), or number of
// samples in OPES EXPLORE, and Z = mean over centers of kernels of P:
//   P(S) = sum over kernels of h G/norm,    V = a kT ln(P/Z + epsilon).
// Both sums begin with one sample of V = -barrier.

#ifndef GPUCOORD_OPES_H
#define GPUCOORD_OPES_H

#include "gpucoord/archive.h"
#include "gpucoord/deposit_file.h"
#include "gpucoord/export.h"

#include "opes_kernels.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpucoord {

struct OpesOptions {
  bool explore = false;
  std::vector<std::string> names, labels;    // of variables: in files and for the user
  std::vector<Period> period;                // one per variable, or empty
  double kt = 1.0;
  double barrier = 0.0;             // > 0, energy
  double biasfactor = 0.0;          // > 1; HUGE_VAL: V flattens P
  double epsilon = 0.0;             // > 0
  double cutoff = 0.0;              // of a kernel, in sigmas
  double threshold = 1.0;           // kernels closer than this are merged, in sigmas
  std::vector<double> sigma;        // one per variable, or empty: adaptive
  std::int64_t stride = 0;          // of adaptive sigma: timesteps of an average
  std::vector<double> sigma_min;    // one per variable, or empty
  bool fixed_sigma = false;         // sigma does not shrink
  bool recursive = true;            // merged kernels are merged again
  bool normalize = true;            // false: Z is 1
  KernelForm form = KernelForm::SMOOTH;

  // Returns V/(kT ln(P/Z)) for large P.
  double a() const;
  bool is_adaptive() const { return sigma.empty(); }
  Period period_of(int variable) const { return period.empty() ? Period() : period[variable]; }
  // Names and values of constants that PLUMED writes to files.
  std::vector<std::pair<std::string, std::string>> constants() const;
  std::string action(const char *what) const;    // "OPES_METAD_kernels"
  DepositFormat format() const;
};

class GPUCOORD_TEST_API Opes {
 public:
  // A deposit compares with all kernels, and Z with all pairs of them.
  static constexpr std::size_t MAX_KERNELS = 100000;

  explicit Opes(const OpesOptions &);

  // Returns V at s, and sets dVdS.
  double evaluate(const double *s, double *dVdS) const;

  // Adds s to the averages of adaptive sigma.
  void average(const double *s);
  // These averages: number of samples, and means and sums of squared deviations of the variables.
  // None without adaptive sigma
  std::size_t naverages() const
  {
    return options.is_adaptive() ? 1 + 2 * static_cast<std::size_t>(n) : 0;
  }
  void set_averages(const double *from);
  void get_averages(double *to) const;
  // Returns whether there are enough samples for the first adaptive sigma.
  bool is_ready() const;

  // Returns the deposit at s, [centers, sigmas, height, V/kT], with sigma of one sample. v: V at s
  Deposit propose(double time, const double *s, double v) const;
  // Throws std::runtime_error if exp(exponent) cannot be a weight.
  static void check_weight(double exponent, const std::string &name);
  // Scales sigmas and heights of deposits that are added together.
  void complete(std::vector<Deposit> &round);
  void add(const Deposit &);

  double rct() const;     // kT ln(mean weight)
  double zed() const;     // Z
  double neff() const;    // (1 + sum of weights)^2/(1 + sum of squares of weights)
  const OpesKernels &all_kernels() const { return kernels; }
  // Returns what evaluate() needs besides the rows of all_kernels().
  KernelSum sum_parameters() const;
  // Returns those of a file that differ from the options, "biasfactor 8 in place of 10", or "".
  std::string other_constants(const std::map<std::string, std::string> &found) const;

  // All numbers that change. load() throws std::runtime_error.
  void save(Archive &) const;
  void load(Archive &);
  // The same as a file in PLUMED's format. Throw std::runtime_error. program, units: names of the
  // caller and of its units. read_state() returns constants that differ from the options, or "".
  void write_state(const std::string &path, const std::string &program,
                   const std::string &units) const;
  std::string read_state(const std::string &path, const std::string &program,
                         const std::string &units);

 private:
  double norm() const { return options.explore ? counter : weights; }
  double raw_sigma(int variable) const;
  void check_count(std::size_t nkernels) const;
  double scale_of_squares() const;

  // Also exact as double
  static constexpr std::int64_t MAX_SAMPLES = 1000000000000000;

  const OpesOptions options;
  const int n;              // variables
  const KernelSum shape;    // without what changes
  OpesKernels kernels;
  double counter = 1.0;                    // number of samples
  double weights = 1.0, weights2 = 1.0;    // sums of exp(V/kT) and of its square
  double last_time = 0.0;                  // of a deposit
  // Adaptive sigma: number of samples, means, and sums of squared deviations
  std::int64_t nsamples = 0;
  std::vector<double> sigma0, mean, squares;
};

}    // namespace gpucoord

#endif
