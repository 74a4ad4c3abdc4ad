// Part of GPUCOORD, GPL-2.0. The switching functions that the tests use.

#ifndef GPUCOORD_TEST_SWITCH_CASES_H
#define GPUCOORD_TEST_SWITCH_CASES_H

#include "gpucoord/switching.h"

#include <limits>
#include <ostream>
#include <string>
#include <vector>

struct SwitchCase {
  std::string name;
  gpucoord::SwitchOptions options;    // options for the library
  gpucoord::SwitchOptions formula;    // for closed_forms.h; differs for CUSTOM only
};

inline void PrintTo(const SwitchCase &c, std::ostream *out)
{
  *out << c.name;
}

constexpr double INF = std::numeric_limits<double>::infinity();

inline gpucoord::SwitchOptions rational(double n, double m, double r0, double d0 = 0.0,
                                        double dmax = gpucoord::SwitchOptions::NOT_GIVEN,
                                        bool stretch = true)
{
  gpucoord::SwitchOptions o;
  o.r0 = r0;
  o.d0 = d0;
  o.dmax = dmax;
  o.n = n;
  o.m = m;
  o.stretch = stretch;
  return o;
}

inline gpucoord::SwitchOptions plain(gpucoord::SwitchKind kind, double r0, double d0, double dmax,
                                     bool stretch = true)
{
  gpucoord::SwitchOptions o;
  o.kind = kind;
  o.r0 = r0;
  o.d0 = d0;
  o.dmax = dmax;
  o.stretch = stretch;
  return o;
}

inline gpucoord::SwitchOptions smap(double a, double b, double r0, double d0, double dmax,
                                    bool stretch = true)
{
  gpucoord::SwitchOptions o = plain(gpucoord::SwitchKind::SMAP, r0, d0, dmax, stretch);
  o.a = a;
  o.b = b;
  return o;
}

inline gpucoord::SwitchOptions native(double beta, double lambda, double ref, double dmax,
                                      bool stretch = true, double d0 = 0.0)
{
  gpucoord::SwitchOptions o;
  o.kind = gpucoord::SwitchKind::Q;
  o.beta = beta;
  o.lambda = lambda;
  o.ref = ref;
  o.d0 = d0;
  o.dmax = dmax;
  o.stretch = stretch;
  return o;
}

inline SwitchCase custom(const std::string &expression, gpucoord::SwitchOptions formula)
{
  SwitchCase c = {"custom " + expression, formula, formula};
  c.options.kind = gpucoord::SwitchKind::CUSTOM;
  c.options.expression = expression;
  return c;
}

