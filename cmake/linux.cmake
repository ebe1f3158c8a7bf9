# Toolchain for the archive that runs on any Linux on x86-64 (the preset `linux`). Other libraries and the C++ library
# are linked statically, from the folder that tools/linux makes; its stand-ins for the C library end at glibc 2.34.
# Drivers bring a C++ library of their own into the process: the program's is hidden from them.
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(VKFORMER_LIBRARIES "${root}/.toolchain-linux")
set(VKFORMER_ARCHIVE TGZ)
set(CMAKE_PREFIX_PATH "${VKFORMER_LIBRARIES}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${VKFORMER_LIBRARIES}/lib -static-libstdc++ -Wl,--exclude-libs,ALL,--as-needed")
# libgcc_s, which every system has its own of, asks for newer functions here.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,--allow-shlib-undefined")
