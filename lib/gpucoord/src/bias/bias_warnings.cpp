// Part of GPUCOORD, GPL-2.0. What goes wrong in biased runs: the limits, and the sentences of
// warnings.

#include "gpucoord/bias_warnings.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cmath>

namespace gpucoord {

namespace {
  // Verlet is stable up to omega dt = 2. At 0.3, its frequency is off by 0.4 %.
  constexpr double MAX_PHASE = 0.3;
  constexpr double MIN_BARRIER = 3.0, MAX_BARRIER = 100.0;    // kT
  // 30 kJ/mol, 12 kT at 300 K, would be 50 kT as kcal/mol. Few barriers are higher.
  constexpr double MAX_BARRIER_IN_KCAL = 50.0;
  constexpr double KJ_OF_KCAL = 4.184;
  constexpr double MAX_JUMP = 1.0 / 3.0;    // sigma
  constexpr double MIN_SIGMA = 0.1;         // fluctuations
  constexpr double USUAL_SIGMA = 0.5;       // fluctuations
  constexpr double MAX_IN_WALLS = 0.2;      // of all deposits
  constexpr double MAX_AUTOCORRELATION = 0.8;
  constexpr double SAME_START = 1e-9;    // relative difference of values of S
  // With fewer crossings, the difference of V between the ends is uncertain by more than a third.
  constexpr std::int64_t MIN_CROSSINGS = 10;

  std::string text(double value)
  {
    return short_text(value, 3);
  }
}    // namespace

std::string warning_of_frequency(const std::string &label, const Stiffness &stiffness,
                                 double inverse_mass, double timestep)
{
  const double phase = std::sqrt(stiffness.curvature * inverse_mass) * timestep;
  if (!(phase > MAX_PHASE)) return "";
  const double ratio = MAX_PHASE / phase;
  return "omega dt of " + label + " in this bias is " + text(phase) + ", more than " +
      text(MAX_PHASE) + " - use " + stiffness.name + " " + text(stiffness.value * ratio * ratio) +
      " or less in place of " + short_text(stiffness.value) + ", or a smaller timestep";
}

std::string warning_of_barrier(double barrier, double kt, const std::string &units)
{
  const double ratio = barrier / kt;
  const bool is_in_kcal = units == "real";
  const double limit = is_in_kcal ? MAX_BARRIER_IN_KCAL : MAX_BARRIER;
  if (MIN_BARRIER <= ratio && ratio <= limit) return "";
  std::string message = "barrier " + short_text(barrier) + " is " + text(ratio) + " kT, not " +
      text(MIN_BARRIER) + " to " + text(limit) + " kT as most barriers - check temp, and that it " +
      "is in the energy units of units " + units;
  if (is_in_kcal) message += ", kcal/mol";
  if (is_in_kcal && ratio > limit)
    message += ": " + short_text(barrier) + " kJ/mol are barrier " + text(barrier / KJ_OF_KCAL);
  return message;
}

std::string warning_of_equal_walkers(const std::vector<int> &numbers,
                                     const std::vector<std::vector<double>> &s,
                                     const std::vector<std::string> &labels)
{
  for (std::size_t a = 0; a < s.size(); ++a) {
    // Different configurations may have the same number of neighbors.
    if (std::all_of(s[a].begin(), s[a].end(), [](double value) {
          return value == std::round(value);
        }))
      continue;
    std::vector<std::string> same = {std::to_string(numbers[a])};
    for (std::size_t b = a + 1; b < s.size(); ++b) {
      bool is_same = true;
      for (std::size_t v = 0; v < labels.size(); ++v)
        is_same = is_same && std::fabs(s[b][v] - s[a][v]) <= SAME_START * std::fabs(s[a][v]);
      if (is_same) same.push_back(std::to_string(numbers[b]));
    }
    if (same.size() == 1) continue;
    std::string values;
    for (std::size_t v = 0; v < labels.size(); ++v)
      values += (v ? ", " : "") + labels[v] + " = " + short_text(s[a][v], 6);
    return "walkers " + joined(same, 0, ", ") + " start at the same " + values +
        " - start each from another configuration, or their first deposits add up at one place";
  }
  return "";
}

std::string warning_without_thermostat(const std::string &plural)
{
  return plural +
      " heat the system, but no fix is a thermostat - use one, such as fix nvt or fix langevin";
}

std::string warning_of_jump(const std::string &label, double change, double sigma,
                            const std::string &keyword)
{
  if (!(std::fabs(change) > MAX_JUMP * sigma)) return "";
  return label + " changed by " + text(std::fabs(change)) +
      " between two evaluations of the bias, more than a third of sigma " + short_text(sigma, 6) +
      " - use a larger " + keyword + ", a smaller timestep or stride, or a smoother variable";
}

std::string warning_of_sigma(const std::string &label, double sigma, double fluctuation,
                             const std::string &plural)
{
  const bool is_above = sigma > fluctuation;
  if (!(fluctuation > 0.0) || (!is_above && sigma >= MIN_SIGMA * fluctuation)) return "";
  return "sigma " + short_text(sigma, 6) + " of " + label + " is " +
      (is_above ? "above" : "below a tenth of") + " the fluctuation of " + label + ", " +
      text(fluctuation) + " within 5 " + plural + " - use about half of the fluctuation, " +
      text(USUAL_SIGMA * fluctuation);
}

std::string warning_of_walls(std::int64_t ninside, std::int64_t ndeposits,
                             const std::string &plural)
{
  if (!(static_cast<double>(ninside) > MAX_IN_WALLS * static_cast<double>(ndeposits))) return "";
  return std::to_string(ninside) + " of " + std::to_string(ndeposits) + " " + plural +
      " are inside a wall or beyond the interval, more than a fifth - use a wall with a larger k, "
      "or move the wall or the interval outwards";
}

std::string warning_of_pace(const std::string &label, double autocorrelation, double least,
                            int pace, const std::string &plural)
{
  if (!(autocorrelation > MAX_AUTOCORRELATION)) return "";
  // An exponential falls to the limit in this number of paces.
  const double paces = least > MAX_AUTOCORRELATION && least < 1.0
      ? std::log(MAX_AUTOCORRELATION) / std::log(least)
      : 1.0;
  const std::string way_out = (paces > 2.0 ? ", at least " : ", such as ") +
      std::to_string(static_cast<std::int64_t>(std::ceil(pace * std::max(paces, 2.0))));
  return "the autocorrelation of " + label + " over one pace of " + std::to_string(pace) +
      " steps is " + text(autocorrelation) + ", more than " + text(MAX_AUTOCORRELATION) + ": " +
      plural + " pile up before " + label + " can leave - use a larger pace" + way_out;
}

std::string text_of_crossings(std::int64_t ncrossings)
{
  return std::to_string(ncrossings) + (ncrossings == 1 ? " crossing" : " crossings") +
      (ncrossings < MIN_CROSSINGS ? ": not converged" : "");
}

}    // namespace gpucoord
