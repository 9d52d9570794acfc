// Sets and their entries, as plain structs. Names of constants and rules:
// include/uapi/linux/netfilter/ipset/ip_set.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ipset/layouts.h"

namespace knp::ipset {

// An address in network order; 4 bytes used for AF_INET, 16 for AF_INET6, the rest zero.
using AddressBytes = std::array<uint8_t, 16>;

// The kernel's name: `hash:ip,port`. Empty for a number that is not a type.
const char* TypeName(SetType type);
// The names of all types.
std::vector<std::string> TypeNames();

// The set of an entry, as far as the encoding of the entry depends on it.
struct SetReference {
  std::string name;  // 1 to 31 bytes (IPSET_MAXNAMELEN less the terminator)
  SetType type = SetType::kHashIp;
  uint8_t family = 0;  // AF_INET, AF_INET6; AF_UNSPEC for types without addresses

  bool operator==(const SetReference& other) const {
    return type == other.type && family == other.family && name == other.name;
  }
};

// Parameters of a listed set that have fields in its record.
struct SetParameters {
  uint32_t hash_size = 0;     // hash types only: buckets
  uint32_t max_elements = 0;  // hash types only
  uint16_t port_from = 0;     // kBitmapPort only
  uint16_t port_to = 0;
};

// IPSET_ATTR_BITMASK, which kernel headers have since 6.3.
constexpr uint16_t kBitmaskAttribute = 12;

// Attributes that have no field here, as they cross to or from JavaScript: one after another, each a
// layout::Attribute and its value, padded to a multiple of 4. At most kLongestRest bytes: a record has one
// byte for their number, divided by 4. Values are listed as the kernel sends them (numbers in network order),
// and written as records have them (numbers little-endian).
using Rest = std::vector<uint8_t>;
constexpr size_t kLongestRest = size_t{255} * 4;

struct Entry {
  uint8_t fields = 0;  // EntryField bits
  uint8_t protocol = 0;
  uint8_t prefix = 0;
  uint8_t prefix2 = 0;
  uint16_t port = 0;   // host order
  uint8_t family = 0;  // of both addresses; listed only: a written entry has the family of its set
  AddressBytes address{};
  AddressBytes address2{};
  Rest rest;
};

// A set as the kernel describes it.
struct SetHeader {
  std::string name;
  std::string type;
  uint8_t family = 0;  // AF_UNSPEC where the type has none
  uint8_t revision = 0;
  SetParameters parameters;
  uint32_t references = 0;
  uint32_t elements = 0;
  bool has_elements = false;  // since Linux 4.9
  bool has_ports = false;     // parameters.port_from and port_to were listed
  bool extended = false;      // with timeout, counters, comment or skbinfo
  Rest rest;
};

struct SetState {
  SetHeader header;
  std::vector<Entry> entries;
};

// A set type as the kernel supports it.
struct TypeSupport {
  std::string name;
  uint8_t least_revision = 0;
  uint8_t greatest_revision = 0;
};

// Versions of the netlink interface that the kernel speaks (IPSET_PROTOCOL).
struct ProtocolVersions {
  uint8_t least = 0;
  uint8_t greatest = 0;
};

// One change. The verbs for all sets use nothing but the verb; kFlush, kDestroy, kRename and kSwap the name
// of `set`, the last two also IPSET_ATTR_SETNAME2 in the rest of the entry; kCreate has its parameters there.
struct Operation {
  Verb verb = Verb::kAdd;
  bool strict = false;  // it is an error if the object exists already, or is absent already
  SetReference set;
  Entry entry;
};

}  // namespace knp::ipset
