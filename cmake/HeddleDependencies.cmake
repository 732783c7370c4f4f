# Third-party packages, all from the system. cmake/heddleConfig.cmake.in
# repeats those of the libraries.

find_package(Threads REQUIRED)
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers json)
find_package(re2 MODULE REQUIRED) # cmake/Findre2.cmake
find_package(OpenSSL 3.0 REQUIRED)
find_package(SQLite3 3.37 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(zstd MODULE REQUIRED) # cmake/Findzstd.cmake
find_package(pugixml CONFIG REQUIRED)
find_package(tomlplusplus CONFIG REQUIRED)
find_path(VALIJSON_INCLUDE_DIR valijson/validator.hpp REQUIRED) # header-only, not needed by users
mark_as_advanced(VALIJSON_INCLUDE_DIR)
if(HEDDLE_BUILD_CLI)
    find_package(CLI11 CONFIG REQUIRED)
    find_package(spdlog CONFIG REQUIRED)
    find_path(EDITLINE_INCLUDE_DIR histedit.h) # libedit: optional
    find_library(EDITLINE_LIBRARY edit)
    mark_as_advanced(EDITLINE_INCLUDE_DIR EDITLINE_LIBRARY)
endif()
if(HEDDLE_BUILD_TESTS)
    find_package(GTest CONFIG REQUIRED)
endif()
