// Part of GPUCOORD, GPL-2.0. Switching functions of a build with GPUCOORD_FORMS=cubic: sources of
// the library are compiled again for this program.

#include "gpucoord/switching.h"

#include <gtest/gtest.h>

#include <string>

using namespace gpucoord;

namespace {

SwitchOptions options_of(SwitchKind kind)
{
  SwitchOptions options;
  options.kind = kind;
  options.r0 = 1.0;
  options.d0 = 1.0;
  options.dmax = 2.0;
  return options;
}

std::string error_of(const SwitchOptions &options)
{
  try {
    Switch function(options);
  } catch (const SwitchError &e) {
    return e.what();
  }
  return "";
}

}    // namespace

TEST(LeftOutForms, one_that_is_built)
{
  const double t = 0.25;    // (r - d0)/(dmax - d0)
  EXPECT_DOUBLE_EQ(Switch(options_of(SwitchKind::CUBIC)).evaluate(1.25),
                   (t - 1) * (t - 1) * (1 + 2 * t));
}

TEST(LeftOutForms, others_are_an_error)
{
  const auto expected = [](const std::string &name) {
    return "this build has no " + name +
        " (CMake option GPUCOORD_FORMS): add it there, or build all functions without the option";
  };
  EXPECT_EQ(error_of(options_of(SwitchKind::RATIONAL)), expected("rational"));
  EXPECT_EQ(error_of(options_of(SwitchKind::TANH)), expected("tanh"));
  SwitchOptions custom = options_of(SwitchKind::CUSTOM);
  custom.expression = "1-x";
  EXPECT_EQ(error_of(custom), expected("custom"));
}
