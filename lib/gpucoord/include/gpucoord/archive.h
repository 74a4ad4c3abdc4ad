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

  const std::string &bytes() const { return content; }
  std::size_t unread() const { return content.size() - position; }    // bytes

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
    if (size < 0 || static_cast<std::uint64_t>(size) > (content.size() - position) / bytes_of_item)
      throw std::runtime_error("its saved state is incomplete");
    return static_cast<std::size_t>(size);
  }
  const char *next(std::size_t size)
  {
    if (size > content.size() - position) throw std::runtime_error("its saved state is incomplete");
    position += size;
    return content.data() + (position - size);
  }

  std::string content;
  std::size_t position = 0;    // next byte to read
};

}    // namespace gpucoord

#endif
