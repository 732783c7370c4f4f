# cpack -G DEB: heddle, libheddle0.1 and libheddle-dev, for the Debian or Ubuntu of the build.
# cmake/PrepareDebianPackages.cmake gives their files the form that Debian wants.

set(soversion "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(boost "libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev")
set(boost_json "libboost-json${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR heddle)
set(CPACK_PACKAGE_CONTACT "The heddle maintainers <maintainers@heddle.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runtime for LLM workflows in a Lisp") # of all packages
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/PrepareDebianPackages.cmake")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE heddle)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=") # before 1.0 a patch may add to the API

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME heddle)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "heddle runs workflows that call language models: each call is a task in a
small Lisp, and one thread keeps thousands of them waiting. This is the
program, which runs workflows over the rows of files, serves them over HTTP,
and evaluates them interactively.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "libheddle${soversion}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "heddle runs workflows that call language models: each call is a task in a
small Lisp, and one thread keeps thousands of them waiting. This is the
shared library for C++ programs that embed workflows.")
# CPack writes a postinst that calls ldconfig; Debian wants the trigger.
file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libheddle-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libheddle${soversion} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), ${boost}")
# What libheddle.a needs; the shared library does without.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS
    "${boost_json}, libssl-dev, libsqlite3-dev, zlib1g-dev, libzstd-dev, libre2-dev, libpugixml-dev, libtomlplusplus-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "heddle runs workflows that call language models: each call is a task in a
small Lisp, and one thread keeps thousands of them waiting. These are the
headers, the static library, and the files for CMake and pkg-config.")

include(CPack)
