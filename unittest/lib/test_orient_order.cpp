// Part of GPUCOORD, GPL-2.0. Steinhardt order parameters: known lattices, symmetries, sums of
// Legendre polynomials and differences of S, for the host backend and the reference loops; and the
// host backend compared with these loops.

#include "order_checks.h"
#include "order_systems.h"

#include "gpucoord/orient_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Matrix = double[3][3];

// ---- lattices

struct Lattice {
  std::string name;
  Numbers x;
  brute::Cell cell;    // not periodic: only atom 0 has its shell
  int npartners;
  double shell;             // distance of the outermost partners; the next ones are 3% farther
  double q4, q6;            // given to 9 digits
  double w4_hat, w6_hat;    // NaN: not given
  double q4_sq, q6_sq;      // closed forms of the squares; NaN: none
};

std::vector<Lattice> lattices()
{
  const double r2 = std::sqrt(2.0), r3 = std::sqrt(3.0);
  const Numbers bcc = {0, 0, 0, 0.5, 0.5, 0.5};
  std::vector<Lattice> all = {
      {"fcc",
       {0, 0, 0, 0, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0},
       box_of(1, 1, 1),
       12,
       1 / r2,
       0.190940654,
       0.574524260,
       -0.159317,
       -0.0131606,
       7.0 / 192,
       169.0 / 512},
      {"hcp",
       {0, 0, 0, 0.5, r3 / 2, 0, 0.5, r3 / 6, std::sqrt(2.0 / 3), 0, 2 * r3 / 3,
        std::sqrt(2.0 / 3)},
       box_of(1, r3, std::sqrt(8.0 / 3)),
       12,
       1.0,
       0.097222222,
       0.484761685,
       NO,
       -0.012442,
       49.0 / 5184,
       NO},
      {"bcc 14", bcc, box_of(1, 1, 1), 14, 1.0, 0.036369648, 0.510688231, NO, NO, NO, NO},
      {"bcc 8", bcc, box_of(1, 1, 1), 8, r3 / 2, 0.509175077, 0.628539361, NO, NO, 7.0 / 27,
       32.0 / 81},
      {"sc",
       {0, 0, 0},
       box_of(1, 1, 1),
       6,
       1.0,
       0.763762616,
       0.353553391,
       NO,
       NO,
       7.0 / 12,
       1.0 / 8},
  };
  Lattice icosahedron = {"icosahedron", {0, 0, 0}, brute::Cell(), 12,  1.0,      0.0,
                         0.663324958,   NO,        -0.169754,     0.0, 11.0 / 25};
  const double golden = (1 + std::sqrt(5.0)) / 2, size = std::sqrt(1 + golden * golden);
  for (int axis = 0; axis < 3; ++axis)
    for (const double a : {-1 / size, 1 / size})
      for (const double b : {-golden / size, golden / size}) {
        double p[3] = {};
        p[(axis + 1) % 3] = a;
        p[(axis + 2) % 3] = b;
        icosahedron.x.insert(icosahedron.x.end(), p, p + 3);
      }
  all.push_back(icosahedron);
  return all;
}

OrderSystem system_of(const Lattice &lattice)
{
  OrderSystem s = open_system(lattice.x);
  if (lattice.cell.periodic[0]) add_images(s, lattice.cell, 1.2 * lattice.shell);
  return s;
}

OrderResults run_lattice(const OrderBackend &backend, const Lattice &lattice,
                         const OrientOrderOptions &options)
{
  const auto order = backend.make(step(1.01 * lattice.shell, 1.03 * lattice.shell), options);
  return run_order(*order, system_of(lattice), EVERYTHING);
}

TEST(OrientOrder, atoms_of_perfect_lattices_have_the_published_order)
{
  for (const OrderBackend &backend : double_orders())
    for (const Lattice &lattice : lattices())
      for (const int l : {4, 6}) {
        const OrderResults r = run_lattice(backend, lattice, order_options(l, OrderKind::LOCAL));
        const std::string what = backend.name + " " + lattice.name + " l " + std::to_string(l);
        const std::size_t n = lattice.cell.periodic[0] ? r.order.size() : 1;
        for (std::size_t k = 0; k < n; ++k) {
          EXPECT_NEAR(r.order[k], l == 4 ? lattice.q4 : lattice.q6, 1e-9) << what;
          const double square = l == 4 ? lattice.q4_sq : lattice.q6_sq;
          if (square > 0.0) { EXPECT_NEAR(r.order[k], std::sqrt(square), 1e-13) << what; }
          const double w_hat = l == 4 ? lattice.w4_hat : lattice.w6_hat;
          if (!std::isnan(w_hat)) { EXPECT_NEAR(r.w_hat[k], w_hat, 1e-6) << what; }
        }
      }
}

