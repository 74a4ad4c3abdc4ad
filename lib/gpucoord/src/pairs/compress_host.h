// Part of GPUCOORD, GPL-2.0. Loops that keep some elements of an array, and the gather of neighbor
// positions.
//
// Compilers do not vectorize these loops. AVX-512 has instructions for both; other instruction sets
// use branchless loops. Files that are compiled once per instruction set include this header inside
// their unnamed namespaces, so that each set has its own copy.

#ifndef GPUCOORD_COMPRESS_HOST_H
#define GPUCOORD_COMPRESS_HOST_H

#include "pair_kernels_host.h"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)

#include <immintrin.h>

#include <cstddef>

#define GPUCOORD_ALWAYS_INLINE inline __attribute__((always_inline))

namespace gpucoord {
namespace {

  // Vectors and their masks.
  template <class Real> struct Pack;

  template <> struct Pack<double> {
    using Vector = __m512d;
    using Mask = __mmask8;
    using Classes = __m256i;
    static constexpr int WIDTH = 8;

    static GPUCOORD_ALWAYS_INLINE Vector all(double x) { return _mm512_set1_pd(x); }
    static GPUCOORD_ALWAYS_INLINE Vector load(const double *from) { return _mm512_loadu_pd(from); }
    static GPUCOORD_ALWAYS_INLINE Vector load(Mask m, const double *from)
    {
      return _mm512_maskz_loadu_pd(m, from);
    }
    static GPUCOORD_ALWAYS_INLINE void store(double *to, Vector v) { _mm512_storeu_pd(to, v); }
    static GPUCOORD_ALWAYS_INLINE Vector minus(Vector a, Vector b) { return _mm512_sub_pd(a, b); }
    static GPUCOORD_ALWAYS_INLINE Vector times(Vector a, Vector b) { return _mm512_mul_pd(a, b); }
    static GPUCOORD_ALWAYS_INLINE Vector times_plus(Vector a, Vector b, Vector c)
    {
      return _mm512_fmadd_pd(a, b, c);
    }
    static GPUCOORD_ALWAYS_INLINE Vector magnitude(Vector a) { return _mm512_abs_pd(a); }
    static GPUCOORD_ALWAYS_INLINE Vector larger(Vector a, Vector b) { return _mm512_max_pd(a, b); }
    static GPUCOORD_ALWAYS_INLINE Mask at_most(Mask m, Vector a, Vector b)
    {
      return _mm512_mask_cmp_pd_mask(m, a, b, _CMP_LE_OQ);
    }
    static GPUCOORD_ALWAYS_INLINE Mask above(Mask m, Vector a, Vector b)
    {
      return _mm512_mask_cmp_pd_mask(m, a, b, _CMP_GT_OQ);
    }
    static GPUCOORD_ALWAYS_INLINE Vector compress(Mask m, Vector v)
    {
      return _mm512_maskz_compress_pd(m, v);
    }

    static GPUCOORD_ALWAYS_INLINE Classes load(Mask m, const int *from)
    {
      return _mm256_maskz_loadu_epi32(m, from);
    }
    static GPUCOORD_ALWAYS_INLINE void store_kept(int *to, Mask m, Classes c)
    {
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm256_maskz_compress_epi32(m, c));
    }
    // Elements of a table by class, whose width is a multiple of CLASS_TABLE_WIDTH.
    static GPUCOORD_ALWAYS_INLINE Vector elements(int width, const double *table, Classes classes)
    {
      const __m512i index = _mm512_cvtepi32_epi64(classes);
      if (width > 32) return _mm512_i64gather_pd(index, table, 8);
      const __m512d low =
          _mm512_permutex2var_pd(_mm512_loadu_pd(table), index, _mm512_loadu_pd(table + 8));
      if (width <= 16) return low;
      const __m512d high =
          _mm512_permutex2var_pd(_mm512_loadu_pd(table + 16), index, _mm512_loadu_pd(table + 24));
      return _mm512_mask_blend_pd(_mm512_test_epi64_mask(index, _mm512_set1_epi64(16)), low, high);
    }
  };

