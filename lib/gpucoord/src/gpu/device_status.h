// Part of GPUCOORD, GPL-2.0. Errors of kernels that read atoms.

#ifndef GPUCOORD_DEVICE_STATUS_H
#define GPUCOORD_DEVICE_STATUS_H

namespace gpucoord {

// Written by kernels, read on the host after a wait.
struct DeviceStatus {
  int bad_atom;    // row of the caller's arrays with a position that is not finite, or NONE
  int moved;       // nonzero: an atom has moved by more than half the skin
  static constexpr int NONE = 0x7fffffff;
};

}    // namespace gpucoord

#endif
