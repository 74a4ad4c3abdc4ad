"""Sizes of the classes of variables and biases, for check-structure.py: data members, those of member
structs counted each, and functions without overrides, constructors and destructors."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent
NAMES = re.compile(r"(compute_coord|coord_|order_|bias_|fix_coord|gpucoord_variable).*\.h")
MAX_MEMBERS, MAX_FUNCTIONS, MAX_USING = 20, 35, 25
NO_MEMBER = re.compile(r"(using|friend|enum|typedef|template|static)\b|(public|private|protected):$")


def without_comments(text):
    text = re.sub(r"//.*|/\*.*?\*/", "", text, flags=re.DOTALL if "/*" in text and "//" not in text else 0)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)


def block_end(text, start):
    """Return the position after the brace that closes the one at start."""
    depth = 0
    for k in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[k], 0)
        if depth == 0:
            return k + 1
    return len(text)


def without_templates(text):
    """Remove template arguments, which have commas and parentheses."""
    text = re.sub(r"<<|>=|<=|->", "", text)
    while re.search(r"<[^<>;]*>", text):
        text = re.sub(r"<[^<>;]*>", "", text)
    return text


def statements(body):
    """Yield the statements of a class body: (text before a brace or semicolon, text in braces)."""
    begin = k = depth = 0
    inner = ""
    while k < len(body):
        if body[k] in "(":
            depth += 1
        elif body[k] == ")":
            depth -= 1
        elif depth == 0 and body[k] == "{":
            end = block_end(body, k)
            head = without_templates(body[begin:k])
            inner, rest = body[k + 1:end - 1], body[end:].lstrip()
            is_function = "(" in head and "=" not in head.split("(")[0]
            if is_function or not re.match(r"[,;=\w*]", rest):
                yield body[begin:k], inner, ""
                begin = end
            elif re.match(r"\s*(class|struct|enum|union)\b", head.split(":")[-1] if "{" in head else head):
                after = body.index(";", end)
                yield body[begin:k], inner, body[end:after]
                begin = end = after + 1
            inner, k = "", end
            continue
        elif depth == 0 and body[k] == ";":
            yield re.sub(r"\{[^{}]*\}", "", body[begin:k]), "", ""
            begin = k + 1
        k += 1


def declarators(text):
    text = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", without_templates(text))
    return text.count(",") + 1


def size_of(name, body, sizes):
    members = functions = 0
    structs = {}
    for head, inner, after in statements(body):
        head = re.sub(r"\b(public|private|protected)\s*:", "", head)
        plain = " ".join(without_templates(head).split())
        plain = re.sub(r"^template ", "", plain)
        nested = re.match(r"(?:class|struct|union)\s+(\w+)?", plain)
        if nested and inner:
            n, _ = size_of(nested[1] or "", inner, sizes)
            structs[nested[1]] = n
            if after.strip():
                members += n * declarators(after)
        elif not plain or NO_MEMBER.match(plain) and not ("static" in plain and "(" in plain.split("=")[0]):
            if re.match(r"enum\b", plain) and after.strip():
                members += declarators(after)
        elif "(" in plain.split("=")[0]:
            function = re.search(r"(~?\w+|operator\S+)\s*\(", plain)[1]
            if not re.search(r"\boverride\b", plain) and function.strip("~") != name:
                functions += 1
        elif not re.match(r"(class|struct)\s+\w+$", plain):
            words = [word for word in re.findall(r"\w+", plain) if word not in ("const", "mutable")]
            members += structs.get(words[0], 1) * declarators(plain)
    sizes.append((name, members, functions))
    return members, functions


def class_sizes():
    sizes = []
    for path in sorted((TOP / "src").glob("*/*.h")):
        if not NAMES.fullmatch(path.name):
            continue
        text = without_comments(path.read_text())
        position = 0
        while found := re.compile(r"(?<![<,] )(?<!<)\b(class|struct)\s+(\w+)[^;{}()]*\{").search(text, position):
            end = block_end(text, found.end() - 1)
            size_of(found[2], text[found.end():end - 1], sizes)
            position = end
    return sizes


def wrong_sizes():
    """Yield classes above a limit, and an excess of lines 'using Base::member' in src/KOKKOS."""
    for name, members, functions in class_sizes():
        if members > MAX_MEMBERS or functions > MAX_FUNCTIONS:
            yield f"class {name} has {members} members and {functions} functions, limits {MAX_MEMBERS} and {MAX_FUNCTIONS}"
    lines = [line for path in (TOP / "src/KOKKOS").iterdir() for line in path.read_text().splitlines()]
    using = sum(bool(re.search(r"using .*::", line)) for line in lines)
    if using > MAX_USING:
        yield f"src/KOKKOS has {using} lines 'using ...::', limit {MAX_USING}: name members by this->"


if __name__ == "__main__":
    for entry in sorted(class_sizes(), key=lambda size: -size[1]):
        print("%-28s %3d members %3d functions" % entry)