  template <> struct Pack<float> {
    using Vector = __m512;
    using Mask = __mmask16;
    using Classes = __m512i;
    static constexpr int WIDTH = 16;

    static GPUCOORD_ALWAYS_INLINE Vector all(float x) { return _mm512_set1_ps(x); }
    static GPUCOORD_ALWAYS_INLINE Vector load(const float *from) { return _mm512_loadu_ps(from); }
    static GPUCOORD_ALWAYS_INLINE Vector load(Mask m, const float *from)
    {
      return _mm512_maskz_loadu_ps(m, from);
    }
    static GPUCOORD_ALWAYS_INLINE void store(float *to, Vector v) { _mm512_storeu_ps(to, v); }
    static GPUCOORD_ALWAYS_INLINE Vector minus(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
    static GPUCOORD_ALWAYS_INLINE Vector times(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
    static GPUCOORD_ALWAYS_INLINE Vector times_plus(Vector a, Vector b, Vector c)
    {
      return _mm512_fmadd_ps(a, b, c);
    }
    static GPUCOORD_ALWAYS_INLINE Vector magnitude(Vector a) { return _mm512_abs_ps(a); }
    static GPUCOORD_ALWAYS_INLINE Vector larger(Vector a, Vector b) { return _mm512_max_ps(a, b); }
    static GPUCOORD_ALWAYS_INLINE Mask at_most(Mask m, Vector a, Vector b)
    {
      return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_LE_OQ);
    }
    static GPUCOORD_ALWAYS_INLINE Mask above(Mask m, Vector a, Vector b)
    {
      return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_GT_OQ);
    }
    static GPUCOORD_ALWAYS_INLINE Vector compress(Mask m, Vector v)
    {
      return _mm512_maskz_compress_ps(m, v);
    }

    static GPUCOORD_ALWAYS_INLINE Classes load(Mask m, const int *from)
    {
      return _mm512_maskz_loadu_epi32(m, from);
    }
    static GPUCOORD_ALWAYS_INLINE void store_kept(int *to, Mask m, Classes c)
    {
      _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(m, c));
    }
    static GPUCOORD_ALWAYS_INLINE Vector elements(int width, const float *table, Classes index)
    {
      if (width > 32) return _mm512_i32gather_ps(index, table, 4);
      const __m512 first = _mm512_loadu_ps(table);
      if (width <= 16) return _mm512_permutexvar_ps(index, first);
      return _mm512_permutex2var_ps(first, index, _mm512_loadu_ps(table + 16));
    }
  };

  // Returns the mask of the first n lanes.
  template <class Real> GPUCOORD_ALWAYS_INLINE typename Pack<Real>::Mask first_lanes(int n)
  {
    using Mask = typename Pack<Real>::Mask;
    return n < Pack<Real>::WIDTH ? static_cast<Mask>((1u << n) - 1u) : static_cast<Mask>(~0u);
  }

  // Sum of squares.
  template <class Real, class Vector>
  GPUCOORD_ALWAYS_INLINE Vector length_sq(Vector x, Vector y, Vector z)
  {
    using P = Pack<Real>;
    return P::times_plus(x, x, P::times_plus(y, y, P::times(z, z)));
  }

  template <class Real>
  GPUCOORD_ALWAYS_INLINE void store_kept(Real *to, typename Pack<Real>::Mask keep,
                                         typename Pack<Real>::Vector v)
  {
    Pack<Real>::store(to, Pack<Real>::compress(keep, v));
  }

  // Vectors from a point to those from k on, of which the mask has those that exist.
  template <class Real> struct Displaced {
    using P = Pack<Real>;
    typename P::Mask valid;
    typename P::Vector x, y, z, r_sq;

    GPUCOORD_ALWAYS_INLINE Displaced(const PartnerPoints<Real> &points, int k,
                                     const OwnPoint<Real> &own) :
        valid(first_lanes<Real>(points.n - k)),
        x(P::minus(P::load(valid, points.x + k), P::all(own.x))),
        y(P::minus(P::load(valid, points.y + k), P::all(own.y))),
        z(P::minus(P::load(valid, points.z + k), P::all(own.z))), r_sq(length_sq<Real>(x, y, z))
    {
    }

    // Removes the point itself, if it is in this lane.
    GPUCOORD_ALWAYS_INLINE void remove(int lane)
    {
      if (lane >= 0 && lane < P::WIDTH) valid &= static_cast<typename P::Mask>(~(1u << lane));
    }
    // Stores the vectors that the mask keeps, from element 'count' on.
    GPUCOORD_ALWAYS_INLINE void store_kept(typename P::Mask keep, const Vectors<Real> &to,
                                           int count) const
    {
      gpucoord::store_kept(to.x + count, keep, x);
      gpucoord::store_kept(to.y + count, keep, y);
      gpucoord::store_kept(to.z + count, keep, z);
    }
  };

  inline void store_compressed(double *to, __mmask8 keep, __m512d v)
  {
    store_kept(to, keep, v);
  }
  inline void store_compressed(float *to, __mmask8 keep, __m512d v)
  {
    _mm256_storeu_ps(to, _mm256_maskz_compress_ps(keep, _mm512_cvtpd_ps(v)));
  }

  // See KeepNearBoxFunction in pair_kernels_host.h.
  template <class Real>
  int keep_near_box(int n, PointRange *ranges, const Coordinates &x, const NearBox &box,
                    const KeptPoints<Real> &out)
  {
    using P = Pack<double>;
    const __m512d x0 = P::all(box.origin[0]), y0 = P::all(box.origin[1]),
                  z0 = P::all(box.origin[2]);
    const __m512d hx = P::all(box.half[0]), hy = P::all(box.half[1]), hz = P::all(box.half[2]);
    const __m512d limit = P::all(box.range_sq), zero = _mm512_setzero_pd();
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int count = 0;
    for (int s = 0; s < n; ++s) {
      ranges[s].kept = count;
      const int end = ranges[s].end;
      for (int k = ranges[s].begin; k < end; k += 8) {
        const __mmask8 valid = first_lanes<double>(end - k);
        const __m512d dx = P::minus(P::load(valid, x.x + k), x0);
        const __m512d dy = P::minus(P::load(valid, x.y + k), y0);
        const __m512d dz = P::minus(P::load(valid, x.z + k), z0);
        const __m512d ex = P::larger(P::minus(P::magnitude(dx), hx), zero);
        const __m512d ey = P::larger(P::minus(P::magnitude(dy), hy), zero);
        const __m512d ez = P::larger(P::minus(P::magnitude(dz), hz), zero);
        const __mmask8 keep = P::at_most(valid, length_sq<double>(ex, ey, ez), limit);
        store_compressed(out.x + count, keep, dx);
        store_compressed(out.y + count, keep, dy);
        store_compressed(out.z + count, keep, dz);
        P::store_kept(out.index + count, keep, _mm256_add_epi32(_mm256_set1_epi32(k), lanes));
        count += _mm_popcnt_u32(keep);
      }
    }
    return count;
  }

  // Writes the displacements from a point to those that are in range, except the point itself.
  // Returns their number. The outputs must have room for 16 more elements.
  template <class Real>
  GPUCOORD_ALWAYS_INLINE int keep_in_range(Real range_sq, const PartnerPoints<Real> &points,
                                           const OwnPoint<Real> &own, const Vectors<Real> &out)
  {
    using P = Pack<Real>;
    int count = 0;
    for (int k = 0; k < points.n; k += P::WIDTH) {
      Displaced<Real> d(points, k, own);
      d.remove(own.self - k);
      const auto keep = P::at_most(d.valid, d.r_sq, P::all(range_sq));
      d.store_kept(keep, out, count);
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }

  // Writes out[t][k], element index[k] of table t, for k < n, a multiple of a whole vector. stride:
  // elements of out[t]
  template <class Real>
  GPUCOORD_ALWAYS_INLINE void look_up(int n, const int *index, int width, int ntables,
                                      const Real *tables, int stride, Real *out)
  {
    using P = Pack<Real>;
    for (int k = 0; k < n; k += P::WIDTH) {
      const auto i = P::load(first_lanes<Real>(P::WIDTH), index + k);
      for (int t = 0; t < ntables; ++t)
        P::store(out + t * stride + k, P::elements(width, tables + t * width, i));
    }
  }

  // Like keep_in_range(), with a range and a factor for each class of points. Also writes the
  // factors times the weights (null: 1) and, if constants vary, the classes.
  template <class Real>
  GPUCOORD_ALWAYS_INLINE int
  keep_in_ranges(const ClassConstants<Real> &functions, const PartnerPoints<Real> &points,
                 const int *class_index, const Real *weights, const OwnPoint<Real> &own,
                 const Vectors<Real> &out, Real *factors, int *classes)
  {
    using P = Pack<Real>;
    const int width = functions.width;
    const Real equal_range_sq = functions.equal_range_sq;
    const bool needs_classes = functions.nvarying > 0;
    int count = 0;
    for (int k = 0; k < points.n; k += P::WIDTH) {
      Displaced<Real> d(points, k, own);
      const auto c = P::load(d.valid, class_index + k);
      const auto all = d.valid;
      d.remove(own.self - k);
      const auto limit = equal_range_sq >= 0 ? P::all(equal_range_sq)
                                             : P::elements(width, functions.range_sq, c);
      const auto keep = P::at_most(d.valid, d.r_sq, limit);
      auto factor = P::elements(width, functions.values, c);
      if (weights) factor = P::times(factor, P::load(all, weights + k));
      d.store_kept(keep, out, count);
      store_kept(factors + count, keep, factor);
      if (needs_classes) P::store_kept(classes + count, keep, c);
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }

  // Keeps charges whose distance to a segment along x is within a squared range. Writes the x of
  // the charges, and the y and z components of the vector from the charge to the segment. Returns
  // the number of charges. The outputs must have room for one more vector.
  template <class Real>
  GPUCOORD_ALWAYS_INLINE int keep_near_row(Real range_sq, const PartnerPoints<Real> &points,
                                           const Real *q, const Segment<Real> &row,
                                           const Vectors<Real> &out, Real *q_out)
  {
    using P = Pack<Real>;
    const auto middle = P::all(row.middle), half = P::all(row.half), limit = P::all(range_sq),
               zero = P::all(0);
    int count = 0;
    for (int k = 0; k < points.n; k += P::WIDTH) {
      const auto valid = first_lanes<Real>(points.n - k);
      const auto x = P::load(valid, points.x + k);
      const auto dy = P::minus(P::all(row.y), P::load(valid, points.y + k));
      const auto dz = P::minus(P::all(row.z), P::load(valid, points.z + k));
      const auto e = P::larger(P::minus(P::magnitude(P::minus(x, middle)), half), zero);
      const auto keep = P::at_most(valid, length_sq<Real>(e, dy, dz), limit);
      store_kept(out.x + count, keep, x);
      store_kept(out.y + count, keep, dy);
      store_kept(out.z + count, keep, dz);
      store_kept(q_out + count, keep, P::load(valid, q + k));
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }

  // See ../multisite/site_kernels_host.h.
  template <class Real>
  void keep_partners(Real range_sq, Real inner_sq, const PartnerPoints<Real> &points,
                     const OwnPoint<Real> &own, unsigned char *kept, bool &any_outside)
  {
    using P = Pack<Real>;
    unsigned outside = 0;
    for (int k = 0; k < points.n; k += P::WIDTH) {
      const Displaced<Real> d(points, k, own);
      const auto keep = P::at_most(d.valid, d.r_sq, P::all(range_sq));
      outside |= P::above(keep, d.r_sq, P::all(inner_sq));
      for (int b = 0; b < P::WIDTH / 8; ++b)
        kept[k / 8 + b] = static_cast<unsigned char>(keep >> 8 * b);
    }
    any_outside = outside != 0;
  }

  inline int list_kept(int n, const unsigned char *kept, int *indices)
  {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int count = 0;
    for (int k = 0; k < n; k += 8) {
      const __m256i block = _mm256_add_epi32(_mm256_set1_epi32(k), lanes);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(indices + count),
                          _mm256_maskz_compress_epi32(kept[k / 8], block));
      count += _mm_popcnt_u32(kept[k / 8]);
    }
    return count;
  }

  template <class Real>
  void copy_kept(int n, const unsigned char *kept, int, const int *, const Real *from, Real minus,
                 Real *to)
  {
    using P = Pack<Real>;
    for (int k = 0; k < n; k += P::WIDTH) {
      unsigned bits = 0;
      for (int b = 0; b < P::WIDTH / 8; ++b) bits |= kept[k / 8 + b] << 8 * b;
      const auto keep = static_cast<typename P::Mask>(bits);
      P::store(to, P::minus(P::compress(keep, P::load(keep, from + k)), P::all(minus)));
      to += _mm_popcnt_u32(keep);
    }
  }

  // Transposes 8 or 16 records at a time in registers.
  inline void transpose(__m512d (&v)[8])
  {
    __m512d t[8];
    for (int k = 0; k < 8; k += 2) {
      t[k] = _mm512_unpacklo_pd(v[k], v[k + 1]);
      t[k + 1] = _mm512_unpackhi_pd(v[k], v[k + 1]);
    }
    for (int k = 0; k < 2; ++k) {
      const __m512d a = _mm512_shuffle_f64x2(t[k], t[k + 2], 0x88),
                    b = _mm512_shuffle_f64x2(t[k + 4], t[k + 6], 0x88);
      const __m512d c = _mm512_shuffle_f64x2(t[k], t[k + 2], 0xdd),
                    d = _mm512_shuffle_f64x2(t[k + 4], t[k + 6], 0xdd);
      v[k] = _mm512_shuffle_f64x2(a, b, 0x88);
      v[k + 2] = _mm512_shuffle_f64x2(c, d, 0x88);
      v[k + 4] = _mm512_shuffle_f64x2(a, b, 0xdd);
      v[k + 6] = _mm512_shuffle_f64x2(c, d, 0xdd);
    }
  }
  inline void transpose(__m512 (&v)[16])
  {
    __m512d t[16];    // pairs of numbers
    for (int k = 0; k < 16; k += 4) {
      const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(v[k], v[k + 1]));
      const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(v[k], v[k + 1]));
      const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(v[k + 2], v[k + 3]));
      const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(v[k + 2], v[k + 3]));
      t[k] = _mm512_unpacklo_pd(a, c);
      t[k + 1] = _mm512_unpackhi_pd(a, c);
      t[k + 2] = _mm512_unpacklo_pd(b, d);
      t[k + 3] = _mm512_unpackhi_pd(b, d);
    }
    for (int k = 0; k < 4; ++k) {
      const __m512d a = _mm512_shuffle_f64x2(t[k], t[k + 4], 0x88),
                    b = _mm512_shuffle_f64x2(t[k + 8], t[k + 12], 0x88);
      const __m512d c = _mm512_shuffle_f64x2(t[k], t[k + 4], 0xdd),
                    d = _mm512_shuffle_f64x2(t[k + 8], t[k + 12], 0xdd);
      v[k] = _mm512_castpd_ps(_mm512_shuffle_f64x2(a, b, 0x88));
      v[k + 4] = _mm512_castpd_ps(_mm512_shuffle_f64x2(c, d, 0x88));
      v[k + 8] = _mm512_castpd_ps(_mm512_shuffle_f64x2(a, b, 0xdd));
      v[k + 12] = _mm512_castpd_ps(_mm512_shuffle_f64x2(c, d, 0xdd));
    }
  }
  // See ../multisite/site_kernels_host.h.
  template <class Real>
  void gather_records(int n, const int *index, int size, int nfields, const Real *from,
                      std::size_t stride, Real *to)
  {
    using P = Pack<Real>;
    constexpr int WIDTH = P::WIDTH;
    for (int m = 0; m < n; m += WIDTH)
      for (int field = 0; field < nfields; field += WIDTH) {
        typename P::Vector v[WIDTH];
        for (int k = 0; k < WIDTH; ++k)
          v[k] = P::load(from + static_cast<std::size_t>(index[m + k < n ? m + k : n - 1]) * size +
                         field);
        transpose(v);
        for (int k = 0; k < WIDTH; ++k)
          if (field + k < nfields) P::store(to + (field + k) * stride + m, v[k]);
      }
  }

  // See NeighborsFunction in pair_kernels_host.h. Loads a row at a time, which is faster than
  // gathering each coordinate, and transposes eight rows in registers.
  template <class Real>
  void neighbors(const NeighborRow &row_of_atom, const double *xi, const Vectors<Real> &out,
                 int *classes)
  {
    const double *const x = row_of_atom.x;
    const int stride = row_of_atom.stride, n = row_of_atom.n, neighmask = row_of_atom.neighmask;
    const int *const rows = row_of_atom.neighbors;
    const __m512d x0 = _mm512_set1_pd(xi[0]), y0 = _mm512_set1_pd(xi[1]),
                  z0 = _mm512_set1_pd(xi[2]);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                  second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const auto fields = static_cast<__mmask8>((1u << stride) - 1u);
    for (int k = 0; k < n; k += 8) {
      const auto row = [&](int m) {
        const int neighbor = rows[k + m < n ? k + m : n - 1] & neighmask;
        return _mm256_maskz_loadu_pd(fields, x + static_cast<std::size_t>(neighbor) * stride);
      };
      const auto rows_of = [&](int m) {    // rows m and m + 4: x, y, z, class
        return _mm512_insertf64x4(_mm512_castpd256_pd512(row(m)), row(m + 4), 1);
      };
      const __m512d a = rows_of(0), b = rows_of(1), c = rows_of(2), d = rows_of(3);
      const __m512d xz = _mm512_unpacklo_pd(a, b), yc = _mm512_unpackhi_pd(a, b),
                    xz2 = _mm512_unpacklo_pd(c, d), yc2 = _mm512_unpackhi_pd(c, d);
      store_compressed(out.x + k, 0xff, _mm512_sub_pd(_mm512_permutex2var_pd(xz, first, xz2), x0));
      store_compressed(out.y + k, 0xff, _mm512_sub_pd(_mm512_permutex2var_pd(yc, first, yc2), y0));
      store_compressed(out.z + k, 0xff, _mm512_sub_pd(_mm512_permutex2var_pd(xz, second, xz2), z0));
      if (stride == 4)
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(classes + k),
                            _mm512_cvtpd_epi32(_mm512_permutex2var_pd(yc, second, yc2)));
    }
  }

}    // namespace
}    // namespace gpucoord

