// Part of GPUCOORD, GPL-2.0. OPES: files with its state, in the format of PLUMED's STATE files.
//
// PLUMED stops at constants that it does not know. What it does not have is in comments.

#include "../core/text_files.h"
#include "opes.h"

#include <cmath>
#include <fstream>
#include <map>
#include <stdexcept>

namespace gpucoord {

static constexpr int FORMAT = 1;
static constexpr double SAME_ZED = 1e-6;    // relative rounding error of sums over pairs of kernels

static const char *name_of(KernelForm form)
{
  return form == KernelForm::SMOOTH ? "smooth" : "plumed";
}

static std::string columns(const OpesOptions &options)
{
  return "time " + joined(options.names, 0) + " sigma_" + joined(options.names, 0, " sigma_") +
      " height";
}

std::string Opes::other_constants(const std::map<std::string, std::string> &found) const
{
  std::string others;
  for (const auto &[name, value] : options.constants()) {
    const auto entry = found.find(name);
    if (entry == found.end() || entry->second == value) continue;
    double theirs = HUGE_VAL;
    const bool is_number = entry->second == "inf" || to_number(entry->second, theirs);
    const double ours = value == "inf" ? HUGE_VAL : std::stod(value);
    if (is_number && std::fabs(theirs - ours) <= 1e-9 * std::fabs(ours)) continue;
    others += (others.empty() ? "" : ", ") + name + " " + printable(entry->second) +
        " in place of " + (value == "inf" ? value : short_text(ours));
  }
  return others;
}

void Opes::write_state(const std::string &path, const std::string &program,
                       const std::string &units) const
{
  NewFile file(path);
  file.add("#! FIELDS " + columns(options) + "\n");
  auto constants = options.constants();
  constants.insert(constants.begin(), {"action", options.action("state")});
  const auto add = [&constants](const std::string &name, double value) {
    constants.emplace_back(name, number_text(value));
  };
  add("zed", zed());
  add("sum_weights", weights);
  add("sum_weights2", weights2);
  add("counter", counter);
  if (options.is_adaptive()) {
    constants.emplace_back("adaptive_counter", std::to_string(nsamples));
    for (int k = 0; k < n; ++k) {
      add("sigma0_" + options.names[k], sigma0[k]);
      add("av_cv_" + options.names[k], mean[k]);
      add("av_M2_" + options.names[k], squares[k]);
    }
  }
  for (const auto &line : options.format().ends_of_periods()) constants.push_back(line);
  for (const auto &[name, value] : constants) file.add("#! SET " + name + " " + value + "\n");
  file.add("# " + program + " units " + units + ": time in these; kernel " + name_of(options.form) +
           "\n" + format_line("state", FORMAT));
  const std::size_t width = 1 + 2 * static_cast<std::size_t>(n);
  for (std::size_t at = 0; at < kernels.rows().size(); at += width) {
    std::string line = short_text(last_time, 12);
    for (std::size_t k = 1; k < width; ++k) line += " " + number_text(kernels.rows()[at + k]);
    file.add(line + " " + number_text(kernels.rows()[at]) + "\n");
  }
  file.finish();
}

// Z follows from the kernels, whose form may be another one than that of the file.
std::string Opes::read_state(const std::string &path, const std::string &program,
                             const std::string &units)
{
  require_regular_file("state file", path);
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw std::runtime_error("cannot read state file " + path + ": " + last_error() +
                             " - give another file, or leave out keyword read_state");
  const std::string why_unknown = stated_format(in, "state", FORMAT).why_unknown;
  std::int64_t line_number = 0;
  const auto fail = [&](const std::string &why) {
    throw std::runtime_error("state file " + path +
                             (line_number ? ", line " + std::to_string(line_number) : "") + ": " +
                             why + " - give another file");
  };
  if (!why_unknown.empty()) fail(why_unknown);
  std::map<std::string, std::string> constants;
  std::vector<std::vector<double>> rows;
  bool have_columns = false, has_same_form = false;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    const auto found = words_of(line);
    if (found.empty()) continue;
    if (found.size() > 2 && found[0] == "#!" && found[1] == "FIELDS") {
      if (joined(found, 2) != columns(options))
        fail("it has the columns '" + printable(joined(found, 2)) + "', but this fix needs '" +
             columns(options) + "'");
      // A file with several states: the last one counts.
      constants.clear();
      rows.clear();
      have_columns = true;
      has_same_form = false;
    } else if (found.size() == 4 && found[0] == "#!" && found[1] == "SET")
      constants[found[2]] = found[3];
    else if (found.size() > 3 && found[0] == "#" && found[1] == program && found[2] == "units") {
      const std::string other = found[3].substr(0, found[3].find(':'));
      if (other != units)
        fail("its simulation has units " + printable(other) + ", but this one has units " + units);
      has_same_form = found.back() == name_of(options.form);
    } else if (found[0][0] != '#') {
      const std::size_t width = 1 + 2 * static_cast<std::size_t>(n);
      if (!have_columns)
        fail("a kernel comes before the line '#! FIELDS " + columns(options) + "'");
      if (found.size() != width + 1)
        fail(std::to_string(found.size()) + " columns in place of " + std::to_string(width + 1));
      std::vector<double> row(width);
      for (std::size_t k = 1; k <= width; ++k) {
        double &number = row[k % width];    // the height, which is last, becomes the first one
        if (!to_number(found[k], number)) fail("'" + printable(found[k]) + "' is not a number");
        if (k > width / 2 && !(number > 0.0))
          fail((k == width ? "height " : "sigma ") + short_text(number) + " is not above 0");
      }
      rows.push_back(row);
    }
  }
  line_number = 0;

