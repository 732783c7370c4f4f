# The libraries that are installed, out of the objects of all libraries that heddle::heddle needs:
#
#   heddle_static        libheddle.a
#   heddle_static_asio   libheddle_asio.a: Asio, compiled; a program that compiles it itself does
#                        without this one
#   heddle_shared        libheddle.so, which shows what the public headers declare; its Asio is hidden

# On Debian the folder of libraries has the name of the architecture, whatever the prefix, so that
# packages and cmake --install agree.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_LIBRARY_ARCHITECTURE AND EXISTS "/etc/debian_version")
    set(CMAKE_INSTALL_LIBDIR "lib/${CMAKE_LIBRARY_ARCHITECTURE}" CACHE PATH "Object code libraries")
endif()
include(GNUInstallDirs)

get_property(libraries GLOBAL PROPERTY HEDDLE_LIBRARIES)
get_property(third_parties GLOBAL PROPERTY HEDDLE_THIRD_PARTIES)
list(REMOVE_DUPLICATES third_parties)
set(objects "")
set(parts "") # of libheddle.so: archives, of which it takes what it needs
foreach(library IN LISTS libraries)
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND objects "$<TARGET_OBJECTS:${library}>")
        list(APPEND parts ${library})
    endif()
endforeach()

# What both are for those who link them, installed and in the tree.
function(heddle_set_up_package_library target name)
    add_library(heddle::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        EXPORT_NAME ${name}
        ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
        LINKER_LANGUAGE CXX)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_include_directories(${target} INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/embed/include;${PROJECT_SOURCE_DIR}/async_core/include>"
        "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_libraries(${target} INTERFACE Boost::headers Threads::Threads)
endfunction()

if(HEDDLE_STATIC)
    add_library(heddle_static STATIC "$<FILTER:${objects},EXCLUDE,${HEDDLE_ASIO_SOURCES}>")
    heddle_set_up_package_library(heddle_static static)
    set_target_properties(heddle_static PROPERTIES OUTPUT_NAME heddle)
    target_link_libraries(heddle_static PRIVATE ${third_parties})
    if(NOT HEDDLE_HOST_ASIO)
        add_library(heddle_static_asio STATIC "$<FILTER:${objects},INCLUDE,${HEDDLE_ASIO_SOURCES}>")
        heddle_set_up_package_library(heddle_static_asio asio)
        set_target_properties(heddle_static_asio PROPERTIES OUTPUT_NAME heddle_asio)
        target_link_libraries(heddle_static_asio PRIVATE OpenSSL::SSL OpenSSL::Crypto)
        # Installed, cmake/heddleConfig.cmake.in adds it or not.
        target_link_libraries(heddle_static INTERFACE "$<BUILD_INTERFACE:heddle_static_asio>")
    endif()
endif()

if(HEDDLE_SHARED)
    # All objects of the public headers, whoever calls them; of the others what those need.
    list(REMOVE_ITEM parts heddle_embed heddle_base)
    add_library(heddle_shared SHARED $<TARGET_OBJECTS:heddle_embed> $<TARGET_OBJECTS:heddle_base>)
    heddle_set_up_package_library(heddle_shared shared)
    set_target_properties(heddle_shared PROPERTIES
        OUTPUT_NAME heddle
        VERSION "${PROJECT_VERSION}"
        SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
    target_link_libraries(heddle_shared PRIVATE ${parts} ${third_parties})
    set(map "${PROJECT_SOURCE_DIR}/cmake/libheddle.map")
    target_link_options(heddle_shared PRIVATE "-Wl,--version-script,${map}")
    set_property(TARGET heddle_shared PROPERTY LINK_DEPENDS "${map}")
    if(NOT HEDDLE_SANITIZE AND NOT HEDDLE_FUZZ) # whose runtime the program brings
        target_link_options(heddle_shared PRIVATE -Wl,-z,defs)
    endif()
endif()
