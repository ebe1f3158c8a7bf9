#include "models/images/codecs/library_call.h"

#include <cstring>

namespace vkf {

void LibraryFailure::leave(const char* why) {
    std::strncpy(reason.data(), why, reason.size() - 1);
    std::longjmp(back, 1);
}

void LibraryFailure::leave_for_more() {
    cut_short = true;
    leave("cut short");
}

bool completes(LibraryFailure& failure, const std::function<void()>& step) {
    if (setjmp(failure.back) != 0) return false;
    step();
    return true;
}

}  // namespace vkf
