// Warm-up before every timing on a GPU.
#pragma once

#include <chrono>

#include "vulkan/device/device.h"

namespace vkf {

/// Runs work again and again until a GPU has raised its clocks, which takes some tenths of a second of work: an H200
/// goes from 345 to 1980 MHz after 0.2 s. A CPU needs no warm-up.
template <class Run>
void warm_up(const Device& device, Run&& run) {
    constexpr std::chrono::duration<double> long_enough(0.3);
    if (device.info().kind == DeviceKind::cpu) return;
    for (const auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < long_enough;)
        run();
}

}  // namespace vkf