TEST(OrientOrder, average_is_local_and_dot_is_1_in_perfect_lattices)
{
  for (const OrderBackend &backend : double_orders())
    for (const Lattice &lattice : lattices()) {
      if (!lattice.cell.periodic[0]) continue;
      for (const int l : {4, 6}) {
        const auto orders = [&](OrderKind kind) {
          OrientOrderOptions options = order_options(l, kind);
          options.connection = rational(6, 12, 0.5);
          return run_lattice(backend, lattice, options);
        };
        const OrderResults local = orders(OrderKind::LOCAL), average = orders(OrderKind::AVERAGE),
                           dot = orders(OrderKind::DOT), bonds = orders(OrderKind::CONNECTIONS),
                           global = orders(OrderKind::GLOBAL);
        const std::string what = backend.name + " " + lattice.name + " l " + std::to_string(l);
        for (std::size_t k = 0; k < local.order.size(); ++k) {
          EXPECT_NEAR(average.order[k], local.order[k], 1e-12) << what;
          EXPECT_NEAR(dot.order[k], 1.0, 1e-12) << what;
          // 1 - sigma(1) of the rational function 6/12 with r0 = 1/2
          EXPECT_NEAR(bonds.order[k], lattice.npartners * (1 - 1 / 65.0), 1e-10) << what;
        }
        EXPECT_NEAR(global.sum.value, local.order[0], 1e-12) << what;
      }
    }
}

// ---- sums of Legendre polynomials

// Partners of an atom: directions, s(r) and rows of their owners.
struct Shell {
  double n = 0.0;
  Numbers s;
  std::vector<std::array<long double, 3>> direction;
  std::vector<int> owner;
};

std::vector<Shell> shells_of(const OrderSystem &s, const SwitchTable &table)
{
  std::vector<Shell> shells(s.nlocal);
  for (int i = 0; i < s.nlocal; ++i)
    for (int j = 0; j < s.nall(); ++j) {
      if (i == j || !(s.member[i] & 1) || !(s.member[j] & (s.two ? 2 : 1))) continue;
      const int number = table.function_of(s.type[i], s.type[j]);
      if (number == SwitchTable::NONE) continue;
      std::array<long double, 3> d;
      for (int c = 0; c < 3; ++c) d[c] = static_cast<long double>(s.x[3 * j + c]) - s.x[3 * i + c];
      const long double r = sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      const double value = table.functions()[number].evaluate(static_cast<double>(r));
      if (value == 0.0) continue;
      for (auto &v : d) v /= r;
      shells[i].n += value;
      shells[i].s.push_back(value);
      shells[i].direction.push_back(d);
      shells[i].owner.push_back(s.owner[j]);
    }
  return shells;
}

// By the addition theorem, 4 pi/(2 l + 1) N_i N_j q(i).q(j) is the sum of s_ik s_jn P_l of the
// cosine between d_ik and d_jn over all partners k of i and n of j.
double product(int l, const Shell &a, const Shell &b)
{
  long double sum = 0;
  for (std::size_t k = 0; k < a.s.size(); ++k)
    for (std::size_t n = 0; n < b.s.size(); ++n) {
      long double cosine = 0;
      for (int c = 0; c < 3; ++c) cosine += a.direction[k][c] * b.direction[n][c];
      cosine = std::max(-1.0L, std::min(1.0L, cosine));
      sum += static_cast<long double>(a.s[k]) * b.s[n] * std::legendre(l, cosine);
    }
  return static_cast<double>(sum);
}

