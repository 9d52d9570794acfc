// Conntrack structs ↔ the records that cross to JavaScript, of which conntrack/layouts.h has the layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conntrack/layouts.h"
#include "conntrack/types.h"

namespace knp::conntrack {

// Reads whole records; the caller has checked the length. Values are not checked: JavaScript has validated
// them, and the kernel refuses any other. Of a flow, only the fields that name it are read.
std::vector<Flow> LoadFlows(const uint8_t* records, size_t size);
std::vector<Filter> LoadFilters(const uint8_t* records, size_t size);

std::vector<uint8_t> StoreFlows(const std::vector<Flow>& flows);

}  // namespace knp::conntrack
