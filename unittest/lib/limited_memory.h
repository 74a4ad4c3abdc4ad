// Part of GPUCOORD, GPL-2.0. Memory of which a thread gets no block above a limit, for tests. It
// replaces the operators new and delete of the program: include it in one file only.

#ifndef GPUCOORD_TEST_LIMITED_MEMORY_H
#define GPUCOORD_TEST_LIMITED_MEMORY_H

#include <cstdint>
#include <cstdlib>
#include <new>

#ifdef __GNUC__
// If GCC inlines only one of the operators new and delete, it takes them for different allocators.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

static thread_local std::size_t largest_allocation = SIZE_MAX;    // of this thread, bytes

void *operator new(std::size_t size)
{
  void *const memory = size <= largest_allocation ? malloc(size ? size : 1) : nullptr;
  if (!memory) throw std::bad_alloc();
  return memory;
}

// A library of a sanitizer, which is loaded first, has operators for arrays that do not call those
// above.
void *operator new[](std::size_t size)
{
  return operator new(size);
}

void operator delete[](void *memory) noexcept
{
  free(memory);
}

void operator delete[](void *memory, std::size_t) noexcept
{
  free(memory);
}

void operator delete(void *memory) noexcept
{
  free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
  free(memory);
}

#endif
