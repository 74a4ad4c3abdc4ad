// Part of GPUCOORD, GPL-2.0. Work of a GPU beside that of the caller's stream.

#ifndef GPUCOORD_SIDE_STREAM_H
#define GPUCOORD_SIDE_STREAM_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <memory>

namespace gpucoord {

// A stream of the current GPU, of the highest priority. Functions throw DeviceError and do not
// wait.
class GPUCOORD_API SideStream {
 public:
  virtual ~SideStream() = default;
  // Marks the work of the caller's stream that the side stream must wait for: all of it so far.
  virtual void mark(DeviceStream) = 0;
  // Returns the side stream. What it gets from now on waits for the marked work.
  virtual DeviceStream begin() = 0;
  // What the caller's stream gets from now on waits for all work of the side stream so far.
  virtual void join(DeviceStream) = 0;
};

GPUCOORD_API std::unique_ptr<SideStream> make_side_stream();

}    // namespace gpucoord

#endif
