#include "apps/cli/raw_output.h"

#include <cerrno>
#include <cstring>
#include <span>

#include "apps/cli/common.h"
#include "base/files/os_file.h"
#include "base/os/os.h"

namespace vkf {

void print_as_is(std::string_view text) {
    if (os::write(os::STANDARD_OUTPUT, std::as_bytes(std::span(text)))) return;
    if (errno == EPIPE) throw ClosedOutput();
    throw Error("cannot write to standard output: ", std::strerror(errno));
}

}  // namespace vkf
