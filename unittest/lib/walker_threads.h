// Part of GPUCOORD, GPL-2.0. Walkers that share one bias, each in a thread, for tests.

#ifndef GPUCOORD_TEST_WALKER_THREADS_H
#define GPUCOORD_TEST_WALKER_THREADS_H

#include "gpucoord/bias.h"
#include "gpucoord/walkers.h"

#include "bias_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// What walkers in threads of one process send.
class Hub {
 public:
  explicit Hub(int n_in) : n(n_in), sent(n), inbox(n) {}
  std::vector<WalkerRecord> gather(int mine, const WalkerRecord &record)
  {
    std::unique_lock<std::mutex> lock(mutex);
    sent[mine].push_back(record);
    changed.notify_all();
    if (mine) return {};
    std::vector<WalkerRecord> result;
    for (auto &queue : sent) {
      wait(lock, [&] {
        return !queue.empty();
      });
      result.push_back(queue.front());
      queue.erase(queue.begin());
    }
    if (damaged >= 0 && record.timestep == 10) result[damaged].bias ^= 1;
    if (damages && record.timestep == 10) damages(result.back());
    return result;
  }
  void send_to_all(int mine, std::string &bytes)
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (mine == 0)
      for (int w = 1; w < n; ++w) inbox[w].push_back(bytes);
    else {
      wait(lock, [&] {
        return !inbox[mine].empty();
      });
      bytes = inbox[mine].front();
      inbox[mine].erase(inbox[mine].begin());
    }
    changed.notify_all();
  }
  const int n;
  int damaged = -1;                               // walker whose sum seems to differ at step 10
  std::function<void(WalkerRecord &)> damages;    // the record of the last walker at step 10

 private:
  template <class Condition> void wait(std::unique_lock<std::mutex> &lock, const Condition &is_true)
  {
    if (!changed.wait_for(lock, std::chrono::seconds(20), is_true))
      throw std::runtime_error("a walker has not come");
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<WalkerRecord>> sent;
  std::vector<std::vector<std::string>> inbox;
};

class Thread : public Walkers {
 public:
  Thread(std::shared_ptr<Hub> hub_in, int number_in, std::string name_in) :
      hub(std::move(hub_in)), number(number_in), its_name(std::move(name_in))
  {
  }
  int count() const override { return hub->n; }
  int mine() const override { return number; }
  std::string name() const override { return its_name; }
  std::vector<WalkerRecord> gather(const WalkerRecord &record) override
  {
    return hub->gather(number, record);
  }
  void send_to_all(std::string &bytes) override { hub->send_to_all(number, bytes); }

 private:
  const std::shared_ptr<Hub> hub;
  const int number;
  const std::string its_name;
};

constexpr int PACE = 5;    // if the words do not give it

class SharedBias : public Files {
 protected:
  struct Walker {
    std::unique_ptr<Bias> bias;
    std::string error;
    std::vector<std::string> messages;
    int ended_at = -1;    // step at which it had to end
  };
  using Words = std::vector<std::string>;

  // more: of each walker, or of all if there is one list
  void make(int n, const std::vector<Words> &more = {{}}, const std::string &how = "walkers")
  {
    walkers.clear();
    if (!keeps_hub) hub = std::make_shared<Hub>(n);
    for (int w = 0; w < n; ++w) {
      walkers.emplace_back(new Walker);
      BiasContext context = context_of_s();
      Walker *const walker = walkers.back().get();
      context.print = context.warn = [walker](const std::string &text) {
        walker->messages.push_back(text);
      };
      context.walkers = std::make_shared<Thread>(hub, w, keeps_hub ? "fix b2" : "fix b");
      Words words = kind;
      words.insert(words.end(), {"file", path});
      if (how == "walkers") words.insert(words.end(), {"walkers", "partitions"});
      const Words &own = more[more.size() == 1 ? 0 : w];
      words.insert(words.end(), own.begin(), own.end());
      if (std::find(words.begin(), words.end(), "pace") == words.end())
        words.insert(words.end(), {"pace", std::to_string(PACE)});
      walker->bias = make_bias(words, context);
    }
  }
  // Calls work(walker number) for all walkers at the same time.
  void all(const std::function<void(int)> &work)
  {
    std::vector<std::thread> threads;
    for (std::size_t w = 0; w < walkers.size(); ++w)
      threads.emplace_back([&, w] {
        try {
          work(static_cast<int>(w));
        } catch (const std::runtime_error &e) {
          walkers[w]->error = e.what();
          const auto at = walkers[w]->error.find(path);
          if (at != std::string::npos) walkers[w]->error.replace(at, path.size(), "FILE");
        }
      });
    for (auto &thread : threads) thread.join();
  }
  void begin(const std::vector<BiasStart> &start = {BiasStart()})
  {
    all([&](int w) {
      walkers[w]->bias->begin(start[start.size() == 1 ? 0 : w]);
    });
  }
  static double position(int walker, int step) { return 2.0 + std::sin(step + 0.7 * walker); }
  using Position = std::function<double(int walker, int step)>;

  // Runs all walkers. to: last step of each walker. last: for which its run is begun
  void run(int from, const std::vector<int> &to, std::vector<int> last = {},
           const Position &s = position)
  {
    if (last.empty()) last = to;
    all([&](int w) {
      run_one(w, from, to[w % to.size()], last[w % last.size()], s);
    });
  }
  void run_one(int w, int from, int to, int last, const Position &position_of)
  {
    Bias &bias = *walkers[w]->bias;
    bias.begin_run(from);
    if (bias.has_walkers()) bias.join_run(from, last);
    int k = from;
    for (; k <= to && walkers[w]->ended_at < 0; ++k) {
      Step step;
      step.phase = k == from ? Step::Phase::SETUP : Step::Phase::LAST_OF_STEP;
      step.timestep = step.elapsed = k;
      step.time = 0.5 * k;
      bias.set(step, [&](const std::string &) {
        return 0.0;
      });
      const double s = position_of(w, k);
      bias.evaluate(step, &s);
      if (bias.must_end()) walkers[w]->ended_at = k;
    }
    if (bias.has_walkers() && bias.leave_run(k - 1)) walkers[w]->ended_at = k - 1;
  }
  void expect_errors(const std::string &text)
  {
    for (const auto &walker : walkers) EXPECT_EQ(walker->error, text);
  }
  // Centers and walkers of the lines of the file.
  std::vector<std::pair<double, int>> lines() const
  {
    std::vector<std::pair<double, int>> result;
    std::istringstream in(content(path));
    for (std::string line; std::getline(in, line);) {
      if (line[0] == '#') continue;
      std::istringstream words(line);
      std::vector<double> numbers;
      for (double number; words >> number;) numbers.push_back(number);
      result.emplace_back(numbers[1], static_cast<int>(numbers[5]));
    }
    return result;
  }
  // V and dV/dS at s, which changes nothing.
  static BiasState at(Bias &bias, double s)
  {
    Step step;
    step.phase = Step::Phase::SETUP;
    bias.evaluate(step, &s);
    return bias.state();
  }

  Words kind = {"metad", "sigma", "0.5", "height", "1"};    // and its words
  std::shared_ptr<Hub> hub;
  bool keeps_hub = false;    // make() adds biases to those of the last call
  std::vector<std::unique_ptr<Walker>> walkers;
};

#endif
