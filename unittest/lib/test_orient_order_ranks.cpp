// Part of GPUCOORD, GPL-2.0. Order parameters of Steinhardt on several ranks, compared with one
// rank. Each rank is a thread.

#include "order_systems.h"

#include "gpucoord/orient_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

// One rank's part of a system of all atoms.
struct Part {
  OrderSystem system;       // owner: rows of the owner's rank for ghosts
  std::vector<int> rank;    // [nall] rank of the owner
  std::vector<int> atom;    // [nlocal] row in the whole system
};

// Splits a system whose owned atom k belongs to rank_of[k]. Ghosts of a rank are all other rows of
// the whole system, including images of its own atoms.
std::vector<Part> split(const OrderSystem &whole, const std::vector<int> &rank_of, int nranks)
{
  std::vector<int> row(whole.nlocal);    // row of each atom on the rank that owns it
  std::vector<Part> parts(nranks);
  const auto append = [&](Part &part, int k) {
    OrderSystem &s = part.system;
    const int owner = whole.owner[k];
    s.x.insert(s.x.end(), &whole.x[3 * k], &whole.x[3 * k] + 3);
    s.member.push_back(whole.member[k]);
    s.type.push_back(whole.type[k]);
    s.owner.push_back(row[owner]);
    part.rank.push_back(rank_of[owner]);
  };
  for (int k = 0; k < whole.nlocal; ++k) {
    Part &part = parts[rank_of[k]];
    row[k] = static_cast<int>(part.atom.size());
    part.atom.push_back(k);
    append(part, k);
  }
  for (int r = 0; r < nranks; ++r) {
    OrderSystem &s = parts[r].system;
    s.two = whole.two;
    s.nlocal = s.nall();
    for (int k = 0; k < whole.nall(); ++k)
      if (k >= whole.nlocal || rank_of[k] != r) append(parts[r], k);
  }
  return parts;
}

// Exchanges between threads. An exchange that another rank does not make ends in an exception.
class Ranks {
 public:
  explicit Ranks(const std::vector<Part> &parts_in) :
      parts(parts_in), numbers(parts.size()), kinds(parts.size()), counts(parts.size())
  {
  }

  OrderExchange exchange(int rank)
  {
    OrderExchange e;
    e.forward = [this, rank](double *values, int columns) {
      forward(rank, values, columns);
    };
    e.reduce = [this, rank](double *values, int n, AtomFunction::Reduction reduction) {
      reduce(rank, values, n, reduction);
    };
    return e;
  }

  int count(int rank) const { return counts[rank]; }
  int widest() const { return widest_forward; }

 private:
  // Waits for all ranks, and checks that they make the same exchange.
  void meet(int rank, double *values, const std::string &kind)
  {
    numbers[rank] = values;
    kinds[rank] = kind;
    wait();
    for (const std::string &other : kinds)
      if (other != kind) throw std::runtime_error(kind + " meets " + other);
  }

  void wait()
  {
    std::unique_lock<std::mutex> lock(mutex);
    const long turn = nturns;
    if (++nwaiting == parts.size()) {
      nwaiting = 0;
      ++nturns;
      changed.notify_all();
    } else if (!changed.wait_for(lock, std::chrono::seconds(30), [&] {
                 return nturns != turn;
               })) {
      throw std::runtime_error("a rank waits for an exchange of another rank");
    }
  }

  void forward(int rank, double *values, int columns)
  {
    meet(rank, values, "forward " + std::to_string(columns));
    const Part &part = parts[rank];
    for (int k = part.system.nlocal; k < part.system.nall(); ++k)
      std::copy_n(numbers[part.rank[k]] + static_cast<std::size_t>(columns) * part.system.owner[k],
                  columns, values + static_cast<std::size_t>(columns) * k);
    wait();
    ++counts[rank];
    if (rank == 0) widest_forward = std::max(widest_forward, columns);
  }

  void reduce(int rank, double *values, int n, AtomFunction::Reduction reduction)
  {
    const bool is_sum = reduction == AtomFunction::Reduction::SUM;
    meet(rank, values, (is_sum ? "sum " : "max ") + std::to_string(n));
    Numbers result(numbers[0], numbers[0] + n);
    for (std::size_t r = 1; r < parts.size(); ++r)
      for (int k = 0; k < n; ++k)
        result[k] = is_sum ? result[k] + numbers[r][k] : std::max(result[k], numbers[r][k]);
    wait();
    std::copy(result.begin(), result.end(), values);
    wait();
    ++counts[rank];
  }

