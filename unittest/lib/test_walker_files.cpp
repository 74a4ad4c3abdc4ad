// Part of GPUCOORD, GPL-2.0. Walkers in independent jobs, which share hills by files that jobs,
// users and file systems change. What is expected of V is the sum of hills as the documentation
// writes it.

#include "walkers_by_files.h"

namespace {

TEST_F(WalkersByFiles, hills_of_the_others_by_their_names)
{
  for (const Words &grid : {Words(), Words{"grid", "0", "4", "bins", "40"}}) {
    fs::remove_all(shared);
    begin({"a", "b", "c"}, grid);
    run({"a", "b", "c"}, 0, 23);
    // At step 10, c has not yet added its hill of that step when a and b read.
    EXPECT_EQ(centers(journal_of("a")),
              of({{'a', 5},
                  {'b', 5},
                  {'c', 5},
                  {'a', 10},
                  {'a', 15},
                  {'b', 10},
                  {'b', 15},
                  {'c', 10},
                  {'c', 15},
                  {'a', 20}}));
    EXPECT_EQ(centers(journal_of("b")),
              of({{'b', 5},
                  {'a', 5},
                  {'a', 10},
                  {'c', 5},
                  {'b', 10},
                  {'b', 15},
                  {'a', 15},
                  {'a', 20},
                  {'c', 10},
                  {'c', 15},
                  {'b', 20}}));
    EXPECT_EQ(centers(file_of("b")), of({{'b', 5}, {'b', 10}, {'b', 15}, {'b', 20}}));
    EXPECT_EQ(centers(journal_of("b"), 0), centers(file_of("b")));
    EXPECT_EQ(centers(journal_of("b"), 2), of({{'c', 5}, {'c', 10}, {'c', 15}}));
    for (const std::string name : {"a", "b", "c"}) {
      const auto &outputs = jobs[name].bias->outputs();
      EXPECT_EQ(outputs.back().name, "number of walkers");
      EXPECT_EQ(outputs.back().value(), 3.0);
      EXPECT_EQ(outputs[2].value(), position(name[0], 20));
      if (grid.empty()) expect_sum_of_journal(name);
    }
    EXPECT_EQ(jobs["b"].messages,
              (Words{"adds 2 hills of walker a in S/a.w, and its later ones",
                     "adds 1 hill of walker c in S/c.w, and its later ones"}));
    EXPECT_NE(content(journal_of("b")).find("height biasf clock\n"), std::string::npos);
    EXPECT_NE(content(journal_of("b")).find("\n# walker 0 is b\n"), std::string::npos);
    EXPECT_NE(content(journal_of("b")).find("\n# walker 2 is c\n"), std::string::npos);
    EXPECT_EQ(content(file_of("b")).find("clock"), std::string::npos);
    EXPECT_NE(
        shortened(jobs["b"].bias->formula(0))
            .find("\n  walkers: those in other files S/*.w, read every 10 steps; hills of this "
                  "one are in S/b.w\n"),
        std::string::npos);
    const auto written = jobs["b"].bias->written_files();
    ASSERT_EQ(written.size(), 2u);
    EXPECT_EQ(written[1].path, file_of("b"));
    EXPECT_FALSE(jobs["b"].bias->has_walkers());    // nobody waits for it
    jobs.clear();
    for (const std::string name : {"a", "b", "c"}) fs::remove(journal_of(name));
  }
}

// A GPU evaluates a grid, but the file of the walker begins on the host.
TEST_F(WalkersByFiles, the_host_is_needed_for_the_first_evaluation)
{
  Job &job = make("a", {"grid", "0", "4", "bins", "40"});
  Step setup;
  setup.phase = Step::Phase::SETUP;
  job.bias->begin({});
  EXPECT_FALSE(fs::exists(file_of("a")));
  EXPECT_TRUE(job.bias->needs_host(setup));
  at(*job.bias, 2.0);
  EXPECT_TRUE(fs::exists(file_of("a")));
  EXPECT_FALSE(job.bias->needs_host(setup));
}

// Alone, it has the bits of a bias without the keyword.
TEST_F(WalkersByFiles, one_walker)
{
  Job &job = make("a", {"temp", "1", "biasfactor", "5"});
  job.bias->begin({});
  run({"a"}, 0, 43);
  Job &alone = jobs["alone"];
  alone.bias = make_bias({"metad", "sigma", "0.5", "height", "1", "pace", "5", "temp", "1",
                          "biasfactor", "5", "file", path},
                         context_of_s());
  alone.bias->begin({});
  run({"alone"}, 0, 43);
  EXPECT_EQ(alone.bias->state().energy, job.bias->state().energy);
  EXPECT_EQ(alone.bias->state().work, job.bias->state().work);
  EXPECT_EQ(content(path), content(file_of("a")));
}

// V of all three after the restart, and the files, are those of runs that were not interrupted.
TEST_F(WalkersByFiles, restart_of_all)
{
  const Words names = {"a", "b", "c"};
  for (const Words &more : {Words(), Words{"grid", "1.8", "2.2", "bins", "4"},
                            Words{"temp", "1", "biasfactor", "5", "limits", "1.2", "2.9"}}) {
    fs::remove_all(shared);
    for (const auto &name : names) fs::remove(journal_of(name));
    begin(names, more);
    run(names, 0, 22);
    std::map<std::string, ArchiveParts> parts;
    for (const auto &name : names) parts[name] = saved(name);
    run(names, 22, 57);
    std::map<std::string, BiasState> whole;
    std::map<std::string, std::string> files;
    for (const auto &name : names) {
      whole[name] = jobs[name].bias->state();
      files[name] = content(journal_of(name)) + content(file_of(name));
    }
    jobs.clear();
    for (const auto &name : names) restart(name, parts[name], more);
    run(names, 22, 57);
    for (const auto &name : names) {
      EXPECT_EQ(content(journal_of(name)) + content(file_of(name)), files[name]);
      EXPECT_EQ(jobs[name].bias->state().energy, whole[name].energy);
      EXPECT_EQ(jobs[name].bias->state().work, whole[name].work);
      EXPECT_EQ(jobs[name].bias->state().dVdS, whole[name].dVdS);
      EXPECT_EQ(jobs[name].bias->state().own, whole[name].own);
      EXPECT_EQ(
          jobs[name].messages[2].find(" hills of S/" + name +
                                      ".w that are later than those of this run are now in S/bck."),
          1u);
    }
    jobs.clear();
  }
}

// Files of walkers that have ended are still read.
TEST_F(WalkersByFiles, restart_of_one_against_an_uninterrupted_run)
{
  begin({"a", "b"});
  run({"b"}, 0, 100);
  run({"a"}, 0, 12);
  const auto parts = saved("a");
  run({"a"}, 12, 48);
  const auto whole = jobs["a"].bias->state();
  const std::string journal = content(journal_of("a"));
  restart("a", parts);
  EXPECT_EQ(centers(journal_of("a"), 1), centers(file_of("b")));
  run({"a"}, 12, 48);
  EXPECT_EQ(content(journal_of("a")), journal);
  EXPECT_EQ(jobs["a"].bias->state().energy, whole.energy);
  EXPECT_EQ(jobs["a"].bias->state().own, whole.own);
}

// Walker a goes back to step 12. The others keep its hills of later steps.
TEST_F(WalkersByFiles, a_walker_that_goes_back)
{
  begin({"a", "b"});
  run({"a", "b"}, 0, 12);
  const auto parts = saved("a");
  run({"a", "b"}, 12, 42);
  const std::string before = centers(journal_of("b"), 1);
  EXPECT_EQ(
      before,
      of({{'a', 5}, {'a', 10}, {'a', 15}, {'a', 20}, {'a', 25}, {'a', 30}, {'a', 35}, {'a', 40}}));
  restart("a", parts);
  jobs["b"].messages.clear();
  run({"b"}, 42, 70);    // three reads
  EXPECT_EQ(
      jobs["b"].messages,
      (Words{
          "6 hills of walker a that act in this bias are not in S/a.w, as after its restart from "
          "an earlier step - they remain, and those that replace them there are left out"}));
  const auto other = [](char name, int step) {
    return position(name, step) + 0.1;
  };
  run({"a"}, 12, 38, other);    // 5 of 6
  run({"b"}, 70, 80);
  EXPECT_EQ(centers(journal_of("b"), 1), before);
  run({"a"}, 38, 47, other);
  run({"b"}, 80, 90);
  EXPECT_EQ(centers(journal_of("b"), 1), before + std::to_string(other('a', 45)) + " ");
  expect_sum_of_journal("b");
  // A restart of b knows the same hills.
  const auto of_b = saved("b");
  const auto v = at(*jobs["b"].bias, 2.1);
  restart("b", of_b);
  EXPECT_EQ(at(*jobs["b"].bias, 2.1), v);
  run({"a"}, 47, 52, other);
  run({"b"}, 90, 100);
  EXPECT_EQ(centers(journal_of("b"), 1),
            before + std::to_string(other('a', 45)) + " " + std::to_string(other('a', 50)) + " ");
  EXPECT_EQ(jobs["b"].messages.back().rfind("6 hills of walker a that act", 0), 0u);
}

// It goes back and on between two reads, so that its file has not become shorter.
TEST_F(WalkersByFiles, a_walker_that_goes_back_and_on)
{
  begin({"a", "b"});
  run({"a", "b"}, 0, 12);
  const auto parts = saved("a");
  run({"a", "b"}, 12, 32);
  const std::string before = centers(journal_of("b"), 1);
  restart("a", parts);
  const auto other = [](char name, int step) {
    return position(name, step) + 0.1;
  };
  run({"a"}, 12, 37, other);
  jobs["b"].messages.clear();
  run({"b"}, 32, 42);
  EXPECT_EQ(centers(journal_of("b"), 1), before + std::to_string(other('a', 35)) + " ");
  ASSERT_EQ(jobs["b"].messages.size(), 1u);
  EXPECT_EQ(jobs["b"].messages[0].rfind("4 hills of walker a that act in this bias", 0), 0u);
}

TEST_F(WalkersByFiles, a_late_walker)
{
  fs::create_directory(shared);
  std::ofstream(shared + "/notes.txt") << "x\n";
  fs::create_directory(shared + "/old.w");
  std::ofstream(shared + "/bck.0.a.w") << "not read\n";
  begin({"a"});
  run({"a"}, 0, 22);
  begin({"b"});
  EXPECT_EQ(centers(journal_of("b")), centers(file_of("a")));
  expect_sum_of_journal("b");
  EXPECT_EQ(jobs["b"].bias->outputs()[4].value(), 0.0);    // no work yet
  // A restart before any hill of its own
  const auto parts = saved("b");
  restart("b", parts);
  expect_sum_of_journal("b");
  run({"b"}, 0, 7);
  run({"a"}, 22, 30);
  EXPECT_EQ(centers(journal_of("a")),
            of({{'a', 5}, {'a', 10}, {'a', 15}, {'a', 20}, {'a', 25}, {'b', 5}, {'a', 30}}));
  expect_no_messages({"a"});
  // With append yes, a new run takes all.
  make("b", {"append", "yes"}).bias->begin({});
  EXPECT_EQ(centers(journal_of("b")),
            of({{'a', 5}, {'a', 10}, {'a', 15}, {'a', 20}, {'b', 5}, {'a', 25}, {'a', 30}}));
  expect_sum_of_journal("b");
}

TEST_F(WalkersByFiles, a_second_set_of_jobs)
{
  begin({"a", "b"});
  run({"a", "b"}, 0, 22);
  jobs.clear();
  begin({"a", "b"});
  EXPECT_EQ(centers(journal_of("a")), of({{'b', 5}, {'b', 10}, {'b', 15}, {'b', 20}}));
  const Words expected = {
      "hills file H.a of an earlier run is now bck.0.H.a",
      "adds 4 hills of walker b in S/b.w, and its later ones",
      "hills file S/a.w of an earlier run is now S/bck.0.a.w",
      "4 hills of other walkers act from the start, but those of this walker do not: they are in "
      "S/bck.0.a.w - use another folder for a new set of jobs, or append yes to continue"};
  EXPECT_EQ(jobs["a"].messages, expected);
  EXPECT_EQ(centers(journal_of("b")), "");
  EXPECT_EQ(jobs["b"].messages.size(), 2u);
}

// A rerun reads nobody, and changes nothing in the folder. A run after it does so.
TEST_F(WalkersByFiles, rerun)
{
  begin({"a", "b"});
  run({"a", "b"}, 0, 22);
  const std::string own = content(file_of("a")), before = content(journal_of("a"));
  jobs.clear();
  put("a", hill(3.0), true);
  put("b", hill(3.5), true);
  Job &job = make("a", {"append", "yes"});
  EXPECT_EQ(error_of_begin(job, false, true), "");
  EXPECT_EQ(job.bias->warning_of_rerun().find("rerun adds no hills, V is that of the 7 hills in "),
            0u);
  expect_sum_of_journal("a");
  EXPECT_EQ(content(journal_of("a")), before);
  EXPECT_EQ(content(file_of("a")), own + hill(3.0));
  run({"a"}, 22, 25);
  EXPECT_EQ(content(file_of("a")).substr(0, own.size()), own);
  EXPECT_EQ(centers(file_of("a")), of({{'a', 5}, {'a', 10}, {'a', 15}, {'a', 20}, {'a', 25}}));
  EXPECT_EQ(content(journal_of("a")).substr(0, before.size()), before);
  EXPECT_EQ(centers(journal_of("a"), 1),
            of({{'b', 5}, {'b', 10}, {'b', 15}, {'b', 20}}) + "3.500000 ");
  expect_sum_of_journal("a");
  jobs.clear();

  Job &fresh = make("a");
  EXPECT_EQ(error_of_begin(fresh, false, true), "");
  EXPECT_NE(fresh.bias->warning_of_rerun().find("give append yes"), std::string::npos);
  EXPECT_EQ(centers(journal_of("a")), "");
  EXPECT_FALSE(fs::exists(shared + "/bck.1.a.w"));
}

// A hills file of an earlier run is that of one more walker.
TEST_F(WalkersByFiles, hills_of_an_earlier_run)
{
  write(3);
  std::string text = content(path);
  for (const auto &[from, to] : {std::pair("LAMMPS", "program"), {"units test", "units none"}})
    text.replace(text.find(from), std::string(from).size(), to);
  fs::create_directory(shared);
  put("old", text);
  begin({"a"});
  const auto found = lines(journal_of("a"));
  ASSERT_EQ(found.size(), 3u);
  for (int h = 0; h < 3; ++h) EXPECT_EQ(found[h].center, hills(3)[h].center[0]);
}

TEST_F(WalkersByFiles, half_lines)
{
  begin({"a"});
  const std::string begin = header() + hill(1.0), line = hill(1.5);
  std::string expected = "1.000000 ";
  put("z", "");
  int step = 0;
  for (std::size_t size = 1; size < begin.size(); size += 7) {
    put("z", begin.substr(0, size));
    run({"a"}, step, step + 10);
    step += 10;
    EXPECT_EQ(centers(journal_of("a"), 1), "") << size;
  }
  put("z", begin);
  for (std::size_t size = 1; size < line.size(); ++size) {
    put("z", line.substr(0, size), true);
    run({"a"}, step, step + 10);
    step += 10;
    EXPECT_EQ(centers(journal_of("a"), 1), expected);
    put("z", line.substr(size), true);
    run({"a"}, step, step + 10);
    step += 10;
    EXPECT_EQ(centers(journal_of("a"), 1), expected += "1.500000 ");
  }
  expect_sum_of_journal("a");
}

// A file system on a network may show the new size before the text, or an older file again.
TEST_F(WalkersByFiles, a_file_system_that_lags)
{
  begin({"a"});
  const std::string one = header() + hill(1.0), two = one + hill(1.5) + hill(1.6),
                    three = two + hill(1.7);
  put("z", one);
  run({"a"}, 0, 10);
  put("z", one + std::string(two.size() - one.size(), '\0'));
  run({"a"}, 10, 20);
  put("z", one + hill(1.5) + std::string(hill(1.6).size() - 1, '\0') + "\n");
  run({"a"}, 20, 30);
  EXPECT_EQ(centers(journal_of("a"), 1), "1.000000 1.500000 ");
  put("z", two);
  run({"a"}, 30, 40);
  EXPECT_EQ(centers(journal_of("a"), 1), "1.000000 1.500000 1.600000 ");
  expect_no_messages({"a"});
  put("z", one);
  run({"a"}, 40, 50);
  put("z", three);
  run({"a"}, 50, 60);
  EXPECT_EQ(centers(journal_of("a"), 1), "1.000000 1.500000 1.600000 1.700000 ");
  EXPECT_EQ(jobs["a"].messages.back(),
            "2 hills of walker z that act in this bias are not in S/z.w, as after its restart from "
            "an earlier step - they remain, and those that replace them there are left out");
  expect_sum_of_journal("a");
}

TEST_F(WalkersByFiles, shrunk_replaced_and_deleted_files)
{
  begin({"a"});
  const std::string three = header() + hill(1.0) + hill(1.1) + hill(1.2);
  const std::string expected = "1.000000 1.100000 1.200000 ";
  put("z", three);
  run({"a"}, 0, 10);
  Words &messages = jobs["a"].messages;
  const auto last = [&messages] {
    const std::string text = messages.empty() ? "" : messages.back();
    messages.clear();
    return text.substr(0, text.find(" that"));
  };
  messages.clear();
  put("z", "");
  run({"a"}, 10, 20);
  EXPECT_EQ(last(), "3 hills of walker z");
  put("z", header() + hill(3.0));
  run({"a"}, 20, 30);
  EXPECT_EQ(messages, Words());    // once
  put("z", hill(3.1) + hill(3.2) + hill(3.3), true);
  run({"a"}, 30, 40);
  EXPECT_EQ(centers(journal_of("a"), 1), expected + "3.300000 ");
  EXPECT_EQ(messages, Words());
  // The same lines in a new file
  const std::string text = content(file_of("z"));
  fs::remove(file_of("z"));
  run({"a"}, 40, 50);
  put("z", text + hill(3.4));
  run({"a"}, 50, 60);
  EXPECT_EQ(centers(journal_of("a"), 1), expected + "3.300000 3.400000 ");
  EXPECT_EQ(messages, Words());
  // Another file, which is longer
  fs::remove(file_of("z"));
  put("z", text + hill(3.5) + hill(3.6) + hill(3.7));
  run({"a"}, 60, 70);
  EXPECT_EQ(centers(journal_of("a"), 1), expected + "3.300000 3.400000 3.600000 3.700000 ");
  EXPECT_EQ(last(), "1 hills of walker z");
  fs::remove_all(file_of("z"));
  run({"a"}, 70, 140);
  EXPECT_EQ(messages,
            (Words{"no new hill of walker z in 6 reads of S/z.w: No such file or directory - see "
                   "whether its job still runs, and whether this machine sees what it writes"}));
  expect_sum_of_journal("a");
}

TEST_F(WalkersByFiles, a_walker_that_is_silent)
{
  const auto warning = [this](int n) {
    int count = 0;
    for (const auto &text : jobs["a"].messages)
      if (text.rfind("no new hill of walker z in 6 reads of S/z.w", 0) == 0) ++count;
    EXPECT_EQ(count, n);
    return jobs["a"].messages.empty() ? "" : jobs["a"].messages.back();
  };
  begin({"a"});
  put("z", header() + hill(1.0));
  run({"a"}, 0, 60);    // one read with a hill, and 5 without
  warning(0);
  put("z", hill(1.1), true);
  run({"a"}, 60, 120);
  warning(0);
  put("z", " 0.5 1.2 0", true);
  run({"a"}, 120, 130);
  EXPECT_EQ(warning(1),
            "no new hill of walker z in 6 reads of S/z.w, whose last line is incomplete - see "
            "whether its job still runs, and whether this machine sees what it writes");
  run({"a"}, 130, 300);
  warning(1);
}

// Files of walkers that have ended, and of one that is slower
TEST_F(WalkersByFiles, walkers_that_may_be_silent)
{
  fs::create_directory(shared);
  begin({"a"});
  put("old", header() + hill(1.0));
  make("b", {}, PACE).bias->begin({});
  for (int k = 0; k < 5; ++k) {
    put("a", hill(1.0), true);
    run({"b"}, 60 * k, 60 * k + 60);    // 11 reads without a new hill
  }
  expect_no_messages({"b"});
  EXPECT_EQ(lines(journal_of("b")).size(), 5u + 1 + 5 * 12);
}

// Nothing of it is added before the file is repaired. Others go on.
TEST_F(WalkersByFiles, damaged_and_other_files)
{
  periods = {{0.0, 5.0}};
  begin({"a"});
  const std::string good = header() + hill(1.0), more = hill(1.1);
  put("b", good);
  run({"a"}, 0, 10);
  Words &messages = jobs["a"].messages;
  const std::string left_out = "; new hills in it are left out until it can be read";
  const std::string repair = " - repair it, or move the file to another folder";
  const std::string same =
      " - use the same variables, periods and units for all walkers of a folder";
  int step = 10;
  std::string of_b = "1.000000 ";
  const auto with = [&](const std::string &text) {
    messages.clear();
    put("b", more, true);
    put("z", "");    // so that it is a new error
    run({"a"}, step, step + 10);
    put("z", text);
    run({"a"}, step + 10, step + 30);
    step += 30;
    EXPECT_EQ(messages.size(), 1u) << text;
    EXPECT_EQ(centers(journal_of("a"), 1), of_b += "1.100000 ");
    const std::string begins = "hills file S/z.w of walker z, ", message = messages.back();
    EXPECT_EQ(message.substr(0, begins.size()), begins);
    const auto end = message.find(left_out);
    EXPECT_EQ(message.size() - end, left_out.size());
    EXPECT_EQ(centers(journal_of("a"), 2), "");
    return message.substr(begins.size(), end - begins.size());
  };
  const auto replaced = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(with(good + hill(1.1, " 0.5 1\n")), "line 9: 4 columns in place of 5" + repair);
  EXPECT_EQ(with(good + hill(1.1, " 0.5 x -1\n")), "line 9: 'x' is not a number" + repair);
  EXPECT_EQ(with(good + hill(1.1, " 0 1 -1\n")), "line 9: sigma 0 is not above 0" + repair);
  EXPECT_EQ(with(good + hill(1.1, " \x01 1 -1\n")),
            "line 9: it has bytes that are not text" + repair);
  EXPECT_EQ(
      with(good + hill(1.1, " 2 1 -1\n")),
      "line 9: sigma 2 is above 0.707107, so that the hill overlaps its own image in the next "
      "period" +
          same);
  EXPECT_EQ(with(replaced("time s sigma_s", "time t sigma_t")),
            "line 1: it has the columns 'time t sigma_t height biasf', but this fix needs 'time s "
            "sigma_s height biasf'" +
                same);
  EXPECT_EQ(with(replaced("max_s 5", "max_s 6")),
            "line 5: max_s is 6, but the variable has 5" + same);
  EXPECT_EQ(with(replaced("stretched-gaussian", "gaussian")),
            "line 3: kerneltype is gaussian, but only stretched-gaussian is known" + same);
  EXPECT_EQ(with(replaced("units none", "units lj")),
            "line 6: its times and heights are in units lj, but this simulation has units none" +
                same);
  EXPECT_EQ(
      with(replaced("format 1", "format 2")),
      "line 7: it has format 2, but this version of GPUCOORD needs format 1 - use the same version "
      "of GPUCOORD for all walkers");
  EXPECT_EQ(with(hill(1.0)),
            "line 1: a hill comes before the line '#! FIELDS time s sigma_s height biasf'" + same);
  put("z", good + more);
  run({"a"}, step, step + 10);
  EXPECT_EQ(centers(journal_of("a"), 2), "1.000000 1.100000 ");
  EXPECT_EQ(lines(file_of("a")).size(), static_cast<std::size_t>((step + 10) / PACE));
}

// Heights of a file are converted with its biasfactor.
TEST_F(WalkersByFiles, another_biasfactor)
{
  begin({"a"}, {"temp", "1", "biasfactor", "5"});
  put("z", header() + hill(1.0, " 0.5 3 3\n"));
  run({"a"}, 0, 10);
  EXPECT_EQ(jobs["a"].messages,
            (Words{"adds 1 hill of walker z in S/z.w, and its later ones",
                   "hills file S/z.w has hills with biasfactor 3, but the fix has biasfactor 5 - "
                   "heights are converted with the biasfactor of the file"}));
  auto hills = lines(journal_of("a"));
  ASSERT_EQ(hills.size(), 3u);
  hills[1].height *= 2.0 / 3.0;
  hills[0].height *= 4.0 / 5.0;
  hills[2].height *= 4.0 / 5.0;
  EXPECT_NEAR(at(*jobs["a"].bias, 1.1), sum_of_hills(hills, 1.1), 1e-12);
}

TEST_F(WalkersByFiles, the_grid_grows_to_hills_of_others)
{
  begin({"a"}, {"grid", "0", "4", "bins", "40"});
  put("z", header() + hill(9.0));
  run({"a"}, 0, 12);
  const auto v_on_grid = [this](double s) {
    return at(*jobs["a"].bias, s);
  };
  EXPECT_NEAR(v_on_grid(9.0), 1.0, 1e-12);
  put("z", hill(1e9), true);
  run({"a"}, 12, 20);
  EXPECT_EQ(centers(journal_of("a"), 1), "9.000000 ");
  EXPECT_EQ(centers(file_of("a")), of({{'a', 5}, {'a', 10}, {'a', 15}, {'a', 20}}));
  const std::string message = jobs["a"].messages.back();
  EXPECT_EQ(message.rfind("hills file S/z.w of walker z, line 7: the grid cannot grow to a hill at "
                          "s = 1000000000: it would have ",
                          0),
            0u)
      << message;
}

TEST_F(WalkersByFiles, heights_that_are_too_large)
{
  begin({"a"});
  put("y", header() + hill(1.0, " 1e-100 1e150 -1\n"));
  put("z", header() + hill(1.0, " 0.5 1e308 -1\n") + hill(1.0, " 0.5 1e308 -1\n"));
  run({"a"}, 0, 42);
  const std::string end = " is too large - move the file to another folder; new hills in it are "
                          "left out until it can be read";
  const Words expected = {"hills file S/y.w of walker y, line 6: height 1e+150 at sigma 1e-100" +
                              end,
                          "hills file S/z.w of walker z, line 6: height 1e+308 at sigma 0.5" + end};
  EXPECT_EQ(jobs["a"].messages, expected);
  EXPECT_EQ(centers(journal_of("a")), centers(file_of("a")));
  expect_sum_of_journal("a");
}

// As files of PLUMED, for which a run that continues has the same warning.
TEST_F(WalkersByFiles, a_file_without_units)
{
  begin({"a"});
  std::string text = header() + hill(1.0);
  const auto at = text.find("# program units");
  put("z", text.erase(at, text.find('\n', at) + 1 - at));
  run({"a"}, 0, 10);
  put("z", hill(1.1), true);
  run({"a"}, 10, 20);
  EXPECT_EQ(jobs["a"].messages,
            (Words{"hills file S/z.w does not give the units of its heights - they are assumed to "
                   "be in units none",
                   "adds 1 hill of walker z in S/z.w, and its later ones"}));
}

TEST_F(WalkersByFiles, the_guard_is_for_own_hills)
{
  begin({"a"}, {"limits", "5", "6", "max_skip", "100"});
  put("z", header() + hill(1.0));
  run({"a"}, 0, 22);
  EXPECT_EQ(centers(journal_of("a")), "1.000000 ");
  EXPECT_EQ(centers(file_of("a")), "");
  EXPECT_EQ(jobs["a"].bias->outputs().back().value(), 4.0);
  EXPECT_EQ(jobs["a"].bias->outputs()[2].value(), 1.0);    // the last hill
}

// Statistics and the summary at the end of a run are those of its own path.
TEST_F(WalkersByFiles, the_summary_is_for_own_hills)
{
  begin({"a"});
  std::string many = header();
  for (int k = 0; k < 95; ++k) many += hill(1.0 + 0.02 * k);
  put("z", many);
  run({"a"}, 0, 490);
  EXPECT_EQ(lines(journal_of("a")).size(), 95u + 98u);
  EXPECT_EQ(jobs["a"].bias->summary(), "");
  run({"a"}, 490, 500);
  const std::string text = shortened(jobs["a"].bias->summary());
  EXPECT_EQ(text.rfind("100 hills of walker a since step 0, of 195 in H.a, c_s 1", 0), 0u) << text;
}

// A grid file is that of the first hills of the journal.
TEST_F(WalkersByFiles, grid_files)
{
  const std::string grid = (folder / "G").string();
  const Words words = {"grid", "0", "4", "bins", "40", "write_grid", "20", grid};
  begin({"a", "b"}, words);
  run({"a", "b"}, 0, 32);
  const double v = at(*jobs["b"].bias, 2.0);
  Words again = {"grid", "0", "4", "bins", "40", "append", "yes", "read_grid", grid};
  jobs.clear();
  make("b", again).bias->begin({});
  EXPECT_EQ(at(*jobs["b"].bias, 2.0), v);
  EXPECT_EQ(jobs["b"].messages.back(),
            "continues with 12 hills of H.b, 8 of them from grid file G");
}

}    // namespace
