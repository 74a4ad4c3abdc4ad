// Part of GPUCOORD, GPL-2.0. A state as bytes, for a restart file.

#ifndef GPUCOORD_ARCHIVE_H
#define GPUCOORD_ARCHIVE_H

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpucoord {

// Numbers and text. They are read in the order in which they were written. Reading past the end
// throws std::runtime_error.
class Archive {
 public:
  Archive() = default;
  explicit Archive(std::string bytes_in) : content(std::move(bytes_in)) {}
  // Returns an archive for reading that uses the caller's bytes, which must stay valid. Only bytes
  // of values that are read are accessed. If only the size is wrong, nothing beyond the values is
  // accessed.
  static Archive of_bytes(const char *bytes, std::size_t size)
  {
    Archive archive;
    archive.external = bytes;
    archive.external_size = size;
    return archive;
  }

  const std::string &bytes() const { return content; }    // written bytes
  std::size_t unread() const { return size() - position; }

  void write(double value) { append(&value, sizeof(value)); }
  void write(std::int64_t value) { append(&value, sizeof(value)); }
  void write(const std::string &text)
  {
    write(static_cast<std::int64_t>(text.size()));
    content += text;
  }
  void write(const std::vector<double> &numbers)
  {
    write(static_cast<std::int64_t>(numbers.size()));
    append(numbers.data(), numbers.size() * sizeof(double));
  }

  double read_number() { return plain<double>(); }
  std::int64_t read_integer() { return plain<std::int64_t>(); }
  std::string read_text()
  {
    const std::size_t size = read_size(1);
    const char *const begin = next(size);
    return {begin, begin + size};
  }
  std::vector<double> read_numbers()
  {
    std::vector<double> numbers(read_size(sizeof(double)));
    const char *const begin = next(numbers.size() * sizeof(double));
    if (!numbers.empty()) std::memcpy(numbers.data(), begin, numbers.size() * sizeof(double));
    return numbers;
  }

 private:
  void append(const void *from, std::size_t size)
  {
    if (size) content.append(static_cast<const char *>(from), size);
  }
  template <typename Value> Value plain()
  {
    Value value;
    std::memcpy(&value, next(sizeof(value)), sizeof(value));
    return value;
  }
  // Returns the number of items that follow. Checks it before memory is allocated for the items.
  std::size_t read_size(std::size_t bytes_of_item)
  {
    const std::int64_t size = read_integer();
    if (size < 0 || static_cast<std::uint64_t>(size) > unread() / bytes_of_item) fail();
    return static_cast<std::size_t>(size);
  }
  const char *next(std::size_t size)
  {
    if (size > unread()) fail();
    position += size;
    return (external ? external : content.data()) + (position - size);
  }
  [[noreturn]] static void fail()
  {
    throw std::runtime_error("its saved state is incomplete - use another restart file, or another "
                             "fix ID");
  }
  std::size_t size() const { return external ? external_size : content.size(); }

  std::string content;
  const char *external = nullptr;    // bytes of the caller, or null
  std::size_t external_size = 0;
  std::size_t position = 0;    // next byte to read
};

}    // namespace gpucoord

#endif
