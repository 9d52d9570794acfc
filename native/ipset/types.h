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

// The kernel's name: `hash:ip,port`. Empty for a number that is no type.
const char* TypeName(SetType type);

// The set of an entry, as far as the encoding of the entry depends on it.
struct SetReference {
  std::string name;  // 1 to 31 bytes (IPSET_MAXNAMELEN less the terminator)
  SetType type = SetType::kHashIp;
  uint8_t family = 0;  // AF_INET, AF_INET6; AF_UNSPEC for kBitmapPort

  bool operator==(const SetReference& other) const {
    return type == other.type && family == other.family && name == other.name;
  }
};

// The parameters of a set that is created.
struct SetParameters {
  uint32_t hash_size = 0;     // hash types only: buckets
  uint32_t max_elements = 0;  // hash types only
  uint16_t port_from = 0;     // kBitmapPort only
  uint16_t port_to = 0;
};

// Attributes of a listing that have no field here, as they cross to JavaScript: one after another, each a
// layout::Attribute and its value, padded to a multiple of 4. At most kLongestRest bytes: a record has one
// byte for their number, divided by 4.
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
  Rest rest;  // listed only
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

// One change. kFlush and kDestroy use the name of `set` only, kSwap that and `other`.
struct Operation {
  Verb verb = Verb::kAdd;
  SetReference set;
  SetParameters parameters;  // kCreate
  Entry entry;               // kAdd, kDelete
  std::string other;         // kSwap
};

}  // namespace knp::ipset
