// Part of GPUCOORD, GPL-2.0. A second kind of bias that is a sum of deposits: what DepositingBias
// does for every kind.

#include "../../lib/gpucoord/src/bias/depositing_bias.h"

#include "bias_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// V is a sum of bumps h (1 - d^2)^2 for d < 1, d = (S - center)/sigma. The last column of the file
// is V before the deposit.
class Bumps : public DepositingBias {
 public:
  explicit Bumps(const Words &words) :
      DepositingBias(words, "bump", "bumps"), sigma(words.real("sigma"))
  {
    parse_pace(words);
    parse_file(words);
    parse_sum_file(words, "write_bumps", "list of bumps");
  }
  std::string formula(std::int64_t) const override { return "V = sum of bumps"; }

 protected:
  DepositFormat format() const override
  {
    DepositFormat result;
    result.noun = "bump";
    result.names = names();
    result.period = context.periods;
    result.last_column = "before";
    result.constants = {{"shape", "quartic"}};
    result.about_units = "heights are those of V";
    result.largest_sigma = [](const Period &period) {
      return 0.5 * period.length;
    };
    result.keeps_none = "this bias";
    return result;
  }
  Deposit propose(double time, const double *s, double v) const override
  {
    return {time, {s[0], sigma, 1.0 / (1.0 + v), v}};
  }
  void add_round(const std::vector<Deposit> &deposits) override
  {
    bumps.insert(bumps.end(), deposits.begin(), deposits.end());
  }
  double sum(const double *s, double *dVdS) const override
  {
    double v = dVdS[0] = 0.0;
    for (const auto &bump : bumps) {
      const double d = period(0).difference(s[0], bump.row[0]) / bump.row[1];
      if (d * d >= 1.0) continue;
      v += bump.height() * (1.0 - d * d) * (1.0 - d * d);
      dVdS[0] -= bump.height() * 4.0 * d * (1.0 - d * d) / bump.row[1];
    }
    return v;
  }
  std::uint64_t checksum() const override
  {
    std::uint64_t result = 0;
    for (const auto &bump : bumps)
      result = 31 * result + static_cast<std::uint64_t>(1e12 * bump.row[2]);
    return result;
  }
  std::string restore(const std::vector<Deposit> &deposits) override
  {
    bumps = deposits;
    return "";
  }
  void write_sum(const std::string &name) const override { std::ofstream(name) << bumps.size(); }
  std::string too_large() const override { return "height"; }

 private:
  const double sigma;
  std::vector<Deposit> bumps;
};

class Depositing : public Files {
 protected:
  std::unique_ptr<Bias> make(std::vector<std::string> more = {})
  {
    context = context_of_s();
    context.periods = {{0.0, 5.0}};
    context.print = context.warn = [this](const std::string &text) {
      messages.push_back(text);
    };
    std::vector<std::string> given = {"bumps", "sigma", "0.5", "pace", "5", "file", path};
    given.insert(given.end(), more.begin(), more.end());
    Words words(given, context);
    words.parse({"sigma", "pace", {"file", 1}, {"append", 1}, {"write_bumps", 2}});
    return std::make_unique<Bumps>(words);
  }
  static void run(Bias &bias, int from, int to)
  {
    bias.begin_run(from);
    for (int k = from; k <= to; ++k) {
      Step step;
      step.phase = k == from ? Step::Phase::SETUP : Step::Phase::LAST_OF_STEP;
      step.timestep = step.elapsed = k;
      step.time = 0.5 * k;
      const double s = 2.5 + 0.4 * std::sin(0.3 * k);
      bias.evaluate(step, &s);
    }
  }
  std::string output(const Bias &bias, int k)
  {
    return bias.outputs()[k].name + " " + std::to_string(bias.outputs()[k].value());
  }

  BiasContext context;
  std::vector<std::string> messages;
};

