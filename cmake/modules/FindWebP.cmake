# libwebp, which reads and writes WebP: WebP::webp, the name in its own package.
find_path(WEBP_INCLUDE_DIR webp/decode.h)
find_library(WEBP_LIBRARY webp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WebP REQUIRED_VARS WEBP_LIBRARY WEBP_INCLUDE_DIR)
mark_as_advanced(WEBP_INCLUDE_DIR WEBP_LIBRARY)
if(WebP_FOUND AND NOT TARGET WebP::webp)
    add_library(WebP::webp UNKNOWN IMPORTED)
    set_target_properties(WebP::webp PROPERTIES
        IMPORTED_LOCATION "${WEBP_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${WEBP_INCLUDE_DIR}")
    # Since version 1.3 a static libwebp also needs libsharpyuv.
    if(WEBP_LIBRARY MATCHES "[.]a$")
        find_library(WEBP_SHARPYUV_LIBRARY sharpyuv)
        mark_as_advanced(WEBP_SHARPYUV_LIBRARY)
        if(WEBP_SHARPYUV_LIBRARY)
            set_target_properties(WebP::webp PROPERTIES INTERFACE_LINK_LIBRARIES "${WEBP_SHARPYUV_LIBRARY}")
        endif()
    endif()
endif()
