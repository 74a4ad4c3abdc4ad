// Part of GPUCOORD, GPL-2.0. The words of a user after the kind of a bias: keywords and their
// values.

#ifndef GPUCOORD_BIAS_WORDS_H
#define GPUCOORD_BIAS_WORDS_H

#include "gpucoord/bias.h"
#include "gpucoord/grid_axis.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpucoord {

// The words of a bias command. All errors are ParseError.
class GPUCOORD_TEST_API Words {
 public:
  // words: see make_bias()
  Words(std::vector<std::string> words, const BiasContext &);

  struct Keyword {
    std::string name;
    // Number of values that may be any word, such as names of files. -1: values must be numbers or
    // variables, so that a misspelled keyword is not taken for a value.
    int nwords = -1;
    // With this word as the first value, the number of values is another one. The only other first
    // value is 'usual'.
    std::string special;
    int nwords_of_special = -1;
    std::string usual;
    std::string values_of_special;    // for messages: " DIR NAME N"
    Keyword(const char *name_in, int nwords_in = -1, const char *special_in = "",
            int nwords_of_special_in = -1, const char *usual_in = "",
            const char *values_of_special_in = "") :
        name(name_in),
        nwords(nwords_in), special(special_in), nwords_of_special(nwords_of_special_in),
        usual(usual_in), values_of_special(values_of_special_in)
    {
    }
  };
  // Reads the keywords of a kind, and keyword stride, which all kinds have.
  void parse(std::vector<Keyword> known);

  const std::string &kind() const { return words[0]; }
  const BiasContext &context() const { return surroundings; }
  int nvariables() const { return static_cast<int>(surroundings.names.size()); }
  int stride() const { return every; }

  bool has(const std::string &keyword) const { return given.count(keyword) > 0; }
  // Returns whether this word is the first value of a keyword.
  bool has_first(const std::string &keyword, const std::string &word) const;
  // Returns the values of a keyword. It must be present with 'count' values. which: explains the
  // count in an error
  const std::vector<std::string> &values(const std::string &keyword, std::size_t count,
                                         const std::string &which) const;
  // Returns one number for each variable.
  std::vector<double> reals(const std::string &keyword) const;
  // Returns the number of a keyword that has one number.
  double real(const std::string &keyword) const;
  // Returns two numbers for each variable. The first one must be less than the second.
  std::vector<Interval> intervals(const std::string &keyword) const;
  double real(const std::string &keyword, int value) const;
  // The same, which must be > 0.
  double above_0(const std::string &keyword) const;
  double above_0(const std::string &keyword, int value) const;
  // Returns an integer from 'minimum' to 2^31 - 1. unit: "a number of steps"
  int integer(const std::string &keyword, int value, int minimum, const std::string &unit) const;
  // Returns the value of a keyword, which must be one of these words.
  std::string choice(const std::string &keyword, const std::vector<std::string> &known) const;
  // Returns the value of a keyword yes or no, or 'otherwise' if it is not given.
  bool yes_no(const std::string &keyword, bool otherwise) const;
  // Returns an explanation of a count for errors: ", one for the variable c_cv".
  std::string for_each_variable(const std::string &what) const;

  // Throws an error that points at a value, at the keyword itself, or at the kind. The message is
  // the command, the kind and this text, which may begin with a colon.
  [[noreturn]] void fail(const std::string &keyword, int value, const std::string &text) const;
  [[noreturn]] void fail(const std::string &keyword, const std::string &text) const;
  [[noreturn]] void fail(const std::string &text) const;

 private:
  struct Given {
    int position = 0;    // index of the keyword in words
    std::vector<std::string> values;
  };
  const Given &need(const std::string &keyword) const;
  [[noreturn]] void fail_at(int position, const std::string &text) const;

  const std::vector<std::string> words;
  const BiasContext &surroundings;
  std::map<std::string, Given> given;
  int every = 1;
};

// Returns the name of the caller's variable to which a value v_NAME refers, or "".
std::string variable_of(const std::string &value);

}    // namespace gpucoord

#endif
