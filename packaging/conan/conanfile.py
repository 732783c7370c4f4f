"""Builds the sources that this recipe is a part of: `conan create packaging/conan --build=missing`."""
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir


class HeddleRecipe(ConanFile):
    name = "heddle"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "A coroutine runtime for LLM workflows in an S-expression language"
    topics = ("llm", "workflow", "coroutines", "asio")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "host_asio": [True, False]}
    default_options = {"shared": False, "host_asio": False}

    # Patterns of the top folder of the sources.
    exports_sources = (
        "CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "docs/*", "async_core/*", "io/*",
        "providers/*", "setup/*", "embed/*",
    )

    def export_sources(self):
        top = os.path.join(self.recipe_folder, "..", "..")
        for pattern in type(self).exports_sources:
            copy(self, pattern, src=top, dst=self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            del self.options.host_asio  # the shared library has an Asio of its own, which is hidden

    def requirements(self):
        # Headers of Boost are a part of the API.
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)
        self.requires("openssl/[>=3.0 <4]")
        self.requires("sqlite3/[>=3.37]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("zstd/[>=1.5 <2]")
        self.requires("re2/[>=20220601]")
        self.requires("pugixml/[>=1.11]")
        self.requires("tomlplusplus/[>=3.2]")
        self.requires("valijson/[>=0.7]", visible=False)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        shared = bool(self.options.shared)
        toolchain.cache_variables["HEDDLE_SHARED"] = shared
        toolchain.cache_variables["HEDDLE_STATIC"] = not shared
        toolchain.cache_variables["HEDDLE_HOST_ASIO"] = bool(self.options.get_safe("host_asio", False))
        toolchain.cache_variables["HEDDLE_BUILD_CLI"] = False
        toolchain.cache_variables["HEDDLE_BUILD_TESTS"] = False
        toolchain.cache_variables["HEDDLE_INSTALL"] = True
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        valijson = self.dependencies["valijson"].cpp_info.includedirs[0]
        toolchain.cache_variables["VALIJSON_INCLUDE_DIR"] = valijson.replace("\\", "/")
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes these for the dependencies that it has chosen.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "heddle")
        self.cpp_info.set_property("cmake_target_name", "heddle::heddle")
        self.cpp_info.set_property("pkg_config_name", "heddle")
        self.cpp_info.libs = ["heddle"]
        if not self.options.shared and not self.options.host_asio:
            self.cpp_info.libs.append("heddle_asio")
        if self.settings.os == "Linux":
            self.cpp_info.system_libs.append("pthread")
        self.cpp_info.requires = ["boost::headers"]
        if not self.options.shared:
            self.cpp_info.requires += ["boost::json"]
        self.cpp_info.requires += [
            "openssl::openssl", "sqlite3::sqlite3", "zlib::zlib", "zstd::zstd", "re2::re2",
            "pugixml::pugixml", "tomlplusplus::tomlplusplus",
        ]
