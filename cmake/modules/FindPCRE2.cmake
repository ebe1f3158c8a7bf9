# PCRE2's library for 8-bit strings, which matches tokenizers' patterns: PCRE2::8BIT, the name in PCRE2's own package.
find_path(PCRE2_INCLUDE_DIR pcre2.h)
find_library(PCRE2_LIBRARY pcre2-8)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PCRE2 REQUIRED_VARS PCRE2_LIBRARY PCRE2_INCLUDE_DIR)
mark_as_advanced(PCRE2_INCLUDE_DIR PCRE2_LIBRARY)
if(PCRE2_FOUND AND NOT TARGET PCRE2::8BIT)
    add_library(PCRE2::8BIT UNKNOWN IMPORTED)
    set_target_properties(PCRE2::8BIT PROPERTIES
        IMPORTED_LOCATION "${PCRE2_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${PCRE2_INCLUDE_DIR}")
    if(WIN32 AND PCRE2_LIBRARY MATCHES "libpcre2-8[.]a$")
        set_target_properties(PCRE2::8BIT PROPERTIES INTERFACE_COMPILE_DEFINITIONS PCRE2_STATIC)
    endif()
endif()
