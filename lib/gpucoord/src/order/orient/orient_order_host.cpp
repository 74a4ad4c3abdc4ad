// Part of GPUCOORD, GPL-2.0. The host backend of order parameters: OpenMP over blocks of atoms,
// SIMD over partners.
//
// Vectors of 2 l + 1 real numbers represent q_lm (harmonics.h). Passes over partners:
// 1. q of each atom;
// 2. AVERAGE, DOT, CONNECTIONS: v of each atom, from q of its partners;
// 3. AVERAGE, DOT, CONNECTIONS: lambda = dS/dq of each atom, and the forces that act through s_ij
//    alone;
// 4. forces that act through q, from lambda of the atom and of its partners.
// Numbers of ghost atoms are exchanged before each of passes 2 to 4. Every owned atom sums over all
// its partners in a fixed order, and blocks of atoms are added in order.

#include "gpucoord/orient_order.h"

#include "../host_order.h"
#include "../order_host.h"
#include "order_kernels_host.h"
#include "orient_order_options.h"
#include "wigner.h"

#include "../../atom_functions/threshold.h"
#include "../../core/instruction_set.h"
#include "../../core/make_in_precision.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

namespace gpucoord {

GPUCOORD_SELECT_KERNELS(OrderKernels, get_order_kernels, select_order_kernels)

namespace {

  double dot(const double *a, const double *b, int n)
  {
    double sum = 0.0;
    for (int k = 0; k < n; ++k) sum += a[k] * b[k];
    return sum;
  }

  void add(double factor, const double *a, int n, double *to)
  {
    for (int k = 0; k < n; ++k) to[k] += factor * a[k];
  }

