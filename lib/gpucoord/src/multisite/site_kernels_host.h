// Part of GPUCOORD, GPL-2.0. The sums of a molecule over its partners, on the host.

#ifndef GPUCOORD_SITE_KERNELS_HOST_H
#define GPUCOORD_SITE_KERNELS_HOST_H

#include "../pairs/pair_kernels_host.h"
#include "site_pair.h"

#include <cstddef>

namespace gpucoord {

// Partners are molecules of one component near a molecule i. Kernels take chunks of this many
// partners.
constexpr int PARTNERS_PER_CHUNK = 256;

// One site of each partner, [3][n].
template <class Real> struct PartnerSites {
  const Real *center[3];    // center of mass of the partner, relative to that of i, distance
  const Real *arm[3];       // site relative to the partner's center of mass, distance
  const Real *axis[3];      // unit vector, or 0 for a site without an axis
};

// A site of molecule i, in the laboratory frame.
template <class Real> struct OwnSite {
  Real arm[3], axis[3];
};

// Sums of one site of i over the same site of all partners of a chunk.
struct SiteSums {
  double energy = 0.0, field = 0.0;        // field: reaction field, not included in energy
  double force[3] = {}, torque[3] = {};    // torque: about the site itself
};

// Force of each partner of a chunk on i, summed over pairs of sites.
template <class Real> struct alignas(64) PartnerForces {
  Real force[3][PARTNERS_PER_CHUNK];
};

constexpr int SITE_PAIR_KINDS = 7;

// Adds the interactions of one site of i with one site of n partners. cutoff_sq: distance^2; sites
// farther apart do not interact; may be infinite
template <class Real>
using SiteKernel = void (*)(const SitePairConstants<Real> &, Real cutoff_sq, int n,
                            const PartnerSites<Real> &, const OwnSite<Real> &, SiteSums &,
                            PartnerForces<Real> &);

// Sets bit k % 8 of kept[k / 8] if point k is within sqrt(range_sq) of the own point. kept must
// have room for KEPT_MARGIN more elements. Sets any_outside if a kept point is farther than
// sqrt(inner_sq). Ignores OwnPoint::self.
template <class Real>
using KeepPartnersFunction = void (*)(Real range_sq, Real inner_sq, const PartnerPoints<Real> &,
                                      const OwnPoint<Real> &, unsigned char *kept,
                                      bool &any_outside);

// ListKeptFunction writes the indices of the kept points and returns their number. CopyKeptFunction
// writes from[k] - minus for each kept point k. Outputs must have room for KEPT_MARGIN more
// elements.
using ListKeptFunction = int (*)(int n, const unsigned char *kept, int *indices);
template <class Real>
using CopyKeptFunction = void (*)(int n, const unsigned char *kept, int count, const int *indices,
                                  const Real *from, Real minus, Real *to);

// Transposes n records of 'size' numbers: writes the first nfields numbers of record index[m] to
// to[field * stride + m]. Rows of 'to' must have room for KEPT_MARGIN more elements. size must be a
// multiple of RECORD_UNIT.
template <class Real>
using GatherRecordsFunction = void (*)(int n, const int *index, int size, int nfields,
                                       const Real *from, std::size_t stride, Real *to);
template <class Real> constexpr int RECORD_UNIT = 64 / sizeof(Real);
constexpr int KEPT_MARGIN = 16;

template <class Real> struct SiteKernels {
  // [kind][reversed][all]. reversed: the site of i is the second one in the name of the kind. all:
  // also energies, and the force on i from each partner.
  SiteKernel<Real> kernel[SITE_PAIR_KINDS][2][2];
  KeepPartnersFunction<Real> keep_partners;
  ListKeptFunction list_kept;
  CopyKeptFunction<Real> copy_kept;
  GatherRecordsFunction<Real> gather_records;

  SiteKernel<Real> find(SitePairKind kind, bool reversed, bool all) const
  {
    return kernel[static_cast<int>(kind)][reversed][all];
  }
};

}    // namespace gpucoord

#endif
