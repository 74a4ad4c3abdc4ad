// Part of GPUCOORD, GPL-2.0. A scratch folder with hills, for tests of hills and grid files.

#ifndef GPUCOORD_TEST_BIAS_FILES_H
#define GPUCOORD_TEST_BIAS_FILES_H

#include "gpucoord/bias.h"
#include "gpucoord/deposit_file.h"
#include "gpucoord/metadynamics.h"

#include "bias_hills.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

using namespace gpucoord;

// That of a bias on one variable, which prints nothing
inline BiasContext context_of_s()
{
  BiasContext context;
  context.command = "fix bias";
  context.names = {"s"};
  context.labels = {"c_s"};
  context.program = "program";
  context.units = "none";
  context.print = context.warn = [](const std::string &) {
  };
  return context;
}

// A file of deposits that are hills.
class HillsFile : public DepositFile {
 public:
  HillsFile(const std::string &path, const MetadynamicsOptions &o, const std::string &program,
            const std::string &units) :
      DepositFile(path, hills_format(o), program, units),
      options(o)
  {
  }
  struct Existing : DepositFile::Existing {
    std::vector<Hill> hills;
  };
  Existing read(std::int64_t count)
  {
    Existing found = {DepositFile::read(count), {}};
    for (const Deposit &deposit : found.deposits) found.hills.push_back(hill_of(deposit));
    return found;
  }
  // known: all hills of the file; null: they are not available
  void append(double time, const Hill &hill, const std::vector<Hill> *known = nullptr)
  {
    const auto deposits = [&] {
      std::optional<std::vector<Deposit>> result;
      if (!known) return result;
      result.emplace();
      for (const Hill &one : *known) result->push_back(deposit_of(one, options));
      return result;
    };
    DepositFile::append(deposit_of(hill, options, time), deposits);
  }

 private:
  const MetadynamicsOptions options;
};

class Files : public testing::Test {
 protected:
  void SetUp() override
  {
    folder = std::filesystem::temp_directory_path() /
        ("gpucoord_bias_" + std::to_string(::getpid()) + "_" +
         testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(folder);
    path = (folder / "HILLS").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static std::string content(const std::string &name)
  {
    std::ifstream in(name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static std::vector<Hill> hills(int n)
  {
    std::vector<Hill> result;
    for (int h = 0; h < n; ++h) {
      Hill hill;
      hill.center[0] = series(h) / 3.0;
      hill.sigma[0] = 0.1 + h / 7.0;
      hill.file_height = 1.0 / (h + 1);
      hill.height = height_of_bias(hill.file_height, 8.0);
      result.push_back(hill);
    }
    return result;
  }
  void write(int n)
  {
    HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
    file.create();
    for (const auto &hill : hills(n)) file.append(0.5, hill);
  }
  static HillsFile::Existing read(const std::string &name)
  {
    return HillsFile(name, options(1, 8, false), "LAMMPS", "test").read(HillsFile::ALL);
  }
  // Returns the message with FILE in place of the name. A rejected file must stay unchanged.
  std::string error_of(std::int64_t count = HillsFile::ALL)
  {
    const bool exists = std::filesystem::exists(path);
    const std::string before = content(path);
    std::string text;
    try {
      HillsFile(path, options(1, 8, false), "LAMMPS", "test").read(count);
    } catch (const std::runtime_error &e) {
      text = e.what();
      const auto at = text.find(path);
      if (at != std::string::npos) text.replace(at, path.size(), "FILE");
    }
    EXPECT_EQ(std::filesystem::exists(path), exists);
    EXPECT_EQ(content(path), before);
    return text;
  }

  std::filesystem::path folder;
  std::string path;
};

#endif
