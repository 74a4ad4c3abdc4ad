// Part of GPUCOORD, GPL-2.0. The definition of the order parameters as plain loops, a reference for
// testing the backends.

#include "gpucoord/orient_order.h"

#include "../../atom_functions/threshold.h"
#include "../host_order.h"
#include "../order_values.h"
#include "../reference_pairs.h"
#include "orient_order_options.h"

#include "gpucoord/bytes_of.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace gpucoord {

namespace {

  // Components m = 0 to l of a vector; those above l are 0. Component -m is (-1)^m times the
  // complex conjugate of component m.
  using Components = std::array<std::complex<double>, MAX_L + 1>;

  // Returns the sum of conj(a_m) b_m over m = -l to l, which is real.
  double dot(const Components &a, const Components &b)
  {
    double sum = (std::conj(a[0]) * b[0]).real();
    for (int m = 1; m <= MAX_L; ++m) sum += 2.0 * (std::conj(a[m]) * b[m]).real();
    return sum;
  }

  Components difference(const Components &a, const Components &b)
  {
    Components c;
    for (int m = 0; m <= MAX_L; ++m) c[m] = a[m] - b[m];
    return c;
  }

  // Adds factor a to sum.
  void add(double factor, const Components &a, Components &sum)
  {
    for (int m = 0; m <= MAX_L; ++m) sum[m] += factor * a[m];
  }

  Components scaled(double factor, const Components &a)
  {
    Components c = {};
    add(factor, a, c);
    return c;
  }

  long double factorial(int n)
  {
    return n > 1 ? n * factorial(n - 1) : 1.0L;
  }

  double sign_of_power(int n)
  {
    return n % 2 ? -1.0 : 1.0;
  }

  // Y_lm with the Condon-Shortley phase as polynomials of a unit vector (x, y, z):
  // Y_lm = (-1)^m sqrt((2 l + 1)/(4 pi) (l - m)!/(l + m)!) (d/dz)^m P_l(z) (x + i y)^m.
  class Harmonics {
   public:
    explicit Harmonics(int l_in) : l(l_in)
    {
      for (int k = 0; 2 * k <= l; ++k)
        legendre[0][l - 2 * k] = sign_of_power(k) * factorial(2 * l - 2 * k) /
            (std::pow(2.0L, l) * factorial(k) * factorial(l - k) * factorial(l - 2 * k));
      for (int m = 0; m <= l; ++m)
        for (int k = 0; k < l; ++k) legendre[m + 1][k] = (k + 1) * legendre[m][k + 1];
      for (int m = 0; m <= l; ++m)
        norm[m] = sign_of_power(m) *
            std::sqrt((2 * l + 1) / (4 * std::acos(-1.0L)) * factorial(l - m) / factorial(l + m));
    }

    // d: vector of length r. gradient: derivatives with respect to the components of d, 1/distance.
    void evaluate(const double *d, double r, Components &value,
                  std::array<Components, 3> &gradient) const
    {
      value = {};
      gradient = {};
      if (r == 0.0) return;    // the direction is undefined
      using Complex = std::complex<long double>;
      const long double n[3] = {d[0] / static_cast<long double>(r),
                                d[1] / static_cast<long double>(r),
                                d[2] / static_cast<long double>(r)};
      Complex power = 1.0L, lower_power = 0.0L;    // (x + i y)^m and (x + i y)^(m - 1)
      for (int m = 0; m <= l; ++m) {
        const long double p = norm[m] * polynomial(m, n[2]);
        value[m] = p * power;
        Complex by_n[3] = {p * static_cast<long double>(m) * lower_power, 0.0L,
                           norm[m] * polynomial(m + 1, n[2]) * power};
        by_n[1] = Complex(0.0L, 1.0L) * by_n[0];
        const Complex along = n[0] * by_n[0] + n[1] * by_n[1] + n[2] * by_n[2];
        for (int k = 0; k < 3; ++k)
          gradient[k][m] = (by_n[k] - n[k] * along) / static_cast<long double>(r);
        lower_power = power;
        power *= Complex(n[0], n[1]);
      }
    }

   private:
    // Returns the derivative of order m of P_l at z.
    long double polynomial(int m, long double z) const
    {
      long double sum = 0.0L;
      for (int k = l; k >= 0; --k) sum = sum * z + legendre[m][k];
      return sum;
    }

    const int l;
    long double legendre[MAX_L + 2][MAX_L + 1] = {};    // [m][k] z^k in derivative m
    long double norm[MAX_L + 1] = {};
  };

