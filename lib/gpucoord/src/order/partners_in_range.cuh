// Part of GPUCOORD, GPL-2.0. The kernel that lists partners in range. The kernels that read this
// list have no idle threads. Launch: see row_loops.cuh.
//
// A Form has
// - Real; Arguments, a PartnerRows<Real>; Function
// - of(arg, class of the atom, class of the partner): returns the Function of the two classes
// - range_sq(function): returns distance^2; negative: no function
// - evaluate(function, r_sq): returns the SwitchValue
// - HAS_FUNCTIONS: store the values of the functions; otherwise only the points are stored
// - Sum: sums of a row, or NoSum. clear() begins a row. add() takes each partner that the thread
//   reads; in_range is false for partners out of range and for missing partners, whose distance has
//   no meaning. store() ends the row; all threads of a warp must call it.

#ifndef GPUCOORD_PARTNERS_IN_RANGE_CUH
#define GPUCOORD_PARTNERS_IN_RANGE_CUH

#include "row_loops.cuh"

#include <cstdint>
#include <type_traits>

namespace gpucoord {

template <class Real> struct SwitchValue {
  Real s, dfunc;    // dfunc: (ds/dr)/r
};

struct NoSum {
  template <class Arguments> __device__ void clear(const Arguments &) {}
  template <class Real> __device__ void add(Real, Real, Real, bool) {}
  template <class Arguments> __device__ void store(const Arguments &, const RowPosition &, int) {}
};

// One range for all pairs.
template <class RealType, class ArgumentsType> struct OneRange {
  using Real = RealType;
  using Arguments = ArgumentsType;
  using Function = Real;    // range^2
  using Sum = NoSum;
  static constexpr bool HAS_FUNCTIONS = false;
  static __device__ const Real &function(const Arguments &arg, int, int) { return arg.range_sq; }
  static __device__ Real range_sq(Real square) { return square; }
  static __device__ SwitchValue<Real> evaluate(Real, Real) { return {}; }
};

// The partners in range of a row that one thread reads alone. They are stored in groups of four.
template <class Real, bool HAS_FUNCTIONS> class Found {
 public:
  int count = 0;

  __device__ Found(const PartnersInRange<Real> &to_in, std::int64_t element_in) :
      to(to_in), element(element_in)
  {
  }
  __device__ void add(int point, const SwitchValue<Real> &value, Real r)
  {
    const int k = count % FOUR;
#pragma unroll
    for (int u = 0; u < FOUR; ++u)
      if (u >= k) {    // later partners overwrite the remaining elements
        points[u] = point;
        if constexpr (HAS_FUNCTIONS) {
          partner_s.v[u] = value.s;
          partner_ds.v[u] = value.dfunc * r;
        }
      }
    if (++count % FOUR == 0) store();
  }
  __device__ void finish()
  {
    if (count % FOUR != 0) store();
  }

 private:
  __device__ void store()
  {
    to.point[element] = make_int4(points[0], points[1], points[2], points[3]);
    if constexpr (HAS_FUNCTIONS) {
      to.s[element] = partner_s;
      to.ds[element] = partner_ds;
    }
    element += 32;
  }

  const PartnersInRange<Real> &to;
  std::int64_t element;
  int points[FOUR];
  Four<Real> partner_s, partner_ds;
};

// A loaded partner.
template <class Form> struct Candidate {
  typename Form::Real dx, dy, dz, r_sq;
  const typename Form::Function *function;
  bool in_range;
};

template <class Form, class Real, class Point>
__device__ Candidate<Form> candidate_of(const typename Form::Arguments &arg, const Point &atom,
                                        const Point &other, Real unit_sq, bool exists)
{
  Candidate<Form> found;
  difference(atom, other, found.dx, found.dy, found.dz);
  found.r_sq = length_sq(found.dx * found.dx + found.dy * found.dy + found.dz * found.dz, unit_sq);
  found.function = &Form::function(arg, class_of(atom), class_of(other));
  found.in_range = exists && found.r_sq <= Form::range_sq(*found.function);
  return found;
}

// Lists the partners of a row, for one thread per row.
template <class Form, class Real>
__device__ void list_alone(const typename Form::Arguments &arg, const RowPosition &at, Real unit_sq,
                           typename Form::Sum &sum)
{
  using Point = typename PointOf<Real>::Type;
  const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
  Found<Real, Form::HAS_FUNCTIONS> found(arg.partners, at.element);
  if (at.valid) {
    const Point atom = points[at.point];
    const int4 *partner = arg.rows.partner + at.element;
    int left = arg.rows.count[at.row];
    int4 next = {};
    if (left > 0) next = load_once(partner);
    for (; left > 0; left -= FOUR) {
      const int other_point[FOUR] = {next.x, next.y, next.z, next.w};
      Point other[FOUR];
#pragma unroll
      for (int u = 0; u < FOUR; ++u) other[u] = points[other_point[u]];
      partner += 32;
      if (left > FOUR) next = load_once(partner);
#pragma unroll
      for (int u = 0; u < FOUR; ++u) {
        const auto c = candidate_of<Form>(arg, atom, other[u], unit_sq, u < left);
        sum.add(c.dx, c.dy, c.dz, c.in_range);
        if (c.in_range)
          found.add(other_point[u], Form::evaluate(*c.function, c.r_sq), sqrt(c.r_sq));
      }
    }
  }
  found.finish();
  arg.partners.count[at.tile_thread] = found.count;
}

// Lists the partners of a row that several threads share. Each thread gets every lanes-th partner
// in range. All threads of a warp must call this function.
template <class Form, class Real>
__device__ void list_together(const typename Form::Arguments &arg, const RowPosition &at,
                              Real unit_sq, typename Form::Sum &sum)
{
  using Point = typename PointOf<Real>::Type;
  const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
  const int lanes = arg.rows.lanes, first_lane = threadIdx.x % 32 - at.lane;
  const unsigned others = lanes == 32 ? ALL_LANES : (1u << lanes) - 1u;
  const Point atom = points[at.point];
  int left = (at.valid ? arg.rows.count[at.row] : 0) - at.lane, total = 0;
  const int4 *partner = arg.rows.partner + at.element;
  auto *const to_point = reinterpret_cast<int *>(arg.partners.point);
  [[maybe_unused]] auto *const to_s = reinterpret_cast<Real *>(arg.partners.s);
  [[maybe_unused]] auto *const to_ds = reinterpret_cast<Real *>(arg.partners.ds);
  for (; __any_sync(ALL_LANES, left > 0); left -= FOUR * lanes, partner += 32) {
    int other_point[FOUR] = {};
    if (left > 0) {
      const int4 four = load_once(partner);
      other_point[0] = four.x;
      other_point[1] = four.y;
      other_point[2] = four.z;
      other_point[3] = four.w;
    }
#pragma unroll
    for (int u = 0; u < FOUR; ++u) {
      const bool exists = u * lanes < left;
      const Point other = points[exists ? other_point[u] : at.point];
      const auto c = candidate_of<Form>(arg, atom, other, unit_sq, exists);
      const unsigned found = __ballot_sync(ALL_LANES, c.in_range) >> first_lane & others;
      sum.add(c.dx, c.dy, c.dz, c.in_range);
      if (c.in_range) {
        const auto value = Form::evaluate(*c.function, c.r_sq);
        const int k = total + __popc(found & ((1u << at.lane) - 1u)), turn = k / lanes;
        const std::int64_t index =
            FOUR * (at.element - at.lane + k % lanes + 32 * (turn / FOUR)) + turn % FOUR;
        to_point[index] = other_point[u];
        if constexpr (Form::HAS_FUNCTIONS) {
          to_s[index] = value.s;
          to_ds[index] = value.dfunc * sqrt(c.r_sq);
        }
      }
      total += __popc(found);
    }
  }
  arg.partners.count[at.tile_thread] = (total - at.lane + lanes - 1) / lanes;
}

template <class Form>
__global__ void __launch_bounds__(GATHER_THREADS)
    list_partners_in_range(const __grid_constant__ typename Form::Arguments arg)
{
  using Real = typename Form::Real;
  const Real unit = std::is_same<Real, float>::value ? arg.unit : 1.0;
  typename Form::Sum sum;
  wait_for_previous_kernel();
  launch_dependents();
  for_each_row(
      arg.rows,
      [&](const RowPosition &at) {
        sum.clear(arg);
        if (arg.rows.lanes == 1)
          list_alone<Form, Real>(arg, at, unit * unit, sum);
        else
          list_together<Form, Real>(arg, at, unit * unit, sum);
      },
      [&](const RowPosition &at, int lanes) {
        sum.store(arg, at, lanes);
      });
}

template <class Form> void launch_listing(const typename Form::Arguments &arg, cudaStream_t stream)
{
  launch_over_rows("launching list_partners_in_range", list_partners_in_range<Form>, arg, arg.rows,
                   stream);
}

}    // namespace gpucoord

#endif
