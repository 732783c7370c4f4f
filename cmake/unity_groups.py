#!/usr/bin/env python3
"""Divides the sources of each target into groups that can be compiled as one file.

    unity_groups.py TARGETS OUTPUT

TARGETS has a line "target|folder|source;source;..." for each target, OUTPUT becomes CMake code that
HeddleUnity.cmake includes. Two files may share a group unless a name that is private to one of them
(in an unnamed namespace, static, a macro, an alias) occurs in the other or in a header that it
includes: there it would be defined twice, or name the wrong thing.
"""

import os
import re
import sys

MOST_FILES = 10  # of a group: what one error or one edit compiles again
MOST_LINES = 3000  # of a group: memory, and an even load of the processors

# Compiled alone: what HEDDLE_ASIO_SOURCES finds by its path, and files with a main function.
ALONE = re.compile(r"/boost_asio(_ssl)?\.cpp$|_fuzzer\.cpp$|/main\.cpp$")

NOISE = re.compile(
    r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r"|//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\S")
NAME = re.compile(r"[A-Za-z_]\w*$")
TYPE_KEYS = ("struct", "class", "enum", "concept", "union")
MACRO_CALL = re.compile(r"[A-Z][A-Z0-9_]+$")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
KEYWORDS = set(
    "alignas auto bool char class concept const consteval constexpr constinit decltype default delete "
    "double else enum explicit extern false final float for friend if inline int long mutable "
    "namespace noexcept nullptr operator override private protected public requires return short "
    "signed sizeof static struct switch template this thread_local true typedef typename union "
    "unsigned using virtual void volatile while".split()
)

BEFORE_VALUES = {"return", "co_return", "co_await", "co_yield", "else", "throw", "case", "not", "and", "or"}


class Source:
    """What of a file matters to the files beside it."""

    def __init__(self, text):
        self.lines = text.count("\n")
        self.includes = INCLUDE.findall(text)
        plain = NOISE.sub(" ", text)
        macros = set(MACRO.findall(plain))
        tokens = TOKEN.findall(DIRECTIVE.sub(" ", plain))
        self.private = set(macros)  # what no other file may see
        self.aliases = {}  # what using declarations say, by name
        self.opened = set()  # what it says of using namespaces
        self.declared = set()  # at the level of a namespace
        self.homes = set()  # the same, with the innermost named namespace
        self.used = set()  # names that may refer to something of a namespace
        self.qualified = set()  # the same, behind the name of a namespace
        self._find_uses(tokens)
        self._read(tokens)

    def _find_uses(self, tokens):
        for index, token in enumerate(tokens):
            if not NAME.match(token) or token in KEYWORDS:
                continue
            before = tokens[index - 1] if index else ";"
            after = tokens[index + 1] if index + 1 < len(tokens) else ";"
            if before in (".", "->"):
                continue
            if after in ("(", "{", "<", "::", "&", "*") or NAME.match(after):
                declares = (NAME.match(before) and before not in BEFORE_VALUES) or before in (">", "&", "*")
                if not (declares and after in ("(", "{")):
                    (self.qualified if before == "::" else self.used).add(token)

    def _read(self, tokens):
        self._place = []  # namespaces, innermost last
        scopes = []  # "named", "unnamed" or "block", innermost last
        statement = []
        parentheses = 0
        for token in tokens:
            at_namespace = "block" not in scopes
            if at_namespace:
                if token in ("(", "["):
                    parentheses += 1
                elif token in (")", "]"):
                    parentheses -= 1
            if token == "{":
                kind = "block"
                if at_namespace and parentheses == 0:
                    if statement and "namespace" in statement[:2]:
                        kind = "unnamed" if statement[-1] == "namespace" else "named"
                        self._place = self._place + [statement[-1]]
                    else:
                        self._declare(statement, "unnamed" in scopes)
                    statement = []
                scopes.append(kind)
            elif token == "}":
                if scopes and scopes.pop() != "block":
                    self._place = self._place[:-1]
            elif token == ";" and at_namespace and parentheses == 0:
                self._declare(statement, "unnamed" in scopes)
                statement = []
            elif at_namespace:
                statement.append(token)

    def _declare(self, statement, unnamed):
        if not statement or statement[0] == "static_assert":
            return
        if statement[0] == "namespace":
            self.aliases[statement[1]] = " ".join(statement)
            return
        if statement[0] == "using":
            if "namespace" in statement:
                if not statement[-1].endswith("_literals"):
                    self.opened.add(" ".join(statement))
            else:
                name = statement[1] if "=" in statement else statement[-1]
                self.aliases[name] = " ".join(statement)
            return
        if MACRO_CALL.match(statement[0]):
            return
        names = set()
        depth = 0
        is_function = False
        for index, token in enumerate(statement):
            after = statement[index + 1] if index + 1 < len(statement) else ";"
            before = statement[index - 1] if index else ""
            if token in ("(", "["):
                depth += 1
            elif token in (")", "]"):
                depth -= 1
            elif depth == 0 and token == "=":
                break
            elif depth == 0 and NAME.match(token) and token not in KEYWORDS:
                if before in TYPE_KEYS and statement[index - 2] not in ("<", ","):
                    names.add(token)
                elif after == "(" and token not in ("alignas", "__attribute__"):
                    is_function = True
                    if before != "::":
                        names.add(token)
                    break
                elif after in "=;[" and before != "::":
                    names.add(token)
        self.declared |= names
        home = next((each for each in reversed(self._place) if each != "namespace"), "")
        self.homes.update((name, home) for name in names)
        constant = statement[0] in ("const", "constexpr") and not is_function
        if unnamed or "static" in statement or constant:
            self.private |= names


