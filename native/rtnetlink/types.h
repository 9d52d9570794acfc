// Links and addresses, as plain structs. Names of constants and rules: rtnetlink(7),
// include/uapi/linux/if_link.h, if_addr.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rtnetlink/layouts.h"

namespace knp::rtnetlink {

struct Link {
  int32_t index = 0;
  uint32_t flags = 0;  // IFF_…
  uint32_t mtu = 0;
  std::string name;
  std::string kind;  // IFLA_INFO_KIND; empty for physical devices and the loopback
};

struct Address {
  uint16_t family = 0;  // AF_INET, AF_INET6
  uint8_t prefix = 0;
  uint8_t scope = 0;   // RT_SCOPE_…
  uint32_t flags = 0;  // IFA_F_…
  int32_t link_index = 0;
  std::array<uint8_t, 16> bytes{};  // network order; 4 bytes used for AF_INET, the rest zero
};

// An address with the name of the link that has it.
struct NamedAddress {
  Address address;
  std::string link;
};

// A change that the kernel notified of.
struct Event {
  EventKind kind = EventKind::kLink;
  bool deleted = false;  // else added or changed
  Link link;             // of kLink
  NamedAddress address;  // of kAddress
};

// One change. `kind` belongs to kAddLink, `address` (but for its link_index, which is looked up) to the verbs
// on addresses.
struct Operation {
  Verb verb = Verb::kAddLink;
  std::string link;
  std::string kind;
  Address address;
};

}  // namespace knp::rtnetlink
