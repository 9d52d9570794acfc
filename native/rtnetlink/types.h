// Links and addresses, as plain structs. Names of constants and rules: rtnetlink(7),
// include/uapi/linux/if_link.h, if_addr.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "rtnetlink/layouts.h"

namespace knp::rtnetlink {

struct Link {
  int32_t index = 0;
  uint32_t flags = 0;  // IFF_…
  uint32_t mtu = 0;
  std::string name;
  std::string kind;  // IFLA_INFO_KIND; empty for physical devices and the loopback
};

constexpr uint32_t kForever = 0xffffffff;  // INFINITY_LIFE_TIME

struct Address {
  uint16_t family = 0;  // AF_INET, AF_INET6
  uint8_t prefix = 0;
  uint8_t scope = 0;   // RT_SCOPE_…
  uint32_t flags = 0;  // IFA_F_…
  int32_t link_index = 0;
  uint32_t metric = 0;              // IFA_RT_PRIORITY; 0 where there is none
  uint32_t valid = kForever;        // in s
  uint32_t preferred = kForever;    // in s
  std::string label;                // IFA_LABEL, of AF_INET only
  std::array<uint8_t, 16> bytes{};  // network order; 4 bytes used for AF_INET, the rest zero
  std::array<uint8_t, 16> peer{};   // the other end of a point-to-point link; `bytes` where there is none
  std::array<uint8_t, 16> broadcast{};
  bool has_broadcast = false;
  uint8_t protocol = 0;         // IFA_PROTO, Linux 5.18; 0 where there is none
  std::vector<uint8_t> others;  // attributes without a field, as records of layout::Attribute
};

// An address with the name of the link that has it.
struct NamedAddress {
  Address address;
  std::string link;
};

// A number in a payload that is looked up when the message is sent: the index of a link, or a descriptor of a
// network namespace.
struct Reference {
  ReferenceKind kind = ReferenceKind::kLink;
  uint32_t offset = 0;  // of 4 bytes in the payload
  std::string name;     // of the link; path of the namespace
};

// A message that JavaScript has encoded: fixed header and attributes.
struct Encoded {
  uint16_t type = 0;   // RTM_…
  uint16_t flags = 0;  // NLM_F_… beside NLM_F_REQUEST
  std::vector<uint8_t> payload;
  std::vector<Reference> references;
};

// One change: a message, or an address (but for its link_index, which is looked up) and the name of its link.
struct Operation {
  Verb verb = Verb::kAddAddress;
  std::string link;
  Address address;
  Encoded message;  // of kSend
};

}  // namespace knp::rtnetlink
