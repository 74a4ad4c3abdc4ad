// Part of GPUCOORD, GPL-2.0. Walkers in independent jobs, which share hills by files: own files
// that cannot be written or continued.

#include "walkers_by_files.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/resource.h>

static std::function<void()> before_rename;    // called once

// Replaces that of the C library, which std::filesystem calls.
extern "C" int rename(const char *from, const char *to) noexcept
{
  const auto call = std::move(before_rename);
  before_rename = nullptr;
  if (call) call();
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace {

using WalkersByFilesErrors = WalkersByFiles;

// While it exists, no file of this process can be longer: a disk without room.
class FullDisk {
 public:
  explicit FullDisk(std::size_t longest_file)
  {
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = longest_file;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk()
  {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  FullDisk(const FullDisk &) = delete;
  FullDisk &operator=(const FullDisk &) = delete;

 private:
  rlimit before;
  void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST_F(WalkersByFilesErrors, one_name_for_each)
{
  begin({"a"});
  run({"a"}, 0, 7);
  const auto parts = saved("a");
  Job &second = jobs["second"];
  std::swap(second, make("a"));    // its journal is free again
  make("a").bias->begin({});
  run({"a"}, 0, 0);
  fs::rename(journal_of("a"), folder / "H.other");
  EXPECT_EQ(error_of_begin(second),
            "hills file S/a.w is being written by another fix or run - use one file for each");
  EXPECT_FALSE(fs::exists(journal_of("a")));
}

TEST_F(WalkersByFilesErrors, two_that_begin_at_once)
{
  Job &first = make("a");
  first.bias->begin({});
  fs::rename(journal_of("a"), folder / "H.other");
  Job second;
  std::swap(second, first);
  make("a").bias->begin({});
  run({"a"}, 0, 0);
  std::swap(second, jobs["a"]);
  EXPECT_EQ(error_of_run("a", 0, 0),
            "hills file S/a.w is being written by another fix or run - use one file for each");
}

// The second one starts when the first one is about to rename the earlier file.
TEST_F(WalkersByFilesErrors, two_that_rename_at_once)
{
  begin({"a"});
  run({"a"}, 0, 12);
  const std::string earlier = content(file_of("a"));
  jobs.clear();
  const DepositFormat format = hills_format(options(1, 8, false));
  DepositFile first(file_of("a"), format, "LAMMPS", "test");
  DepositFile second(file_of("a"), format, "LAMMPS", "test");
  std::future<std::string> other;
  before_rename = [&] {
    other = std::async(std::launch::async, [&] {
      try {
        return second.create();
      } catch (const std::runtime_error &e) {
        return shortened(e.what());
      }
    });
    // If it does not wait for the first one, it has ended by then.
    other.wait_for(std::chrono::milliseconds(500));
  };
  EXPECT_EQ(shortened(first.create()), "S/bck.0.a.w");
  ASSERT_TRUE(other.valid());
  EXPECT_EQ(other.get(),
            "hills file S/a.w is being written by another fix or run - use one file for each");
  EXPECT_EQ(content(shared + "/bck.0.a.w"), earlier);
}

// A command that fails at its first S
TEST_F(WalkersByFilesErrors, a_wrong_command_leaves_the_folder)
{
  begin({"a"});
  run({"a"}, 0, 12);
  const std::string before = content(file_of("a"));
  jobs.clear();
  for (const char *name : {"a", "b"}) {
    EXPECT_EQ(error_of_begin(make(name, {"grid", "0", "1", "bins", "10", "grow", "no"})), "");
    EXPECT_THROW(run({name}, 0, 10), std::out_of_range);
  }
  EXPECT_EQ(content(file_of("a")), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(shared), fs::directory_iterator()), 1);
  const Words grid = {"grid", "0", "9", "bins", "90", "write_grid", "10", shared + "/b.w"};
  EXPECT_EQ(error_of_begin(make("b", grid)),
            "grid file S/b.w would be that of a walker of this folder - give a name in another "
            "folder, or one that does not end in .w");
  EXPECT_FALSE(fs::exists(file_of("b")));
}

TEST_F(WalkersByFilesErrors, own_file_changed_by_another_program)
{
  begin({"a"});
  run({"a"}, 0, 7);
  const auto parts = saved("a");
  fs::remove(file_of("a"));
  EXPECT_EQ(error_of_run("a", 9, 10),
            "hills file S/a.w was changed by another program during the run: it was deleted - all "
            "its hills are in S/bck.0.a.w; rename that file to S/a.w and continue from the last "
            "restart file, or with append yes");
  // The journal has the hill. The file is written again.
  restart("a", parts);
  EXPECT_EQ(centers(file_of("a")), of({{'a', 5}}));
  EXPECT_EQ(jobs["a"].messages.back(),
            "added 1 hills of this walker to its file S/a.w, which did not have them");
}

TEST_F(WalkersByFilesErrors, a_full_disk)
{
  fs::create_directory(shared);
  fs::create_symlink("/dev/full", file_of("a"));
  EXPECT_EQ(error_of_begin(make("a")), "");
  EXPECT_EQ(
      error_of_run("a", 0, 7),
      "cannot write hills file S/a.w: No space left on device - make room, or allow writing, in "
      "its folder, and start the run again");
  // A library may try again.
  fs::rename(file_of("a"), file_of("c"));
  make("a").bias->begin({});
  EXPECT_EQ(error_of_run("a", 0, 7), "");
  // Others do not read devices.
  begin({"b"});
  run({"b"}, 0, 10);
  expect_no_messages({"b"});
}

// It gets full in the middle of a line, which is removed.
TEST_F(WalkersByFilesErrors, a_disk_that_gets_full)
{
  fs::create_symlink("/dev/null", journal_of("a"));
  begin({"a"});
  run({"a"}, 0, 12);
  const std::string two = content(file_of("a"));
  const FullDisk full(two.size() + 20);
  EXPECT_EQ(
      error_of_run("a", 12, 15),
      "cannot write hills file S/a.w: File too large - it has all hills before this one; make "
      "room, and continue from the last restart file");
  EXPECT_EQ(content(file_of("a")), two);
}

// Its length at which it is full goes through all files. After each error, the run continues from
// its last restart, or starts again, and makes the same files as one that was never interrupted.
TEST_F(WalkersByFilesErrors, a_disk_that_is_full_at_any_byte)
{
  const std::string grid = (folder / "G").string();
  const Words more = {"grid", "0", "4", "bins", "12", "write_grid", "10", grid};
  begin({"a"}, more);
  put("b", header() + hill(1.0) + hill(1.1));
  const Words files = {journal_of("a"), file_of("a"), grid};
  std::optional<ArchiveParts> parts;
  const auto run_all = [&] {
    std::string error = error_of_begin(make("a", more));
    if (error.empty()) error = error_of_run("a", 0, 12);
    if (error.empty()) parts = saved("a");
    return error.empty() ? error_of_run("a", 12, 22) : error;
  };
  const auto contents = [&] {
    Words result;
    for (const auto &file : files) result.push_back(fs::exists(file) ? content(file) : "");
    return result;
  };
  ASSERT_EQ(run_all(), "");
  const Words expected = contents();
  const std::string in_folder = "make room, or allow writing, in its folder, and ",
                    from_restart = "continue from the last restart file",
                    h = "cannot write hills file H.a: File too large - ";
  std::set<std::string> errors;
  const std::size_t longest = std::max(expected[0].size(), expected[2].size());
  ASSERT_GT(expected[2].size(), expected[0].size());
  for (std::size_t size = 0; size < longest; size += 5) {
    jobs.clear();
    for (const auto &name : fs::directory_iterator(folder))
      if (name.path() != shared) fs::remove(name.path());
    fs::remove(file_of("a"));
    parts.reset();
    std::string error;
    {
      const FullDisk full(size);
      error = run_all();
    }
    errors.insert(error);
    jobs.clear();
    if (parts) {
      if (lines(journal_of("a")).size() > 4) {    // later hills must be moved
        Job &job = make("a", more);
        auto copy = *parts;
        job.bias->load(copy);
        const Words before = contents();
        const FullDisk full(20);
        EXPECT_EQ(error_of_begin(job, true),
                  "cannot write bck.0.H.a: File too large - H.a is unchanged; " + in_folder +
                      "start the run again");
        EXPECT_EQ(contents(), before);
        EXPECT_FALSE(fs::exists(folder / "bck.0.H.a"));
      }
      jobs.clear();
      restart("a", *parts, more);
      run({"a"}, 12, 22);
    } else
      EXPECT_EQ(run_all(), "");
    EXPECT_EQ(contents(), expected) << size;
  }
  EXPECT_EQ(
      errors,
      (std::set<std::string>{h + in_folder + "start the run again",
                             h + "it has all hills before this one; make room, and " + from_restart,
                             "cannot write G: File too large - all hills are in H.a; " + in_folder +
                                 from_restart}));
}

// A new run on a full disk leaves those of an earlier one.
TEST_F(WalkersByFilesErrors, earlier_files_get_their_names_back)
{
  begin({"a"});
  run({"a"}, 0, 12);
  const auto error = [](const std::string &file) {
    return "cannot write hills file " + file +
        ": File too large - make room, or allow writing, in its folder, and start the run again";
  };
  const std::string journal = content(journal_of("a")), own = content(file_of("a"));
  jobs.clear();
  {
    const FullDisk full(50);
    EXPECT_EQ(error_of_begin(make("a")), error("H.a"));
    EXPECT_EQ(content(journal_of("a")), journal);
  }
  fs::remove(journal_of("a"));
  {
    const FullDisk full(50);
    EXPECT_EQ(error_of_begin(make("a")), error("H.a"));
    EXPECT_FALSE(fs::exists(journal_of("a")));
  }
  fs::create_symlink("/dev/null", journal_of("a"));
  EXPECT_EQ(error_of_begin(make("a")), "");
  const FullDisk full(50);
  EXPECT_EQ(error_of_run("a", 0, 7), error("S/a.w"));
  EXPECT_EQ(content(file_of("a")), own);
  EXPECT_EQ(std::distance(fs::directory_iterator(shared), fs::directory_iterator()), 1);
}

// A process that goes on after an error would lose the hills that were read.
TEST_F(WalkersByFilesErrors, no_step_after_a_write_that_failed)
{
  begin({"a"});
  run({"a"}, 0, 7);
  const auto parts = saved("a");
  const std::string before = content(journal_of("a"));
  put("b", header() + hill(1.0) + hill(1.1) + hill(1.2));
  for (const std::size_t room : {5, 30, 80}) {    // within the line that names b, and two hills
    std::string message;
    {
      const FullDisk full(before.size() + room);
      message = error_of_run("a", 9, 10);
    }
    EXPECT_EQ(
        message,
        "cannot write hills file H.a: File too large - it has all hills before this one; make "
        "room, and continue from the last restart file");
    EXPECT_EQ(error_of_run("a", 10, 11), message);
    restart("a", parts);
    EXPECT_EQ(centers(journal_of("a")), of({{'a', 5}}));
  }
  run({"a"}, 7, 12);
  EXPECT_EQ(centers(journal_of("a"), 1), "1.000000 1.100000 1.200000 ");
  EXPECT_EQ(centers(journal_of("a"), 0), of({{'a', 5}, {'a', 10}}));
  expect_sum_of_journal("a");
}

// A run that is killed between the writes to its two files
TEST_F(WalkersByFilesErrors, a_hill_that_only_the_journal_has)
{
  begin({"a"});
  run({"a"}, 0, 12);
  const std::string two = content(file_of("a"));
  jobs.clear();
  std::ofstream(file_of("a"), std::ios::binary)
      << two.substr(0, two.rfind("\n ") + 5);    // half a line
  begin({"a"}, {"append", "yes"});
  EXPECT_EQ(content(file_of("a")), two);
  // And one that only the file has, as after a restart
  put("a", hill(3.0), true);
  jobs.clear();
  begin({"a"}, {"append", "yes"});
  EXPECT_EQ(content(file_of("a")), two);
  EXPECT_EQ(jobs["a"].messages.back(),
            "1 hills of S/a.w that are later than those of this run are now in S/bck.0.a.w");
}

TEST_F(WalkersByFilesErrors, files_that_do_not_fit)
{
  begin({"a", "b"});
  run({"a", "b"}, 0, 22);
  const auto parts = saved("b");
  const std::string journal = content(journal_of("b")), own = content(file_of("b"));
  jobs.clear();
  const auto error = [&](const std::string &name) {
    auto copy = parts;
    Job &job = make(name);
    try {
      job.bias->load(copy);
    } catch (const std::runtime_error &e) {
      return shortened(e.what());
    }
    return error_of_begin(job, true);
  };
  EXPECT_EQ(error("c"),
            "the restart file is that of walker b, not of c - give that name, or use another fix "
            "ID for a new walker");
  const auto replaced = [](std::string text, const std::string &from, const std::string &to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const auto with = [&](const std::string &text) {
    std::ofstream(journal_of("b"), std::ios::binary) << text;
    const std::string message = error("b");
    EXPECT_EQ(content(journal_of("b")), text);
    EXPECT_EQ(content(file_of("b")), own);
    return message;
  };
  EXPECT_EQ(with(replaced(journal, "-1 1\n", "-1 0\n")),
            "hills file H.b has other numbers of hills of the walkers than the run that wrote the "
            "restart file, which had 4 of walker b - give the hills file of that run");
  EXPECT_EQ(with(replaced(journal, "walker 0 is b", "walker 0 is c")),
            "hills file H.b is that of walker c, not of b - give that name, or another file for a "
            "new walker");
  EXPECT_EQ(with(replaced(journal, "walker 1 is a", "walker 1 is b")),
            "hills file H.b, line 8: it names walker b twice - repair it, or use a backup of it");
  EXPECT_EQ(with(replaced(journal, "# walker 1 is a\n", "")),
            "hills file H.b, line 8: no line before it names walker 1 - repair it, or use a backup "
            "of it");
  EXPECT_EQ(with(replaced(journal, "# walker 0 is b\n", "")),
            "hills file H.b, line 6: no line before it names a walker, as in a file of walkers "
            "partitions - use walkers partitions, or give another file");
  std::ofstream(journal_of("b"), std::ios::binary) << journal;
  put("b", replaced(own, std::to_string(position('b', 10)).substr(0, 5), "3.123"));
  EXPECT_EQ(error("b"),
            "hill 2 of S/b.w is not that of this walker in hills file H.b - move the file to "
            "another folder, and it is written again");
  put("b", own);
  EXPECT_EQ(error("b"), "");

  // A command without walkers, and a restart file without them
  auto copy = parts;
  const auto alone = make_bias({"metad", "sigma", "0.5", "height", "1", "pace", "5", "file", path},
                               context_of_s());
  try {
    alone->load(copy);
    ADD_FAILURE();
  } catch (const std::runtime_error &e) {
    EXPECT_EQ(std::string(e.what()),
              "the restart file is that of a run with walkers files - give these keywords, or use "
              "another fix ID");
  }
}

// The text of the journal is lost, but not its hills and their walkers.
TEST_F(WalkersByFilesErrors, a_journal_changed_by_another_program)
{
  begin({"a", "b"});
  run({"a", "b"}, 0, 22);
  const std::string before = centers(journal_of("b")), others = centers(journal_of("b"), 1);
  fs::resize_file(journal_of("b"), 5);
  EXPECT_NE(error_of_run("b", 24, 25).find("all its hills are in bck.0.H.b, with time 0"),
            std::string::npos);
  jobs.erase("b");
  fs::rename(folder / "bck.0.H.b", journal_of("b"));
  make("b", {"append", "yes"}).bias->begin({});
  EXPECT_EQ(centers(journal_of("b")), before + "");
  EXPECT_EQ(centers(journal_of("b"), 1), others);
  expect_sum_of_journal("b");
}

}    // namespace
