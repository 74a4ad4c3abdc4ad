// Part of GPUCOORD, GPL-2.0. The lines of a file of deposits.

#include "deposit_lines.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace gpucoord {

std::vector<std::string> deposit_columns(const DepositFormat &format)
{
  std::vector<std::string> result = {"time"};
  result.insert(result.end(), format.names.begin(), format.names.end());
  for (const auto &name : format.names) result.push_back("sigma_" + name);
  result.insert(result.end(), {"height", format.last_column});
  if (!format.walker_column.empty()) result.push_back(format.walker_column);
  return result;
}

std::string walker_line(std::size_t number, const std::string &name)
{
  return "# walker " + std::to_string(number) + " is " + name + "\n";
}

DepositLines::DepositLines(const DepositFormat &format_in, std::string program_in,
                           std::string units_in) :
    format(&format_in),
    program(std::move(program_in)), units(std::move(units_in)),
    expected(deposit_columns(format_in)), ends(format_in.ends_of_periods())
{
}

DepositLines::Line DepositLines::read(const std::string &line, bool has_end)
{
  Line result;
  if (!has_end) result.problem = "it has no end";
  if (std::any_of(line.begin(), line.end(), [](unsigned char c) {
        return std::iscntrl(c) && !std::isspace(c);
      }))
    result.problem = "it has bytes that are not text";
  if (!result.problem.empty()) return result;
  const auto words = words_of(line);
  if (words.empty()) return result;
  if (words[0][0] == '#')
    read_comment(words, result);
  else
    read_deposit(words, result);
  return result;
}

void DepositLines::read_comment(const std::vector<std::string> &words, Line &result)
{
  if (words.size() > 2 && words[0] == "#!" && words[1] == "FIELDS") {
    if (std::vector<std::string>(words.begin() + 2, words.end()) != expected) {
      result.problem = "it has the columns '" + printable(joined(words, 2)) +
          "', but this fix needs '" + joined(expected, 0) + "'";
      result.way_out = "give another file";
    }
    has_header = true;
  } else if (words.size() == 4 && words[0] == "#!" && words[1] == "SET") {
    for (const auto &[keyword, value] : format->constants)
      if (words[2] == keyword && words[3] != value)
        result.problem =
            keyword + " is " + printable(words[3]) + ", but only " + value + " is known";
    constants[words[2]] = words[3];
    if (result.problem.empty()) result.problem = format->period_problem(constants);
    if (!result.problem.empty()) result.way_out = "give another file";
  } else if (words.size() > 3 && words[0] == "#" && words[1] == program && words[2] == "units") {
    const std::string found = words[3].substr(0, words[3].find(':'));
    if (found != units) {
      result.problem = "its times and heights are in units " + printable(found) +
          ", but this simulation has units " + units;
      result.way_out = "convert them and this line, or give another file";
    }
    names_units = true;
  } else if (!format->walkers.empty() && words.size() == 5 && words[0] == "#" &&
             words[1] == "walker" && words[3] == "is") {
    if (words[2] != std::to_string(walkers.size()))
      result.problem = "it names walker " + printable(words[2]) + " after " +
          std::to_string(walkers.size()) + " walkers";
    else if (std::find(walkers.begin(), walkers.end(), words[4]) != walkers.end())
      result.problem = "it names walker " + printable(words[4]) + " twice";
    else
      walkers.push_back(words[4]);
  } else if (!format->walker_column.empty() && words.size() == 5 && words[0] == "#" &&
             words[1] == "walker" && words[3] == "is") {
    result.problem = "it names walker " + printable(words[4]) + ", as in a file of walkers files";
    result.way_out = "use walkers files, or give another file";
  }
}

void DepositLines::read_deposit(const std::vector<std::string> &words, Line &result) const
{
  Deposit &deposit = result.deposit;
  std::string &problem = result.problem;
  const std::string early = "a " + format->noun + " comes before the line";
  if (!has_header) {
    problem = early + " '#! FIELDS " + joined(expected, 0) + "'";
    result.way_out = REPAIR;
    return;
  }
  for (const auto &end : ends)
    if (!constants.count(end.first)) {
      problem = early + "s '#! SET min_NAME' and 'max_NAME' of each periodic variable";
      result.way_out = "give a file of " + format->noun + "s of the same variables";
      return;
    }
  if (words.size() != expected.size())
    problem = std::to_string(words.size()) + (words.size() == 1 ? " column" : " columns") +
        " in place of " + std::to_string(expected.size());
  deposit.row.resize(words.size() - 1);
  for (std::size_t k = 0; problem.empty() && k < words.size(); ++k)
    if (!to_number(words[k], k ? deposit.row[k - 1] : deposit.time))
      problem = "'" + printable(words[k]) + "' is not a number";
  if (problem.empty() && !format->walker_column.empty()) {
    const double walker = deposit.row.back();
    deposit.row.pop_back();
    if (!(walker >= 0.0 && walker < 1e6 && walker == std::floor(walker)))
      problem = format->walker_column + " '" + printable(words.back()) +
          "' is not the number of a walker";
    else
      deposit.walker = static_cast<int>(walker);
    if (problem.empty() && !format->walkers.empty() &&
        deposit.walker >= static_cast<int>(walkers.size())) {
      problem = "no line before it names walker " + std::to_string(deposit.walker);
      if (walkers.empty()) {
        problem = "no line before it names a walker, as in a file of walkers partitions";
        result.way_out = "use walkers partitions, or give another file";
        return;
      }
    }
  }
  const std::size_t n = problem.empty() ? format->names.size() : 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double sigma = deposit.row[n + k];
    if (!(sigma > 0.0)) problem = "sigma " + short_text(sigma) + " is not above 0";
    const Period period = format->period.empty() ? Period() : format->period[k];
    if (!period.exists() || !(sigma > format->largest_sigma(period))) continue;
    problem = "sigma " + short_text(sigma) + " is above " +
        short_text(format->largest_sigma(period), 6) + ", so that the " + format->noun +
        " overlaps its own image in the next period";
    result.way_out = "give another file";
    return;
  }
}

}    // namespace gpucoord
