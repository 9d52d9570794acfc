// Selection of flows by filters, and the dumps that find them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "conntrack/types.h"

namespace knp::conntrack {

// Whether the filter has a condition that most flows do not fulfil by default: an address or a network of at
// least one bit, a port, a type, code or identifier of ICMP, a bit of the mark, a zone other than 0, or a
// label. Other filters select the whole table, or a whole protocol, and must not be used to delete flows.
bool Narrows(const Filter& filter);

// Decides on every flow, whether or not the kernel has filtered.
class Selector {
 public:
  explicit Selector(const std::vector<Filter>& filters);
  // Whether any of the filters selects the flow.
  bool Selects(const Flow& flow) const;

 private:
  // Most filters name a destination port. A flow is compared with the filters of its own port only.
  std::unordered_multimap<uint16_t, Filter> by_port_;
  std::vector<Filter> others_;
};

// The part of the filter that every ctnetlink applies correctly; it selects the same flows or more. It has
// the family, the protocol, the mark, addresses and ports, but for these:
// - IPv6 addresses: since CTA_FILTER came (5.8), ctnetlink_filter_match_tuple has taken the result of
//   ipv6_addr_cmp for a truth value, and so has selected all flows but the wanted ones. Seen in 6.1 and
//   6.18.44, repaired in 6.12.117: the version does not show whether a kernel is repaired.
// - networks: ctnetlink compares whole addresses.
// - ports of protocols other than TCP and UDP: ctnetlink accepts and ignores them.
Filter KernelPart(const Filter& filter);

// The dumps that together have every flow that any of the filters selects. Each walks the kernel's table and
// copies the selected flows: one dump for each kernel part, or, when a family has more than kMostWalks, one
// dump by the fields that all filters of the family share. At 262 144 buckets a walk costs 3 to 8 ms, a
// copied flow 1.3 µs.
constexpr size_t kMostWalks = 4;
std::vector<Filter> PlanDumps(const std::vector<Filter>& filters);

}  // namespace knp::conntrack
