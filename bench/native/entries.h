// The raw limit of libipset: its data API in a loop, as a program in C would use it. For the benchmark only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/native/cost.h"
#include "netlink/status.h"

namespace knp::bench {

// An entry of a set of IPv4 addresses.
struct PreparedEntry {
  std::array<uint8_t, 4> address;
  uint16_t port;     // host order
  uint8_t protocol;  // 0 for sets without ports
  uint8_t reserved;
};

// Adds the entries to an existing set, in its order.
netlink::Status AddEntries(const std::string& set, const std::vector<PreparedEntry>& entries, Cost* cost);

}  // namespace knp::bench