// v_i of the atoms of a, and S of f = SUM.
double orders_by_legendre(const OrderSystem &s, const SwitchTable &table,
                          const OrientOrderOptions &options, Numbers &order)
{
  const auto shells = shells_of(s, table);
  const int n = s.nlocal;
  order.assign(n, UNCHANGED);
  std::vector<Numbers> gram(n, Numbers(n, 0.0));    // 4 pi/(2 l + 1) q(i).q(j)
  double all = 0.0, sum_of_n = 0.0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double p = product(options.l, shells[i], shells[j]);
      all += p;
      if (shells[i].n > 0 && shells[j].n > 0) gram[i][j] = p / (shells[i].n * shells[j].n);
    }
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    sum_of_n += shells[i].n;
    if (!(s.member[i] & 1)) continue;
    order[i] = 0.0;
    const Shell &shell = shells[i];
    if (options.order == OrderKind::AVERAGE) {
      std::vector<int> rows = shell.owner;
      Numbers factor = shell.s;
      rows.push_back(i);
      factor.push_back(1.0);
      for (std::size_t k = 0; k < rows.size(); ++k)
        for (std::size_t m = 0; m < rows.size(); ++m)
          order[i] += factor[k] * factor[m] * gram[rows[k]][rows[m]];
      order[i] = std::sqrt(order[i]) / (1 + shell.n);
    } else if (options.order == OrderKind::LOCAL || options.order == OrderKind::GLOBAL) {
      order[i] = std::sqrt(gram[i][i]);
    } else {
      for (std::size_t k = 0; k < shell.s.size(); ++k) {
        const int j = shell.owner[k];
        const double cosine = gram[i][j] / std::sqrt(gram[i][i] * gram[j][j]);
        if (options.order == OrderKind::DOT)
          order[i] += shell.s[k] * cosine / shell.n;
        else if (cosine > 0.0)    // sigma is 1/(1 + (x/r0)^6), 1 below 0
          order[i] += shell.s[k] * (1 - 1 / (1 + std::pow(cosine / options.connection.r0, 6)));
      }
    }
    sum += order[i];
  }
  if (vanishes(options.l, options.order, s.two)) return 0.0;
  return options.order == OrderKind::GLOBAL ? std::sqrt(all) / sum_of_n : sum;
}

TEST(OrientOrder, orders_equal_sums_of_legendre_polynomials_for_every_l)
{
  const auto check = [](const OrderSystem &s, const SwitchTable &table, int l, OrderKind kind) {
    const OrientOrderOptions options = order_options(l, kind);
    Numbers order;
    const double sum = orders_by_legendre(s, table, options, order);
    for (const OrderBackend &backend : double_orders()) {
      const OrderResults r = run_order(*backend.make(table, options), s, VALUE);
      const std::string what = backend.name + " " + name_of(kind) + " l " + std::to_string(l);
      EXPECT_NEAR(r.sum.value, sum, 1e-11 * std::max(1.0, std::fabs(sum))) << what;
      for (int k = 0; k < s.nlocal; ++k)
        EXPECT_NEAR(r.order[k], order[k], 1e-11 * std::max(1.0, std::fabs(order[k])))
            << what << " row " << k;
    }
  };
  const SwitchTable table = random_table(3, 3, 4).library;
  for (int l = gpucoord::MIN_L; l <= gpucoord::MAX_L; ++l)
    for (const OrderKind kind : ALL_ORDERS) {
      check(random_order_system(12, Groups::ONE, 3, true, table.dmax(), 5), table, l, kind);
      if (allows_two_groups(kind))
        check(random_order_system(12, Groups::OVERLAPPING, 3, true, table.dmax(), 6), table, l,
              kind);
    }
}

// ---- symmetries

