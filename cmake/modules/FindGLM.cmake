# glm, whose vectors are pixels and points of images: GLM::GLM. Also finds the one in a Vulkan SDK, which has no CMake
# package for it.
find_path(GLM_INCLUDE_DIR glm/glm.hpp HINTS ENV VULKAN_SDK PATH_SUFFIXES include)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GLM REQUIRED_VARS GLM_INCLUDE_DIR)
mark_as_advanced(GLM_INCLUDE_DIR)
if(GLM_FOUND AND NOT TARGET GLM::GLM)
    add_library(GLM::GLM INTERFACE IMPORTED)
    set_target_properties(GLM::GLM PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${GLM_INCLUDE_DIR}")
endif()
