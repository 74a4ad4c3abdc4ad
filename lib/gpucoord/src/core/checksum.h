// Part of GPUCOORD, GPL-2.0. A checksum of numbers or text and their order.

#ifndef GPUCOORD_CHECKSUM_H
#define GPUCOORD_CHECKSUM_H

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace gpucoord {

class Checksum {
 public:
  // Each step is a bijection of the state. A single changed number therefore always changes the
  // result.
  void add(double value)
  {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    state = (state ^ bits) * 0x9e3779b97f4a7c15u;
    state ^= state >> 32;
  }
  void add(const char *text, std::size_t size)
  {
    for (std::size_t k = 0; k < size; ++k)
      state = (state ^ static_cast<unsigned char>(text[k])) * 0x100000001b3u;    // FNV-1a
  }
  std::uint64_t value() const { return state; }
  std::string text() const    // returns 16 hexadecimal digits
  {
    char digits[17];
    std::snprintf(digits, sizeof(digits), "%016" PRIx64, state);
    return digits;
  }

 private:
  std::uint64_t state = 0xcbf29ce484222325u;
};

}    // namespace gpucoord

#endif