#else

#include <math.h>

#include <cstddef>

namespace gpucoord {
namespace {

  template <class Real>
  void neighbors(const NeighborRow &row, const double *xi, const Vectors<Real> &out, int *classes)
  {
    const double *const x = row.x;
    const int *const rows = row.neighbors;
    const int stride = row.stride, n = row.n, neighmask = row.neighmask;
    Real *const dx = out.x, *const dy = out.y, *const dz = out.z;
    for (int k = 0; k < n; ++k) {
      const double *const xj = x + static_cast<std::size_t>(rows[k] & neighmask) * stride;
      dx[k] = static_cast<Real>(xj[0] - xi[0]);
      dy[k] = static_cast<Real>(xj[1] - xi[1]);
      dz[k] = static_cast<Real>(xj[2] - xi[2]);
      if (stride == 4) classes[k] = static_cast<int>(xj[3]);
    }
  }

  template <class Real>
  int keep_near_box(int n, PointRange *ranges, const Coordinates &points, const NearBox &box,
                    const KeptPoints<Real> &out)
  {
    const double *const x = points.x, *const y = points.y, *const z = points.z;
    const double *const origin = box.origin, *const half = box.half, range_sq = box.range_sq;
    Real *const x_out = out.x, *const y_out = out.y, *const z_out = out.z;
    int *const index_out = out.index;
    int count = 0;
    for (int s = 0; s < n; ++s) {
      ranges[s].kept = count;
      for (int k = ranges[s].begin; k < ranges[s].end; ++k) {
        const double dx = x[k] - origin[0], dy = y[k] - origin[1], dz = z[k] - origin[2];
        const double ex = fmax(fabs(dx) - half[0], 0.0);
        const double ey = fmax(fabs(dy) - half[1], 0.0);
        const double ez = fmax(fabs(dz) - half[2], 0.0);
        x_out[count] = static_cast<Real>(dx);
        y_out[count] = static_cast<Real>(dy);
        z_out[count] = static_cast<Real>(dz);
        index_out[count] = k;
        count += ex * ex + ey * ey + ez * ez <= range_sq ? 1 : 0;
      }
    }
    return count;
  }

