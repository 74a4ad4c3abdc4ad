// Part of GPUCOORD, GPL-2.0. Each allocation of the host backends fails once with std::bad_alloc.
// The exception must reach the caller, and the next evaluation of the same backend must have the
// same bits as without a failure.

#include "gpucoord/coordination.h"
#include "gpucoord/multisite.h"
#include "gpucoord/potential_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <vector>

using namespace gpucoord;

#ifdef __GNUC__
// If GCC inlines only one of the operators new and delete, it takes them for different allocators.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// Number of allocations until one fails; <= 0: none fails.
static std::atomic<long> countdown(0);

void *operator new(std::size_t size)
{
  void *const memory = countdown > 0 && --countdown == 0 ? nullptr : malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void operator delete(void *memory) noexcept
{
  free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
  free(memory);
}

namespace {

constexpr int N = 600;
constexpr double EDGE = 10.0;
constexpr Precision PRECISIONS[] = {Precision::DOUBLE, Precision::MIXED};

std::vector<double> random_numbers(int n, double from, double to)
{
  std::mt19937_64 random(4711);
  std::uniform_real_distribution<double> u(from, to);
  std::vector<double> numbers(n);
  for (double &number : numbers) number = u(random);
  return numbers;
}

// evaluate(backend) returns all results. Each allocation of a first and of a second evaluation
// fails once.
template <class Backend>
void check(const std::function<std::unique_ptr<Backend>()> &make,
           const std::function<std::vector<double>(Backend &)> &evaluate)
{
  const std::vector<double> expected = evaluate(*make());
  for (const bool is_first : {true, false}) {
    bool has_failed = true;
    int number = 0;
    while (has_failed) {
      const auto backend = make();
      if (!is_first) evaluate(*backend);
      countdown = ++number;
      try {
        evaluate(*backend);
        has_failed = countdown <= 0;
        EXPECT_FALSE(has_failed) << "nothing was thrown for allocation " << number;
      } catch (const std::bad_alloc &) {
      }
      countdown = 0;
      ASSERT_EQ(evaluate(*backend), expected) << "after allocation " << number << " failed";
    }
    EXPECT_GT(number, 1);
  }
}

std::vector<double> all_of(const Contribution &sums, const std::vector<double> &peratom)
{
  std::vector<double> all = peratom;
  all.push_back(sums.value);
  all.insert(all.end(), sums.virial, sums.virial + 6);
  return all;
}

Switch cubic(double dmax = 2.0)
{
  SwitchOptions options;
  options.kind = SwitchKind::CUBIC;
  options.d0 = 1.0;
  options.dmax = dmax;
  return Switch(options);
}

SwitchTable two_types()
{
  SwitchTable table(2);
  const int number = table.add(cubic());
  table.set(1, 1, number);
  table.set(1, 2, number);
  table.set(2, 2, table.add(cubic(1.9)));
  return table;
}

void check_coordination(
    const std::function<Contribution(Coordination &, unsigned, double *)> &engine,
    const SwitchTable &table = SwitchTable(cubic()))
{
  constexpr unsigned WANT = DERIVATIVES | VIRIAL;
  for (const Precision precision : PRECISIONS)
    for (const int nthreads : {1, 2})
      check<Coordination>(
          [&] {
            return make_host_coordination(table, precision, nthreads);
          },
          [&](Coordination &backend) {
            std::vector<double> peratom(peratom_columns(WANT) * N, 0.0);
            const Contribution sums = engine(backend, WANT, peratom.data());
            return all_of(sums, peratom);
          });
}

}    // namespace

TEST(NoMemory, cells)
{
  const auto x = random_numbers(3 * N, 0.0, EDGE);
  std::vector<int> rows(N);
  for (int k = 0; k < N; ++k) rows[k] = k;
  CellsInput in;
  in.x = x.data();
  in.a = {rows.data(), N, N};
  check_coordination([&](Coordination &backend, unsigned want, double *peratom) {
    return backend.cells(in, want, peratom);
  });
}

TEST(NoMemory, list)
{
  const auto x = random_numbers(3 * N, 0.0, EDGE);
  std::vector<int> rows(N), count(N, N - 1);
  std::vector<std::vector<int>> lists(N);
  std::vector<const int *> first(N);
  for (int k = 0; k < N; ++k) {
    rows[k] = k;
    for (int other = 0; other < N; ++other)
      if (other != k) lists[k].push_back(other);
    first[k] = lists[k].data();
  }
  ListInput in;
  in.x = x.data();
  in.nall = N;
  in.a = {rows.data(), N, N};
  in.numneigh = count.data();
  in.firstneigh = first.data();
  const auto engine = [&](Coordination &backend, unsigned want, double *peratom) {
    return backend.list(in, want, peratom);
  };
  check_coordination(engine);
  std::vector<int> type(N);
  for (int k = 0; k < N; ++k) type[k] = 1 + k % 2;
  in.types.type = type.data();
  check_coordination(engine, two_types());
}

TEST(NoMemory, potential_map)
{
  const auto x = random_numbers(3 * N, 0.0, EDGE), q = random_numbers(N, -1.0, 1.0);
  const MapCharges charges = {x.data(), q.data(), N};
  MapOptions options;
  options.kernel = MapKernel::SMOOTH;
  options.cutoff = 3.0;
  options.tiny = 1e-4;
  MapGrid grid;
  for (int c = 0; c < 3; ++c) {
    grid.n[c] = 17;
    grid.step[c][c] = EDGE / grid.n[c];
  }
  const MapPoints points = {x.data(), nullptr, N};
  const std::size_t n = 17 * 17 * 17;
  for (const Precision precision : PRECISIONS)
    for (const int nthreads : {1, 2})
      check<PotentialMap>(
          [&] {
            return make_host_potential_map(options, precision, nthreads);
          },
          [&](PotentialMap &backend) {
            std::vector<double> values(4 * (n + N));
            double *const point_values = values.data() + 4 * n;
            backend.on_grid(grid, charges, {values.data(), values.data() + n});
            backend.at_points(points, charges, {point_values, point_values + N});
            return values;
          });
}

TEST(NoMemory, multisite)
{
  Component component;
  component.centers.push_back({{0.0, 0.0, 0.1}, 1.0, 0.5});
  component.charges.push_back({{0.0, 0.1, 0.0}, 0.3});
  component.dipoles.push_back({{0.0, 0.0, 0.0}, {0.0, 0.0, 1.0}, 0.2});
  MultisiteOptions options;
  options.cutoff = options.cutoff_charge = 3.0;
  const MultisiteModel model({component}, options);
  const auto x = random_numbers(3 * N, 0.0, EDGE);
  std::vector<double> quaternion;
  for (int k = 0; k < N; ++k) quaternion.insert(quaternion.end(), {0.5, 0.5, -0.5, 0.5});
  const std::vector<int> kind(N, 0);
  const Molecules molecules = {x.data(), quaternion.data(), kind.data(), N, N};
  for (const Precision precision : PRECISIONS)
    for (const int nthreads : {1, 2})
      check<Multisite>(
          [&] {
            return make_host_multisite(model, precision, nthreads);
          },
          [&](Multisite &backend) {
            std::vector<double> results(13 * N, 0.0);
            double *const first = results.data();
            const MultisiteSums sums =
                backend.evaluate(molecules, MultisiteWant::ALL,
                                 {first, first + 3 * N, first + 6 * N, first + 7 * N});
            results.push_back(sums.lennard_jones + sums.electrostatic);
            results.insert(results.end(), sums.virial, sums.virial + 6);
            return results;
          });
}
