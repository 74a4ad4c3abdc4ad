// Part of GPUCOORD, GPL-2.0. The memory of arrays, in bytes.

#ifndef GPUCOORD_BYTES_OF_H
#define GPUCOORD_BYTES_OF_H

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpucoord {

template <class T, class = void> struct has_bytes : std::false_type {
};
template <class T>
struct has_bytes<T, std::void_t<decltype(std::declval<const T &>().bytes())>> : std::true_type {
};

// Returns the allocated memory of an object that has bytes(), in bytes.
template <class T> std::size_t bytes_of(const T &part)
{
  static_assert(has_bytes<T>::value, "bytes_of(): a class without bytes()");
  return static_cast<std::size_t>(part.bytes());
}

// Returns the allocated memory of a vector, and of its elements if these have bytes().
template <class T> std::size_t bytes_of(const std::vector<T> &array)
{
  std::size_t total = array.capacity() * sizeof(T);
  if constexpr (has_bytes<T>::value)
    for (const T &element : array) total += bytes_of(element);
  return total;
}
template <class T> std::size_t bytes_of(const std::vector<std::vector<T>> &array)
{
  std::size_t total = array.capacity() * sizeof(std::vector<T>);
  for (const auto &element : array) total += bytes_of(element);
  return total;
}

// Returns the allocated memory of all of them.
template <class First, class Second, class... Rest>
std::size_t bytes_of(const First &first, const Second &second, const Rest &...rest)
{
  if constexpr (sizeof...(rest) > 0)
    return bytes_of(first) + bytes_of(second, rest...);
  else
    return bytes_of(first) + bytes_of(second);
}

}    // namespace gpucoord

#endif
