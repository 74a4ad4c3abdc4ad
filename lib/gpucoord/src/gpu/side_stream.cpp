// Part of GPUCOORD, GPL-2.0. Work of a GPU beside that of the caller's stream.

#include "gpucoord/side_stream.h"

#include "buffers.h"

namespace gpucoord {

namespace {

  class CudaSideStream : public SideStream {
   public:
    CudaSideStream()
    {
      int least, greatest;
      check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "querying priorities");
      // Does not wait for the legacy default stream, which may be that of the caller.
      check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest),
            "making a stream");
    }
    ~CudaSideStream() override { cudaStreamDestroy(stream); }

    void mark(DeviceStream of) override { marked.record(of); }
    DeviceStream begin() override
    {
      check(cudaStreamWaitEvent(stream, marked, 0), "ordering two streams");
      return stream;
    }
    void join(DeviceStream other) override
    {
      ended.record(stream);
      check(cudaStreamWaitEvent(other, ended, 0), "ordering two streams");
    }

   private:
    cudaStream_t stream = nullptr;
    Event marked, ended;
  };

}    // namespace

std::unique_ptr<SideStream> make_side_stream()
{
  return std::make_unique<CudaSideStream>();
}

}    // namespace gpucoord
