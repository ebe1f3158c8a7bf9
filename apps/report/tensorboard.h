// Training runs as TensorBoard shows them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/report/report_picture.h"
#include "apps/report/run_log.h"

namespace vkf {

/// Name of a run's file. TensorBoard recognises it by "tfevents".
inline constexpr const char* event_file_name = "events.out.tfevents.vkformer";

/// Folders for the runs' files, relative to TensorBoard's log directory; TensorBoard names runs by them. A folder is
/// the run's directory without the part that all directories share. Throws InputError if a run is named twice.
std::vector<std::filesystem::path> event_folders(const std::vector<RunLog>& runs);

/// Events of a run, in the order of their steps:
/// - hyper-parameters: the options of train.toml, the start, and the end if the run has done the steps of its option
///   max-iters. Runs of the same `group` are repetitions; "" is a group of its own;
/// - texts: "configuration", the options as train.toml has them, "run", what made each part of the run, and "sample",
///   what the model wrote at evaluations;
/// - images, at the last step: the pictures, by their names;
/// - scalars, in float: every metric by its name, and the probes' statistics of each layer as STATISTIC/LAYER for all
///   tokens and STATISTIC_first/LAYER for first ones.
/// Times are estimates: the start of the part of the run, and since then the time of its steps, without evaluations.
/// They begin at 0 if the start is not known. Throws InputError for a step past 2^53.
std::string event_file(const RunLog& run, const std::string& group, const std::vector<ReportPicture>& pictures = {});

}  // namespace vkf