  template <class Real>
  inline int keep_in_range(Real range_sq, const PartnerPoints<Real> &points,
                           const OwnPoint<Real> &own, const Vectors<Real> &out)
  {
    const Real *const x = points.x, *const y = points.y, *const z = points.z;
    const Real xi = own.x, yi = own.y, zi = own.z;
    Real *const dx = out.x, *const dy = out.y, *const dz = out.z;
    const int n = points.n, self = own.self;
    int count = 0;
    for (int k = 0; k < n; ++k) {
      // Variables, because the compiler does not know that the outputs do not overlap.
      const Real vx = x[k] - xi, vy = y[k] - yi, vz = z[k] - zi;
      dx[count] = vx;
      dy[count] = vy;
      dz[count] = vz;
      count += ((vx * vx + vy * vy + vz * vz <= range_sq) & (k != self)) ? 1 : 0;
    }
    return count;
  }

  template <class Real>
  inline int keep_in_ranges(const ClassConstants<Real> &functions,
                            const PartnerPoints<Real> &points, const int *class_index,
                            const Real *weights, const OwnPoint<Real> &own,
                            const Vectors<Real> &out, Real *factors, int *classes)
  {
    const Real *const x = points.x, *const y = points.y, *const z = points.z;
    const Real xi = own.x, yi = own.y, zi = own.z;
    Real *const dx = out.x, *const dy = out.y, *const dz = out.z;
    const int n = points.n, self = own.self;
    int count = 0;
    for (int k = 0; k < n; ++k) {
      const int c = class_index[k];
      const Real vx = x[k] - xi, vy = y[k] - yi, vz = z[k] - zi;
      dx[count] = vx;
      dy[count] = vy;
      dz[count] = vz;
      factors[count] = functions.values[c] * (weights ? weights[k] : Real(1));
      classes[count] = c;
      count += ((vx * vx + vy * vy + vz * vz <= functions.range_sq[c]) & (k != self)) ? 1 : 0;
    }
    return count;
  }

