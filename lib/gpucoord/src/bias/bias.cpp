// Part of GPUCOORD, GPL-2.0. Code shared by all kinds of bias, and the list of kinds.

#include "gpucoord/bias.h"

#include "../core/text_files.h"
#include "words.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gpucoord {

Bias::Bias(const Words &words) : Bias(words.context(), words.kind(), words.stride()) {}

Bias::Bias(BiasContext context_in, std::string kind, int stride) :
    context(std::move(context_in)), kind_name(std::move(kind)), every(stride)
{
  now.s.assign(nvariables(), 0.0);
  now.dVdS.assign(nvariables(), 0.0);
}

Bias::~Bias() = default;

void Bias::evaluate(const Step &step, const double *s)
{
  std::vector<double> dVdS(nvariables());
  now.energy = potential(step, s, dVdS.data());
  now.s.assign(s, s + nvariables());
  now.dVdS = dVdS;
  check();
}

std::vector<double> Bias::factors(double strength) const
{
  std::vector<double> result = now.dVdS;
  for (double &factor : result) factor *= strength;
  return result;
}

void Bias::check_finite(double v, const double *s, const double *dVdS) const
{
  bool is_finite = std::isfinite(v);
  for (int k = 0; k < nvariables(); ++k)
    is_finite = is_finite && std::isfinite(s[k]) && std::isfinite(every * dVdS[k]);
  if (is_finite) return;
  std::string text = "the bias is not a finite number: V = " + shortest_text(v);
  for (int k = 0; k < nvariables(); ++k)
    text += ", dV/dS = " + shortest_text(dVdS[k]) + " at " + context.labels[k] + " = " +
        shortest_text(s[k]);
  throw std::runtime_error(text + " - use a smaller " + too_large());
}

std::string Bias::periods_in_words() const
{
  std::string text;
  for (int v = 0; v < nvariables(); ++v)
    if (period(v).exists())
      text += std::string(text.empty() ? "\n  shortest differences of periodic variables:" : ",") +
          " " + labels()[v] + " from " + text_of_bound(period(v).lo) + " to " +
          text_of_bound(period(v).hi());
  return text;
}

void Bias::add_output(std::string name, std::function<double()> value, bool on_demand)
{
  shown.push_back({std::move(name), std::move(value), on_demand});
}

void Bias::add_outputs_of_variable(int v, const std::string &first,
                                   std::function<double()> first_value, const std::string &second,
                                   std::function<double()> second_value)
{
  const std::string &label = context.labels[v];
  add_output(label, [this, v] {
    return now.s[v];
  });
  add_output("dV/dS of " + label, [this, v] {
    return now.dVdS[v];
  });
  add_output(first + " of " + label, std::move(first_value));
  add_output(second + " of " + label, std::move(second_value));
}

void Bias::save(ArchiveParts &parts) const
{
  Archive archive;
  archive.write(now.energy);
  archive.write(now.work);
  for (const auto *values : {&now.s, &now.dVdS, &now.own}) archive.write(*values);
  parts.add("bias", 1, archive);

  Archive saved;
  const auto list = all_settings();
  saved.write(static_cast<std::int64_t>(list.size()));
  for (const auto &setting : list) {
    saved.write(setting.name);
    saved.write(setting.text);
  }
  parts.add("settings", 1, saved);
}

void Bias::load(ArchiveParts &parts)
{
  parts.take("bias", 1, [this](Archive &archive) {
    now.energy = archive.read_number();
    now.work = archive.read_number();
    for (auto *values : {&now.s, &now.dVdS, &now.own}) {
      auto found = archive.read_numbers();
      if (values == &now.own && found.size() == values->size() + nremoved())
        found.resize(values->size());
      if (found.size() != values->size())
        throw std::runtime_error("its saved state has " + std::to_string(found.size()) +
                                 " numbers, but this command needs " +
                                 std::to_string(values->size()) +
                                 " - use the command and the version of GPUCOORD that wrote it, or "
                                 "another fix ID");
      *values = found;
    }
  });
  parts.take("settings", 1, [this](Archive &archive) {
    saved_settings.clear();
    for (std::int64_t left = archive.read_integer(); left > 0; --left) {
      const std::string name = archive.read_text();
      saved_settings.push_back({name, archive.read_text()});
    }
  });
  const Setting own = periods_as_setting();
  for (const auto &saved : saved_settings)
    if (saved.name == own.name && saved.text != own.text)
      throw std::runtime_error("the restart file has " + printable(saved.text) +
                               ", but this command has " + own.text +
                               " - define the variables with the same periods, or use another "
                               "fix ID");
}

std::vector<Bias::Setting> Bias::all_settings() const
{
  auto list = settings();
  list.push_back({"variables", "variables " + joined(context.labels, 0, " ")});
  list.push_back(periods_as_setting());
  return list;
}

Bias::Setting Bias::periods_as_setting() const
{
  bool any = false;
  std::vector<std::string> list;
  for (int v = 0; v < nvariables(); ++v) {
    any |= period(v).exists();
    list.push_back(period(v).exists() ? "from " + shortest_text(period(v).lo) + " to " +
                           shortest_text(period(v).hi())
                                      : "none");
  }
  return {"periods", any ? "periods " + joined(list, 0, ", ") : "no periods"};
}

bool Bias::warn_of_other_settings() const
{
  std::vector<std::string> found, saved;
  for (const auto &setting : all_settings())
    for (const auto &old : saved_settings)
      if (old.name == setting.name && old.text != setting.text) {
        found.push_back(setting.text);
        saved.push_back(printable(old.text));
      }
  if (!found.empty())
    context.warn("continues with " + joined(found, 0, ", ") + ", but the restart file had " +
                 joined(saved, 0, ", ") + " - check the values of this command");
  return !found.empty();
}

/* ---------------------------------------------------------------------- */

#define GPUCOORD_BIAS_KIND(name, factory) std::unique_ptr<Bias> factory(Words &);
#include "bias_kinds.def"
#undef GPUCOORD_BIAS_KIND

namespace {
  struct Kind {
    const char *name;
    std::unique_ptr<Bias> (*make)(Words &);
  };
  const Kind KINDS[] = {
#define GPUCOORD_BIAS_KIND(name, factory) {name, factory},
#include "bias_kinds.def"
#undef GPUCOORD_BIAS_KIND
  };
}    // namespace

std::vector<std::string> bias_kinds()
{
  std::vector<std::string> names;
  for (const auto &kind : KINDS) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<Bias> make_bias(const std::vector<std::string> &words, const BiasContext &context)
{
  for (const auto &kind : KINDS)
    if (!words.empty() && words[0] == kind.name) {
      Words parsed(words, context);
      return kind.make(parsed);
    }
  throw ParseError(words.empty() ? ParseError::WHOLE_COMMAND : 0,
                   "Unknown " + context.command + " kind: " + (words.empty() ? "" : words[0]) +
                       " - known are " + joined(bias_kinds(), 0, ", "));
}

}    // namespace gpucoord
