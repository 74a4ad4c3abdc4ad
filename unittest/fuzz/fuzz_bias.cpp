// Part of GPUCOORD, GPL-2.0. Fuzz targets for what biases with deposits read: files of deposits,
// state files, saved states, what walkers receive, and files of other walkers. TARGET: file, state,
// archive, walkers or shared.
//
// Only std::runtime_error may leave a reader. The first byte of an input chooses the bias.

#include "../../lib/gpucoord/src/bias/opes.h"
#include "gpucoord/bias.h"
#include "gpucoord/metadynamics.h"
#include "gpucoord/walkers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

using namespace gpucoord;
namespace fs = std::filesystem;

namespace {

const fs::path folder = fs::temp_directory_path() / ("gpucoord_fuzz_" + std::to_string(::getpid()));
const std::string path = (folder / "H").string();

void check(bool is_true, const char *what)
{
  if (is_true) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::abort();
}

void put(const std::string &content)
{
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(path, std::ios::binary) << content;
}

std::string content_of(const std::string &name)
{
  std::stringstream text;
  text << std::ifstream(name, std::ios::binary).rdbuf();
  return text.str();
}

struct Choice {
  explicit Choice(unsigned char byte) :
      is_opes(byte & 1), is_adaptive(byte & 2), has_walkers(byte & 4), is_periodic(byte & 8),
      n(byte & 16 ? 2 : 1), has_grid(byte & 32)
  {
  }
  std::vector<std::string> words() const
  {
    std::vector<std::string> result = {"metad", "height", "0.5", "sigma"};
    if (is_opes) result = {"opes", "barrier", "8", "temp", "1", is_adaptive ? "pace" : "sigma"};
    if (is_opes && is_adaptive)
      result.push_back("2");
    else
      for (int k = 0; k < n; ++k) result.push_back("0.2");
    if (!is_opes || !is_adaptive) result.insert(result.end(), {"pace", "2"});
    if (!is_opes && has_grid) {
      result.push_back("grid");
      for (int k = 0; k < n; ++k) result.insert(result.end(), {"0", "4"});
      result.push_back("bins");
      for (int k = 0; k < n; ++k) result.push_back("40");
    }
    result.insert(result.end(), {"file", path});
    if (has_walkers) result.insert(result.end(), {"walkers", "partitions"});
    return result;
  }
  BiasContext context() const
  {
    BiasContext result;
    result.command = "fix bias";
    result.names = {"s", "t"};
    result.labels = {"c_s", "c_t"};
    result.names.resize(n);
    result.labels.resize(n);
    if (is_periodic) result.periods = {{0.0, 4.0}, {}};
    if (is_periodic) result.periods.resize(n);
    result.program = "program";
    result.units = "none";
    result.print = result.warn = [](const std::string &) {
    };
    return result;
  }
  OpesOptions opes() const
  {
    OpesOptions options;
    options.names = context().names;
    options.labels = context().labels;
    options.period = context().periods;
    options.barrier = options.biasfactor = 8.0;
    options.epsilon = 1e-4;
    options.cutoff = 4.0;
    options.stride = 20;
    if (!is_adaptive) options.sigma.assign(n, 0.2);
    return options;
  }
  DepositFormat format() const
  {
    MetadynamicsOptions metad;
    metad.names = context().names;
    metad.period = context().periods;
    DepositFormat result = is_opes ? opes().format() : hills_format(metad);
    if (has_walkers) result.walker_column = is_opes ? "walker" : "clock";
    return result;
  }
  bool is_opes, is_adaptive, has_walkers, is_periodic;
  int n;
  bool has_grid;
};

void run(Bias &bias, int from, int to)
{
  bias.begin_run(from);
  if (bias.has_walkers()) bias.join_run(from, to);
  for (int k = from; k <= to && !bias.must_end(); ++k) {
    Step step;
    step.phase = k == from ? Step::Phase::SETUP : Step::Phase::LAST_OF_STEP;
    step.timestep = step.elapsed = k;
    step.time = 0.5 * k;
    const double s[2] = {2.0 + 0.5 * (k % 3), 1.0 + 0.4 * (k % 4)};
    bias.evaluate(step, s);
  }
}

/* ---------------------------------------------------------------------- */

// No deposit is lost, and none is read twice.
void file(const Choice &choice, const std::string &input)
{
  put(input);
  const auto opened = [&choice] {
    return std::make_unique<DepositFile>(path, choice.format(), "program", "none");
  };
  const std::int64_t count = choice.has_grid ? 2 : DepositFile::ALL;
  auto first = opened();
  const auto found = first->read(count);
  check(content_of(path) == input, "read() has changed the file");
  const std::string backup = first->resume();
  first.reset();
  const auto again = opened()->read(DepositFile::ALL);
  check(again.damaged.empty() && again.deposits.size() == found.deposits.size(),
        "another number of deposits");
  for (std::size_t k = 0; k < found.deposits.size(); ++k)
    check(again.deposits[k].row == found.deposits[k].row &&
              again.deposits[k].walker == found.deposits[k].walker,
          "other deposits");
  check(backup.empty() == (found.nlater == 0), "later deposits without a file");
  if (backup.empty()) return;
  DepositFile later(backup, choice.format(), "program", "none");
  check(static_cast<std::int64_t>(later.read(DepositFile::ALL).deposits.size()) == found.nlater,
        "another number of later deposits");
}

void use(Opes &opes, int k = 0)
{
  double slope[2];
  const double s[2] = {1.0 + 0.1 * (k % 7), 2.0 + 0.1 * (k % 5)};
  opes.average(s);
  if (!opes.is_ready()) return;
  std::vector<Deposit> round = {opes.propose(1.0, s, opes.evaluate(s, slope))};
  opes.complete(round);
  opes.add(round[0]);
  opes.evaluate(s, slope);
}

void state(const Choice &choice, const std::string &input)
{
  put(input);
  Opes opes(choice.opes());
  opes.read_state(path, "program", "none");
  opes.write_state(path, "program", "none");
  Opes again(choice.opes());
  check(again.read_state(path, "program", "none").empty(), "other constants");
  check(again.all_kernels().rows() == opes.all_kernels().rows(), "other kernels");
  use(opes);
}

void archive(const Choice &choice, const std::string &input)
{
  if (choice.has_grid) {
    Opes opes(choice.opes());
    Archive saved(input);
    opes.load(saved);
    use(opes);
    return;
  }
  put("");
  auto context = choice.context();
  Choice alone = choice;
  alone.has_walkers = false;
  const auto bias = make_bias(alone.words(), context);
  Archive saved(input);
  ArchiveParts parts(saved);
  bias->load(parts);
  BiasStart start;
  start.is_restarted = true;
  bias->begin(start);
  run(*bias, 10, 14);
}

// Walker 0 with another one that sends the same records, and what both receive. Or a walker that
// receives bytes of the input: messages, each after its size.
class Others : public Walkers {
 public:
  Others(int mine_in, std::string input_in) : number(mine_in), input(std::move(input_in)) {}
  int count() const override { return 2; }
  int mine() const override { return number; }
  std::string name() const override { return "fix b"; }
  std::vector<WalkerRecord> gather(const WalkerRecord &record) override
  {
    std::vector<WalkerRecord> result;
    if (number) return result;
    result.assign(2, record);
    if (replaces) {
      const std::string bytes = next();
      std::memcpy(static_cast<void *>(&result[1]), bytes.data(),
                  std::min(bytes.size(), sizeof(record)));
    }
    return result;
  }
  void send_to_all(std::string &bytes) override
  {
    if (number) {
      bytes = next();
      return;
    }
    const auto size = static_cast<std::uint16_t>(bytes.size());
    sent.append(reinterpret_cast<const char *>(&size), sizeof(size));
    sent += bytes;
  }
  bool replaces = false;
  std::string sent;

