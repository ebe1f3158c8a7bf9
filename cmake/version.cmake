# Program version, from cmake/version.txt and git. The first line of version.txt is the release. Commit and description
# come from the git repository or, in an archive that git has made, from the second line, where git has written them.
#     VKFORMER_RELEASE  0.1.0, which CMake and packages compare
#     VKFORMER_VERSION  0.1.0 at the tag v0.1.0, 0.1.0+12.g1a2b3c4 twelve commits later, 0.1.0-dev+g1a2b3c4 before it

set(folder "${CMAKE_CURRENT_SOURCE_DIR}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/cmake/version.txt")
file(STRINGS "${folder}/cmake/version.txt" lines)
list(GET lines 0 VKFORMER_RELEASE)
list(GET lines 1 archived)

# Sets RESULT to the output of git, or to an empty string if git fails.
function(ask_git result)
    execute_process(COMMAND "${GIT_EXECUTABLE}" ${ARGN} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
        OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(${result} "${output}" PARENT_SCOPE)
endfunction()

set(commit "")
set(description "")
set(count "")
find_package(Git QUIET)
if(archived MATCHES "^([0-9a-f]+) (.*)$")
    set(commit "${CMAKE_MATCH_1}")
    set(description "${CMAKE_MATCH_2}")
elseif(GIT_FOUND AND EXISTS "${folder}/.git")
    ask_git(commit rev-parse --short HEAD)
    ask_git(description describe --tags --match "v${VKFORMER_RELEASE}")
    ask_git(count rev-list --count HEAD)
    ask_git(log rev-parse --git-path logs/HEAD)  # grows with every commit and checkout
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR "${folder}")
    if(EXISTS "${log}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
    endif()
endif()

string(REPLACE "." "[.]" release "${VKFORMER_RELEASE}")
set(VKFORMER_VERSION "${VKFORMER_RELEASE}")
if(description MATCHES "^v${release}-([0-9]+)-(g[0-9a-f]+)$")
    string(APPEND VKFORMER_VERSION "+${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
elseif(NOT description STREQUAL "v${VKFORMER_RELEASE}")
    string(APPEND VKFORMER_VERSION "-dev")
    if(count)
        string(APPEND VKFORMER_VERSION ".${count}")
    endif()
    if(commit)
        string(APPEND VKFORMER_VERSION "+g${commit}")
    endif()
endif()
