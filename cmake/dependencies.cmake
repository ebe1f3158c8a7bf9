# All dependencies. Vulkan's headers, VMA and volk come from the private folder that tools/setup
# makes on Debian 12, otherwise from the system or the Vulkan SDK.

set(VKFORMER_TOOLCHAIN "${PROJECT_SOURCE_DIR}/.toolchain")

# Programs that link our library need these too: vkformer-config.cmake finds them with the same modules.
list(APPEND CMAKE_MODULE_PATH "${PROJECT_SOURCE_DIR}/cmake/modules")
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PCRE2 REQUIRED)
find_package(SentencePiece REQUIRED)
find_package(Utf8proc REQUIRED)
find_package(GLM REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(WebP REQUIRED)

# Needed to build vkformer, but not to link its library.
find_package(CLI11 REQUIRED)

find_path(VKFORMER_VULKAN_INCLUDE vulkan/vulkan_core.h
    PATHS "${VKFORMER_TOOLCHAIN}/include" NO_DEFAULT_PATH)
find_path(VKFORMER_VULKAN_INCLUDE vulkan/vulkan_core.h HINTS ENV VULKAN_SDK PATH_SUFFIXES include)
if(NOT VKFORMER_VULKAN_INCLUDE)
    message(FATAL_ERROR "The Vulkan headers are missing: run tools/setup or install a Vulkan SDK.")
endif()
set(core "${VKFORMER_VULKAN_INCLUDE}/vulkan/vulkan_core.h")
file(STRINGS "${core}" version REGEX "^#define VK_HEADER_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+$" version "${version}")
file(STRINGS "${core}" series REGEX "^#define VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION")
string(REGEX REPLACE ".*\\(0, *([0-9]+), *([0-9]+),.*" "\\1.\\2" series "${series}")
if("${series}.${version}" VERSION_LESS 1.4.304)
    message(FATAL_ERROR "Vulkan headers ${series}.${version} in ${VKFORMER_VULKAN_INCLUDE} are too "
        "old, 1.4.304 is needed: run tools/setup or install a newer Vulkan SDK.")
endif()

find_path(VKFORMER_VMA_INCLUDE vk_mem_alloc.h
    HINTS "${VKFORMER_VULKAN_INCLUDE}" "${VKFORMER_VULKAN_INCLUDE}/vma" PATH_SUFFIXES vma)
find_path(VKFORMER_VOLK_INCLUDE volk.c
    HINTS "${VKFORMER_VULKAN_INCLUDE}" "${VKFORMER_VULKAN_INCLUDE}/volk"
          "${VKFORMER_VULKAN_INCLUDE}/Volk" PATH_SUFFIXES volk Volk)
foreach(header VMA VOLK)
    if(NOT VKFORMER_${header}_INCLUDE)
        message(FATAL_ERROR "${header} is missing (vk_mem_alloc.h, volk.h and volk.c): "
            "run tools/setup or install a Vulkan SDK.")
    endif()
endforeach()
message(STATUS "Vulkan headers ${series}.${version} in ${VKFORMER_VULKAN_INCLUDE}")

# volk loads Vulkan at run time; VMA gets its functions from volk.
add_library(vkformer_vulkan_api STATIC "${VKFORMER_VOLK_INCLUDE}/volk.c" cmake/vma.cpp)
target_include_directories(vkformer_vulkan_api SYSTEM PUBLIC
    "${VKFORMER_VULKAN_INCLUDE}" "${VKFORMER_VMA_INCLUDE}" "${VKFORMER_VOLK_INCLUDE}")
target_compile_definitions(vkformer_vulkan_api PUBLIC
    VK_NO_PROTOTYPES VMA_STATIC_VULKAN_FUNCTIONS=0 VMA_DYNAMIC_VULKAN_FUNCTIONS=1)
target_compile_options(vkformer_vulkan_api PRIVATE -w)
target_link_libraries(vkformer_vulkan_api PUBLIC ${CMAKE_DL_LIBS} Threads::Threads)

# stb writes PNG and draws captions.
find_path(VKFORMER_STB_INCLUDE stb/stb_image_write.h)
add_library(vkformer_stb INTERFACE)
if(NOT VKFORMER_STB_INCLUDE)
    message(FATAL_ERROR "stb is missing (stb/stb_image_write.h): run tools/setup or install it.")
endif()
target_include_directories(vkformer_stb SYSTEM INTERFACE "${VKFORMER_STB_INCLUDE}")

# xxHash computes the hashes in manifests.
find_path(VKFORMER_XXHASH_INCLUDE xxhash.h)
add_library(vkformer_xxhash INTERFACE)
if(NOT VKFORMER_XXHASH_INCLUDE)
    message(FATAL_ERROR "xxHash is missing (xxhash.h): run tools/setup or install it.")
endif()
target_include_directories(vkformer_xxhash SYSTEM INTERFACE "${VKFORMER_XXHASH_INCLUDE}")

# toml++ reads train.toml and recipes.
find_path(VKFORMER_TOML_INCLUDE toml++/toml.h)
add_library(vkformer_toml INTERFACE)
if(NOT VKFORMER_TOML_INCLUDE)
    message(FATAL_ERROR "toml++ is missing (toml++/toml.h): run tools/setup or install it.")
endif()
target_include_directories(vkformer_toml SYSTEM INTERFACE "${VKFORMER_TOML_INCLUDE}")

# Eigen solves small linear systems and computes singular values.
find_path(VKFORMER_EIGEN_INCLUDE Eigen/Core PATH_SUFFIXES eigen3)
add_library(vkformer_eigen INTERFACE)
if(NOT VKFORMER_EIGEN_INCLUDE)
    message(FATAL_ERROR "Eigen is missing (Eigen/Core): run tools/setup or install it.")
endif()
target_include_directories(vkformer_eigen SYSTEM INTERFACE "${VKFORMER_EIGEN_INCLUDE}")

# glslc and spirv-val: the private folder is searched first.
find_program(VKFORMER_GLSLC glslc PATHS "${VKFORMER_TOOLCHAIN}/bin" NO_DEFAULT_PATH)
find_program(VKFORMER_GLSLC glslc HINTS ENV VULKAN_SDK PATH_SUFFIXES bin)
if(NOT VKFORMER_GLSLC)
    message(FATAL_ERROR "glslc is missing: run tools/setup or install a Vulkan SDK.")
endif()
find_program(VKFORMER_SPIRV_VAL spirv-val PATHS "${VKFORMER_TOOLCHAIN}/bin" NO_DEFAULT_PATH)
find_program(VKFORMER_SPIRV_VAL spirv-val HINTS ENV VULKAN_SDK PATH_SUFFIXES bin)
