// Part of GPUCOORD, GPL-2.0. Pair entropy (pair_entropy.h) of atoms that are resident on a GPU.
//
// Results are bitwise independent of the order of sums over pairs, because these are sums of
// integers.

#ifndef GPUCOORD_RESIDENT_PAIR_ENTROPY_H
#define GPUCOORD_RESIDENT_PAIR_ENTROPY_H

#include "gpucoord/export.h"
#include "gpucoord/pair_entropy.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/types.h"

#include <memory>

namespace gpucoord {

// DeviceAtoms::volume is required: evaluate_first() throws std::invalid_argument if it is not
// positive.
class GPUCOORD_API ResidentPairEntropy : public ResidentOrderParameter {
 public:
  // Returns g(r_k) of the evaluation, [bins], k = 1 to N, on the host. Call after result().
  virtual const double *distribution() const = 0;
};

// Makes a pair entropy on the current GPU. Throws DeviceError and PairEntropyError.
GPUCOORD_API std::unique_ptr<ResidentPairEntropy>
make_resident_pair_entropy(const PairEntropyOptions &, Precision);

}    // namespace gpucoord

#endif