TEST_F(Depositing, another_kind_has_file_outputs_and_exact_restart)
{
  const std::string list = (folder / "LIST").string();
  auto bias = make({"write_bumps", "10", list});
  ASSERT_EQ(bias->written_files().size(), 2u);
  EXPECT_EQ(bias->written_files()[0].kind, "bumps file");
  EXPECT_EQ(bias->written_files()[1].kind, "list of bumps");
  bias->begin({});
  run(*bias, 0, 24);
  ArchiveParts saved;
  bias->save(saved);
  EXPECT_EQ(content(path).rfind("#! FIELDS time s sigma_s height before\n#! SET shape quartic\n"
                                "#! SET min_s 0\n#! SET max_s 5\n# program units none: heights "
                                "are those of V\n# GPUCOORD bumps format 1\n 2.5 ",
                                0),
            0u);
  EXPECT_EQ(content(list), "4");
  EXPECT_EQ(output(*bias, 2).rfind("center of the last bump of c_s 2.38", 0), 0u);
  EXPECT_EQ(output(*bias, 3).rfind("height of the last bump of c_s 0.", 0), 0u);
  double heights = 0.0, number = 0.0;
  std::istringstream rows(content(path).substr(content(path).find("format 1\n") + 9));
  for (int k = 0; rows >> number; ++k)
    if (k % 5 == 3) heights += number;
  EXPECT_NEAR(bias->outputs()[4].value(), heights, 1e-12);
  EXPECT_EQ(output(*bias, 5), "number of bumps 4.000000");
  EXPECT_EQ(bias->warning_of_rerun(), "rerun adds no bumps, V is that of the 4 bumps in " + path);
  run(*bias, 24, 40);
  const BiasState last = bias->state();
  bias.reset();

  auto again = make();
  again->load(saved);
  BiasStart start;
  start.is_restarted = true;
  again->begin(start);
  run(*again, 24, 40);
  EXPECT_EQ(again->state().energy, last.energy);
  EXPECT_EQ(again->state().work, last.work);
  EXPECT_EQ(again->state().dVdS, last.dVdS);
  EXPECT_EQ(again->state().own, last.own);
  EXPECT_EQ(messages,
            (std::vector<std::string>{"4 bumps of " + path +
                                          " that are later than the restart file are now in " +
                                          (folder / "bck.0.HILLS").string(),
                                      "continues with 4 bumps of " + path}));
}

TEST_F(Depositing, another_kind_has_the_errors_of_its_file)
{
  auto bias = make();
  bias->begin({});
  run(*bias, 0, 24);
  ArchiveParts saved;
  bias->save(saved);
  const auto error_of_begin = [&](const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
    const auto again = make();
    again->load(saved);
    BiasStart start;
    start.is_restarted = true;
    try {
      again->begin(start);
    } catch (const std::runtime_error &e) {
      std::string message = e.what();
      return message.replace(message.find(path), path.size(), "FILE");
    }
    return std::string();
  };
  bias.reset();
  const std::string good = content(path);
  EXPECT_EQ(error_of_begin(good.substr(0, good.rfind(" 10 "))),
            "bumps file FILE ends after 3 of the 4 bumps that were in the bias of the restart file "
            "- give the bumps file of that run");
  std::string other = good;
  other.replace(good.find("quartic"), 7, "cubic");
  EXPECT_EQ(error_of_begin(other),
            "bumps file FILE, line 2: shape is cubic, but only quartic is known - give another "
            "file");
  other = good;
  other.replace(good.find(" 0.5 ", good.find(" 2.5 ")), 5, " 2.6 ");
  EXPECT_EQ(error_of_begin(other),
            "bumps file FILE, line 7: sigma 2.6 is above 2.5, so that the bump overlaps its own "
            "image in the next period - give another file");
  EXPECT_EQ(error_of_begin(good), "");
}

// What a bias that does not keep its deposits says when their text is lost.
TEST_F(Depositing, a_changed_file)
{
  const auto bias = make();
  bias->begin({});
  run(*bias, 0, 9);
  std::filesystem::resize_file(path, 150);
  try {
    run(*bias, 9, 10);
    ADD_FAILURE();
  } catch (const std::runtime_error &e) {
    EXPECT_NE(std::string(e.what()).find("text of its bumps is lost, and this bias keeps no bumps"),
              std::string::npos)
        << e.what();
  }
}

}    // namespace
