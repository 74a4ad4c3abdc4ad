/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "bias_plumed_files.h"

#include "utils.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <system_error>

using namespace LAMMPS_NS;
using gpucoord::AppendedFile;

static const char *const WAY_OUT =
    " - give the file of that run, or use another fix ID, and RESTART as the first command of the "
    "PLUMED file, to continue with this file as it is";

/* ----------------------------------------------------------------------
   Names of the files in PLUMED's input.
------------------------------------------------------------------------- */

static std::vector<std::string> parts_of(const std::string &text)
{
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

static bool is_opes(const PlumedInput::Action &action)
{
  return action.name.compare(0, 5, "OPES_") == 0;
}

std::vector<std::string> PlumedFiles::of_hills(const PlumedInput::Action &action)
{
  const bool has_hills = action.name == "METAD" || action.name == "PBMETAD" || is_opes(action);
  if (!has_hills || action.has("WALKERS_N")) return {};
  if (action.has("FILE")) return parts_of(action.value("FILE"));
  if (action.name == "METAD") return {"HILLS"};
  if (action.name == "OPES_EXPANDED") return {"DELTAFS"};
  if (action.name != "PBMETAD") return {"KERNELS"};
  std::vector<std::string> files;
  for (const auto &variable : parts_of(action.value("ARG"))) files.push_back("HILLS." + variable);
  return files;
}

// Devices such as /dev/stdout are no files, also if they lead to one. /dev/shm has files.
static bool is_device(const std::string &name)
{
  const std::string folder = name.substr(0, name.rfind('/') + 1);
  return folder == "/dev/" || folder == "/dev/fd/" || folder.compare(0, 6, "/proc/") == 0;
}

// Compressed files cannot be read here.
void PlumedFiles::add_file(const std::string &kind, const std::string &name, Use use,
                           bool continues)
{
  if (name.empty() || is_device(name)) return;    // PLUMED has an error for a missing name
  const bool is_compressed = name.size() > 3 && name.compare(name.size() - 3, 3, ".gz") == 0;
  if (is_compressed) use = std::min(use, WRITTEN);
  for (File &file : files)
    if (file.name == name) {
      file.use = std::max(file.use, use);
      file.continues = file.continues || continues;
      return;
    }
  files.push_back({kind, name, use, continues});
}

void PlumedFiles::add_log(const std::string &name)
{
  add_file("log", name, REPLACED, false);
}

void PlumedFiles::add(const PlumedInput::Action &action)
{
  if (action.name == "RESTART") restart = action.has("NO") ? NO : YES;
  const std::string own_restart = action.value("RESTART");
  const bool is_new = own_restart == "NO", continues = own_restart == "YES";
  const auto add_one = [&](const std::string &kind, const std::string &name, Use use) {
    add_file("file of " + kind, name, is_new ? std::min(use, WRITTEN) : use, continues);
  };
  if (action.name == "PRINT") add_one("PRINT", action.value("FILE"), APPENDED);
  for (const char *const dump : {"DUMPATOMS", "DUMPFORCES", "DUMPDERIVATIVES", "DUMPPROJECTIONS"})
    if (action.name == dump) add_one(dump, action.value("FILE"), WRITTEN);
  const auto hills = of_hills(action);
  if (!hills.empty() || is_opes(action)) {
    const std::string state = action.value("STATE_RFILE");
    if (!is_new && (!state.empty() || action.has("STATE_WFILE")))
      states.push_back({state, action.value("STATE_WFILE"), continues});
    const bool reads_grid = action.has("GRID_RFILE") || action.has("GRID_RFILES");
    Use use = READ;
    if (reads_grid) use = TRIMMED;
    if (!state.empty()) use = DEPOSITED;
    for (const auto &file : hills) add_one("hills", file, use);
  }
  for (const char *const keyword : {"STATE_WFILE", "GRID_WFILE", "GRID_WFILES"})
    for (const auto &file : parts_of(action.value(keyword))) add_one(keyword, file, REPLACED);
}

std::vector<gpucoord::Bias::File> PlumedFiles::written() const
{
  std::vector<gpucoord::Bias::File> list;
  for (const File &file : files) list.push_back({file.kind, file.name});
  return list;
}

/* ---------------------------------------------------------------------- */

static std::runtime_error in_use(const std::runtime_error &why)
{
  return std::runtime_error(
      std::string("PLUMED's ") + why.what() +
      " - give each fix and each partition its own PLUMED file, with other file names after FILE=, "
      "such as plumedfile plumed.${p}.dat with a variable p of style world");
}

std::unique_ptr<gpucoord::FolderLock> PlumedFiles::check_locks()
{
  open_files.clear();    // a setup may have failed
  // PLUMED moves an existing file away and opens a new one. Runs that start at the same time would
  // otherwise write to one file.
  std::vector<std::string> names;
  for (const File &file : files) names.push_back(file.name);
  auto folders = std::make_unique<gpucoord::FolderLock>(names);
  try {
    for (const File &file : files)
      if (file.use >= WRITTEN) AppendedFile(file.name).check_lock();
  } catch (const std::runtime_error &e) {
    throw in_use(e);
  }
  return folders;
}

void PlumedFiles::set_restarted(bool is_restarted)
{
  const bool all = restart == YES || (restart == AS_THE_FIX && is_restarted);
  for (File &file : files) file.continues = file.continues || all;
  for (State &state : states) state.continues = state.continues || all;
}

bool PlumedFiles::any_continues() const
{
  const auto continues = [](const auto &one) {
    return one.continues;
  };
  return std::any_of(files.begin(), files.end(), continues) ||
      std::any_of(states.begin(), states.end(), continues);
}

const PlumedFiles::Saved *PlumedFiles::find(const std::string &name) const
{
  for (const Saved &one : saved)
    if (one.name == name) return &one;
  return nullptr;
}

void PlumedFiles::check_hills(const std::string &name, const Print &print) const
{
  const Saved *const expected = find(name);
  AppendedFile file(name);
  file.read(expected ? expected->lines.count : 1);
  const auto &found = file.lines();
  if (!expected) {
    if (found.count > 0)
      print(name + " is not checked: the restart file has no hills of this file");
    return;
  }
  const std::string of_run = " when the restart file was written";
  if (found.count == 0 && expected->lines.count > 0)
    throw std::runtime_error(
        fmt::format("PLUMED's file {} has no hills or does not exist, but had {}{}{}", name,
                    expected->lines.count, of_run, WAY_OUT));
  if (found.count < expected->lines.count)
    throw std::runtime_error(
        fmt::format("PLUMED's file {} ends after {} of the {} hills that it had{}, at time {:.10g} "
                    "in place of {:.10g}{}",
                    name, found.count, expected->lines.count, of_run, found.last_time,
                    expected->lines.last_time, WAY_OUT));
  if (found.count > 0 && found.checksum != expected->lines.checksum)
    throw std::runtime_error(
        fmt::format("the first {} hills of PLUMED's file {} are not those that it had{}: their "
                    "checksum differs{}",
                    found.count, name, of_run, WAY_OUT));
}

void PlumedFiles::check_state(const State &state, double time, double half_step) const
{
  if (state.read.empty()) return;
  AppendedFile file(state.read);
  file.read();
  const auto &found = file.lines();
  if (std::isfinite(found.last_time) && std::fabs(found.last_time - time) > half_step)
    throw std::runtime_error("PLUMED's state in file " + state.read + " is of time " +
                             std::to_string(found.last_time) + ", and the restart file of time " +
                             std::to_string(time) +
                             " - name a state of that time after STATE_RFILE, or restart from "
                             "another restart file");
  const Saved *const expected = find(state.written);
  if (!expected || !(std::fabs(expected->lines.last_time - time) <= half_step)) return;
  if (found.nlast != expected->lines.nlast)
    throw std::runtime_error(
        fmt::format("PLUMED's state in file {} has {} lines, but had {} when the restart file was "
                    "written - give the file of that run after STATE_RFILE",
                    state.read, found.nlast, expected->lines.nlast));
}

// Times are those of the run that wrote the file. The timestep and step numbers of this run may
// differ.
void PlumedFiles::check(double time, double half_step, const Print &print) const
{
  for (const State &state : states)
    if (state.continues) check_state(state, time, half_step);
  for (const File &file : files)
    if (file.continues && file.use == READ) check_hills(file.name, print);
}

// Returns whether the file begins with the lines that it had when the restart file was written.
bool PlumedFiles::has_saved_lines(const std::string &name) const
{
  const Saved *const expected = find(name);
  if (!expected) return false;
  AppendedFile file(name);
  file.read(expected->lines.count);
  return file.lines().count == expected->lines.count &&
      file.lines().checksum == expected->lines.checksum;
}

// Hills that were deposited after the timestep of the restart file must not act. Their times tell
// nothing if another run has appended them. PLUMED would append to an incomplete line.
void PlumedFiles::trim(bool is_restarted, double time, const Print &print) const
{
  for (const File &file : files) {
    if (!file.continues || file.use < APPENDED) continue;
    gpucoord::TrimmedFile trimmed;
    if (!is_restarted || file.use < TRIMMED)
      trimmed.incomplete = gpucoord::remove_incomplete_line(file.name);
    else if (has_saved_lines(file.name))
      trimmed = gpucoord::trim_file_to(file.name, find(file.name)->lines.count);
    else
      trimmed = gpucoord::trim_file(file.name, time);
    if (!trimmed.backup.empty())
      print("hills after the step of the restart file moved from " + file.name + " to " +
            trimmed.backup);
    if (!trimmed.incomplete.empty())
      print("removed the last line of " + file.name + ", which had no end: " + trimmed.incomplete);
  }
}

/* ---------------------------------------------------------------------- */

static std::string working_folder()
{
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

void PlumedFiles::begin()
{
  folder = working_folder();
  for (const File &file : files) open_files.push_back(std::make_unique<AppendedFile>(file.name));
  try {
    for (std::size_t k = 0; k < files.size(); ++k)
      if (files[k].use >= WRITTEN) open_files[k]->lock();
  } catch (const std::runtime_error &e) {
    throw in_use(e);
  }
}

// PLUMED opens files of hills and states again when it flushes them.
void PlumedFiles::check_folder(const std::string &name) const
{
  if (std::filesystem::path(name).is_relative() && working_folder() != folder)
    throw std::runtime_error("PLUMED's file " + name + " is in another folder than before: the " +
                             "working folder has changed - use absolute paths after FILE=, or " +
                             "leave out shell cd");
}

void PlumedFiles::read()
{
  for (const File &file : files)
    if (file.use >= DEPOSITED) check_folder(file.name);
  for (const State &state : states)
    if (!state.written.empty()) check_folder(state.written);
  saved.clear();
  const auto check = [](const std::string &name, const std::string &problem, bool is_complete) {
    const std::string why = problem.empty() && !is_complete ? "its last line has no end" : problem;
    if (why.empty()) return;
    const std::string reason = problem.empty()
        ? "make room on its disk"
        : "another program has changed it: give each run and each partition its own file";
    throw std::runtime_error("PLUMED's file " + name + " lacks lines that PLUMED has written: " +
                             why + " - " + reason + ", and continue from an earlier restart file");
  };
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (files[k].use < DEPOSITED) continue;
    auto &file = *open_files[k];
    const std::string problem = file.read();
    check(files[k].name, problem, file.is_complete());
    saved.push_back({files[k].name, file.lines()});
  }
  for (const State &state : states) {    // PLUMED writes a new file each time
    if (state.written.empty()) continue;
    AppendedFile file(state.written);
    file.read();
    check(state.written, "", file.is_complete());
    saved.push_back({state.written, file.lines()});
  }
}

/* ---------------------------------------------------------------------- */

void PlumedFiles::save(gpucoord::Archive &archive) const
{
  archive.write(static_cast<std::int64_t>(saved.size()));
  for (const Saved &one : saved) {
    archive.write(one.name);
    archive.write(one.lines.count);
    archive.write(one.lines.last_time);
    archive.write(one.lines.nlast);
    archive.write(static_cast<std::int64_t>(one.lines.checksum));
  }
}

void PlumedFiles::load(gpucoord::Archive &archive)
{
  saved.clear();
  for (std::int64_t n = archive.read_integer(); n > 0; --n) {
    Saved one;
    one.name = archive.read_text();
    one.lines.count = archive.read_integer();
    one.lines.last_time = archive.read_number();
    one.lines.nlast = archive.read_integer();
    one.lines.checksum = static_cast<std::uint64_t>(archive.read_integer());
    saved.push_back(one);
  }
}
