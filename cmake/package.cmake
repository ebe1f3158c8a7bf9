# Packages that `cpack`, called by tools/package, makes. From builds with the toolchains for Windows and for any Linux
# it makes an archive of the program with its recipes, documentation and the licences of all that is linked into it.
# From other builds it makes Debian packages: vkformer, and libvkformer-dev with the library, for the release of Debian
# that they are made on.
if(VKFORMER_ARCHIVE)
    set(CPACK_GENERATOR ${VKFORMER_ARCHIVE})
    set(CPACK_COMPONENTS_ALL program)
    set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
    set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
    set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
    string(TOLOWER "vkformer-${VKFORMER_VERSION}-${CMAKE_SYSTEM_NAME}-x86_64" CPACK_PACKAGE_FILE_NAME)
    set(CPACK_STRIP_FILES ON)
    set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
    install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    install(DIRECTORY "${VKFORMER_LIBRARIES}/licences" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    if(NOT WIN32)
        install(PROGRAMS "${VKFORMER_LIBRARIES}/loader/libvulkan.so.1" DESTINATION lib/vkformer)
    endif()
    include(CPack)
    return()
endif()

set(VKFORMER_MAINTAINER "The vkformer project <maintainers@vkformer.invalid>" CACHE STRING "Of Debian packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vkformer)
string(REPLACE "-" "~" CPACK_PACKAGE_VERSION "${VKFORMER_VERSION}")  # a version before a release sorts before it
set(CPACK_PACKAGE_CONTACT "${VKFORMER_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Sets RESULT to a dependency on PACKAGE in exactly the upstream version that this machine has of SOURCE.
# SentencePiece inserts virtual functions between others without renaming its library, and every version of
# nlohmann-json has its own types for the linker: the packages' own dependencies would allow incompatible versions.
function(same_version result source package)
    execute_process(COMMAND dpkg-query -W -f "\${source:Upstream-Version}" "${source}"
        OUTPUT_VARIABLE version ERROR_QUIET)
    if(version MATCHES "^(.*[.])([0-9]+)")
        math(EXPR next "${CMAKE_MATCH_2} + 1")
        set(${result} "${package} (>= ${CMAKE_MATCH_0}), ${package} (<< ${CMAKE_MATCH_1}${next}~)" PARENT_SCOPE)
    else()
        set(${result} "${package}" PARENT_SCOPE)  # not on Debian: no package is made
    endif()
endfunction()

# volk opens the Vulkan loader by its name, so no tool finds this dependency. We do not test on Mesa before 25. A
# machine with its GPU's own driver does not need Mesa.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME vkformer)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
same_version(sentencepiece libsentencepiece-dev libsentencepiece0)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libvulkan1 (>= 1.3), ${sentencepiece}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "mesa-vulkan-drivers (>= 25)")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "train and run transformers on any Vulkan device
GPT-2, Llama, nano-GPT2 and vision transformers, with standard, differential
and belief attention, are trained, evaluated and run by Vulkan compute: on
GPUs of AMD, Intel and NVIDIA, and on any processor by Mesa's CPU device.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libvkformer-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
same_version(json nlohmann-json3-dev nlohmann-json3-dev)
same_version(sentencepiece libsentencepiece-dev libsentencepiece-dev)
string(JOIN ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${json}" "${sentencepiece}" libglm-dev libjpeg62-turbo-dev
    libpcre2-dev libpng-dev libutf8proc-dev "libvulkan1 (>= 1.3)" libwebp-dev)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "train and run transformers on any Vulkan device - library
The library that vkformer is made of, for programs in C++20 of one's own:
headers, a static library that holds all kernels, and a CMake package.")

include(CPack)
