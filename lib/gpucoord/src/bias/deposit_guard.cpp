// Part of GPUCOORD, GPL-2.0. Deposits that are left out.

#include "deposit_guard.h"

#include "../core/text_files.h"

#include <stdexcept>

namespace gpucoord {

void DepositGuard::parse(const Words &words, const std::string &noun_in)
{
  noun = noun_in;
  labels = words.context().labels;
  periods = words.context().periods;
  periods.resize(labels.size());
  if (words.has("limits")) limits = words.intervals("limits");
  if (words.has("deposit_if")) {
    const auto &word = words.values("deposit_if", 1, ", a variable v_name")[0];
    variable = variable_of(word);
    if (variable.empty())
      words.fail("deposit_if", 0, "deposit_if must be a variable, v_name, not '" + word + "'");
  }
  if (!words.has("max_skip")) return;
  words.values("max_skip", 1, "");
  max_skip = words.integer("max_skip", 0, 1, "a number of " + noun + "s");
  if (!is_on()) words.fail("max_skip", "keyword max_skip needs keyword limits or deposit_if");
}

std::string DepositGuard::in_words() const
{
  if (!is_on()) return "";
  std::string text = "\n  no " + noun;
  for (std::size_t v = 0; v < limits.size(); ++v)
    text += (v ? ", " : " beyond limits: ") + labels[v] + " from " + short_text(limits[v].lo) +
        " to " + short_text(limits[v].hi);
  if (!variable.empty())
    text +=
        std::string(limits.empty() ? "" : ", and none") + " where variable " + variable + " is 0";
  return text + ", max_skip " + std::to_string(max_skip);
}

DepositGuard::Reason DepositGuard::reason(const double *s) const
{
  for (std::size_t v = 0; v < limits.size(); ++v) {
    // Some image of a periodic variable must be between the limits.
    const double x = Period{limits[v].lo, periods[v].length}.wrapped(s[v]);
    if (x < limits[v].lo || x > limits[v].hi)
      return {labels[v] + " = " + shortest_text(s[v]) + " is beyond limits " +
                  shortest_text(limits[v].lo) + " " + shortest_text(limits[v].hi),
              "wider limits"};
  }
  if (allows) return {};
  return {"variable " + variable + " of deposit_if is 0",
          "another condition in variable " + variable};
}

bool DepositGuard::skips(const double *s)
{
  const Reason found = reason(s);
  if (found.why.empty()) return false;
  ++skipped;
  if (++in_a_row >= max_skip)
    throw std::runtime_error("left out " + std::to_string(in_a_row) + " " + noun +
                             (in_a_row == 1 ? "" : "s in a row") +
                             ", the limit of max_skip, because " + found.why +
                             " - check this run, or give a larger max_skip or " + found.way_out);
  return true;
}

void DepositGuard::save(Archive &archive) const
{
  archive.write(skipped);
  archive.write(in_a_row);
}

void DepositGuard::load(Archive &archive)
{
  skipped = archive.read_integer();
  in_a_row = archive.read_integer();
  if (in_a_row < 0 || skipped < in_a_row) throw ArchiveParts::damaged();
}

}    // namespace gpucoord
