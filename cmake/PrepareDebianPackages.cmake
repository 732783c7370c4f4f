# Run by cpack between the installation of the files and the packing: what Debian wants of every
# package (copyright, changelog), compressed manual pages, and archives without debug information.

if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
find_program(gzip gzip REQUIRED)
find_program(strip strip REQUIRED)
set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
set(ENV{LC_ALL} C)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" upper)
    set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
    set(doc "${root}/share/doc/${package}")
    configure_file("${source}/packaging/debian/copyright" "${doc}/copyright" COPYONLY)
    execute_process(COMMAND date -R --date=@$ENV{SOURCE_DATE_EPOCH} OUTPUT_VARIABLE date
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
        execute_process(COMMAND date -R OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
    configure_file("${source}/packaging/debian/changelog.in" "${doc}/changelog.Debian" @ONLY)
    file(GLOB_RECURSE to_compress "${root}/share/man/*.1" "${doc}/changelog.Debian")
    file(REMOVE "${doc}/LICENSE") # it is one of base-files, and copyright names it
    execute_process(COMMAND "${gzip}" -9n ${to_compress} COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB_RECURSE archives "${root}/lib/*.a")
    if(archives)
        execute_process(COMMAND "${strip}" --strip-debug --remove-section=.comment
            --remove-section=.note --enable-deterministic-archives ${archives}
            COMMAND_ERROR_IS_FATAL ANY)
    endif()
    # zsh reads completions of packages from another folder than those of the administrator.
    if(EXISTS "${root}/share/zsh/site-functions")
        file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
    endif()
endforeach()