  template <class Real>
  inline int keep_near_row(Real range_sq, const PartnerPoints<Real> &points, const Real *q,
                           const Segment<Real> &row, const Vectors<Real> &out, Real *q_out)
  {
    const Real *const x = points.x, *const y = points.y, *const z = points.z;
    const Real middle = row.middle, half = row.half, y0 = row.y, z0 = row.z;
    Real *const x_out = out.x, *const dy = out.y, *const dz = out.z;
    const int n = points.n;
    int count = 0;
    for (int k = 0; k < n; ++k) {
      const Real vx = x[k], vy = y0 - y[k], vz = z0 - z[k], charge = q[k];
      x_out[count] = vx;
      dy[count] = vy;
      dz[count] = vz;
      q_out[count] = charge;
      const Real from = vx > middle ? vx - middle : middle - vx,
                 e = from > half ? from - half : Real(0);
      count += e * e + (vy * vy + vz * vz) <= range_sq ? 1 : 0;
    }
    return count;
  }

  template <class Real>
  void keep_partners(Real range_sq, Real inner_sq, const PartnerPoints<Real> &points,
                     const OwnPoint<Real> &own, unsigned char *kept, bool &any_outside)
  {
    const Real *const x = points.x, *const y = points.y, *const z = points.z;
    const Real xi = own.x, yi = own.y, zi = own.z;
    const int n = points.n;
    unsigned outside = 0;
    kept[(n + 7) / 8] = 0;
    for (int k = 0; k < n; k += 8) {
      unsigned bits = 0;
      for (int b = 0; b < 8 && k + b < n; ++b) {
        const Real dx = x[k + b] - xi, dy = y[k + b] - yi, dz = z[k + b] - zi,
                   r_sq = dx * dx + dy * dy + dz * dz;
        const unsigned keep = r_sq <= range_sq ? 1 : 0;
        outside |= keep & (r_sq > inner_sq ? 1u : 0u);
        bits |= keep << b;
      }
      kept[k / 8] = static_cast<unsigned char>(bits);
    }
    any_outside = outside != 0;
  }