  const std::vector<Part> &parts;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t nwaiting = 0;
  long nturns = 0;
  std::vector<double *> numbers;
  std::vector<std::string> kinds;
  std::vector<int> counts;    // exchanges that each rank has made
  int widest_forward = 0;
};

// Runs task(rank) in one thread per rank. Returns the messages of exceptions.
std::string run_ranks(int nranks, const std::function<void(int)> &task)
{
  std::vector<std::string> messages(nranks);
  std::vector<std::thread> threads;
  for (int r = 0; r < nranks; ++r)
    threads.emplace_back([&, r] {
      try {
        task(r);
      } catch (const std::exception &e) {
        messages[r] = " rank " + std::to_string(r) + ": " + e.what();
      }
    });
  for (auto &thread : threads) thread.join();
  std::string all;
  for (const std::string &message : messages) all += message;
  return all;
}

// Joins the results of all ranks: S and W of all ranks, numbers by row of the whole system.
OrderResults joined(const std::vector<Part> &parts, const std::vector<OrderResults> &results,
                    int nlocal, unsigned want, bool value_is_sum)
{
  OrderResults all;
  const int columns = peratom_columns(want);
  all.peratom.assign(static_cast<std::size_t>(columns) * nlocal, UNCHANGED);
  for (auto *list : {&all.order, &all.f, &all.w_hat}) list->assign(nlocal, UNCHANGED);
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const OrderResults &part = results[r];
    if (value_is_sum)
      all.sum.value += part.sum.value;
    else {
      EXPECT_EQ(part.sum.value, results[0].sum.value) << "S of all ranks";
      all.sum.value = part.sum.value;
    }
    for (int k = 0; k < 6; ++k) all.sum.virial[k] += part.sum.virial[k];
    for (std::size_t k = 0; k < parts[r].atom.size(); ++k) {
      const int atom = parts[r].atom[k];
      for (int c = 0; c < columns; ++c)
        all.peratom[columns * static_cast<std::size_t>(atom) + c] = part.peratom[columns * k + c];
      all.order[atom] = part.order[k];
      all.f[atom] = part.f[k];
      all.w_hat[atom] = part.w_hat[k];
    }
  }
  return all;
}

bool is_sum(const OrientOrderOptions &options)
{
  return options.order != OrderKind::GLOBAL && AtomFunction(options.function).is_sum();
}

void check_ranks(const OrderSystem &whole, const std::vector<int> &rank_of, int nranks,
                 const SwitchTable &table, const OrientOrderOptions &options,
                 const std::string &what)
{
  const auto parts = split(whole, rank_of, nranks);
  for (const OrderBackend &backend : double_orders()) {
    const std::string label = what + " " + backend.name + " " + name_of(options.order) + " l " +
        std::to_string(options.l) + " on " + std::to_string(nranks) + " ranks";
    const OrderResults alone = run_order(*backend.make(table, options), whole, EVERYTHING);
    for (const unsigned want : ALL_WANTS) {
      Ranks ranks(parts);
      std::vector<OrderResults> results(nranks);
      std::vector<std::unique_ptr<OrderParameter>> orders;
      for (int r = 0; r < nranks; ++r) orders.push_back(backend.make(table, options));
      EXPECT_EQ(run_ranks(nranks,
                          [&](int r) {
                            results[r] =
                                run_order(*orders[r], parts[r].system, want, ranks.exchange(r));
                          }),
                "")
          << label;
      if (testing::Test::HasFailure()) return;
      EXPECT_LE(ranks.widest(), orders[0]->exchange_columns()) << label;
      const OrderErrors e =
          errors_of(joined(parts, results, whole.nlocal, want, is_sum(options)), alone, want);
      for (const double error : {e.value, e.order, e.w_hat, e.derivative, e.virial})
        EXPECT_LE(error, 1e-12) << label << " want " << want << ": " << e;
    }
  }
}

