// Part of GPUCOORD, GPL-2.0. The order of work in a side stream and in the caller's stream.

#include "gpu_tests.h"
#include "on_gpu.h"

#include "gpucoord/side_stream.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace gpucoord;

namespace {

// Host functions in a stream. The work of the stream after them waits until they return.

void sleep(void *)
{
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

struct Meeting {
  volatile int *has_come;    // pinned memory
  bool was_seen;
};

// All host functions of a process may share one thread, so the other side is a copy.
void wait_for_other(void *data)
{
  auto *const meeting = static_cast<Meeting *>(data);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (*meeting->has_come == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  meeting->was_seen = *meeting->has_come != 0;
}

void copy(const OnGpu<int> &to, const OnGpu<int> &from, cudaStream_t stream)
{
  ASSERT_EQ(cudaMemcpyAsync(to.data(), from.data(), sizeof(int), cudaMemcpyDeviceToDevice, stream),
            cudaSuccess);
}

}    // namespace

TEST(SideStream, waits_for_the_mark_and_is_waited_for)
{
  const auto side = make_side_stream();
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const OnGpu<int> one({1}), two({2}), a({0}), b({0}), c({0});
  for (int repeat = 0; repeat < 3; ++repeat) {
    const OnGpu<int> found({0});
    ASSERT_EQ(cudaLaunchHostFunc(stream, sleep, nullptr), cudaSuccess);
    copy(a, one, stream);
    side->mark(stream);
    const DeviceStream beside = side->begin();
    copy(b, a, beside);
    ASSERT_EQ(cudaLaunchHostFunc(beside, sleep, nullptr), cudaSuccess);
    copy(c, b, beside);
    side->join(stream);
    copy(found, c, stream);
    copy(a, two, stream);    // for the next repeat
    copy(c, two, stream);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(found.get(), std::vector<int>{1});
  }
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// Also beside the legacy default stream.
TEST(SideStream, runs_beside_later_work)
{
  const OnGpu<int> one({1});
  int *flag = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void **>(&flag), sizeof(int)), cudaSuccess);
  for (const bool is_default : {false, true}) {
    const auto side = make_side_stream();
    cudaStream_t stream = nullptr;
    if (!is_default) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    *flag = 0;
    Meeting meeting = {flag, false};
    side->mark(stream);
    ASSERT_EQ(cudaLaunchHostFunc(stream, wait_for_other, &meeting), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(flag, one.data(), sizeof(int), cudaMemcpyDeviceToHost, side->begin()),
              cudaSuccess);
    side->join(stream);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_TRUE(meeting.was_seen) << is_default;
    if (!is_default) ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  cudaFreeHost(flag);
}
