# Settings of all our targets: warnings, sanitizers, and the function that declares a module.

add_library(vkformer_options INTERFACE)
target_compile_options(vkformer_options INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    # Warnings are errors only with the compiler that every commit is built with. Later compilers may warn of more, also
    # wrongly: GCC 14 takes members of moved variants for uninitialised.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Werror>
    # Designated initialisers may leave members at their defaults.
    -Wno-missing-field-initializers
    # GCC reports wrong bounds in inlined copies of vectors and, where files are compiled together, members of moved
    # variants as uninitialised.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-maybe-uninitialized>
    # Results are the same on every processor: the host does not contract a*b+c.
    -ffp-contract=off)
target_include_directories(vkformer_options INTERFACE
    "${PROJECT_SOURCE_DIR}/runtime" "${PROJECT_SOURCE_DIR}")
target_link_libraries(vkformer_options INTERFACE Threads::Threads)
if(VKFORMER_VALIDATION)
    target_compile_definitions(vkformer_options INTERFACE VKFORMER_VALIDATION=1)
endif()
if(VKFORMER_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()

if(VKFORMER_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Files for the other kind of operating system, where there is one file per kind.
set(VKFORMER_OTHER_SYSTEM "_windows(_test)?[.]cpp$")
if(WIN32)
    set(VKFORMER_OTHER_SYSTEM "_posix(_test)?[.]cpp$")
endif()

# Where files are compiled together (CMAKE_UNITY_BUILD), those of one folder are: names of its unnamed namespaces must
# differ, and a new file changes no other folder's.
function(vkformer_group_by_folder target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        get_filename_component(folder "${source}" DIRECTORY)
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
        string(MAKE_C_IDENTIFIER "${folder}" group)
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endforeach()
endfunction()

# Declares library vkformer_NAME from all .cpp files under FOLDER, on top of the libraries that
# follow. A folder without sources makes a library of headers.
function(vkformer_library name folder)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    list(FILTER sources EXCLUDE REGEX "${VKFORMER_OTHER_SYSTEM}")
    if(sources)
        add_library(vkformer_${name} STATIC ${sources})
        target_link_libraries(vkformer_${name} PUBLIC vkformer_options ${ARGN})
        vkformer_group_by_folder(vkformer_${name})
    else()
        add_library(vkformer_${name} INTERFACE)
        target_link_libraries(vkformer_${name} INTERFACE vkformer_options ${ARGN})
    endif()
endfunction()

# Manifest of our programs, which Windows reads.
add_library(vkformer_manifest INTERFACE)
if(WIN32)
    target_sources(vkformer_manifest INTERFACE "${PROJECT_SOURCE_DIR}/cmake/windows.rc")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/cmake/windows.rc" PROPERTIES
        INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/cmake")
endif()