  // Returns Wigner's 3j symbol (l l l; m1 m2 -m1-m2) by Racah's formula.
  long double wigner_3j(int l, int m1, int m2)
  {
    const int m3 = -m1 - m2;
    long double sum = 0.0L;
    for (int t = std::max({0, -m1, m2}); t <= std::min({l, l - m1, l + m2}); ++t)
      sum += sign_of_power(t) /
          (factorial(t) * factorial(t + m1) * factorial(t - m2) * factorial(l - t) *
           factorial(l - m1 - t) * factorial(l + m2 - t));
    long double product = std::pow(factorial(l), 3) / factorial(3 * l + 1);
    for (const int m : {m1, m2, m3}) product *= factorial(l + m) * factorial(l - m);
    return sign_of_power(m3) * std::sqrt(product) * sum;
  }

  // The per-atom numbers that partners read.
  struct Atom {
    double n = 0.0;             // N_i
    double order = 0.0;         // v_i
    double weight = 0.0;        // f'(v_i)
    Components q = {};          // q_lm(i)
    Components average = {};    // AVERAGE: the vector whose norm is v_i
    Components mu = {};         // AVERAGE: derivative of S with respect to this vector
    Components u = {};          // q_lm(i)/|q_lm(i)|
    Components lambda = {};     // derivative of S with respect to q_lm(i)
  };
  static_assert(std::is_trivially_copyable_v<Atom> && sizeof(Atom) % sizeof(double) == 0);
  constexpr int COLUMNS = sizeof(Atom) / sizeof(double);

  struct Pair {
    double d[3], r, s, dsdr;
    Components y;
    std::array<Components, 3> dy;
  };

  class ReferenceOrientOrder : public HostOrder {
   public:
    explicit ReferenceOrientOrder(const OrientOrderOptions &options) :
        opt(options), harmonics(options.l), function(options.function)
    {
      for (const Switch &f : opt.table.functions())
        switches.push_back(std::make_unique<SwitchEvaluator>(f));
      if (opt.order == OrderKind::CONNECTIONS)
        sigma = std::make_unique<SwitchEvaluator>(make_endless_switch(opt.connection));
    }

    int exchange_columns() const override { return COLUMNS; }
    std::size_t bytes() const override { return bytes_of(atoms, values); }

   private:
    void check_input(const OrderInput &in) const override { check_groups(opt, in); }

    OrderResult compute(const OrderInput &in, unsigned want, double *peratom,
                        const OrderNumbers &numbers) override
    {
      const AtomList &a = in.cells.a;
      atoms.assign(in.nall, Atom());
      total = Atom();
      find_orders(in);
      OrderResult result;
      values.value.assign(in.nall, 0.0);
      for (int k = 0; k < a.nowned; ++k) {
        const Atom &atom = atoms[a.index[k]];
        if (atom.n != 0.0) ++result.natoms_with_partners;
        values.value[a.index[k]] = atom.order;
      }
      if (opt.order == OrderKind::GLOBAL)
        result.value = total.order;
      else
        evaluate_function(in, result);
      values.write(a, numbers, want, peratom, 1);
      if (numbers.w_hat)
        for (int k = 0; k < a.nowned; ++k) numbers.w_hat[a.index[k]] = w_hat(atoms[a.index[k]].q);
      if (want & (DERIVATIVES | VIRIAL)) {
        find_lambda(in);
        add_derivatives(in, want, peratom, result);
      }
      return result;
    }

    // Returns whether v_i depends on q_lm of the partners.
    bool reads_partners() const
    {
      return opt.order != OrderKind::LOCAL && opt.order != OrderKind::GLOBAL;
    }

    void forward(const OrderInput &in)
    {
      std::vector<double> rows(static_cast<std::size_t>(COLUMNS) * in.nall + 1);
      if (in.nall) std::memcpy(rows.data(), atoms.data(), sizeof(Atom) * in.nall);
      in.exchange.forward(rows.data(), COLUMNS);
      if (in.nall)
        std::memcpy(static_cast<void *>(atoms.data()), rows.data(), sizeof(Atom) * in.nall);
    }

    void reduce_total(const OrderInput &in)
    {
      double sums[2 * (MAX_L + 1) + 1] = {};
      for (int m = 0; m <= opt.l; ++m) {
        sums[2 * m] = total.q[m].real();
        sums[2 * m + 1] = total.q[m].imag();
      }
      sums[2 * (opt.l + 1)] = total.n;
      in.exchange.reduce(sums, 2 * (opt.l + 1) + 1, AtomFunction::Reduction::SUM);
      for (int m = 0; m <= opt.l; ++m) total.q[m] = {sums[2 * m], sums[2 * m + 1]};
      total.n = sums[2 * (opt.l + 1)];
    }

