// Part of GPUCOORD, GPL-2.0. The sums of a molecule over molecules near it, on the host.

#ifndef GPUCOORD_SITE_KERNELS_HOST_H
#define GPUCOORD_SITE_KERNELS_HOST_H

#include "site_pair.h"

#include <cstddef>

namespace gpucoord {

// Molecules of one component near a molecule i are its partners; kernels take a chunk of them at a time.
constexpr int PARTNERS_OF_A_CHUNK = 256;

// A site of each partner.
template <class Real> struct PartnerSites {
  const Real *center[3];    // of mass, relative to that of i
  const Real *arm[3];       // from there
  const Real *axis[3];      // 0 where it has none
};

// of molecule i, in the frame of space
template <class Real> struct OwnSite {
  Real arm[3], axis[3];
};

// What a site of i gets from the same site of all partners of a chunk.
struct SiteSums {
  double energy = 0.0, field = 0.0;        // field: of the reaction field, not in energy
  double force[3] = {}, torque[3] = {};    // torque: about the site itself
};

// What partners of a chunk have to do with i, each of them apart, added up over pairs of sites.
template <class Real> struct alignas(64) PartnerSums {
  Real force[3][PARTNERS_OF_A_CHUNK];     // on i
  Real torque[3][PARTNERS_OF_A_CHUNK];    // on the other, about its center of mass
  Real energy[PARTNERS_OF_A_CHUNK];
};

constexpr int SITE_PAIR_KINDS = 7;

// cutoff_sq: sites farther apart do not interact; may be infinite
template <class Real>
using SiteKernel = void (*)(const SitePairConstants<Real> &, Real cutoff_sq, int n,
                            const PartnerSites<Real> &, const OwnSite<Real> &, SiteSums &,
                            PartnerSums<Real> &);

// Which of n points are within a range of (xi,yi,zi): bit k % 8 of kept[k / 8], which has room for KEPT_MARGIN more.
// any_outside: some of these are farther than an inner range.
template <class Real>
using KeepPartnersFunction = void (*)(Real range_sq, Real inner_sq, int n, const Real *x,
                                      const Real *y, const Real *z, Real xi, Real yi, Real zi,
                                      unsigned char *kept, bool &any_outside);

// Their numbers, and how many; and of a row of numbers those of these points, less one. Outputs have room for KEPT_MARGIN more.
using ListKeptFunction = int (*)(int n, const unsigned char *kept, int *numbers);
template <class Real>
using TakeKeptFunction = void (*)(int n, const unsigned char *kept, int count, const int *numbers,
                                  const Real *from, Real minus, Real *to);

// Of n records of so many numbers, of which the first nfields matter, a row of each of these: to[field * stride + m], with
// room for KEPT_MARGIN more. The size is a multiple of RECORD_UNIT.
template <class Real>
using TakeRecordsFunction = void (*)(int n, const int *index, int size, int nfields,
                                     const Real *from, std::size_t stride, Real *to);
template <class Real> constexpr int RECORD_UNIT = 64 / sizeof(Real);
constexpr int KEPT_MARGIN = 16;

template <class Real> struct SiteKernels {
  // reversed: the site of i is the one named second. all: energies, and forces of each partner apart; stores: forces and
  // torques of each partner apart, with all their energies too
  SiteKernel<Real> of[SITE_PAIR_KINDS][2][2][2];    // [][reversed][all][stores]
  KeepPartnersFunction<Real> keep_partners;
  ListKeptFunction list_kept;
  TakeKeptFunction<Real> take_kept;
  TakeRecordsFunction<Real> take_records;

  SiteKernel<Real> find(SitePairKind kind, bool reversed, bool all, bool stores) const
  {
    return of[static_cast<int>(kind)][reversed][all][stores];
  }
};

template <class Real> SiteKernels<Real> select_site_kernels();

}    // namespace gpucoord

#endif
