#!/usr/bin/env python3
"""Compares two files of dump.py: compare.py OLD NEW. The exit status is 1 if they differ."""

import math
import struct
import sys


def read(path):
    """(case, quantity) -> words"""
    numbers = {}
    with open(path) as file:
        for line in file:
            if not line.startswith("#"):
                case, quantity, *words = line.split()
                assert (case, quantity) not in numbers, f"{path}: {case} {quantity} is there twice"
                numbers[case, quantity] = words
    return numbers


def ordinal(number):
    """Return the index of a number among all numbers of double precision: neighbors differ by one."""
    bits = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def difference(old, new):
    """Return a description of the difference, or an empty string if both are equal."""
    if old == new:
        return ""
    if len(old) != len(new):
        return f"{len(old)} and {len(new)} numbers"
    try:
        pairs = [(float.fromhex(a), float.fromhex(b)) for a, b in zip(old, new) if a != b]
    except ValueError:
        return f"'{' '.join(old)[:150]}' and '{' '.join(new)[:150]}'"
    if not all(math.isfinite(number) for pair in pairs for number in pair):
        return f"{len(pairs)} of {len(old)} numbers, some not finite"
    units = max(abs(ordinal(a) - ordinal(b)) for a, b in pairs)
    relative = max(abs(a - b) / (max(abs(a), abs(b)) or 1) for a, b in pairs)
    largest = max(abs(float.fromhex(word)) for word in old) or 1
    of_largest = max(abs(a - b) for a, b in pairs) / largest
    return (f"{len(pairs)} of {len(old)} numbers, up to {units} units in the last place, "
            f"relative {relative:.2g}, of the largest number {of_largest:.2g}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    old, new = map(read, sys.argv[1:])
    keys = list(dict.fromkeys([*old, *new]))
    cases = {case for case, _ in keys}
    same, different = 0, set()
    for key in keys:
        case, quantity = key
        if key not in new or key not in old:
            # A case without numbers on one side has one line that says why.
            where, words = ("old", old[key]) if key in old else ("new", new[key])
            text = " ".join(words)[:150] if quantity in ("unsupported:", "crashed:") else ""
            print(f"{case} {quantity} only in the {where} file {text}".rstrip())
            different.add(case)
            continue
        text = difference(old[key], new[key])
        if text:
            print(f"{case} {quantity} {text}")
            different.add(case)
        else:
            same += len(old[key])
    without = sum(quantity in ("unsupported:", "crashed:") for _, quantity in keys)
    print(f"{len(cases)} cases, {same} numbers identical, {len(different)} cases differ, "
          f"{without} without numbers")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