    // ---- pairs

    // Sets the pair of rows i and j. Returns false if the atoms do not interact.
    bool set_pair(const OrderInput &in, int i, int j, Pair &pair) const
    {
      if (i == j) return false;
      const int *const type = in.cells.types.type;
      const int index = type ? opt.table.function_of(type[i], type[j])
                             : opt.table.function_of(0, 0);
      if (index == SwitchTable::NONE) return false;
      pair.r = set_vector(in, i, j, pair.d);
      if (!(pair.r <= opt.table.functions()[index].dmax())) return false;
      pair.s = (*switches[index])(pair.r, &pair.dsdr);
      harmonics.evaluate(pair.d, pair.r, pair.y, pair.dy);
      return true;
    }

    // Calls visit(j, pair) for all atoms j of the list that interact with row i.
    template <class Visit>
    void visit_pairs(const OrderInput &in, int i, const AtomList &list, const Visit &visit) const
    {
      Pair pair;
      for (int k = 0; k < list.n; ++k)
        if (set_pair(in, i, list.index[k], pair)) visit(list.index[k], pair);
    }

    // ---- order parameters

    double norm_factor() const { return std::sqrt(4.0 * std::acos(-1.0) / (2 * opt.l + 1)); }
    double norm(const Components &a) const { return norm_factor() * std::sqrt(dot(a, a)); }
    bool is_zero(const Components &a) const
    {
      return !(norm(a) > smallest_norm(Precision::DOUBLE));
    }
    // Returns a/|a|; 0 if |a| is 0.
    Components direction(const Components &a) const
    {
      return is_zero(a) ? Components{} : scaled(1.0 / std::sqrt(dot(a, a)), a);
    }

    // Returns 1 - sigma, and sets its derivative.
    double connection(double product, double &derivative)
    {
      double value;
      threshold(true, sigma->function.options().d0, product, value, derivative,
                [&](double x, double &s, double &dsdx) {
                  s = (*sigma)(x, &dsdx);
                });
      return value;
    }

    void find_orders(const OrderInput &in)
    {
      const AtomList &a = in.cells.a;
      for (int k = 0; k < a.nowned; ++k) {
        Atom &atom = atoms[a.index[k]];
        visit_pairs(in, a.index[k], partners_of(in), [&](int, const Pair &pair) {
          atom.n += pair.s;
          add(pair.s, pair.y, atom.q);
        });
        total.n += atom.n;
        add(1.0, atom.q, total.q);
        atom.q = atom.n != 0.0 ? scaled(1.0 / atom.n, atom.q) : Components{};
        atom.u = direction(atom.q);
        atom.order = norm(atom.q);
      }
      if (opt.order == OrderKind::GLOBAL) {
        reduce_total(in);
        total.q = total.n != 0.0 ? scaled(1.0 / total.n, total.q) : Components{};
        total.order = norm(total.q);
        total.lambda = scaled(norm_factor(), direction(total.q));
      }
      if (!reads_partners()) return;
      forward(in);
      for (int k = 0; k < a.nowned; ++k) {
        Atom &atom = atoms[a.index[k]];
        atom.order = 0.0;
        atom.average = atom.q;
        visit_pairs(in, a.index[k], a, [&](int j, const Pair &pair) {
          double derivative;
          if (opt.order == OrderKind::AVERAGE)
            add(pair.s, atoms[j].q, atom.average);
          else if (opt.order == OrderKind::CONNECTIONS)
            atom.order += pair.s * connection(dot(atom.u, atoms[j].u), derivative);
          else if (atom.n != 0.0)
            atom.order += pair.s * dot(atom.u, atoms[j].u) / atom.n;
        });
        if (opt.order != OrderKind::AVERAGE) continue;
        atom.average = scaled(1.0 / (1.0 + atom.n), atom.average);
        atom.order = norm(atom.average);
      }
    }

    void evaluate_function(const OrderInput &in, OrderResult &result)
    {
      values.evaluate(function, in, 1, result);
      for (int k = 0; k < in.cells.a.nowned; ++k) {
        const int i = in.cells.a.index[k];
        atoms[i].weight = values.dSdv[i];
      }
    }

