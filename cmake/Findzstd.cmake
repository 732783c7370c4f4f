# Zstandard as zstd::libzstd. Its own CMake package is taken when it is there; Debian 12 ships none.

find_package(zstd CONFIG QUIET)
if(NOT TARGET zstd::libzstd AND TARGET zstd::libzstd_shared)
    add_library(zstd::libzstd INTERFACE IMPORTED)
    target_link_libraries(zstd::libzstd INTERFACE zstd::libzstd_shared)
elseif(NOT TARGET zstd::libzstd AND TARGET zstd::libzstd_static)
    add_library(zstd::libzstd INTERFACE IMPORTED)
    target_link_libraries(zstd::libzstd INTERFACE zstd::libzstd_static)
endif()
if(TARGET zstd::libzstd)
    set(zstd_FOUND TRUE)
    return()
endif()

find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(zstd REQUIRED_VARS ZSTD_LIBRARY ZSTD_INCLUDE_DIR)
if(zstd_FOUND)
    add_library(zstd::libzstd UNKNOWN IMPORTED)
    set_target_properties(zstd::libzstd PROPERTIES
        IMPORTED_LOCATION "${ZSTD_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZSTD_INCLUDE_DIR}")
endif()
