# heddle_add_library: one library out of a folder. heddle_set_up_target: what all targets share.

# Flags that are a matter of our own sources, not of those who use the libraries.
function(heddle_set_up_target target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "PCH" "")
    target_compile_features(${target} PRIVATE cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic)
    # The same objects make the static libraries, the shared one and the programs. All have these
    # flags, since a precompiled header serves only those that share them.
    target_compile_options(${target} PRIVATE
        -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -fno-semantic-interposition)
    # Asio is compiled once (async_core/src/coro/boost_asio.cpp, for TLS io/src/boost_asio_ssl.cpp).
    # That is a matter of ours: those who use heddle include Asio as they like.
    target_compile_definitions(${target} PRIVATE BOOST_ASIO_SEPARATE_COMPILATION)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wshadow=local)
        if(HEDDLE_UNITY)
            # A coroutine keeps what its own file has in an unnamed namespace; g++ takes the sources
            # of a group for headers.
            target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
        endif()
        if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
            # Wrong about std::string and variants in g++ 12 (GCC bugs 105329, 105651); the sanitizers
            # and clang look for the same.
            target_compile_options(${target} PRIVATE
                -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
        endif()
    endif()
    if(HEDDLE_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(HEDDLE_PCH AND arg_PCH)
        heddle_pch_target(${arg_PCH})
        target_precompile_headers(${target} REUSE_FROM heddle_pch_${arg_PCH})
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            target_compile_options(${target} PRIVATE -fpch-preprocess) # for ccache
        endif()
    endif()
endfunction()

# A precompiled header is built once and used by every target that names it. A source must compile
# without it too: HEDDLE_PCH=OFF. A set pays when most files that use it read most of it: Beast and
# TLS in a set of their own for io did not (8 s to build, 1 s saved).
function(heddle_pch_target name)
    set(target heddle_pch_${name})
    if(TARGET ${target})
        return()
    endif()
    set(standard
        <algorithm> <array> <chrono> <cstdint> <deque> <functional> <map> <memory> <optional>
        <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
        <boost/smart_ptr/intrusive_ptr.hpp> <boost/system/result.hpp>)
    set(asio
        <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp>
        <boost/asio/post.hpp> <boost/asio/steady_timer.hpp> <boost/asio/use_awaitable.hpp>)
    set(test <gtest/gtest.h>)
    set(headers_std ${standard})
    set(headers_asio ${standard} ${asio})
    set(headers_test ${standard} ${test})
    set(headers_test_asio ${standard} ${asio} ${test})

    set(stub "${CMAKE_BINARY_DIR}/pch/${name}.cpp")
    file(CONFIGURE OUTPUT "${stub}" CONTENT "// Carries the precompiled header '${name}'.\n")
    add_library(${target} OBJECT EXCLUDE_FROM_ALL "${stub}")
    target_link_libraries(${target} PRIVATE Boost::headers)
    if(name MATCHES "test")
        target_link_libraries(${target} PRIVATE GTest::gtest)
    endif()
    heddle_set_up_target(${target})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -fpch-preprocess)
    endif()
    target_precompile_headers(${target} PRIVATE ${headers_${name}})
endfunction()

# The sources that compile Asio, as a pattern of their paths and of their objects.
set(HEDDLE_ASIO_SOURCES "/boost_asio(_ssl)?\\.cpp")

# heddle_add_library(<name>
#     [AREA <folder>]           sources src/<folder>/**.cpp, public headers include/heddle/<folder>;
#                               without it the whole src and include of this folder
#     [PCH <set>]               a precompiled header set, see heddle_pch_target
#     [DEPENDS <target>...]     what the public headers need
#     [PRIVATE_DEPENDS <target>...])
#
# Makes heddle_<name>, its alias heddle::<name>, and heddle_<name>_internals, with which a test sees
# the private headers. Without any source the library is header-only.
function(heddle_add_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "AREA;PCH" "DEPENDS;PRIVATE_DEPENDS;SOURCES")
    set(target heddle_${name})
    set(include_root "${CMAKE_CURRENT_SOURCE_DIR}/include")
    set(source_root "${CMAKE_CURRENT_SOURCE_DIR}/src")
    set(sources_dir "${source_root}")
    set(headers_dir "${include_root}/heddle")
    if(arg_AREA)
        string(APPEND sources_dir "/${arg_AREA}")
        string(APPEND headers_dir "/${arg_AREA}")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${sources_dir}/*.cpp")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${headers_dir}/*.hpp")
    list(APPEND sources ${arg_SOURCES})
    if(HEDDLE_HOST_ASIO)
        list(FILTER sources EXCLUDE REGEX "${HEDDLE_ASIO_SOURCES}")
    endif()

    set(scope INTERFACE)
    if(sources)
        set(scope PUBLIC)
        add_library(${target} STATIC ${sources})
        heddle_set_up_target(${target} PCH "${arg_PCH}")
        target_include_directories(${target} PRIVATE "${source_root}")
        target_link_libraries(${target} PRIVATE ${arg_PRIVATE_DEPENDS})
    else()
        add_library(${target} INTERFACE)
    endif()
    add_library(heddle::${name} ALIAS ${target})
    target_compile_features(${target} ${scope} cxx_std_20)
    target_include_directories(${target} ${scope} "${include_root}")
    target_link_libraries(${target} ${scope} ${arg_DEPENDS})

    add_library(${target}_internals INTERFACE)
    target_include_directories(${target}_internals INTERFACE "${source_root}")
    target_link_libraries(${target}_internals INTERFACE ${target} ${arg_PRIVATE_DEPENDS})

    set_property(GLOBAL APPEND PROPERTY HEDDLE_LIBRARIES ${target})
    set(third_parties ${arg_PRIVATE_DEPENDS}) # what libheddle.a needs beside public headers
    list(FILTER third_parties EXCLUDE REGEX "^heddle_")
    set_property(GLOBAL APPEND PROPERTY HEDDLE_THIRD_PARTIES ${third_parties})
    set_property(GLOBAL PROPERTY HEDDLE_HEADERS_OF_${target} "${headers}")
endfunction()
