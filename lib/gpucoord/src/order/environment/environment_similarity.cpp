// Part of GPUCOORD, GPL-2.0. Options and built-in structures of environment similarity.

#include "gpucoord/environment_similarity.h"

#include "../order_cuda.h"
#include "environment_similarity_options.h"

#include "../../core/checks.h"
#include "../../core/range_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gpucoord {

namespace {

  double length(const EnvironmentVector &v)
  {
    return std::sqrt(v.r[0] * v.r[0] + v.r[1] * v.r[1] + v.r[2] * v.r[2]);
  }

  // Adds (x, y, z) with all combinations of signs of its nonzero components.
  void add_signs(double x, double y, double z, Environment &to)
  {
    for (const double sx : {1.0, -1.0})
      for (const double sy : {1.0, -1.0})
        for (const double sz : {1.0, -1.0}) {
          const bool repeats = (x == 0.0 && sx < 0.0) || (y == 0.0 && sy < 0.0) ||
              (z == 0.0 && sz < 0.0);
          if (!repeats) to.push_back({{sx * x, sy * y, sz * z}});
        }
  }

  void add_along_axes(double a, Environment &to)
  {
    add_signs(a, 0.0, 0.0, to);
    add_signs(0.0, a, 0.0, to);
    add_signs(0.0, 0.0, a, to);
  }

  Environment inverted(Environment environment)
  {
    for (EnvironmentVector &v : environment)
      for (double &component : v.r) component = -component;
    return environment;
  }

}    // namespace

std::vector<Environment> make_environments(CrystalStructure structure, double a, double c)
{
  const auto check = [](const char *field, double value) {
    const std::string name = std::string("the lattice constant ") + field;
    check_positive<OptionError>(field, name, value);
    check_range<OptionError>(field, name, value);
  };
  check("a", a);
  if (structure == CrystalStructure::HCP) check("c", c);
  Environment e;
  switch (structure) {
    case CrystalStructure::FCC:
      add_signs(a / 2, a / 2, 0.0, e);
      add_signs(a / 2, 0.0, a / 2, e);
      add_signs(0.0, a / 2, a / 2, e);
      return {e};
    case CrystalStructure::BCC:
      add_signs(a / 2, a / 2, a / 2, e);
      add_along_axes(a, e);
      return {e};
    case CrystalStructure::SC:
      add_along_axes(a, e);
      return {e};
    case CrystalStructure::DIAMOND:
      for (const EnvironmentVector &v :
           {EnvironmentVector{{1, 1, 1}}, {{-1, -1, 1}}, {{1, -1, -1}}, {{-1, 1, -1}}})
        e.push_back({{a / 4 * v.r[0], a / 4 * v.r[1], a / 4 * v.r[2]}});
      return {e, inverted(e)};
    default: {    // HCP
      const double root_3 = std::sqrt(3.0);
      add_signs(a, 0.0, 0.0, e);
      add_signs(a / 2, a * root_3 / 2, 0.0, e);
      for (const double z : {c / 2, -c / 2}) {
        e.push_back({{a / 2, a * root_3 / 6, z}});
        e.push_back({{-a / 2, a * root_3 / 6, z}});
        e.push_back({{0.0, -a * root_3 / 3, z}});
      }
      return {e, inverted(e)};
    }
  }
}

void check_options(const EnvironmentOptions &options)
{
  if (options.environments.empty())
    throw OptionError("environments", "there is no environment: give at least one");
  for (std::size_t e = 0; e < options.environments.size(); ++e) {
    const Environment &environment = options.environments[e];
    const std::string name = "environment " + std::to_string(e + 1);
    if (environment.empty())
      throw OptionError("environments", name + " has no vectors: give at least one");
    for (std::size_t k = 0; k < environment.size(); ++k) {
      const EnvironmentVector &v = environment[k];
      const std::string what = "vector " + std::to_string(k + 1) + " of " + name;
      if (!std::isfinite(length(v))) throw OptionError("environments", what + " is not finite");
      if (length(v) == 0.0)
        throw OptionError("environments", what + " has length 0: leave out the atom in the center");
      if (v.type < 0)
        throw OptionError("environments",
                          what + " has atom type " + std::to_string(v.type) +
                              " but types begin with 1, and 0 is any type");
    }
  }
  check_positive<OptionError>("sigma", "sigma", options.sigma);
  if (!(options.lambda >= MIN_LAMBDA && options.lambda <= MAX_LAMBDA))
    throw OptionError("lambda",
                      "lambda is " + short_text(options.lambda) + " but must be " +
                          short_text(MIN_LAMBDA) + " to " + short_text(MAX_LAMBDA));
  check_positive<OptionError>("cutoff", "cutoff", options.cutoff);
  check_range<OptionError>("sigma", "sigma", options.sigma);
  check_range<OptionError>("cutoff", "cutoff times sigma", options.cutoff * options.sigma);
  check_range<OptionError>("environments", "the longest vector plus cutoff times sigma",
                           reach(options));
  const AtomFunction function(options.function);
}

std::string description(const EnvironmentOptions &options)
{
  const std::size_t n = options.environments.size();
  std::string text = n == 1 ? "environment of " : std::to_string(n) + " environments of ";
  for (std::size_t e = 0; e < n; ++e)
    text += (e == 0          ? ""
                 : e + 1 < n ? ", "
                             : " and ") +
        std::to_string(options.environments[e].size());
  text += " vectors, sigma " + short_text(options.sigma) + ", cutoff " + short_text(options.cutoff);
  if (n > 1) text += ", lambda " + short_text(options.lambda);
  return text;
}

double reach(const EnvironmentOptions &options)
{
  double longest = 0.0;
  for (const Environment &environment : options.environments)
    for (const EnvironmentVector &v : environment) longest = std::max(longest, length(v));
  return longest + options.cutoff * options.sigma;
}

bool has_types(const EnvironmentOptions &options)
{
  for (const Environment &environment : options.environments)
    for (const EnvironmentVector &v : environment)
      if (v.type != 0) return true;
  return false;
}

bool equals_its_inverse(const Environment &environment)
{
  std::vector<std::array<double, 3>> vectors, inverse;
  for (const EnvironmentVector &v : environment) {
    vectors.push_back({v.r[0], v.r[1], v.r[2]});
    inverse.push_back({-v.r[0], -v.r[1], -v.r[2]});
  }
  std::sort(vectors.begin(), vectors.end());
  std::sort(inverse.begin(), inverse.end());
  return vectors == inverse;
}

void check_types(const EnvironmentOptions &options, const OrderInput &in)
{
  if (has_types(options) && !in.cells.types.type && in.nall > 0)
    throw std::invalid_argument("the environments have atom types, but the input has none");
}

std::unique_ptr<OrderParameter> make_cuda_order(const EnvironmentOptions &options,
                                                Precision precision, int device, int nthreads)
{
  check_options(options);
  OrderOnCuda order = {[=] {
                         return make_resident_order(options, precision);
                       },
                       precision, options.function};
  order.check_input = [=](const OrderInput &in) {
    check_types(options, in);
  };
  order.has_types = has_types(options);
  return make_order_on_cuda(std::move(order), device, nthreads);
}

}    // namespace gpucoord