class Project:
    def __init__(self, root):
        self.files = {}
        self.views = {}
        self.places = {}  # of headers, by the last part of their paths
        for folder, folders, names in os.walk(root):
            # In order: the groups must not depend on how the file system lists a folder.
            folders[:] = sorted(name for name in folders if name not in ("build", ".git"))
            for name in sorted(names):
                if name.endswith((".hpp", ".def")):
                    self.places.setdefault(name, []).append(os.path.join(folder, name))

    def source(self, path):
        if path not in self.files:
            with open(path, encoding="utf-8") as file:
                self.files[path] = Source(file.read())
        return self.files[path]

    def headers_of(self, source):
        for include in source.includes:
            ending = "/" + include.replace("../", "")
            for place in self.places.get(os.path.basename(include), []):
                if place.endswith(ending):
                    yield place

    def view(self, path):
        """The names that a file has in namespaces, those of the project's headers among them."""
        if path not in self.views:
            view = self.views[path] = View()  # headers that include each other end here
            source = self.source(path)
            for header in self.headers_of(source):
                of_header = self.view(header)
                view.words |= of_header.words
                view.qualified |= of_header.qualified
                view.aliases.update(of_header.aliases)
                view.opened |= of_header.opened
                view.homes |= of_header.homes
            view.words |= source.declared | (source.used - source.aliases.keys())
            view.qualified |= source.qualified
            view.aliases.update(source.aliases)
            view.opened |= source.opened
            view.homes |= source.homes
        return self.views[path]


class View:
    def __init__(self):
        self.words = set()
        self.qualified = set()
        self.aliases = {}
        self.opened = set()
        self.homes = set()

    def hides_from(self, other):
        """Whether an alias here makes a name ambiguous that is declared there."""
        for name, home in other.homes:
            text = self.aliases.get(name)
            if text is not None and other.aliases.get(name) != text:
                parts = text.split()
                if "=" in parts or home not in parts[:-1]:
                    return True
        return False

    def namespaces(self):
        """Other names of namespaces, which may be those of types elsewhere."""
        return {name for name, text in self.aliases.items() if text.startswith("namespace ")}


class Group(View):
    def __init__(self):
        super().__init__()
        self.paths = []
        self.lines = 0
        self.private = set()

    def takes(self, source, view):
        return (
            len(self.paths) < MOST_FILES
            and self.opened == view.opened
            and self.lines + source.lines <= MOST_LINES
            and self.private.isdisjoint(view.words)
            and self.private.isdisjoint(view.qualified)
            and self.private.isdisjoint(view.aliases)
            and source.private.isdisjoint(self.words)
            and source.private.isdisjoint(self.qualified)
            and source.private.isdisjoint(self.aliases)
            and self.words.isdisjoint(view.namespaces())
            and view.words.isdisjoint(self.namespaces())
            and not self.hides_from(view)
            and not view.hides_from(self)
            and all(self.aliases.get(name, text) == text for name, text in view.aliases.items())
        )

    def add(self, path, source, view):
        self.paths.append(path)
        self.lines += source.lines
        self.private |= source.private
        self.words |= view.words
        self.qualified |= view.qualified
        self.aliases.update(view.aliases)
        self.homes |= view.homes


def groups_of(paths, project):
    groups = []
    for path in sorted(paths):
        source = project.source(path)
        view = project.view(path)
        group = next((each for each in groups if each.takes(source, view)), None)
        if group is None:
            group = Group()
            group.opened = view.opened
            groups.append(group)
        group.add(path, source, view)
    return [group.paths for group in groups]


def main():
    targets, output = sys.argv[1:]
    project = Project(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    code = ["# Made by cmake/unity_groups.py.\n"]
    files = units = 0
    with open(targets, encoding="utf-8") as lines:
        for line in lines:
            target, folder, sources = line.rstrip("\n").split("|")
            paths = [os.path.normpath(os.path.join(folder, path)) for path in sources.split(";")]
            paths = [path for path in paths if path.endswith(".cpp") and os.path.exists(path)]
            files += len(paths)
            groups = groups_of([path for path in paths if not ALONE.search(path)], project)
            units += len(groups) + sum(1 for path in paths if ALONE.search(path))
            groups = [group for group in groups if len(group) > 1]
            if not groups:
                continue
            code.append(
                f"set_target_properties({target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)\n"
            )
            for number, group in enumerate(groups):
                code.append("set_source_files_properties(\n")
                code.extend(f'    "{path}"\n' for path in group)
                code.append(f"    TARGET_DIRECTORY {target} PROPERTIES UNITY_GROUP g{number})\n")
    with open(output, "w", encoding="utf-8") as file:
        file.writelines(code)
    print(f"{files} sources in {units} units", end="")


if __name__ == "__main__":
    main()