  inline int list_kept(int n, const unsigned char *kept, int *indices)
  {
    int count = 0;
    for (int k = 0; k < n; ++k) {
      indices[count] = k;
      count += kept[k / 8] >> k % 8 & 1;
    }
    return count;
  }

  template <class Real>
  void look_up(int n, const int *index, int width, int ntables, const Real *tables, int stride,
               Real *out)
  {
    for (int t = 0; t < ntables; ++t)
      for (int k = 0; k < n; ++k) out[t * stride + k] = tables[t * width + index[k]];
  }

  template <class Real>
  void copy_kept(int, const unsigned char *, int count, const int *indices, const Real *from,
                 Real minus, Real *to)
  {
    for (int m = 0; m < count; ++m) to[m] = from[indices[m]] - minus;
  }

  template <class Real>
  void gather_records(int n, const int *index, int size, int nfields, const Real *from,
                      std::size_t stride, Real *to)
  {
    // Four records at a time. A loop over the fields of one record is so short that its speed
    // depends on where the linker places it.
    for (int m = 0; m < n; m += 4) {
      const Real *r[4];
      for (int k = 0; k < 4; ++k)
        r[k] = from + static_cast<std::size_t>(index[m + k < n ? m + k : n - 1]) * size;
      Real *t = to + m;
      for (int field = 0; field < nfields; ++field, t += stride) {
        const Real v[4] = {r[0][field], r[1][field], r[2][field], r[3][field]};
        for (int k = 0; k < 4; ++k) t[k] = v[k];
      }
    }
  }

}    // namespace
}    // namespace gpucoord

#endif

#endif
