"""recipes.py SOURCE VERSION: the recipes of packaging/ can be read, and name this version."""
import ast
import json
import pathlib
import re
import sys

source, version = pathlib.Path(sys.argv[1]), sys.argv[2]
failed = False


def check(right, message):
    global failed
    if not right:
        print(message)
        failed = True


port = json.loads((source / "packaging/vcpkg/heddle/vcpkg.json").read_text())
check(port["name"] == "heddle" and port["version"] == version, "vcpkg.json: not heddle " + version)
portfile = (source / "packaging/vcpkg/heddle/portfile.cmake").read_text()
recipe = (source / "packaging/conan/conanfile.py").read_text()
for file in (source / "packaging").rglob("*.py"):
    ast.parse(file.read_text(), str(file))

# The options that the recipes set are those of CMake.
options = (source / "cmake/HeddleOptions.cmake").read_text()
for name in set(re.findall(r"\bHEDDLE_[A-Z_]+\b", portfile + recipe)):
    check(re.search(rf"\((?:option )?{name} |option\({name} ", options), f"no option {name}")
# And the recipe of Conan exports what the build reads.
exported = re.search(r"exports_sources\s*=\s*(\(.*?\))", recipe, re.S)
check(exported is not None, "conanfile.py: no exports_sources")
for pattern in ast.literal_eval(exported.group(1)):
    check(any(source.glob(pattern)), f"conanfile.py exports {pattern}, which does not exist")
sys.exit(1 if failed else 0)