  template <class Real> class HostOrientOrder : public HostOrder {
   public:
    HostOrientOrder(const OrientOrderOptions &options_in, Precision precision, int nthreads_in) :
        options(options_in), order(options.order), nthreads(std::max(1, nthreads_in)),
        size(2 * options.l + 1), floor(smallest_norm(precision)), function(options.function),
        kernels(select_order_kernels<Real>()), harmonics(make_harmonic_table<Real>(options.l)),
        wigner(options.l), pairs(options.table, options.table.dmax(), nthreads)
    {
      if (order != OrderKind::CONNECTIONS) return;
      const Switch sigma = make_endless_switch(options.connection);
      for (int thread = 0; thread < nthreads; ++thread)
        connections.push_back(std::make_unique<SwitchEvaluator>(sigma));
      connection_d0 = sigma.options().d0;
    }

    int exchange_columns() const override { return size + 1; }
    std::size_t bytes() const override
    {
      return bytes_of(weight, q, u, average, back, lambda, values, pairs);
    }

   private:
    using Block = PartnerBlock<Real>;

    void check_input(const OrderInput &in) const override { check_groups(options, in); }

    OrderResult compute(const OrderInput &in, unsigned want, double *peratom,
                        const OrderNumbers &numbers) override
    {
      OrderResult result;
      const double start = seconds();
      pairs.find(in.cells);
      result.timings.bins = seconds() - start;
      sum_harmonics(in);
      for (int k = 0; k < in.cells.a.nowned; ++k)
        if (weight[in.cells.a.index[k]] != 0.0) ++result.natoms_with_partners;
      if (uses_q_of_partners(order)) {
        in.exchange.forward((order == OrderKind::AVERAGE ? q : u).all.data(), size);
        sum_over_partners();
      }
      if (order == OrderKind::GLOBAL)
        set_global(in, result);
      else
        values.evaluate(function, in, nthreads, result);
      values.write(in.cells.a, numbers, want, peratom, nthreads);
      if (numbers.w_hat) write_w_hat(in.cells.a, numbers.w_hat);
      if (want & (DERIVATIVES | VIRIAL)) {
        set_lambda(in, want, peratom, result);
        add_forces(want, peratom, result);
      }
      return result;
    }

    int columns_of_back() const { return order == OrderKind::AVERAGE ? size + 1 : 2; }

    // Runs work(row, partners) for each owned atom of a in parallel.
    template <class Work> void for_each_atom(const Work &work)
    {
      for_each_block(pairs.partners_a, nthreads, [&](const Block &block, std::size_t) {
        for (std::size_t k = 0; k < block.atom.size(); ++k) work(block.atom[k], block.partners(k));
      });
    }

    // Pass 1.
    void sum_harmonics(const OrderInput &in)
    {
      q.clear(in.nall, size);
      weight.assign(in.nall, 0.0);
      values.value.assign(in.nall, 0.0);
      if (order == OrderKind::DOT || order == OrderKind::CONNECTIONS) u.clear(in.nall, size);
      for_each_atom([&](int row, const Partners<Real> &partners) {
        double *const q_i = q[row], sum = 0.0;
        kernels.sum_harmonics(harmonics, partners, q_i);
        for (int k = 0; k < partners.n; ++k) sum += partners.s[k];
        weight[row] = sum;
        if (order == OrderKind::GLOBAL) return;
        if (sum != 0.0)
          for (int k = 0; k < size; ++k) q_i[k] /= sum;
        const double norm = std::sqrt(dot(q_i, q_i, size));
        if (order == OrderKind::LOCAL) values.value[row] = norm;
        if (u.columns > 0 && norm > floor) add(1.0 / norm, q_i, size, u[row]);
      });
    }

    // Returns the product for DOT, and 1 - sigma for CONNECTIONS. Sets its derivative.
    double connect(double product, double &derivative)
    {
      double h = product;
      derivative = 1.0;
      if (order == OrderKind::CONNECTIONS)
        threshold(true, connection_d0, product, h, derivative,
                  [&](double x, double &sigma, double &dsigma) {
                    sigma = (*connections[omp_get_thread_num()])(x, &dsigma);
                  });
      return h;
    }

    // Pass 2.
    void sum_over_partners()
    {
      if (order == OrderKind::AVERAGE) average.clear(static_cast<int>(values.value.size()), size);
      for_each_atom([&](int row, const Partners<Real> &partners) {
        const double n = weight[row];
        if (order == OrderKind::AVERAGE) {
          double *const mean = average[row];
          std::copy_n(q[row], size, mean);
          for (int k = 0; k < partners.n; ++k) add(partners.s[k], q[partners.row[k]], size, mean);
          for (int k = 0; k < size; ++k) mean[k] /= 1.0 + n;
          values.value[row] = std::sqrt(dot(mean, mean, size));
          return;
        }
        double sum = 0.0, derivative;
        for (int k = 0; k < partners.n; ++k)
          sum += partners.s[k] * connect(dot(u[row], u[partners.row[k]], size), derivative);
        values.value[row] = order == OrderKind::DOT && n != 0.0 ? sum / n : sum;
      });
    }

    // Sets S, and lambda/N and its product with q, which are the same for all atoms of a.
    void set_global(const OrderInput &in, OrderResult &result)
    {
      std::vector<double> total(size + 1, 0.0);
      const auto &a = in.cells.a;
      for (int k = 0; k < a.nowned; ++k) {
        const int row = a.index[k];
        add(1.0, q[row], size, total.data());
        total[size] += weight[row];
        if (weight[row] != 0.0)
          for (int c = 0; c < size; ++c) q[row][c] /= weight[row];
        values.value[row] = std::sqrt(dot(q[row], q[row], size));
      }
      in.exchange.reduce(total.data(), size + 1, AtomFunction::Reduction::SUM);
      const double n = total[size], norm = std::sqrt(dot(total.data(), total.data(), size));
      lambda.clear(in.nall, size + 1);
      if (n == 0.0) return;
      result.value = norm / std::fabs(n);
      if (result.value <= floor) return;
      for (int k = 0; k < a.n; ++k) {
        double *const atom_terms = lambda[a.index[k]];
        add(1.0 / (norm * std::fabs(n)), total.data(), size, atom_terms);
        atom_terms[size] = result.value / n;
      }
    }

    void write_w_hat(const AtomList &a, double *w_hat)
    {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (a.nowned > 1024)
      for (int k = 0; k < a.nowned; ++k) w_hat[a.index[k]] = wigner.w_hat(q[a.index[k]], floor);
    }

    // Sets lambda/N and its product with q of the owned atoms of a, and runs pass 3.
    void set_lambda(const OrderInput &in, unsigned want, double *peratom, OrderResult &result)
    {
      if (order == OrderKind::GLOBAL) return;
      lambda.clear(in.nall, size + 1);
      if (uses_q_of_partners(order)) {
        set_back(in);
        in.exchange.forward(back.all.data(), back.columns);
        add_forces_of_blocks(pairs.partners_a, nthreads, 1.0, 0.5, want, peratom, result,
                             [&](const Block &block, std::size_t k, double *sums) {
                               const int row = block.atom[k];
                               sum_back(row, block.partners(k), lambda[row], sums);
                             });
      } else
        for_each_atom([&](int row, const Partners<Real> &) {
          if (values.value[row] > floor)
            add(values.dSdv[row] / values.value[row], q[row], size, lambda[row]);
        });
      for_each_atom([&](int row, const Partners<Real> &) {
        double *const atom_terms = lambda[row];
        for (int k = 0; k < size; ++k)
          atom_terms[k] = weight[row] != 0.0 ? atom_terms[k] / weight[row] : 0.0;
        atom_terms[size] = dot(atom_terms, q[row], size);
      });
      in.exchange.forward(lambda.all.data(), size + 1);
    }

    // Sets the numbers that pass 3 reads of partners. AVERAGE: dS/dq of the mean over 1 + N, and
    // its product with the mean. DOT: dS/dv over N, and its product with v. CONNECTIONS: dS/dv.
    void set_back(const OrderInput &in)
    {
      back.clear(in.nall, columns_of_back());
      for_each_atom([&](int row, const Partners<Real> &) {
        double *const atom_terms = back[row];
        const double n = weight[row];
        if (order == OrderKind::AVERAGE) {
          if (values.value[row] > floor)
            add(values.dSdv[row] / (values.value[row] * (1.0 + n)), average[row], size, atom_terms);
          atom_terms[size] = dot(atom_terms, average[row], size);
        } else if (order == OrderKind::CONNECTIONS)
          atom_terms[0] = values.dSdv[row];
        else if (n != 0.0) {
          atom_terms[0] = values.dSdv[row] / n;
          atom_terms[1] = atom_terms[0] * values.value[row];
        }
      });
    }

    // Pass 3 of an atom: adds dS/dq to lambda_i, and the forces that act through s_ij to sums.
    void sum_back(int row, const Partners<Real> &partners, double *lambda_i, double *sums)
    {
      const double *const atom_terms = back[row];
      const bool is_average = order == OrderKind::AVERAGE;
      if (is_average) std::copy_n(atom_terms, size, lambda_i);
      for (int k = 0; k < partners.n; ++k) {
        const int other = partners.row[k];
        const double *const other_terms = back[other];
        const double s = partners.s[k];
        double dSds;    // dS/ds_ij, summed over both ends of the pair
        if (is_average) {
          add(s, other_terms, size, lambda_i);
          dSds = dot(atom_terms, q[other], size) - atom_terms[size] +
              dot(other_terms, q[row], size) - other_terms[size];
        } else {
          double derivative_of_h;
          const double h = connect(dot(u[row], u[other], size), derivative_of_h),
                       both = atom_terms[0] + other_terms[0];
          add(both * s * derivative_of_h, u[other], size, lambda_i);
          dSds = both * h - atom_terms[1] - other_terms[1];
        }
        const double force = dSds * partners.ds[k];
        const double n[3] = {partners.x[k], partners.y[k], partners.z[k]};
        const double virial = force * partners.r[k];
        for (int c = 0; c < 3; ++c) {
          sums[c] += force * n[c];
          sums[3 + c] += virial * n[c] * n[c];
        }
        sums[6] += virial * n[0] * n[1];
        sums[7] += virial * n[0] * n[2];
        sums[8] += virial * n[1] * n[2];
      }
      if (is_average) return;
      // Chain rule from u to q, u = q/|q|.
      const double norm = std::sqrt(dot(q[row], q[row], size)), along = dot(lambda_i, u[row], size);
      for (int k = 0; k < size; ++k)
        lambda_i[k] = norm > floor ? (lambda_i[k] - along * u[row][k]) / norm : 0.0;
    }

    // Pass 4.
    void add_forces(unsigned want, double *peratom, OrderResult &result)
    {
      pairs.add_forces(lambda, 0.0, want, peratom, result,
                       [&](const Block &block, std::size_t k, const Real *own, const Real *others,
                           double *sums) {
                         kernels.sum_forces(harmonics, block.partners(k), own, others, sums);
                       });
    }

    const OrientOrderOptions options;
    const OrderKind order;
    const int nthreads, size;    // size: 2 l + 1
    const double floor;          // norms up to this value count as 0
    AtomFunction function;
    const OrderKernels<Real> kernels;
    const HarmonicTable<Real> harmonics;
    const Wigner wigner;
    std::vector<std::unique_ptr<SwitchEvaluator>> connections;    // [threads] sigma of CONNECTIONS
    double connection_d0 = 0.0;

    OrderPartners<Real> pairs;
    // By row. q: for GLOBAL, at first the sum. u: DOT and CONNECTIONS. average: the mean of
    // AVERAGE. back: the numbers of partners for pass 3. lambda: lambda/N, and its product with q.
    RowNumbers q, u, average, back, lambda;
    std::vector<double> weight;    // by row: N
    OrderValues values;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_host_order(const OrientOrderOptions &options,
                                                Precision precision, int nthreads)
{
  check_options(options);
  if (!options.table.has_end()) throw std::invalid_argument("order parameters need a finite dmax");
  return make_in_precision<OrderParameter, HostOrientOrder>(precision, options, precision,
                                                            nthreads);
}

}    // namespace gpucoord