std::vector<int> random_ranks(int n, int nranks, unsigned seed)
{
  std::vector<int> rank;
  for (const int type : random_types(n, nranks, seed)) rank.push_back(type - 1);
  return rank;
}

const SwitchTable &smooth()
{
  static const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.3, 1.1));
  return table;
}

TEST(OrientOrderRanks, results_do_not_depend_on_the_number_of_ranks)
{
  unsigned seed = 0;
  for (const int nranks : {2, 4})
    for (const int l : {3, 6})
      for (const OrderKind kind : ALL_ORDERS)
        for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
          if (groups != Groups::ONE && !allows_two_groups(kind)) continue;
          if (vanishes(l, kind, groups != Groups::ONE)) continue;
          ++seed;
          const OrderSystem whole = random_order_system(40, groups, 1, true, 1.2, seed);
          check_ranks(whole, random_ranks(40, nranks, seed), nranks, smooth(),
                      order_options(l, kind, order_functions()[seed % 4]),
                      "seed " + std::to_string(seed));
          if (HasFailure()) return;
        }
}

// Functions that need sums or largest values over all ranks.
TEST(OrientOrderRanks, results_do_not_depend_on_the_number_of_ranks_if_S_is_no_sum)
{
  AtomFunctionOptions function;
  function.beta = 0.1;
  for (const auto kind : {AtomFunctionKind::MIN, AtomFunctionKind::MAX, AtomFunctionKind::ALT_MIN,
                          AtomFunctionKind::MOMENT}) {
    function.kind = kind;
    function.order = 2;
    const OrderSystem whole = random_order_system(30, Groups::ONE, 1, true, 1.2, 77);
    check_ranks(whole, random_ranks(30, 3, 5), 3, smooth(),
                order_options(6, OrderKind::AVERAGE, function), "no sum");
  }
}

TEST(OrientOrderRanks, a_rank_may_have_no_atoms)
{
  const OrderSystem whole = random_order_system(30, Groups::ONE, 1, true, 1.2, 3);
  for (const OrderKind kind : ALL_ORDERS)
    for (const int empty : {0, 2}) {
      std::vector<int> rank_of = random_ranks(30, 3, 3);
      for (int &rank : rank_of)
        if (rank == empty) rank = 1;
      check_ranks(whole, rank_of, 3, smooth(), order_options(6, kind, order_functions()[3]),
                  "empty rank");
    }
}

TEST(OrientOrderRanks, the_only_partner_of_an_atom_may_be_on_another_rank)
{
  // Pairs of atoms, and a chain, split at each bond.
  const OrderSystem pair = open_system({0, 0, 0, 0.5, 0.3, 0.4});
  const OrderSystem chain =
      open_system({0, 0, 0, 0.5, 0.3, 0.4, 0.9, 0.9, 0.3, 1.2, 1.0, 0.9, 5, 5, 5});
  const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.3, 0.9));
  for (const int l : {3, 6})
    for (const OrderKind kind : ALL_ORDERS) {
      if (vanishes(l, kind, false)) continue;
      check_ranks(chain, {0, 1, 0, 1, 1}, 2, table, order_options(l, kind), "chain");
      // The derivatives of a pair are 0, except those of average for odd l and of connections.
      if (l == 3 && kind == OrderKind::AVERAGE)
        check_ranks(pair, {1, 0}, 2, table, order_options(l, kind), "pair");
    }
}

// An exception of an exchange before it communicates.
struct Injected : std::runtime_error {
  Injected() : std::runtime_error("injected") {}
};

OrderExchange failing(const OrderExchange &exchange, int after)
{
  const auto left = std::make_shared<int>(after);
  OrderExchange e;
  e.forward = [=](double *values, int columns) {
    if ((*left)-- == 0) throw Injected();
    exchange.forward(values, columns);
  };
  e.reduce = [=](double *values, int n, AtomFunction::Reduction reduction) {
    if ((*left)-- == 0) throw Injected();
    exchange.reduce(values, n, reduction);
  };
  return e;
}

