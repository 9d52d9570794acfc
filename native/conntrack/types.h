// Flows as the kernel tracks them, as plain structs. Names of constants and rules:
// include/uapi/linux/netfilter/nfnetlink_conntrack.h and net/netfilter/nf_conntrack_netlink.c.
#pragma once

#include <array>
#include <cstdint>

#include "conntrack/layouts.h"

namespace knp::conntrack {

// Whom the packets of one direction are from and to (struct nf_conntrack_tuple).
struct Tuple {
  std::array<uint8_t, 16> source{};  // network order; 4 bytes used for AF_INET, the rest zero
  std::array<uint8_t, 16> destination{};
  // Of ICMP, source_port is the identifier, and destination_port is type << 8 | code, as in the kernel's
  // union. 0 for protocols with neither.
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
};

struct Flow {
  uint16_t family = 0;   // AF_INET, AF_INET6
  uint8_t protocol = 0;  // IPPROTO_…
  uint16_t zone = 0;     // of the original direction; 0 is the default one
  uint32_t id = 0;       // CTA_ID; 0 when naming a flow, for whichever has the tuple
  uint32_t status = 0;   // IPS_…
  uint32_t mark = 0;
  uint32_t timeout = 0;  // seconds left
  Tuple original;
  Tuple reply;
};

constexpr uint8_t kAddresses = kSource | kDestination;
constexpr uint8_t kPorts = kSourcePort | kDestinationPort;

struct TupleFilter {
  uint8_t fields = 0;  // that are compared: a sum of TupleField
  Tuple tuple;
};

// A selection of flows: those that match in every given field.
struct Filter {
  uint16_t family = 0;   // AF_UNSPEC for both
  uint8_t protocol = 0;  // 0 for any
  TupleFilter original;
  TupleFilter reply;
};

}  // namespace knp::conntrack
