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

namespace gpucoord {
namespace {

  inline void store_compressed(double *to, __mmask8 keep, __m512d v)
  {
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(keep, v));
  }
  inline void store_compressed(float *to, __mmask8 keep, __m512d v)
  {
    _mm256_storeu_ps(to, _mm256_maskz_compress_ps(keep, _mm512_cvtpd_ps(v)));
  }

  // See KeepNearBoxFunction in pair_kernels_host.h.
  template <class Real>
  int keep_near_box(int n, PointRange *ranges, const double *x, const double *y, const double *z,
                    const double *origin, const double *half, double range_sq, Real *x_out,
                    Real *y_out, Real *z_out, int *index_out)
  {
    const __m512d x0 = _mm512_set1_pd(origin[0]), y0 = _mm512_set1_pd(origin[1]),
                  z0 = _mm512_set1_pd(origin[2]);
    const __m512d hx = _mm512_set1_pd(half[0]), hy = _mm512_set1_pd(half[1]),
                  hz = _mm512_set1_pd(half[2]);
    const __m512d limit = _mm512_set1_pd(range_sq), zero = _mm512_setzero_pd();
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int count = 0;
    for (int s = 0; s < n; ++s) {
      ranges[s].kept = count;
      const int end = ranges[s].end;
      for (int k = ranges[s].begin; k < end; k += 8) {
        const __mmask8 valid = end - k < 8 ? static_cast<__mmask8>((1u << (end - k)) - 1u) : 0xff;
        const __m512d dx = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, x + k), x0);
        const __m512d dy = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, y + k), y0);
        const __m512d dz = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, z + k), z0);
        const __m512d ex = _mm512_max_pd(_mm512_sub_pd(_mm512_abs_pd(dx), hx), zero);
        const __m512d ey = _mm512_max_pd(_mm512_sub_pd(_mm512_abs_pd(dy), hy), zero);
        const __m512d ez = _mm512_max_pd(_mm512_sub_pd(_mm512_abs_pd(dz), hz), zero);
        const __m512d e_sq =
            _mm512_fmadd_pd(ex, ex, _mm512_fmadd_pd(ey, ey, _mm512_mul_pd(ez, ez)));
        const __mmask8 keep = _mm512_mask_cmp_pd_mask(valid, e_sq, limit, _CMP_LE_OQ);
        store_compressed(x_out + count, keep, dx);
        store_compressed(y_out + count, keep, dy);
        store_compressed(z_out + count, keep, dz);
        const __m256i index = _mm256_add_epi32(_mm256_set1_epi32(k), lanes);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(index_out + count),
                            _mm256_maskz_compress_epi32(keep, index));
        count += _mm_popcnt_u32(keep);
      }
    }
    return count;
  }

  // Writes the displacements from (xi, yi, zi) to those of n points that are in range, except the
  // point with index self. Returns their number. The outputs must have room for 16 more elements.
  inline int keep_in_range(double range_sq, int n, const double *x, const double *y,
                           const double *z, double xi, double yi, double zi, int self, double *dx,
                           double *dy, double *dz)
  {
    int count = 0;
    for (int k = 0; k < n; k += 8) {
      __mmask8 valid = n - k < 8 ? static_cast<__mmask8>((1u << (n - k)) - 1u) : 0xff;
      const __m512d vx = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, x + k), _mm512_set1_pd(xi));
      const __m512d vy = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, y + k), _mm512_set1_pd(yi));
      const __m512d vz = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, z + k), _mm512_set1_pd(zi));
      const __m512d r = _mm512_fmadd_pd(vx, vx, _mm512_fmadd_pd(vy, vy, _mm512_mul_pd(vz, vz)));
      if (self >= k && self < k + 8) valid &= static_cast<__mmask8>(~(1u << (self - k)));
      const __mmask8 keep = _mm512_mask_cmp_pd_mask(valid, r, _mm512_set1_pd(range_sq), _CMP_LE_OQ);
      _mm512_storeu_pd(dx + count, _mm512_maskz_compress_pd(keep, vx));
      _mm512_storeu_pd(dy + count, _mm512_maskz_compress_pd(keep, vy));
      _mm512_storeu_pd(dz + count, _mm512_maskz_compress_pd(keep, vz));
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }
  inline int keep_in_range(float range_sq, int n, const float *x, const float *y, const float *z,
                           float xi, float yi, float zi, int self, float *dx, float *dy, float *dz)
  {
    int count = 0;
    for (int k = 0; k < n; k += 16) {
      __mmask16 valid = n - k < 16 ? static_cast<__mmask16>((1u << (n - k)) - 1u) : 0xffff;
      const __m512 vx = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, x + k), _mm512_set1_ps(xi));
      const __m512 vy = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, y + k), _mm512_set1_ps(yi));
      const __m512 vz = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, z + k), _mm512_set1_ps(zi));
      const __m512 r = _mm512_fmadd_ps(vx, vx, _mm512_fmadd_ps(vy, vy, _mm512_mul_ps(vz, vz)));
      if (self >= k && self < k + 16) valid &= static_cast<__mmask16>(~(1u << (self - k)));
      const __mmask16 keep =
          _mm512_mask_cmp_ps_mask(valid, r, _mm512_set1_ps(range_sq), _CMP_LE_OQ);
      _mm512_storeu_ps(dx + count, _mm512_maskz_compress_ps(keep, vx));
      _mm512_storeu_ps(dy + count, _mm512_maskz_compress_ps(keep, vy));
      _mm512_storeu_ps(dz + count, _mm512_maskz_compress_ps(keep, vz));
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }

  // Elements of a table by class, whose width is a multiple of CLASS_TABLE_WIDTH.
  inline __m512 elements(int width, const float *table, __m512i index)
  {
    if (width > 32) return _mm512_i32gather_ps(index, table, 4);
    const __m512 first = _mm512_loadu_ps(table);
    if (width <= 16) return _mm512_permutexvar_ps(index, first);
    return _mm512_permutex2var_ps(first, index, _mm512_loadu_ps(table + 16));
  }
  inline __m512d elements(int width, const double *table, __m512i index)
  {
    if (width > 32) return _mm512_i64gather_pd(index, table, 8);
    const __m512d low =
        _mm512_permutex2var_pd(_mm512_loadu_pd(table), index, _mm512_loadu_pd(table + 8));
    if (width <= 16) return low;
    const __m512d high =
        _mm512_permutex2var_pd(_mm512_loadu_pd(table + 16), index, _mm512_loadu_pd(table + 24));
    return _mm512_mask_blend_pd(_mm512_test_epi64_mask(index, _mm512_set1_epi64(16)), low, high);
  }

  // Writes out[t][k], element index[k] of table t, for k < n, a multiple of a whole vector. stride:
  // elements of out[t]
  inline void look_up(int n, const int *index, int width, int ntables, const float *tables,
                      int stride, float *out)
  {
    for (int k = 0; k < n; k += 16) {
      const __m512i i = _mm512_loadu_si512(index + k);
      for (int t = 0; t < ntables; ++t)
        _mm512_storeu_ps(out + t * stride + k, elements(width, tables + t * width, i));
    }
  }
  inline void look_up(int n, const int *index, int width, int ntables, const double *tables,
                      int stride, double *out)
  {
    for (int k = 0; k < n; k += 8) {
      const __m512i i =
          _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(index + k)));
      for (int t = 0; t < ntables; ++t)
        _mm512_storeu_pd(out + t * stride + k, elements(width, tables + t * width, i));
    }
  }

  // Like keep_in_range(), with a range and a factor for each class of points. Also writes the
  // factors times the weights (null: 1) and, if constants vary, the classes.
  inline int keep_in_ranges(const ClassConstants<double> &functions, int n, const double *x,
                            const double *y, const double *z, const int *class_index,
                            const double *weights, double xi, double yi, double zi, int self,
                            double *dx, double *dy, double *dz, double *factors, int *classes)
  {
    const int width = functions.width;
    const double equal_range_sq = functions.equal_range_sq;
    const bool needs_classes = functions.nvarying > 0;
    int count = 0;
    for (int k = 0; k < n; k += 8) {
      __mmask8 valid = n - k < 8 ? static_cast<__mmask8>((1u << (n - k)) - 1u) : 0xff;
      const __m256i c = _mm256_maskz_loadu_epi32(valid, class_index + k);
      const __m512i index = _mm512_cvtepi32_epi64(c);
      const __m512d vx = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, x + k), _mm512_set1_pd(xi));
      const __m512d vy = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, y + k), _mm512_set1_pd(yi));
      const __m512d vz = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, z + k), _mm512_set1_pd(zi));
      const __m512d r = _mm512_fmadd_pd(vx, vx, _mm512_fmadd_pd(vy, vy, _mm512_mul_pd(vz, vz)));
      if (self >= k && self < k + 8) valid &= static_cast<__mmask8>(~(1u << (self - k)));
      const __m512d limit = equal_range_sq >= 0 ? _mm512_set1_pd(equal_range_sq)
                                                : elements(width, functions.range_sq, index);
      const __mmask8 keep = _mm512_mask_cmp_pd_mask(valid, r, limit, _CMP_LE_OQ);
      __m512d factor = elements(width, functions.values, index);
      if (weights) factor = _mm512_mul_pd(factor, _mm512_maskz_loadu_pd(valid, weights + k));
      _mm512_storeu_pd(dx + count, _mm512_maskz_compress_pd(keep, vx));
      _mm512_storeu_pd(dy + count, _mm512_maskz_compress_pd(keep, vy));
      _mm512_storeu_pd(dz + count, _mm512_maskz_compress_pd(keep, vz));
      _mm512_storeu_pd(factors + count, _mm512_maskz_compress_pd(keep, factor));
      if (needs_classes)
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(classes + count),
                            _mm256_maskz_compress_epi32(keep, c));
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }
  inline int keep_in_ranges(const ClassConstants<float> &functions, int n, const float *x,
                            const float *y, const float *z, const int *class_index,
                            const float *weights, float xi, float yi, float zi, int self, float *dx,
                            float *dy, float *dz, float *factors, int *classes)
  {
    const int width = functions.width;
    const float equal_range_sq = functions.equal_range_sq;
    const bool needs_classes = functions.nvarying > 0;
    int count = 0;
    for (int k = 0; k < n; k += 16) {
      __mmask16 valid = n - k < 16 ? static_cast<__mmask16>((1u << (n - k)) - 1u) : 0xffff;
      const __m512i index = _mm512_maskz_loadu_epi32(valid, class_index + k);
      const __m512 vx = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, x + k), _mm512_set1_ps(xi));
      const __m512 vy = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, y + k), _mm512_set1_ps(yi));
      const __m512 vz = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, z + k), _mm512_set1_ps(zi));
      const __m512 r = _mm512_fmadd_ps(vx, vx, _mm512_fmadd_ps(vy, vy, _mm512_mul_ps(vz, vz)));
      if (self >= k && self < k + 16) valid &= static_cast<__mmask16>(~(1u << (self - k)));
      const __m512 limit = equal_range_sq >= 0 ? _mm512_set1_ps(equal_range_sq)
                                               : elements(width, functions.range_sq, index);
      const __mmask16 keep = _mm512_mask_cmp_ps_mask(valid, r, limit, _CMP_LE_OQ);
      __m512 factor = elements(width, functions.values, index);
      if (weights) factor = _mm512_mul_ps(factor, _mm512_maskz_loadu_ps(valid, weights + k));
      _mm512_storeu_ps(dx + count, _mm512_maskz_compress_ps(keep, vx));
      _mm512_storeu_ps(dy + count, _mm512_maskz_compress_ps(keep, vy));
      _mm512_storeu_ps(dz + count, _mm512_maskz_compress_ps(keep, vz));
      _mm512_storeu_ps(factors + count, _mm512_maskz_compress_ps(keep, factor));
      if (needs_classes)
        _mm512_storeu_si512(classes + count, _mm512_maskz_compress_epi32(keep, index));
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }

  // Keeps charges whose distance to a segment along x is within a squared range. The segment has
  // the half length 'half' around (middle, y0, z0). Writes the x of the charges, and the y and z
  // components of the vector from the charge to the segment. Returns the number of charges. The
  // outputs must have room for one more vector.
  inline int keep_near_row(double range_sq, int n, const double *x, const double *y,
                           const double *z, const double *q, double middle, double half, double y0,
                           double z0, double *x_out, double *dy, double *dz, double *q_out)
  {
    const __m512d vm = _mm512_set1_pd(middle), vh = _mm512_set1_pd(half),
                  limit = _mm512_set1_pd(range_sq);
    int count = 0;
    for (int k = 0; k < n; k += 8) {
      const __mmask8 valid = n - k < 8 ? static_cast<__mmask8>((1u << (n - k)) - 1u) : 0xff;
      const __m512d vx = _mm512_maskz_loadu_pd(valid, x + k);
      const __m512d vy = _mm512_sub_pd(_mm512_set1_pd(y0), _mm512_maskz_loadu_pd(valid, y + k));
      const __m512d vz = _mm512_sub_pd(_mm512_set1_pd(z0), _mm512_maskz_loadu_pd(valid, z + k));
      const __m512d e = _mm512_max_pd(_mm512_sub_pd(_mm512_abs_pd(_mm512_sub_pd(vx, vm)), vh),
                                      _mm512_setzero_pd());
      const __m512d r = _mm512_fmadd_pd(e, e, _mm512_fmadd_pd(vy, vy, _mm512_mul_pd(vz, vz)));
      const __mmask8 keep = _mm512_mask_cmp_pd_mask(valid, r, limit, _CMP_LE_OQ);
      _mm512_storeu_pd(x_out + count, _mm512_maskz_compress_pd(keep, vx));
      _mm512_storeu_pd(dy + count, _mm512_maskz_compress_pd(keep, vy));
      _mm512_storeu_pd(dz + count, _mm512_maskz_compress_pd(keep, vz));
      _mm512_storeu_pd(q_out + count,
                       _mm512_maskz_compress_pd(keep, _mm512_maskz_loadu_pd(valid, q + k)));
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }
  inline int keep_near_row(float range_sq, int n, const float *x, const float *y, const float *z,
                           const float *q, float middle, float half, float y0, float z0,
                           float *x_out, float *dy, float *dz, float *q_out)
  {
    const __m512 vm = _mm512_set1_ps(middle), vh = _mm512_set1_ps(half),
                 limit = _mm512_set1_ps(range_sq);
    int count = 0;
    for (int k = 0; k < n; k += 16) {
      const __mmask16 valid = n - k < 16 ? static_cast<__mmask16>((1u << (n - k)) - 1u) : 0xffff;
      const __m512 vx = _mm512_maskz_loadu_ps(valid, x + k);
      const __m512 vy = _mm512_sub_ps(_mm512_set1_ps(y0), _mm512_maskz_loadu_ps(valid, y + k));
      const __m512 vz = _mm512_sub_ps(_mm512_set1_ps(z0), _mm512_maskz_loadu_ps(valid, z + k));
      const __m512 e = _mm512_max_ps(_mm512_sub_ps(_mm512_abs_ps(_mm512_sub_ps(vx, vm)), vh),
                                     _mm512_setzero_ps());
      const __m512 r = _mm512_fmadd_ps(e, e, _mm512_fmadd_ps(vy, vy, _mm512_mul_ps(vz, vz)));
      const __mmask16 keep = _mm512_mask_cmp_ps_mask(valid, r, limit, _CMP_LE_OQ);
      _mm512_storeu_ps(x_out + count, _mm512_maskz_compress_ps(keep, vx));
      _mm512_storeu_ps(dy + count, _mm512_maskz_compress_ps(keep, vy));
      _mm512_storeu_ps(dz + count, _mm512_maskz_compress_ps(keep, vz));
      _mm512_storeu_ps(q_out + count,
                       _mm512_maskz_compress_ps(keep, _mm512_maskz_loadu_ps(valid, q + k)));
      count += _mm_popcnt_u32(keep);
    }
    return count;
  }

  // See ../multisite/site_kernels_host.h.
  inline void keep_partners(double range_sq, double inner_sq, int n, const double *x,
                            const double *y, const double *z, double xi, double yi, double zi,
                            unsigned char *kept, bool &any_outside)
  {
    unsigned outside = 0;
    for (int k = 0; k < n; k += 8) {
      const __mmask8 valid = n - k < 8 ? static_cast<__mmask8>((1u << (n - k)) - 1u) : 0xff;
      const __m512d vx = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, x + k), _mm512_set1_pd(xi));
      const __m512d vy = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, y + k), _mm512_set1_pd(yi));
      const __m512d vz = _mm512_sub_pd(_mm512_maskz_loadu_pd(valid, z + k), _mm512_set1_pd(zi));
      const __m512d r = _mm512_fmadd_pd(vx, vx, _mm512_fmadd_pd(vy, vy, _mm512_mul_pd(vz, vz)));
      const __mmask8 keep = _mm512_mask_cmp_pd_mask(valid, r, _mm512_set1_pd(range_sq), _CMP_LE_OQ);
      outside |= _mm512_mask_cmp_pd_mask(keep, r, _mm512_set1_pd(inner_sq), _CMP_GT_OQ);
      kept[k / 8] = keep;
    }
    any_outside = outside != 0;
  }
  inline void keep_partners(float range_sq, float inner_sq, int n, const float *x, const float *y,
                            const float *z, float xi, float yi, float zi, unsigned char *kept,
                            bool &any_outside)
  {
    unsigned outside = 0;
    for (int k = 0; k < n; k += 16) {
      const __mmask16 valid = n - k < 16 ? static_cast<__mmask16>((1u << (n - k)) - 1u) : 0xffff;
      const __m512 vx = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, x + k), _mm512_set1_ps(xi));
      const __m512 vy = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, y + k), _mm512_set1_ps(yi));
      const __m512 vz = _mm512_sub_ps(_mm512_maskz_loadu_ps(valid, z + k), _mm512_set1_ps(zi));
      const __m512 r = _mm512_fmadd_ps(vx, vx, _mm512_fmadd_ps(vy, vy, _mm512_mul_ps(vz, vz)));
      const __mmask16 keep =
          _mm512_mask_cmp_ps_mask(valid, r, _mm512_set1_ps(range_sq), _CMP_LE_OQ);
      outside |= _mm512_mask_cmp_ps_mask(keep, r, _mm512_set1_ps(inner_sq), _CMP_GT_OQ);
      kept[k / 8] = static_cast<unsigned char>(keep);
      kept[k / 8 + 1] = static_cast<unsigned char>(keep >> 8);
    }
    any_outside = outside != 0;
  }

  inline int list_kept(int n, const unsigned char *kept, int *numbers)
  {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int count = 0;
    for (int k = 0; k < n; k += 8) {
      const __m256i number = _mm256_add_epi32(_mm256_set1_epi32(k), lanes);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(numbers + count),
                          _mm256_maskz_compress_epi32(kept[k / 8], number));
      count += _mm_popcnt_u32(kept[k / 8]);
    }
    return count;
  }

  inline void copy_kept(int n, const unsigned char *kept, int, const int *, const double *from,
                        double minus, double *to)
  {
    for (int k = 0; k < n; k += 8) {
      const __mmask8 keep = kept[k / 8];
      const __m512d values = _mm512_maskz_compress_pd(keep, _mm512_maskz_loadu_pd(keep, from + k));
      _mm512_storeu_pd(to, _mm512_sub_pd(values, _mm512_set1_pd(minus)));
      to += _mm_popcnt_u32(keep);
    }
  }
  inline void copy_kept(int n, const unsigned char *kept, int, const int *, const float *from,
                        float minus, float *to)
  {
    for (int k = 0; k < n; k += 16) {
      const auto keep = static_cast<__mmask16>(kept[k / 8] | kept[k / 8 + 1] << 8);
      const __m512 values = _mm512_maskz_compress_ps(keep, _mm512_maskz_loadu_ps(keep, from + k));
      _mm512_storeu_ps(to, _mm512_sub_ps(values, _mm512_set1_ps(minus)));
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
  inline __m512d load(const double *from)
  {
    return _mm512_loadu_pd(from);
  }
  inline __m512 load(const float *from)
  {
    return _mm512_loadu_ps(from);
  }
  inline void store(double *to, __m512d v)
  {
    _mm512_storeu_pd(to, v);
  }
  inline void store(float *to, __m512 v)
  {
    _mm512_storeu_ps(to, v);
  }

  // See ../multisite/site_kernels_host.h.
  template <class Real>
  void gather_records(int n, const int *index, int size, int nfields, const Real *from,
                      std::size_t stride, Real *to)
  {
    constexpr int WIDTH = 64 / sizeof(Real);
    for (int m = 0; m < n; m += WIDTH)
      for (int field = 0; field < nfields; field += WIDTH) {
        decltype(load(from)) v[WIDTH];
        for (int k = 0; k < WIDTH; ++k)
          v[k] = load(from + static_cast<std::size_t>(index[m + k < n ? m + k : n - 1]) * size +
                      field);
        transpose(v);
        for (int k = 0; k < WIDTH; ++k)
          if (field + k < nfields) store(to + (field + k) * stride + m, v[k]);
      }
  }

  // See NeighborsFunction in pair_kernels_host.h. Loads a row at a time, which is faster than
  // gathering each coordinate, and transposes eight rows in registers.
  template <class Real>
  void neighbors(const double *x, int stride, const double *xi, int n, const int *rows,
                 int neighmask, Real *dx, Real *dy, Real *dz, int *classes)
  {
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
      store_compressed(dx + k, 0xff, _mm512_sub_pd(_mm512_permutex2var_pd(xz, first, xz2), x0));
      store_compressed(dy + k, 0xff, _mm512_sub_pd(_mm512_permutex2var_pd(yc, first, yc2), y0));
      store_compressed(dz + k, 0xff, _mm512_sub_pd(_mm512_permutex2var_pd(xz, second, xz2), z0));
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
  void neighbors(const double *x, int stride, const double *xi, int n, const int *rows,
                 int neighmask, Real *dx, Real *dy, Real *dz, int *classes)
  {
    for (int k = 0; k < n; ++k) {
      const double *const xj = x + static_cast<std::size_t>(rows[k] & neighmask) * stride;
      dx[k] = static_cast<Real>(xj[0] - xi[0]);
      dy[k] = static_cast<Real>(xj[1] - xi[1]);
      dz[k] = static_cast<Real>(xj[2] - xi[2]);
      if (stride == 4) classes[k] = static_cast<int>(xj[3]);
    }
  }

  template <class Real>
  int keep_near_box(int n, PointRange *ranges, const double *x, const double *y, const double *z,
                    const double *origin, const double *half, double range_sq, Real *x_out,
                    Real *y_out, Real *z_out, int *index_out)
  {
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
  int keep_in_range(Real range_sq, int n, const Real *x, const Real *y, const Real *z, Real xi,
                    Real yi, Real zi, int self, Real *dx, Real *dy, Real *dz)
  {
    int count = 0;
    for (int k = 0; k < n; ++k) {
      dx[count] = x[k] - xi;
      dy[count] = y[k] - yi;
      dz[count] = z[k] - zi;
      const Real r_sq = dx[count] * dx[count] + dy[count] * dy[count] + dz[count] * dz[count];
      count += ((r_sq <= range_sq) & (k != self)) ? 1 : 0;
    }
    return count;
  }

  template <class Real>
  int keep_in_ranges(const ClassConstants<Real> &functions, int n, const Real *x, const Real *y,
                     const Real *z, const int *class_index, const Real *weights, Real xi, Real yi,
                     Real zi, int self, Real *dx, Real *dy, Real *dz, Real *factors, int *classes)
  {
    int count = 0;
    for (int k = 0; k < n; ++k) {
      const int c = class_index[k];
      dx[count] = x[k] - xi;
      dy[count] = y[k] - yi;
      dz[count] = z[k] - zi;
      factors[count] = functions.values[c] * (weights ? weights[k] : Real(1));
      classes[count] = c;
      const Real r_sq = dx[count] * dx[count] + dy[count] * dy[count] + dz[count] * dz[count];
      count += ((r_sq <= functions.range_sq[c]) & (k != self)) ? 1 : 0;
    }
    return count;
  }

  template <class Real>
  int keep_near_row(Real range_sq, int n, const Real *x, const Real *y, const Real *z,
                    const Real *q, Real middle, Real half, Real y0, Real z0, Real *x_out, Real *dy,
                    Real *dz, Real *q_out)
  {
    int count = 0;
    for (int k = 0; k < n; ++k) {
      x_out[count] = x[k];
      dy[count] = y0 - y[k];
      dz[count] = z0 - z[k];
      q_out[count] = q[k];
      const Real from = x[k] > middle ? x[k] - middle : middle - x[k],
                 e = from > half ? from - half : Real(0);
      count += e * e + (dy[count] * dy[count] + dz[count] * dz[count]) <= range_sq ? 1 : 0;
    }
    return count;
  }

  template <class Real>
  void keep_partners(Real range_sq, Real inner_sq, int n, const Real *x, const Real *y,
                     const Real *z, Real xi, Real yi, Real zi, unsigned char *kept,
                     bool &any_outside)
  {
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

  inline int list_kept(int n, const unsigned char *kept, int *numbers)
  {
    int count = 0;
    for (int k = 0; k < n; ++k) {
      numbers[count] = k;
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
  void copy_kept(int, const unsigned char *, int count, const int *numbers, const Real *from,
                 Real minus, Real *to)
  {
    for (int m = 0; m < count; ++m) to[m] = from[numbers[m]] - minus;
  }

  template <class Real>
  void gather_records(int n, const int *index, int size, int nfields, const Real *from,
                      std::size_t stride, Real *to)
  {
    for (int m = 0; m < n; ++m) {
      const Real *const record = from + static_cast<std::size_t>(index[m]) * size;
      for (int field = 0; field < nfields; ++field) to[field * stride + m] = record[field];
    }
  }

}    // namespace
}    // namespace gpucoord

#endif

#endif