// Three ranks that evaluate, or fail and take part.
class Failures {
 public:
  static constexpr int NRANKS = 3;
  Failures(const OrderBackend &backend_in, const OrientOrderOptions &options_in, unsigned want_in) :
      options(options_in), want(want_in),
      whole(random_order_system(20, Groups::ONE, 1, true, 1.2, 8)),
      parts(split(whole, random_ranks(20, NRANKS, 8), NRANKS)), backend(backend_in),
      label(backend.name + " " + name_of(options.order) + " want " + std::to_string(want))
  {
    for (int r = 0; r < NRANKS; ++r) orders.push_back(backend.make(smooth(), options));
  }

  // Rank 1 fails instead of its exchange number 'after'; -1: it does not evaluate. Checks that all
  // ranks make the same exchanges, and the results if no rank fails. Returns whether rank 1 has
  // failed.
  bool run(int after)
  {
    bool has_failed = false;
    Ranks ranks(parts);
    std::vector<OrderResults> results(NRANKS);
    const std::string messages = run_ranks(NRANKS, [&](int r) {
      const OrderSystem &s = parts[r].system;
      const OrderExchange exchange = ranks.exchange(r);
      try {
        if (r == 1 && after < 0) throw Injected();
        results[r] = run_order(*orders[r], s, want, r == 1 ? failing(exchange, after) : exchange);
      } catch (const Injected &) {
        has_failed = true;
        const auto rows = rows_of(s);
        orders[r]->take_part(order_input(s, *rows, exchange), want);
      }
    });
    EXPECT_EQ(messages, "") << label << " after " << after;
    for (int r = 1; r < NRANKS; ++r)
      EXPECT_EQ(ranks.count(r), ranks.count(0)) << label << " after " << after;
    if (!has_failed && messages.empty()) {
      const OrderResults alone = run_order(*backend.make(smooth(), options), whole, EVERYTHING);
      const OrderErrors e =
          errors_of(joined(parts, results, whole.nlocal, want, is_sum(options)), alone, want);
      for (const double error : {e.value, e.order, e.w_hat, e.derivative, e.virial})
        EXPECT_LE(error, 1e-12) << label << ": " << e;
    }
    return has_failed;
  }

 private:
  const OrientOrderOptions options;
  const unsigned want;
  const OrderSystem whole;
  const std::vector<Part> parts;
  const OrderBackend backend;
  const std::string label;
  std::vector<std::unique_ptr<OrderParameter>> orders;    // used again after a failure
};

// Options with several reductions.
OrientOrderOptions with_maximum(OrderKind kind)
{
  AtomFunctionOptions maximum;
  maximum.kind = AtomFunctionKind::MAX;
  maximum.beta = 0.1;
  return order_options(6, kind, maximum);
}

TEST(OrientOrderRanks, take_part_makes_all_exchanges_of_a_rank_that_does_not_evaluate)
{
  for (const OrderBackend &backend : double_orders())
    for (const OrderKind kind : ALL_ORDERS)
      for (const unsigned want : ALL_WANTS)
        for (const OrientOrderOptions &options : {order_options(6, kind), with_maximum(kind)}) {
          EXPECT_TRUE(Failures(backend, options, want).run(-1));
          if (HasFailure()) return;
        }
}

// take_part() of an object that has evaluated before, and the next evaluation.
TEST(OrientOrderRanks, take_part_starts_with_the_first_exchange_after_an_evaluation)
{
  for (const OrderBackend &backend : double_orders())
    for (const OrderKind kind : ALL_ORDERS) {
      Failures failures(backend, with_maximum(kind), EVERYTHING);
      EXPECT_FALSE(failures.run(100));
      EXPECT_TRUE(failures.run(-1));
      if (HasFailure()) return;
      EXPECT_TRUE(failures.run(-1));
      EXPECT_FALSE(failures.run(100));
    }
}

// An exchange that throws an exception has not been made.
TEST(OrientOrderRanks, take_part_makes_the_exchanges_that_a_failed_evaluation_has_not_made)
{
  for (const OrderBackend &backend : double_orders())
    for (const OrderKind kind : ALL_ORDERS)
      for (const unsigned want : ALL_WANTS) {
        Failures failures(backend, with_maximum(kind), want);
        int nfailures = 0;
        while (nfailures < 20 && failures.run(nfailures)) {
          ++nfailures;
          if (HasFailure()) return;
        }
        EXPECT_GT(nfailures, 0);
        EXPECT_LT(nfailures, 20);
      }
}

}    // namespace
