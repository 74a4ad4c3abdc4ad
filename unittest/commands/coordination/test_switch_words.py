"""Words that users try in place of a switching function or of atom types: r0 with a keyword, none, and numbers that are no
types. The message says what to write."""

import re
import unittest

import errortest
from errortest import SYSTEM, commands, error_of

GPU = "compute c a coord/gpu "
ORDER = "compute c a coord/orientorder l 6 "
NO_KEYWORD = "r0 is given without a keyword - write "
AFTER = "r0 is the number after the name and has no keyword - write "
PLUMED = "is in PLUMED's syntax - write"
WITHOUT = "then keywords and values without = and braces, from"
BOUNDS = "Numeric index {} is out of bounds (1-2)"
NEXT = "group2, pairs, pairs/file, switch, coeff, function, within, norm, image, engine, precision, device, check"

# Bad commands, [] around the word that LAMMPS must mark by ^^^, and the message.
COMMANDS = [
    # r0, as in PLUMED
    (GPU + "switch rational [r0] 1.2", f"Compute coord/gpu switch rational: {NO_KEYWORD}switch rational 1.2"),
    (GPU + "switch rational [R_0] 1.2 nn 6", f"Compute coord/gpu switch rational: {NO_KEYWORD}switch rational 1.2"),
    (GPU + "switch exp [R_0=1.2]", f"Compute coord/gpu switch exp: {NO_KEYWORD}switch exp 1.2"),
    (GPU + "switch gaussian [r0]", f"Compute coord/gpu switch gaussian: {NO_KEYWORD}switch gaussian 1.5"),
    (GPU + "switch smap 1.2 a 2 [r0] 1.2 b 3", f"Compute coord/gpu switch smap: {AFTER}switch smap 1.2"),
    (GPU + "switch exp 1.0 coeff 1 1 tanh [r0] 0.8", f"Compute coord/gpu coeff tanh: {NO_KEYWORD}tanh 0.8"),
    (GPU + "switch exp 1.0 function more_than rational [r0] 4",
     f"Compute coord/gpu function more_than rational: {NO_KEYWORD}rational 4"),
    (GPU + "switch cubic [r0] 1.2 dmax 3", "Compute coord/gpu switch cubic takes no r0: its width is dmax - d0"),
    (GPU + "switch q [R_0] 1.2 beta 5", "Compute coord/gpu switch q takes no r0: its distance is ref"),
    (ORDER + "switch cosinus [r0] 1.2", f"Compute coord/orientorder switch cosinus: {NO_KEYWORD}switch cosinus 1.2"),
    (ORDER + "switch cubic dmax 3 order connections rational [r0] 0.5",
     f"Compute coord/orientorder order connections rational: {NO_KEYWORD}rational 0.5"),
    ("pair_coeff 1 1 2.0 gaussian [r0] 1.2 dmax 2", f"Pair coord gaussian: {NO_KEYWORD}gaussian 1.2"),

    # names in another case, and PLUMED's syntax
    (GPU + "switch [CUBIC] dmax 3", "Unknown compute coord/gpu switch option: CUBIC - did you mean cubic?"),
    (GPU + "switch exp 1.0 coeff 1 1 [None]", "Unknown compute coord/gpu coeff option: None - did you mean none?"),
    (GPU + "switch exp 1.0 function [MORE_THAN] exp 2", "Unknown compute coord/gpu function option: MORE_THAN - did you mean "
     "more_than?"),
    ("pair_coeff 1 1 2.0 [Gaussian] 1.2", "Unknown pair coord option: Gaussian - did you mean gaussian?"),
    (GPU + "switch [{RATIONAL] R_0=1.2 NN=6}", f"Compute coord/gpu switch: {{RATIONAL {PLUMED} switch rational R0, {WITHOUT} nn, mm, "
     "d0, dmax, nostretch"),
    (GPU + "switch exp 1.0 coeff 1 1 [{CUBIC] D_0=1.2 D_MAX=2}", f"Compute coord/gpu coeff: {{CUBIC {PLUMED} cubic, {WITHOUT} d0, dmax, "
     "nostretch"),
    (ORDER + "switch [{STEP}]", f"Compute coord/orientorder switch: {{STEP}} {PLUMED} switch rational R0, {WITHOUT} nn, mm, d0, dmax, "
     "nostretch"),

    # a keyword in place of a function
    (ORDER + "order [connections] switch cubic dmax 3", "Compute coord/orientorder order connections needs a switching "
     "function, for example rational 0.5, but the keyword switch follows"),
    (GPU + "switch exp 1.0 function [more_than] norm mean", "Compute coord/gpu function more_than needs a switching function, "
     "for example rational 0.5, but the keyword norm follows"),
    (GPU + "[switch] coeff 1 1 exp 1.0", "Compute coord/gpu switch needs a switching function, for example rational 0.5, but "
     "the keyword coeff follows"),

    # none
    (GPU + "switch [none]", "Compute coord/gpu switch none counts no pair of atoms - add coeff with the types and the function "
     "of the pairs to count, for example: switch none coeff 1 2 rational 1.5"),
    (ORDER + "coeff 1 1 none switch [none]", "Compute coord/orientorder switch none counts no pair of atoms - add coeff with the "
     "types and the function of the pairs to count, for example: switch none coeff 1 2 cubic d0 1.2 dmax 1.5"),
    (GPU + "switch exp 1.0 coeff * * [none]", "Compute coord/gpu: coeff * * none leaves no pair of types with a function - give "
     "none for fewer types, or a function after it"),
    (GPU + "switch none [dmax] 3 coeff 1 1 exp 1.0", "Unknown compute coord/gpu keyword: dmax - switch none takes no further "
     f"words, then optionally {NEXT}"),
    (GPU + "switch exp 1.0 function more_than [none]", "Unknown compute coord/gpu function more_than option: none - known are "
     "rational, exp, gaussian, smap, cubic, tanh, cosinus, q, custom"),
    ("pair_coeff 1 1 none [dmax] 3", "Pair coord: none takes no epsilon and no other words - write pair_coeff 1 1 none"),
    ("pair_coeff 1 2* 1.0 [none]", "Pair coord: none takes no epsilon and no other words - write pair_coeff 1 2* none"),
]

