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
  void write(const std::vector<double> &values)
  {
    write(static_cast<std::int64_t>(values.size()));
    append(values.data(), values.size() * sizeof(double));
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
    std::vector<double> values(read_size(sizeof(double)));
    const char *const begin = next(values.size() * sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), begin, values.size() * sizeof(double));
    return values;
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

// The state of an object in parts. A part has a name and the version of its format, so that parts
// can be added, and a part of another version of the program is an error that names it.
class ArchiveParts {
 public:
  ArchiveParts() = default;
  // Reads all parts. Throws std::runtime_error.
  explicit ArchiveParts(Archive &archive)
  {
    for (std::int64_t left = archive.read_integer(); left > 0; --left) {
      Part part;
      part.name = archive.read_text();
      if (!is_name(part.name)) throw damaged();
      part.version = archive.read_integer();
      part.bytes = archive.read_text();
      parts.push_back(std::move(part));
    }
    if (archive.unread()) throw damaged();
  }

  void add(const std::string &name, std::int64_t version, const Archive &content)
  {
    parts.push_back({name, version, content.bytes()});
  }
  void write(Archive &archive) const
  {
    archive.write(static_cast<std::int64_t>(parts.size()));
    for (const Part &part : parts) {
      archive.write(part.name);
      archive.write(part.version);
      archive.write(part.bytes);
    }
  }

  bool has(const std::string &name) const
  {
    for (const Part &part : parts)
      if (part.name == name) return true;
    return false;
  }
  // Calls work(Archive &) with the content of a part. Throws std::runtime_error if there is no such
  // part, if it has another version, or if bytes are left.
  template <class Work> void take(const std::string &name, std::int64_t version, const Work &work)
  {
    for (Part &part : parts) {
      if (part.name != name) continue;
      if (part.version != version)
        throw std::runtime_error(
            "part " + name + " of its saved state has version " + std::to_string(part.version) +
            ", but this version of GPUCOORD needs version " + std::to_string(version) + WAY_OUT);
      Archive content = Archive::of_bytes(part.bytes.data(), part.bytes.size());
      work(content);
      if (content.unread()) throw damaged();
      part.is_taken = true;
      return;
    }
    throw std::runtime_error("its saved state has no part " + name + WAY_OUT);
  }
  // Throws std::runtime_error if there are parts that nobody has taken.
  void check_all_are_taken() const
  {
    for (const Part &part : parts)
      if (!part.is_taken)
        throw std::runtime_error("its saved state has a part " + part.name +
                                 ", which this version of GPUCOORD does not know" + WAY_OUT);
  }

  static std::runtime_error damaged()
  {
    return std::runtime_error("its saved state is damaged - use another restart file");
  }

 private:
  struct Part {
    std::string name;
    std::int64_t version = 0;
    std::string bytes;
    bool is_taken = false;
  };
  static constexpr const char *WAY_OUT =
      " - continue with the version that wrote it, or use another fix ID";
  static bool is_name(const std::string &text)
  {
    return !text.empty() && text.size() < 40 &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
  }

  std::vector<Part> parts;
};

}    // namespace gpucoord

#endif