inline std::vector<SwitchCase> switch_cases()
{
  using gpucoord::SwitchKind;
  constexpr double none = gpucoord::SwitchOptions::NOT_GIVEN;
  std::vector<SwitchCase> cases;
  const auto add = [&cases](const std::string &name, const gpucoord::SwitchOptions &o) {
    cases.push_back({name, o, o});
  };
  // Every code path of rational: in r^2 or not, m = 2n or not, integer or not.
  add("rational 6/12", rational(6, none, 1.5));
  add("rational 6/12 no end", rational(6, none, 1.5, 0.0, INF));
  add("rational 6/12 dmax 3.7 nostretch", rational(6, 12, 1.5, 0.0, 3.7, false));
  add("rational 6/12 d0", rational(6, none, 0.9, 2.1));
  add("rational 8/16 dmax", rational(8, none, 1.5, 0.0, 3.1));
  add("rational 24/48", rational(24, 48, 1.5));
  add("rational 24/48 d0", rational(24, 48, 1.5, 0.5));
  add("rational 2/4 no end", rational(2, none, 0.7, 0.0, INF));
  add("rational 1/2 d0", rational(1, none, 0.7, 0.3, 9.0));
  add("rational 6/10", rational(6, 10, 1.5));
  add("rational 6/10 d0 nostretch", rational(6, 10, 1.5, 1.2, 7.0, false));
  add("rational 8/14 no end", rational(8, 14, 1.1, 0.0, INF));
  add("rational 5/11", rational(5, 11, 1.3));
  add("rational 3/7 d0", rational(3, 7, 0.8, 1.1));
  add("rational 1/3 no end", rational(1, 3, 0.8, 0.0, INF));
  add("rational 6/7", rational(6, 7, 1.5, 0.0, 8.0));
  add("rational 30/100", rational(30, 100, 1.5));
  add("rational 31/100 d0", rational(31, 100, 1.5, 0.4));
  // Both sides of the limit of integer exponents.
  add("rational 127/254 d0", rational(127, 254, 1.5, 0.4));
  add("rational 128/256", rational(128, 256, 1.5, 0.0, 2.5));
  add("rational 130/260", rational(130, 260, 1.5, 0.0, 2.5));
  add("rational 6/300 d0", rational(6, 300, 1.5, 0.4));
  add("rational 256/512", rational(256, 512, 1.5));
  add("rational 200/514", rational(200, 514, 1.5));
  add("rational 5.5/12.3", rational(5.5, 12.3, 1.5));
  add("rational 5.5/12.3 d0 nostretch", rational(5.5, 12.3, 0.9, 2.1, 6.0, false));
  add("rational 5.5/11 no end", rational(5.5, none, 1.5, 0.0, INF));
  add("rational 1.5/4.5", rational(1.5, 4.5, 1.5, 0.0, 30.0));
  add("rational 6/6.001 no end", rational(6, 6.001, 1.5, 0.0, INF));
  add("rational 6/6.001 dmax", rational(6, 6.001, 1.5, 0.0, 6.0));
  add("exp no end", plain(SwitchKind::EXP, 0.8, 0.0, INF));
  add("exp d0 dmax", plain(SwitchKind::EXP, 0.8, 1.7, 5.0));
  add("exp d0 dmax nostretch", plain(SwitchKind::EXP, 0.8, 1.7, 5.0, false));
  add("gaussian no end", plain(SwitchKind::GAUSSIAN, 0.8, 0.0, INF));
  add("gaussian d0 dmax", plain(SwitchKind::GAUSSIAN, 0.8, 1.7, 5.0));
  add("gaussian dmax nostretch", plain(SwitchKind::GAUSSIAN, 0.8, 0.0, 2.0, false));
  add("smap 8/4 no end", smap(8, 4, 1.5, 0.0, INF));
  add("smap 12/6 d0 dmax", smap(12, 6, 1.5, 0.6, 6.0));
  add("smap 3/7 dmax nostretch", smap(3, 7, 1.5, 0.0, 4.0, false));
  add("smap 2.5/1.5 dmax", smap(2.5, 1.5, 1.5, 0.0, 9.0));
  add("smap 150/1 no end", smap(150, 1, 1.5, 0.0, INF));
  add("smap 600/1 dmax", smap(600, 1, 1.5, 0.0, 9.0));
  add("cubic", plain(SwitchKind::CUBIC, none, 0.0, 3.5));
  add("cubic d0", plain(SwitchKind::CUBIC, none, 2.9, 3.5));
  add("cubic d0 nostretch", plain(SwitchKind::CUBIC, none, 2.9, 3.5, false));
  add("tanh no end", plain(SwitchKind::TANH, 0.8, 0.0, INF));
  add("tanh d0 dmax", plain(SwitchKind::TANH, 0.8, 1.7, 5.0));
  add("tanh dmax nostretch", plain(SwitchKind::TANH, 0.8, 0.0, 2.0, false));
  add("cosinus", plain(SwitchKind::COSINUS, 2.2, 0.0, none));
  add("cosinus d0", plain(SwitchKind::COSINUS, 2.2, 1.3, none));
  add("cosinus dmax", plain(SwitchKind::COSINUS, 2.2, 1.3, 3.0));
  add("cosinus dmax nostretch", plain(SwitchKind::COSINUS, 2.2, 1.3, 3.0, false));
  add("q no end", native(5.0, 1.8, 1.4, INF));
  add("q dmax", native(5.0, 1.8, 1.4, 4.0));
  add("q soft dmax nostretch", native(1.2, 1.8, 1.4, 4.0, false));
  add("q soft dmax", native(1.2, 1.8, 1.4, 4.0));
  add("q d0 no end", native(5.0, 1.8, 1.4, INF, true, 1.7));
  add("q soft d0 dmax", native(1.2, 1.8, 1.4, 4.0, true, 1.7));
  add("q soft d0 dmax nostretch", native(1.2, 1.8, 1.4, 4.0, false, 1.7));
  cases.push_back(custom("1/(1+x^6)", rational(6, none, 1.5, 0.0, 6.0)));
  cases.push_back(custom("exp(-x)", plain(SwitchKind::EXP, 0.8, 1.7, 5.0)));
  cases.push_back(custom("(1+x+x^2)/(1+x+x^2+x^3+x^4+x^5+x^6)", rational(3, 7, 0.8, 1.1, INF)));
  cases.push_back(custom("exp(-x^2/2)", plain(SwitchKind::GAUSSIAN, 0.8, 0.0, 2.0, false)));
  return cases;
}

#endif