 private:
  std::string next()
  {
    std::uint16_t size = 0;
    if (input.size() < at + sizeof(size)) throw std::runtime_error("no more messages");
    std::memcpy(&size, &input[at], sizeof(size));
    at += sizeof(size);
    const std::string result = input.substr(at, size);
    at += result.size();
    return result;
  }
  const int number;
  const std::string input;
  std::size_t at = 0;
};

void walkers(const Choice &choice, const std::string &input)
{
  put("");
  auto context = choice.context();
  Choice shared = choice;
  shared.has_walkers = true;
  const auto others = std::make_shared<Others>(choice.has_walkers ? 1 : 0, input);
  others->replaces = true;
  context.walkers = others;
  const auto bias = make_bias(shared.words(), context);
  bias->begin({});
  run(*bias, 0, 46);
}

double hill_lines(const std::string &content)
{
  std::istringstream in(content);
  double count = 0.0;
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of(" \t\v\f\r") != line.npos &&
        line[line.find_first_not_of(" \t\v\f\r")] != '#')
      ++count;
  return count;
}

// The file of another walker, in two parts with a read after each, as it grows or is replaced: the
// second byte of the input tells the size of the first part. No deposit is read twice.
void shared(const Choice &choice, const std::string &input)
{
  if (choice.is_opes || input.empty()) return;
  put("");
  const fs::path other = folder / "S" / "z.w";
  fs::create_directories(other.parent_path());
  const std::string content = input.substr(1);
  const std::size_t size = content.size() * static_cast<unsigned char>(input[0]) / 255;
  std::ofstream(other, std::ios::binary) << content.substr(0, size);
  auto context = choice.context();
  Choice alone = choice;
  alone.has_walkers = false;
  auto words = alone.words();
  words.insert(words.end(), {"walkers", "files", (folder / "S").string(), "a", "2"});
  auto bias = make_bias(words, context);
  bias->begin({});
  std::ofstream(other, std::ios::binary) << (choice.has_walkers ? content.substr(size) : content);
  run(*bias, 0, 4);
  // Its own hills are those of steps 2 and 4.
  check(bias->outputs()[4 * choice.n + 1].value() <= 2.0 + hill_lines(content),
        "more hills than lines");
  // The journal is that of the bias.
  ArchiveParts parts;
  bias->save(parts);
  const double s[2] = {2.0, 1.0};
  Step step;
  step.phase = Step::Phase::SETUP;
  bias->evaluate(step, s);
  const double v = bias->state().energy;
  bias.reset();
  const auto again = make_bias(words, context);
  again->load(parts);
  BiasStart start;
  start.is_restarted = true;
  try {
    again->begin(start);
  } catch (const std::runtime_error &e) {
    check(false, e.what());
  }
  again->evaluate(step, s);
  check(again->state().energy == v, "V differs after a restart");
}