    double w_hat(const Components &q) const
    {
      if (is_zero(q)) return 0.0;
      const double size = std::sqrt(dot(q, q));
      const auto component = [&](int m) {
        return (m >= 0 ? q[m] : sign_of_power(-m) * std::conj(q[-m])) / size;
      };
      double sum = 0.0;
      for (int m1 = -opt.l; m1 <= opt.l; ++m1)
        for (int m2 = std::max(-opt.l, -opt.l - m1); m2 <= std::min(opt.l, opt.l - m1); ++m2)
          sum += static_cast<double>(wigner_3j(opt.l, m1, m2)) *
              (component(m1) * component(m2) * component(-m1 - m2)).real();
      return sum;
    }

    // ---- derivatives

    void find_lambda(const OrderInput &in)
    {
      if (opt.order == OrderKind::GLOBAL) return;
      const AtomList &a = in.cells.a;
      for (int k = 0; k < a.nowned; ++k) {
        Atom &atom = atoms[a.index[k]];
        if (opt.order == OrderKind::LOCAL)
          atom.lambda = scaled(atom.weight * norm_factor(), atom.u);
        else if (opt.order == OrderKind::AVERAGE)
          atom.mu = scaled(atom.weight * norm_factor(), direction(atom.average));
      }
      forward(in);
      if (!reads_partners()) return;
      for (int k = 0; k < a.nowned; ++k) {
        Atom &atom = atoms[a.index[k]];
        if (opt.order == OrderKind::AVERAGE) {
          atom.lambda = scaled(1.0 / (1.0 + atom.n), atom.mu);
          visit_pairs(in, a.index[k], a, [&](int j, const Pair &pair) {
            add(pair.s / (1.0 + atoms[j].n), atoms[j].mu, atom.lambda);
          });
          continue;
        }
        Components by_u = {};
        visit_pairs(in, a.index[k], a, [&](int j, const Pair &pair) {
          double factor = 0.0, derivative;
          if (opt.order == OrderKind::CONNECTIONS) {
            connection(dot(atom.u, atoms[j].u), derivative);
            factor = (atom.weight + atoms[j].weight) * derivative;
          } else {
            for (const Atom *end : {&atom, &atoms[j]})
              if (end->n != 0.0) factor += end->weight / end->n;
          }
          add(pair.s * factor, atoms[j].u, by_u);
        });
        if (is_zero(atom.q)) continue;
        const double size = std::sqrt(dot(atom.q, atom.q));
        add(1.0 / size, by_u, atom.lambda);
        add(-dot(atom.u, by_u) / size, atom.u, atom.lambda);
      }
      forward(in);
    }

    // Sets g_ij of atom i of a and its partner j.
    void find_gradient(const Atom &i, const Atom &j, const Pair &pair, double *g)
    {
      const Atom &mean = opt.order == OrderKind::GLOBAL ? total : i;
      double by_s = 0.0, derivative;
      if (opt.order == OrderKind::AVERAGE)
        by_s = dot(i.mu, difference(j.q, i.average)) / (1.0 + i.n);
      else if (opt.order == OrderKind::CONNECTIONS)
        by_s = i.weight * connection(dot(i.u, j.u), derivative);
      else if (opt.order == OrderKind::DOT && i.n != 0.0)
        by_s = i.weight * (dot(i.u, j.u) - i.order) / i.n;
      if (mean.n != 0.0) by_s += dot(mean.lambda, difference(pair.y, mean.q)) / mean.n;
      for (int k = 0; k < 3; ++k) {
        g[k] = pair.r > 0.0 ? by_s * pair.dsdr * pair.d[k] / pair.r : 0.0;
        if (mean.n != 0.0) g[k] += pair.s * dot(mean.lambda, pair.dy[k]) / mean.n;
      }
    }

    // The virial is symmetrized, because each pair's is not symmetric.
    void add_derivatives(const OrderInput &in, unsigned want, double *peratom, OrderResult &result)
    {
      Pair pair;
      add_gradients(in, want, true, peratom, result, [&](int i, int j, double *d, double *g) {
        if (!set_pair(in, i, j, pair)) return false;
        find_gradient(atoms[i], atoms[j], pair, g);
        std::copy_n(pair.d, 3, d);
        return true;
      });
    }

    const OrientOrderOptions opt;
    const Harmonics harmonics;
    AtomFunction function;
    std::vector<std::unique_ptr<SwitchEvaluator>> switches;
    std::unique_ptr<SwitchEvaluator> sigma;
    std::vector<Atom> atoms;    // [nall]
    Atom total;                 // GLOBAL: n is the sum of all N_i, order is S
    OrderValues values;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_reference_order(const OrientOrderOptions &options)
{
  check_options(options);
  return std::make_unique<ReferenceOrientOrder>(options);
}

}    // namespace gpucoord
