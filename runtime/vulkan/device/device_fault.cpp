#include "vulkan/device/device_fault.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/plain_text.h"
#include "vulkan/handles.h"

namespace vkf {

namespace {

/// Characters up to the first 0, which a driver may have left out.
template <std::size_t size>
std::string words_of(const char (&characters)[size]) {
    const std::string_view all(characters, size);
    return std::string(all.substr(0, all.find('\0')));
}

const char* name_of(VkDeviceFaultAddressTypeEXT type) {
    switch (type) {
        case VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT:
            return "invalid read";
        case VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT:
            return "invalid write";
        case VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT:
            return "invalid execution";
        case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_UNKNOWN_EXT:
        case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_INVALID_EXT:
        case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT:
            return "instruction";
        default:
            return "address";
    }
}

}  // namespace

std::string fault_words(const DeviceHandles& handles) {
    if (!handles.device_fault) return {};
    VkDeviceFaultCountsEXT counts{};
    counts.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT;
    if (vkGetDeviceFaultInfoEXT(handles.device, &counts, nullptr) < 0) return {};
    constexpr std::uint32_t most = 8;
    counts.addressInfoCount = std::min(counts.addressInfoCount, most);
    counts.vendorInfoCount = std::min(counts.vendorInfoCount, most);
    counts.vendorBinarySize = 0;  // for the vendor's tools only
    std::vector<VkDeviceFaultAddressInfoEXT> addresses(counts.addressInfoCount);
    std::vector<VkDeviceFaultVendorInfoEXT> vendor(counts.vendorInfoCount);
    VkDeviceFaultInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT;
    info.pAddressInfos = addresses.data();
    info.pVendorInfos = vendor.data();
    // VK_INCOMPLETE has as many entries as there is room for.
    if (vkGetDeviceFaultInfoEXT(handles.device, &counts, &info) < 0) return {};
    addresses.resize(counts.addressInfoCount);
    vendor.resize(counts.vendorInfoCount);

    std::string words = words_of(info.description);
    for (const VkDeviceFaultAddressInfoEXT& at : addresses)
        words += text(words.empty() ? "" : "; ", name_of(at.addressType), " at 0x", std::hex, at.reportedAddress,
                      std::dec, ", exact to ", at.addressPrecision, " bytes");
    for (const VkDeviceFaultVendorInfoEXT& at : vendor)
        words += text(words.empty() ? "" : "; ", words_of(at.description), " (code 0x", std::hex, at.vendorFaultCode,
                      ", data 0x", at.vendorFaultData, ')');
    return plain_line(words, 1000);
}

}  // namespace vkf
