// One page of HTML on training runs, which needs no network and no script.
#pragma once

#include <string>
#include <vector>

#include "apps/report/figures.h"
#include "apps/report/report_picture.h"

namespace vkf {

/// Section of a page.
struct ReportSection {
    std::string heading;
    std::vector<Figure> figures;
};

/// The page: a table of the groups' results, the sections' figures, pictures, texts that models wrote, the options of
/// the groups, and what made their runs.
std::string report_page(const std::vector<RunGroup>& groups, const std::vector<ReportSection>& sections,
                        const std::vector<ReportPicture>& pictures = {});

}  // namespace vkf