TEST(OrientOrder, a_rotated_copy_has_the_same_orders_and_rotated_derivatives)
{
  // Rotation by the quaternion (1, 2, 3, 4)/sqrt(30).
  const Matrix rotation = {{-20.0 / 30, 4.0 / 30, 22.0 / 30},
                           {20.0 / 30, -10.0 / 30, 20.0 / 30},
                           {10.0 / 30, 28.0 / 30, 4.0 / 30}};
  const auto rotate = [&](const double *v, double *out) {
    for (int k = 0; k < 3; ++k)
      out[k] = rotation[k][0] * v[0] + rotation[k][1] * v[1] + rotation[k][2] * v[2];
  };
  const OrderSystem s = cluster(25, 3);
  OrderSystem rotated = s;
  for (int k = 0; k < s.nlocal; ++k) rotate(&s.x[3 * k], &rotated.x[3 * k]);
  const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.4, 1.7));
  for (const OrderBackend &backend : double_orders())
    for (int l = gpucoord::MIN_L; l <= gpucoord::MAX_L; ++l)
      for (const OrderKind kind : ALL_ORDERS) {
        if (vanishes(l, kind, false)) continue;
        const auto order = backend.make(table, order_options(l, kind));
        const OrderResults r = run_order(*order, s, DERIVATIVES),
                           rotated_result = run_order(*order, rotated, DERIVATIVES);
        const std::string what = backend.name + " " + name_of(kind) + " l " + std::to_string(l);
        const double largest = largest_of_kind(r, 4, 1);
        EXPECT_GT(largest, 1e-3) << what;
        for (int k = 0; k < s.nlocal; ++k) {
          EXPECT_NEAR(rotated_result.order[k], r.order[k], 1e-11 * largest_of(r.order)) << what;
          double expected[3];
          rotate(&r.peratom[4 * k + 1], expected);
          for (int c = 0; c < 3; ++c)
            EXPECT_NEAR(rotated_result.peratom[4 * k + 1 + c], expected[c], 1e-11 * largest)
                << what;
        }
      }
}

TEST(OrientOrder, global_order_of_odd_l_is_0_within_one_group)
{
  const OrderSystem s = cluster(25, 4);
  const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.4, 1.7));
  for (const OrderBackend &backend : double_orders())
    for (const int l : {3, 5, 11}) {
      const OrderResults r =
          run_order(*backend.make(table, order_options(l, OrderKind::GLOBAL)), s, EVERYTHING);
      EXPECT_NEAR(r.sum.value, 0.0, 1e-15) << backend.name;
      EXPECT_LT(largest_of_kind(r, 10, 1), 1e-14) << backend.name;
    }
}

TEST(OrientOrder, forces_and_torques_add_up_to_0_in_an_open_box)
{
  const OrderSystem s = cluster(25, 4);
  const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.4, 1.7));
  for (const OrderBackend &backend : double_orders())
    for (int l = gpucoord::MIN_L; l <= gpucoord::MAX_L; ++l)
      for (const OrderKind kind : ALL_ORDERS)
        for (const auto &function : order_functions()) {
          if (vanishes(l, kind, false)) continue;
          const auto order = backend.make(table, order_options(l, kind, function));
          const OrderResults r = run_order(*order, s, EVERYTHING);
          const std::string what = backend.name + " " + name_of(kind) + " l " + std::to_string(l);
          const double largest = largest_of_kind(r, 10, 1);
          double force[3] = {}, torque[3] = {}, virial[6] = {};
          for (int k = 0; k < s.nlocal; ++k) {
            const double *const x = &s.x[3 * k], *const g = &r.peratom[10 * k + 1];
            for (int c = 0; c < 3; ++c) {
              force[c] += g[c];
              torque[c] += x[(c + 1) % 3] * g[(c + 2) % 3] - x[(c + 2) % 3] * g[(c + 1) % 3];
            }
            for (int c = 0; c < 6; ++c) virial[c] += r.peratom[10 * k + 4 + c];
          }
          const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
          for (int c = 0; c < 3; ++c) {
            EXPECT_NEAR(force[c], 0.0, 1e-11 * largest) << what;
            EXPECT_NEAR(torque[c], 0.0, 1e-11 * largest) << what;
          }
          // In an open box, W is the sum of -x (x) dS/dx.
          for (int c = 0; c < 6; ++c) {
            double w = 0.0;
            for (int k = 0; k < s.nlocal; ++k)
              w -= s.x[3 * k + first[c]] * r.peratom[10 * k + 1 + second[c]];
            EXPECT_NEAR(r.sum.virial[c], w, 1e-11 * largest * s.nlocal) << what;
            EXPECT_NEAR(virial[c], 2 * w, 1e-11 * largest * s.nlocal) << what;
          }
        }
}

// ---- differences of S

