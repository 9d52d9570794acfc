// What filters select, and what to ask the kernel for in order to find it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "conntrack/types.h"

namespace knp::conntrack {

// Whether the filter names an address or a port of one family. Only by such a filter may flows be deleted:
// one that names nothing selects the whole table.
bool Narrows(const Filter& filter);

// The last word on every flow, whatever the kernel filtered or did not.
class Selector {
 public:
  explicit Selector(const std::vector<Filter>& filters);
  // Whether any of the filters selects the flow.
  bool Selects(const Flow& flow) const;

 private:
  // Of many filters most name a port that packets go to: a flow is held against its own port's only.
  std::unordered_multimap<uint16_t, Filter> by_port_;
  std::vector<Filter> others_;
};

// The part of the filter that every ctnetlink gets right, which selects the same flows or more. Two things it
// must not be asked for:
// - IPv6 addresses: since CTA_FILTER came (5.8), ctnetlink_filter_match_tuple has taken the result of
//   ipv6_addr_cmp for a truth value, and so selected every flow but the wanted ones. Seen in 6.1 and 6.18.44;
//   repaired in 6.12.117, so that no version number tells.
// - ports of protocols other than TCP and UDP, which it accepts and ignores.
Filter KernelPart(const Filter& filter);

// What to list so that everything is there that any of the filters selects: a dump for each kernel part,
// which walks the kernel's table and copies what is selected; or when that would be more than kMostWalks of a
// family, one dump of what all of that family have in common. At 262 144 buckets a walk costs 3 to 8 ms, a
// copied flow 1.3 µs.
constexpr size_t kMostWalks = 4;
std::vector<Filter> PlanDumps(const std::vector<Filter>& filters);

}  // namespace knp::conntrack