/* ---------------------------------------------------------------------- */

// Inputs without an error
std::string good(const std::string &target, unsigned char byte)
{
  const Choice choice(byte);
  put("");
  auto context = choice.context();
  const auto hub = std::make_shared<Others>(0, "");
  context.walkers = hub;
  auto words = choice.words();
  if (target == "walkers" && !choice.has_walkers)
    words.insert(words.end(), {"walkers", "partitions"});
  words.insert(words.end(), {"append", "no"});
  if (target == "state" && choice.is_opes)
    words.insert(words.end(), {"write_state", "20", path + ".state"});
  const auto bias = make_bias(words, context);
  bias->begin({});
  run(*bias, 0, 46);
  if (target == "file") return content_of(path);
  if (target == "shared") return "\x80" + content_of(path);
  if (target == "state") return content_of(path + ".state");
  if (target == "walkers") return hub->sent;
  Archive saved;
  if (choice.has_grid) {
    Opes opes(choice.opes());
    for (int k = 0; k < 30; ++k) use(opes, k);
    opes.save(saved);
  } else {
    ArchiveParts parts;
    bias->save(parts);
    parts.write(saved);
  }
  return saved.bytes();
}

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

}    // namespace

// Writes inputs without an error to the folder that is the last argument.
extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  const fs::path corpus = (*argv)[*argc - 1];
  for (int byte = 0; byte < 64 && fs::is_directory(corpus); ++byte) {
    const Choice choice(static_cast<unsigned char>(byte));
    const bool needs_opes = std::string(TEXT(TARGET)) == "state";
    if (std::string(TEXT(TARGET)) == "shared" && choice.is_opes) continue;
    if ((needs_opes && !choice.is_opes) || (choice.is_periodic && choice.has_grid)) continue;
    std::ofstream(corpus / ("good" + std::to_string(byte)), std::ios::binary)
        << static_cast<char>(byte) << good(TEXT(TARGET), static_cast<unsigned char>(byte));
  }
  std::atexit([] {
    fs::remove_all(folder);
  });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *bytes, std::size_t size)
{
  if (size == 0) return 0;
  try {
    TARGET(Choice(bytes[0]), std::string(bytes + 1, bytes + size));
  } catch (const std::runtime_error &) {
  }
  return 0;
}