  const auto text = [&](const std::string &name) {
    const auto entry = constants.find(name);
    if (entry == constants.end()) fail("it has no line '#! SET " + name + "'");
    return entry->second;
  };
  const auto number = [&](const std::string &name, double minimum, double maximum = HUGE_VAL) {
    double value = 0.0;
    if (!to_number(text(name), value) || !(value >= minimum && value <= maximum))
      fail(name + " is " + printable(text(name)) + ", but must be a number >= " +
           short_text(minimum) + (std::isinf(maximum) ? "" : " and <= " + short_text(maximum)));
    return value;
  };
  if (text("action") != options.action("state"))
    fail("action is " + printable(text("action")) + ", but this fix needs " +
         options.action("state"));
  const DepositFormat format = options.format();
  for (const auto &needed : format.ends_of_periods()) text(needed.first);
  const std::string why = format.period_problem(constants);
  if (!why.empty()) fail(why);
  counter = number("counter", 1.0, static_cast<double>(MAX_SAMPLES));
  weights = number("sum_weights", 0.0);
  if (!(weights > 0.0)) fail("sum_weights is 0, but must be > 0");
  weights2 = number("sum_weights2", 0.0);
  if (options.is_adaptive()) {
    nsamples = static_cast<std::int64_t>(
        number("adaptive_counter", 0.0, static_cast<double>(MAX_SAMPLES)));
    for (int k = 0; k < n; ++k) {
      sigma0[k] = number("sigma0_" + options.names[k], 0.0);
      mean[k] = number("av_cv_" + options.names[k], -HUGE_VAL);
      squares[k] = number("av_M2_" + options.names[k], 0.0);
    }
  }
  check_count(rows.size());
  for (auto &row : rows) kernels.add(std::move(row), 0.0, false);

  for (const auto &[name, value] : options.constants()) text(name);
  const std::string others = other_constants(constants);
  // Lines that are missing or changed show in Z.
  if (others.empty() && has_same_form && options.normalize) {
    const double theirs = number("zed", 0.0);
    if (!(std::fabs(theirs - zed()) <= SAME_ZED * theirs))
      fail("zed is " + printable(text("zed")) + ", but that of its " +
           std::to_string(kernels.size()) + " kernels is " + short_text(zed()) +
           ": lines are missing or changed");
  }
  return others;
}

}    // namespace gpucoord