TEST(OrientOrder, derivatives_equal_differences_of_S)
{
  const SwitchTable table = Switch(plain(SwitchKind::COSINUS, 2.0, 0.1, NO));
  const OrderSystem s = triclinic_system(6, 2);
  for (const OrderBackend &backend : double_orders())
    for (const int l : {3, 4, 6})
      for (const OrderKind kind : ALL_ORDERS)
        for (const auto &function : order_functions())
          if (!vanishes(l, kind, false))
            check_differences(*backend.make(table, order_options(l, kind, function)), s,
                              backend.name + " " + name_of(kind) + " l " + std::to_string(l));
}

TEST(OrientOrder, derivatives_equal_differences_of_S_for_negative_dots)
{
  const SwitchTable table = Switch(plain(SwitchKind::COSINUS, 1.6, 0.1, NO));
  const OrderSystem s = cluster(7, 8);
  for (const OrderBackend &backend : double_orders())
    for (const OrderKind kind : {OrderKind::DOT, OrderKind::CONNECTIONS})
      for (const auto &function : order_functions()) {
        const OrientOrderOptions options = order_options(3, kind, function);
        const OrderResults r =
            run_order(*backend.make(table, order_options(3, OrderKind::DOT)), s, VALUE);
        EXPECT_LT(*std::min_element(r.order.begin(), r.order.end()), -0.1);
        check_differences(*backend.make(table, options), s, backend.name + " " + name_of(kind));
      }
}

TEST(OrientOrder, derivatives_equal_differences_of_S_for_two_groups_and_types)
{
  Table table(3,
              {built_in(plain(SwitchKind::COSINUS, 1.5, 0.1, NO)),
               built_in(plain(SwitchKind::COSINUS, 1.2, 0.3, NO))});
  table.set(1, 1, 0);
  table.set(1, 2, 1);
  table.set(2, 3, 0);
  table.set(3, 3, 1);
  OrderSystem s = triclinic_system(6, 9);
  for (const bool two : {false, true})
    for (const OrderKind kind : ALL_ORDERS) {
      if (two && !allows_two_groups(kind)) continue;
      s.two = two;
      const unsigned char members[] = {1, 3, 2, 3, 1, 2};
      for (int k = 0; k < s.nall(); ++k) {
        s.type[k] = 1 + s.owner[k] % 3;
        s.member[k] = two ? members[s.owner[k]] : s.owner[k] != 4;
      }
      for (const OrderBackend &backend : double_orders())
        check_differences(
            *backend.make(table.library, order_options(6, kind, order_functions()[1])), s,
            backend.name + " " + name_of(kind) + (two ? " two groups" : ""));
    }
}

// ---- few partners

TEST(OrientOrder, an_atom_with_one_partner_has_the_closed_form)
{
  const double s_of_bond = 0.25, dmax = 2.0;
  for (const OrderBackend &backend : double_orders())
    for (int l = gpucoord::MIN_L; l <= gpucoord::MAX_L; ++l) {
      // s(r) = 1 - r/r0 in the middle of a range; the second partner is out of range.
      SwitchOptions line = plain(SwitchKind::CUSTOM, 1.0, 0.0, dmax, false);
      line.expression = "1-x/2";
      const double r = 1.5, parity = l % 2 ? -1.0 : 1.0;
      const OrderSystem s =
          open_system({0.1, 0.2, 0.3, 0.1 + 2 * r / 3, 0.2 - 2 * r / 3, 0.3 + r / 3, 9, 9, 9});
      const auto orders = [&](OrderKind kind) {
        const OrderResults result =
            run_order(*backend.make(Switch(line), order_options(l, kind)), s, EVERYTHING);
        EXPECT_EQ(result.order[2], 0.0);
        EXPECT_EQ(result.order[0], result.order[1]);
        for (int c = 1; c < 10; ++c) EXPECT_EQ(result.peratom[20 + c], 0.0);
        return result;
      };
      const std::string what = backend.name + " l " + std::to_string(l);
      EXPECT_NEAR(orders(OrderKind::LOCAL).order[0], 1.0, 1e-14) << what;
      EXPECT_NEAR(orders(OrderKind::DOT).order[0], parity, 1e-14) << what;
      EXPECT_NEAR(orders(OrderKind::AVERAGE).order[0], (1 + parity * s_of_bond) / (1 + s_of_bond),
                  1e-14)
          << what;
      EXPECT_NEAR(orders(OrderKind::CONNECTIONS).order[0],
                  parity > 0 ? s_of_bond * (1 - 1 / 65.0) : 0.0, 1e-14)
          << what;
      EXPECT_NEAR(orders(OrderKind::GLOBAL).sum.value, l % 2 ? 0.0 : 1.0, 1e-14) << what;
      // dv/dr = -2/(1 + s)^2 ds/dr for odd l
      const double expected = l % 2 ? 2 * -2 / (1.25 * 1.25) * -0.5 : 0.0;
      EXPECT_NEAR(orders(OrderKind::AVERAGE).peratom[10 + 1], expected * 2 / 3, 1e-13) << what;
    }
}

