# Files that `cmake --install` installs, in two components: `program`, with its recipes and pages, and `development`,
# the library with its headers and its CMake package.

# --- The program -----------------------------------------------------------------------------------

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS vkformer RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY configs DESTINATION "${CMAKE_INSTALL_DATADIR}/vkformer")
install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md")

# The program prints its own man page and shell completions.
option(VKFORMER_PAGES "Install the man page and completions, which the program prints: it must run here" ON)
set(VKFORMER_ZSH_COMPLETIONS "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING "Where zsh looks for them")
# Writes the output of `vkformer ARGUMENTS...` to FILE and installs FILE in FOLDER.
function(vkformer_page file folder)
    set(page "${PROJECT_BINARY_DIR}/pages/${file}")
    add_custom_command(OUTPUT "${page}" COMMAND vkformer ${ARGN} > "${page}" DEPENDS vkformer
        COMMENT "Page ${file}" VERBATIM)
    set_property(GLOBAL APPEND PROPERTY vkformer_pages "${page}")
    install(FILES "${page}" DESTINATION "${folder}")
endfunction()
if(VKFORMER_PAGES)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/pages")
    vkformer_page(vkformer.1 "${CMAKE_INSTALL_MANDIR}/man1" manpage)
    vkformer_page(vkformer "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" completion bash)
    vkformer_page(_vkformer "${VKFORMER_ZSH_COMPLETIONS}" completion zsh)
    vkformer_page(vkformer.fish "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" completion fish)
    get_property(pages GLOBAL PROPERTY vkformer_pages)
    add_custom_target(vkformer_pages ALL DEPENDS ${pages})
endif()

# --- The library -----------------------------------------------------------------------------------

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/vkformer")

# All modules and kernels in one file. Vulkan, VMA, volk and stb are compiled into it, so programs that link it need
# none of them.
add_library(vkformer_package STATIC)
set_target_properties(vkformer_package PROPERTIES OUTPUT_NAME vkformer EXPORT_NAME vkformer)
foreach(module IN ITEMS base graph ops passes vulkan program models shaders vulkan_api)
    target_sources(vkformer_package PRIVATE $<TARGET_OBJECTS:vkformer_${module}>)
endforeach()
target_compile_features(vkformer_package INTERFACE cxx_std_20)
target_link_libraries(vkformer_package
    PUBLIC nlohmann_json::nlohmann_json GLM::GLM
    PRIVATE PCRE2::8BIT SentencePiece::SentencePiece Utf8proc::Utf8proc JPEG::JPEG PNG::PNG WebP::webp Threads::Threads
        ${CMAKE_DL_LIBS})
install(TARGETS vkformer_package EXPORT vkformer ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/vkformer")

# Headers are included by the same paths as in this tree: "models/families/gpt2.h". Headers that include Vulkan's are
# not installed.
foreach(folder IN ITEMS runtime/ models)
    install(DIRECTORY ${folder} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/vkformer"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
        PATTERN base/text/windows_text.h EXCLUDE PATTERN base/files/os_file_posix.h EXCLUDE
        PATTERN vulkan/handles.h EXCLUDE PATTERN vulkan/cpu/host_pool.h EXCLUDE PATTERN vulkan/device/instance.h EXCLUDE
        PATTERN vulkan/device/matrices.h EXCLUDE PATTERN vulkan/device/physical_device.h EXCLUDE
        PATTERN vulkan/device/queue_family.h EXCLUDE PATTERN vulkan/device/requirements.h EXCLUDE
        PATTERN vulkan/cpu/shader_objects.h EXCLUDE PATTERN vulkan/kernel/specialization.h EXCLUDE)
endforeach()

install(EXPORT vkformer NAMESPACE vkformer:: FILE vkformer-targets.cmake DESTINATION "${package}")
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/vkformer-config.cmake.in "${PROJECT_BINARY_DIR}/vkformer-config.cmake"
    INSTALL_DESTINATION "${package}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/vkformer-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/vkformer-config.cmake" "${PROJECT_BINARY_DIR}/vkformer-config-version.cmake"
    DESTINATION "${package}")
install(DIRECTORY cmake/modules DESTINATION "${package}")
