// Part of GPUCOORD, GPL-2.0. Order parameters on several ranks, compared with one rank. Each rank
// is a thread.

#ifndef GPUCOORD_TEST_ORDER_RANKS_H
#define GPUCOORD_TEST_ORDER_RANKS_H

#include "order_systems.h"

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

// One rank's part of a system of all atoms.
struct Part {
  OrderSystem system;       // owner: rows of the owner's rank for ghosts
  std::vector<int> rank;    // [nall] rank of the owner
  std::vector<int> atom;    // [nlocal] row in the whole system
};

// Splits a system whose owned atom k belongs to rank_of[k]. Ghosts of a rank are all other rows of
// the whole system, including images of its own atoms.
inline std::vector<Part> split(const OrderSystem &whole, const std::vector<int> &rank_of,
                               int nranks)
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

// Exchanges between threads. If another rank does not take part in an exchange, it ends in an
// exception.
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
  // Waits for all ranks, and checks that they call the same exchange.
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
  std::vector<int> counts;    // exchanges of each rank so far
  int widest_forward = 0;
};

// Runs task(rank) in one thread per rank. Returns the messages of exceptions.
inline std::string run_ranks(int nranks, const std::function<void(int)> &task)
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
inline OrderResults joined(const std::vector<Part> &parts, const std::vector<OrderResults> &results,
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

inline std::vector<int> random_ranks(int n, int nranks, unsigned seed)
{
  std::vector<int> rank;
  for (const int type : random_types(n, nranks, seed)) rank.push_back(type - 1);
  return rank;
}

// An order parameter of which every rank makes its own object.
struct RankedOrder {
  std::function<std::unique_ptr<OrderParameter>()> make;
  bool is_sum;    // S is a sum over ranks
  bool has_w_hat;
  std::string name;
};

inline void check_ranks(const OrderSystem &whole, const std::vector<int> &rank_of, int nranks,
                        const RankedOrder &order)
{
  const auto parts = split(whole, rank_of, nranks);
  const std::string label = order.name + " on " + std::to_string(nranks) + " ranks";
  const OrderResults alone = run_order(*order.make(), whole, EVERYTHING, order.has_w_hat);
  for (const unsigned want : ALL_WANTS) {
    Ranks ranks(parts);
    std::vector<OrderResults> results(nranks);
    std::vector<std::unique_ptr<OrderParameter>> orders;
    for (int r = 0; r < nranks; ++r) orders.push_back(order.make());
    EXPECT_EQ(run_ranks(nranks,
                        [&](int r) {
                          results[r] = run_order(*orders[r], parts[r].system, want,
                                                 ranks.exchange(r), order.has_w_hat);
                        }),
              "")
        << label;
    if (testing::Test::HasFailure()) return;
    EXPECT_LE(ranks.widest(), orders[0]->exchange_columns()) << label;
    const OrderErrors e =
        errors_of(joined(parts, results, whole.nlocal, want, order.is_sum), alone, want);
    for (const double error : {e.value, e.order, e.w_hat, e.derivative, e.virial})
      EXPECT_LE(error, 1e-12) << label << " want " << want << ": " << e;
  }
}

// An exception of an exchange before it communicates.
struct Injected : std::runtime_error {
  Injected() : std::runtime_error("injected") {}
};

inline OrderExchange failing(const OrderExchange &exchange, int after)
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

// Three ranks that evaluate, or that fail and take part.
class Failures {
 public:
  static constexpr int NRANKS = 3;
  Failures(const OrderSystem &whole_in, const RankedOrder &order_in, unsigned want_in) :
      order(order_in), want(want_in), whole(whole_in),
      parts(split(whole, random_ranks(whole.nlocal, NRANKS, 8), NRANKS)),
      label(order.name + " want " + std::to_string(want))
  {
    for (int r = 0; r < NRANKS; ++r) orders.push_back(order.make());
  }

  // Rank 1 fails instead of its exchange number 'after'; -1: it does not evaluate. Checks that all
  // ranks call the same exchanges, and the results if no rank fails. Returns whether rank 1 has
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
        results[r] = run_order(*orders[r], s, want, r == 1 ? failing(exchange, after) : exchange,
                               order.has_w_hat);
      } catch (const Injected &) {
        has_failed = true;
        const auto rows = rows_of(s);
        orders[r]->complete_exchanges(order_input(s, *rows, exchange), want);
      }
    });
    EXPECT_EQ(messages, "") << label << " after " << after;
    for (int r = 1; r < NRANKS; ++r)
      EXPECT_EQ(ranks.count(r), ranks.count(0)) << label << " after " << after;
    if (!has_failed && messages.empty()) {
      const OrderResults alone = run_order(*order.make(), whole, EVERYTHING, order.has_w_hat);
      const OrderErrors e =
          errors_of(joined(parts, results, whole.nlocal, want, order.is_sum), alone, want);
      for (const double error : {e.value, e.order, e.w_hat, e.derivative, e.virial})
        EXPECT_LE(error, 1e-12) << label << ": " << e;
    }
    return has_failed;
  }

 private:
  const RankedOrder order;
  const unsigned want;
  const OrderSystem whole;
  const std::vector<Part> parts;
  const std::string label;
  std::vector<std::unique_ptr<OrderParameter>> orders;    // reused after a failure
};

// Rank 1 does not evaluate, or fails instead of each of its exchanges, also after successful
// evaluations.
inline void check_failures(const OrderSystem &whole, const RankedOrder &order)
{
  for (const unsigned want : ALL_WANTS) {
    EXPECT_TRUE(Failures(whole, order, want).run(-1));
    Failures failures(whole, order, want);
    int nfailures = 0;
    while (nfailures < 20 && failures.run(nfailures)) {
      ++nfailures;
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(nfailures, 0);
    EXPECT_LT(nfailures, 20);
    for (const bool evaluates : {false, true, false, false, true}) {
      EXPECT_EQ(failures.run(evaluates ? 100 : -1), !evaluates);
      if (testing::Test::HasFailure()) return;
    }
  }
}

#endif