TEST(OrientOrder, results_are_finite_where_partners_cancel_or_are_missing)
{
  const Numbers line = {0, 0, 0, 0, 0, 1, 0, 0, -1, 20, 20, 20};
  const Numbers same = {0, 0, 0, 0, 0, 0, 0, 0.5, 0.7};    // two atoms at one point
  const Numbers star = {0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
  const SwitchTable table = step(0.7, 1.2);
  std::vector<OrderBackend> backends = double_orders();
  backends.push_back(host_order(Precision::MIXED));
  for (const OrderBackend &backend : backends)
    for (const int l : {3, 5, 6, 11})
      for (const OrderKind kind : ALL_ORDERS)
        for (const auto &function : order_functions()) {
          const auto order = backend.make(table, order_options(l, kind, function));
          const std::string what = backend.name + " " + name_of(kind) + " l " + std::to_string(l);
          for (const OrderSystem &s :
               {open_system({}), open_system({1, 2, 3}), open_system({0, 0, 0, 5, 5, 5}),
                open_system(line), open_system(star), open_system(same),
                periodic_system({0, 0, 0}, box_of(1, 1, 1), 1.2)})
            expect_finite(run_order(*order, s, EVERYTHING), what);
          if (!allows_two_groups(kind)) continue;
          OrderSystem s = open_system(star);
          s.two = true;
          s.member.assign(s.nlocal, 2);
          s.member[0] = 1;
          const OrderResults r = run_order(*order, s, EVERYTHING);
          expect_finite(r, what + " two groups");
          if (l % 2) { EXPECT_LT(r.order[0], 1e-6) << what; }
        }
}

// ---- the host backend

// Largest errors: double 1.7e-15, 1.5e-15, 4.4e-16, 2.1e-13 and 9.0e-14; mixed and single 6.2e-7,
// 1.0e-6, 2.6e-7, 4.8e-5 and 1.1e-5.
constexpr Limits LIMITS_OF_DOUBLE = {2e-14, 2e-14, 1e-14, 3e-12, 1e-12};
constexpr Limits LIMITS_OF_FLOAT = {5e-6, 1e-5, 3e-6, 4e-4, 1e-4};

// Largest errors of each precision, printed at the end.
OrderErrors worst_of_host[2];

class PrintWorstOrders : public testing::Environment {
 public:
  void TearDown() override
  {
    for (const Precision p : ORDER_PRECISIONS)
      std::cout << "largest errors of host " << name_of(p) << ": "
                << worst_of_host[static_cast<int>(p)] << "\n";
  }
};
testing::Environment *const print_worst_orders =
    testing::AddGlobalTestEnvironment(new PrintWorstOrders);

// scale: as in errors_of()
void check_host(const OrderSystem &s, const SwitchTable &table,
                const OrientOrderOptions &without_table, const std::string &what,
                double scale = 0.0)
{
  const OrientOrderOptions options = with_table(without_table, table);
  if (vanishes(options.l, options.order, s.two)) return;
  const OrderResults exact = run_order(*gpucoord::make_reference_order(options), s, EVERYTHING);
  for (const Precision precision : ORDER_PRECISIONS) {
    const auto host = gpucoord::make_host_order(options, precision, 1);
    const auto threaded = gpucoord::make_host_order(options, precision, 4);
    for (const unsigned want : ALL_WANTS) {
      const OrderResults r = run_order(*host, s, want);
      const OrderErrors e = errors_of(r, exact, want, scale);
      worst_of_host[static_cast<int>(precision)] |= e;
      const std::string label = what + " " + name_of(options.order) + " l " +
          std::to_string(options.l) + " " + name_of(precision) + " want " + std::to_string(want);
      expect_within(e, precision == Precision::DOUBLE ? LIMITS_OF_DOUBLE : LIMITS_OF_FLOAT, label);
      EXPECT_TRUE(same_bits(run_order(*threaded, s, want), r)) << label << ": 4 threads";
    }
  }
}

TEST(OrientOrder, host_equals_reference_for_any_groups_and_number_of_atoms)
{
  const SwitchTable table = Switch(rational(6, 12, 0.5, 0.0, 1.3));
  unsigned seed = 0;
  for (const int n : {0, 1, 2, 33, 150})
    for (const bool is_periodic : {false, true})
      for (const Groups groups : ALL_GROUPS)
        for (const OrderKind kind : ALL_ORDERS) {
          if (groups != Groups::ONE && !allows_two_groups(kind)) continue;
          ++seed;
          // The images of one atom in a cubic cell cancel for odd l and for l = 2.
          const int k = static_cast<int>(seed), l = n < 3 ? 4 + 2 * (k % 5) : 2 + k % 11;
          check_host(random_order_system(n, groups, 1, is_periodic, 1.4, seed), table,
                     order_options(n == 150 ? 6 : l, kind),
                     std::to_string(n) + " atoms, seed " + std::to_string(seed),
                     n < 3 ? 0.1 : 0.0);    // all derivatives of such systems may be 0
          if (HasFailure()) return;
        }
}

TEST(OrientOrder, host_equals_reference_for_types_and_functions)
{
  unsigned seed = 0;
  for (const auto &function : order_functions())
    for (const OrderKind kind : ALL_ORDERS)
      for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
        if (groups != Groups::ONE && !allows_two_groups(kind)) continue;
        ++seed;
        const SwitchTable table = random_table(3, 3, seed).library;
        for (const int l : {3, 4, 6})
          check_host(random_order_system(60, groups, 3, seed % 2, table.dmax(), seed), table,
                     order_options(l, kind, function), "types, seed " + std::to_string(seed));
        if (HasFailure()) return;
      }
}