# Types of coeff and pair_coeff, and the message. The first ones end std::stol(), which LAMMPS calls, by exceptions.
TYPES = [("99999999999999999999", BOUNDS), ("1*99999999999999999999", BOUNDS), ("4294967297", BOUNDS), ("**", "Invalid range string: {}"),
         ("-", "Invalid range string: {}"), ("1*-", "Invalid range string: {}"), ('""', "Invalid range string: ''")]
COEFFS = [GPU + "switch exp 1.0 coeff {} exp 1.0", ORDER + "switch cubic dmax 3 coeff {} cubic dmax 3"]


class Words(errortest.InProcess):
    SYSTEM = SYSTEM.replace("create_box 1", "create_box 2").replace("mass 1", "mass *").replace(
        "pair_style zero 3.0\npair_coeff * *\n", "pair_style coord\n")

    def test_commands(self):
        for words, message in COMMANDS:
            with self.subTest(words):
                self.assertEqual(error_of(self.lmp, re.sub(r"[][]", "", words)), (message, words))
                self.assertFalse(self.lmp.has_id("compute", "c"))

    def test_types(self):
        for word, message in TYPES:
            for first in (f"{word} 1", f"1 {word}"):
                for command in COEFFS:
                    with self.subTest(command=command, types=first):
                        self.assertEqual(error_of(self.lmp, command.format(first))[0], message.format(word))
        # LAMMPS itself checks empty and long words of pair_coeff.
        for word in ("**", "1*-"):
            with self.subTest(pair=word):
                self.assertEqual(error_of(self.lmp, f"pair_coeff 1 {word} 1.0 cubic dmax 2")[0],
                                 dict(TYPES)[word].format(word))

    def test_still_usable(self):
        """The written ways out work."""
        commands(self.lmp, "pair_coeff * * 1.0 cubic dmax 3.0\n" + GPU + "switch rational 1.2 dmax 3.0 coeff 1 1 none\nrun 0")


if __name__ == "__main__":
    unittest.main()
