# Toolchain for Windows on x86-64: cross-compiles with MinGW-w64 (the preset `windows`) and the libraries that
# tools/windows puts into .toolchain-windows/. Programs are linked statically: they need only libraries of Windows.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(VKFORMER_LIBRARIES "${root}/.toolchain-windows")
set(VKFORMER_ARCHIVE ZIP)
set(CMAKE_FIND_ROOT_PATH "${VKFORMER_LIBRARIES}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
