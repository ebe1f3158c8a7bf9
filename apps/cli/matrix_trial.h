// Trial of a driver's cooperative matrices: some drivers end or block the process that asks for them or uses them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "vulkan/device/device.h"

namespace vkf {

struct Common;

/// Trial for Device and list_devices(): processes of their own ask the driver and multiply by each kind of matrices,
/// once per version of the driver and of our kernels; the verdict is kept with tuned kernels. A driver that ends or
/// blocks such a process has fault "list", or that of the product that it was in. If no process can begin, the matrices
/// are not used, and nothing is kept. `tell` gets one line per device of which matrices are not used. Throws
/// Interrupted. With VKFORMER_MATRIX_TRIAL=off in the environment there is no trial: the driver is asked at once.
MatrixTrial matrix_trial(std::function<void(const std::string&)> tell = {});

/// Tries the wanted device in this process: the `first`-th product and those after it. Prints lines of JSON: the name
/// of a part before it begins, and its fault if results are wrong or the device is lost.
void try_matrices(const Common& common, std::int64_t first);

}  // namespace vkf
