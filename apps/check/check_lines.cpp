#include "apps/check/check_lines.h"

#include <string>

namespace vkf {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json document(const PlanLine& line) {
    ordered_json made = document(line.head);
    made["kernels"] = std::to_string(line.kernels);  // JSON's readers may keep 53 bits of a number
    made["checks"] = line.checks;
    return made;
}

ordered_json begin_document(const CheckResult& result) {
    return {{"begin", result.name},
            {"table", result.table},
            {"index", result.index},
            {"kernels", result.kernels},
            {"chosen", result.chosen}};
}

ordered_json document(const CheckResult& result) {
    return {{"check", result.name},      {"table", result.table},       {"index", result.index},
            {"worst", result.worst},     {"failures", result.failures}, {"notes", result.notes},
            {"kernels", result.kernels}, {"chosen", result.chosen},     {"bits", result.bits},
            {"seconds", result.seconds}};
}

std::optional<PlanLine> read_plan_line(const json& line) {
    if (!line.contains("checks")) return std::nullopt;
    return PlanLine{read_head(line), std::stoull(line.at("kernels").get<std::string>()), line.at("checks")};
}

std::optional<CheckResult> read_begin_line(const json& line) {
    if (!line.contains("begin")) return std::nullopt;
    return CheckResult{.index = line.at("index"),
                       .table = line.at("table"),
                       .name = line.at("begin"),
                       .kernels = line.at("kernels"),
                       .chosen = line.at("chosen")};
}

std::optional<CheckResult> read_result(const json& line) {
    if (!line.contains("check")) return std::nullopt;
    return CheckResult{.index = line.at("index"),
                       .table = line.at("table"),
                       .name = line.at("check"),
                       .worst = line.at("worst"),
                       .failures = line.at("failures"),
                       .notes = line.at("notes"),
                       .kernels = line.at("kernels"),
                       .chosen = line.at("chosen"),
                       .bits = line.at("bits"),
                       .seconds = line.at("seconds")};
}

}  // namespace vkf