TEST(OrientOrder, host_equals_reference_for_every_l)
{
  const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.4, 1.5));
  for (int l = gpucoord::MIN_L; l <= gpucoord::MAX_L; ++l)
    for (const OrderKind kind : ALL_ORDERS)
      check_host(random_order_system(50, Groups::ONE, 1, true, 1.6, l), table,
                 order_options(l, kind, order_functions()[2]), "every l");
}

TEST(OrientOrder, results_are_added_to_the_per_atom_output)
{
  const SwitchTable table = Switch(rational(6, 12, 0.5, 0.0, 1.3));
  const OrderSystem s = random_order_system(30, Groups::ONE, 1, true, 1.4, 7);
  const auto rows = rows_of(s);
  for (const OrderBackend &backend : double_orders())
    for (const OrderKind kind : ALL_ORDERS) {
      const auto order = backend.make(table, order_options(6, kind));
      const OrderResults r = run_order(*order, s, EVERYTHING);
      Numbers twice = r.peratom;
      order->evaluate(order_input(s, *rows, exchange_alone(s)), EVERYTHING, twice.data(), {});
      for (std::size_t k = 0; k < twice.size(); ++k)
        EXPECT_NEAR(twice[k], 2 * r.peratom[k], 1e-12 * largest_of(r.peratom));
    }
}

TEST(OrientOrder, the_smallest_row_whose_f_is_not_finite_is_reported)
{
  AtomFunctionOptions function;
  function.kind = AtomFunctionKind::CUSTOM;
  function.expression = "1/s";    // infinite for atoms without partners
  Numbers x = {0, 0, 0, 1, 0, 0};
  for (int k = 0; k < 20; ++k) x.insert(x.end(), {50.0 + 9 * k, 0, 0});
  const OrderSystem s = open_system(x);    // rows_of() lists rows in random order
  for (const OrderBackend &backend : double_orders()) {
    const auto order = backend.make(step(1.6, 1.7), order_options(6, OrderKind::LOCAL, function));
    const auto rows = rows_of(s);
    const OrderResult r =
        order->evaluate(order_input(s, *rows, exchange_alone(s)), VALUE, nullptr, {});
    EXPECT_EQ(r.bad, 2) << backend.name;
    EXPECT_EQ(r.order_of_bad, 0.0) << backend.name;
  }
}

}    // namespace
