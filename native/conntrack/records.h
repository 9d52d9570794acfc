// Conntrack structs ↔ the records that cross to JavaScript, of which conntrack/layouts.h has the layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conntrack/layouts.h"
#include "conntrack/types.h"

namespace knp::conntrack {

// How flows are listed.
struct ListOptions {
  bool partial = false;
  bool zero_counters = false;
  Table table = Table::kConntrack;
};

// Reads whole records; the caller has checked the length. Values are not checked: JavaScript has validated
// them, and the kernel refuses any other.
std::vector<Operation> LoadOperations(const uint8_t* records, size_t size);
std::vector<Filter> LoadFilters(const uint8_t* records, size_t size);
ListOptions LoadListOptions(const uint8_t* record);

// A flow is layout::Flow; if it has details, layout::Details and its security context follow.
std::vector<uint8_t> StoreFlows(const std::vector<Flow>& flows);
// Appends one flow, with what happened to it.
void StoreEvent(FlowEvent event, const Flow& flow, std::vector<uint8_t>* records);

std::vector<uint8_t> StoreStatistics(const Statistics& statistics);
std::vector<uint8_t> StoreCapabilities(const Capabilities& capabilities);
std::vector<uint8_t> StoreExpectations(const std::vector<Expectation>& expectations);

}  // namespace knp::conntrack
