// A check of a device: processes that go through the plan, watched by this one.
#pragma once

#include <functional>
#include <string>

#include "apps/check/check_report.h"

namespace vkf {

struct Common;
struct CheckOptions;

/// Checks the device in processes of their own, so that a driver that crashes or hangs ends one of them and is named,
/// and the others go on. On a CPU device, whose driver compiles on one processor, two processes share the plan. In the
/// end two processes repeat some checks at once, whose bits must be those of before. Throws Interrupted; Error if no
/// process can begin, with its message.
CheckReport check_device(const Common& common, const CheckOptions& options);

/// Makes the check at index `first` of the options, in a process of its own, after `accept` has seen the plan. Throws
/// what accept() throws; InputError if the check has another name.
CheckResult check_one(const Common& common, const CheckOptions& options,
                      const std::function<void(const PlanLine&)>& accept, const std::string& name);

}  // namespace vkf
