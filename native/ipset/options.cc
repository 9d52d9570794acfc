#include "ipset/options.h"

#include <linux/netfilter/ipset/ip_set.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "netlink/message_builder.h"
#include "records/fields.h"

namespace knp::ipset {
namespace {

using netlink::FailureKind;
using netlink::Status;

// IPSET_FLAG_IFACE_WILDCARD is in kernel headers since 5.5.
constexpr uint32_t kWildcard = 1 << 7;

// How the value of an attribute is passed.
enum class Kind : uint8_t { kBytes, kU8, kU16, kU32, kU64 };

struct Option {
  uint16_t attribute;
  Kind kind;
  int LibraryOptions::*option;
  const char* name;  // ipset(8)'s
};

constexpr Option kParameters[] = {
    {IPSET_ATTR_IP, Kind::kBytes, &LibraryOptions::ip, "range"},
    {IPSET_ATTR_IP_TO, Kind::kBytes, &LibraryOptions::ip_to, "range"},
    {IPSET_ATTR_PORT, Kind::kU16, &LibraryOptions::port, "range"},
    {IPSET_ATTR_PORT_TO, Kind::kU16, &LibraryOptions::port_to, "range"},
    {IPSET_ATTR_TIMEOUT, Kind::kU32, &LibraryOptions::timeout, "timeout"},
    {IPSET_ATTR_CADT_FLAGS, Kind::kU32, &LibraryOptions::cadt_flags, "flags"},
    {IPSET_ATTR_MARKMASK, Kind::kU32, &LibraryOptions::mark_mask, "markmask"},
    {kBitmaskAttribute, Kind::kBytes, &LibraryOptions::bitmask, "bitmask"},
    {IPSET_ATTR_INITVAL, Kind::kU32, &LibraryOptions::initval, "initval"},
    {IPSET_ATTR_HASHSIZE, Kind::kU32, &LibraryOptions::hash_size, "hashsize"},
    {IPSET_ATTR_MAXELEM, Kind::kU32, &LibraryOptions::max_elements, "maxelem"},
    {IPSET_ATTR_NETMASK, Kind::kU8, &LibraryOptions::netmask, "netmask"},
    {IPSET_ATTR_BUCKETSIZE, Kind::kU8, &LibraryOptions::bucket_size, "bucketsize"},
    {IPSET_ATTR_SIZE, Kind::kU32, &LibraryOptions::size, "size"},
};

constexpr Option kExtensionOptions[] = {
    {IPSET_ATTR_IP_TO, Kind::kBytes, &LibraryOptions::ip_to, "range"},
    {IPSET_ATTR_PORT_TO, Kind::kU16, &LibraryOptions::port_to, "range"},
    {IPSET_ATTR_TIMEOUT, Kind::kU32, &LibraryOptions::timeout, "timeout"},
    {IPSET_ATTR_CADT_FLAGS, Kind::kU32, &LibraryOptions::cadt_flags, "flags"},
    {IPSET_ATTR_MARK, Kind::kU32, &LibraryOptions::mark, "mark"},
    {IPSET_ATTR_ETHER, Kind::kBytes, &LibraryOptions::ether, "mac"},
    {IPSET_ATTR_NAME, Kind::kBytes, &LibraryOptions::name, "name"},
    {IPSET_ATTR_NAMEREF, Kind::kBytes, &LibraryOptions::name_ref, "before, after"},
    {IPSET_ATTR_IP2_TO, Kind::kBytes, &LibraryOptions::ip2_to, "range"},
    {IPSET_ATTR_IFACE, Kind::kBytes, &LibraryOptions::iface, "interface"},
    {IPSET_ATTR_BYTES, Kind::kU64, &LibraryOptions::bytes, "bytes"},
    {IPSET_ATTR_PACKETS, Kind::kU64, &LibraryOptions::packets, "packets"},
    {IPSET_ATTR_COMMENT, Kind::kBytes, &LibraryOptions::entry_comment, "comment"},
    {IPSET_ATTR_SKBMARK, Kind::kU64, &LibraryOptions::skb_mark, "skbmark"},
    {IPSET_ATTR_SKBPRIO, Kind::kU32, &LibraryOptions::skb_prio, "skbprio"},
    {IPSET_ATTR_SKBQUEUE, Kind::kU16, &LibraryOptions::skb_queue, "skbqueue"},
};

// An attribute, or bits of one, and the first revision of a type that has it. Revisions of kernels before 4.0
// are not listed.
struct Revision {
  SetType type;
  bool of_entry;
  uint16_t attribute;
  uint32_t bits;  // of the flags; 0 for the attribute itself
  uint8_t least;
  const char* name;
};

constexpr Revision Since(SetType type, uint16_t attribute, uint8_t least, const char* name) {
  return Revision{type, false, attribute, 0, least, name};
}

// `ipset help` lists what each revision added. bucketsize comes with initval: Linux 5.11.
constexpr Revision kRevisions[] = {
    Since(SetType::kHashIp, IPSET_ATTR_BUCKETSIZE, 5, "bucketsize"),
    Since(SetType::kHashMac, IPSET_ATTR_BUCKETSIZE, 1, "bucketsize"),
    Since(SetType::kHashIpMac, IPSET_ATTR_BUCKETSIZE, 1, "bucketsize"),
    Since(SetType::kHashNet, IPSET_ATTR_BUCKETSIZE, 7, "bucketsize"),
    Since(SetType::kHashNetNet, IPSET_ATTR_BUCKETSIZE, 3, "bucketsize"),
    Since(SetType::kHashIpPort, IPSET_ATTR_BUCKETSIZE, 6, "bucketsize"),
    Since(SetType::kHashNetPort, IPSET_ATTR_BUCKETSIZE, 8, "bucketsize"),
    Since(SetType::kHashIpPortIp, IPSET_ATTR_BUCKETSIZE, 6, "bucketsize"),
    Since(SetType::kHashIpPortNet, IPSET_ATTR_BUCKETSIZE, 8, "bucketsize"),
    Since(SetType::kHashIpMark, IPSET_ATTR_BUCKETSIZE, 3, "bucketsize"),
    Since(SetType::kHashNetPortNet, IPSET_ATTR_BUCKETSIZE, 3, "bucketsize"),
    Since(SetType::kHashNetIface, IPSET_ATTR_BUCKETSIZE, 8, "bucketsize"),
    // Linux 6.3.
    Since(SetType::kHashIp, kBitmaskAttribute, 6, "bitmask"),
    Since(SetType::kHashIpPort, kBitmaskAttribute, 7, "bitmask"),
    Since(SetType::kHashIpPort, IPSET_ATTR_NETMASK, 7, "netmask"),
    Since(SetType::kHashNetNet, kBitmaskAttribute, 4, "bitmask"),
    Since(SetType::kHashNetNet, IPSET_ATTR_NETMASK, 4, "netmask"),
    // Linux 5.5.
    {SetType::kHashNetIface, true, IPSET_ATTR_CADT_FLAGS, kWildcard, 7, "wildcard"},
};

// The longest value, a comment with its terminator: libipset reads as far as the width of the option.
using Value = std::array<uint8_t, 256>;

// The attributes one after another. `value` is padded with zeros.
template <typename Each>
Status ForEach(const Rest& rest, const Each& each) {
  constexpr size_t kHeader = layout::Attribute::kSize;
  for (size_t at = 0; at + kHeader <= rest.size();) {
    const uint8_t* attribute = rest.data() + at;
    const size_t length = records::Load(attribute, layout::Attribute::kLength);
    Value value{};
    if (length > value.size() || at + kHeader + length > rest.size()) {
      return Status::Errno(EINVAL, "an attribute that is cut short");
    }
    std::memcpy(value.data(), attribute + kHeader, length);
    Status status = each(records::Load(attribute, layout::Attribute::kType), value);
    if (!status.ok()) return status;
    at += kHeader + netlink::NlaAlign(length);
  }
  return {};
}

template <typename T>
void SetNumber(const Library& library, LibraryData* data, int option, const Value& value) {
  const T number = records::Load(value.data(), records::Number<T>{0});
  library.call.data_set(data, option, &number);
}

Status SetOption(const Option& option, const Value& value, const Library& library, LibraryData* data) {
  const int number = library.option.*option.option;
  if (number == 0) {
    return Status::Of(FailureKind::kLibrary, std::string(kLibraryName) + " is too old for " + option.name);
  }
  switch (option.kind) {
    case Kind::kBytes:
      library.call.data_set(data, number, value.data());
      break;
    case Kind::kU8:
      SetNumber<uint8_t>(library, data, number, value);
      break;
    case Kind::kU16:
      SetNumber<uint16_t>(library, data, number, value);
      break;
    case Kind::kU32:
      SetNumber<uint32_t>(library, data, number, value);
      break;
    case Kind::kU64:
      SetNumber<uint64_t>(library, data, number, value);
      break;
  }
  return {};
}

template <size_t kCount>
Status SetAll(const Option (&options)[kCount], const Rest& rest, const Library& library, LibraryData* data) {
  return ForEach(rest, [&](uint16_t type, const Value& value) {
    for (const Option& option : options) {
      if (option.attribute == type) return SetOption(option, value, library, data);
    }
    return Status::Errno(EINVAL, "no option for attribute " + std::to_string(type));
  });
}

}  // namespace

Status CheckRevision(SetType type, const LibraryType& used, Verb verb, const Rest& rest) {
  return ForEach(rest, [&](uint16_t attribute, const Value& value) -> Status {
    // The two belong together.
    const uint16_t wanted = attribute == IPSET_ATTR_INITVAL && verb == Verb::kCreate
                                ? static_cast<uint16_t>(IPSET_ATTR_BUCKETSIZE)
                                : attribute;
    for (const Revision& one : kRevisions) {
      const bool is_meant =
          one.type == type && one.attribute == wanted && one.of_entry == (verb != Verb::kCreate);
      if (!is_meant || used.revision >= one.least) continue;
      if (one.bits != 0 && (records::Load(value.data(), records::U32{0}) & one.bits) == 0) continue;
      return Status::Errno(EOPNOTSUPP, std::string(one.name) + " needs revision " +
                                           std::to_string(one.least) + " of " + used.name + ", and this is " +
                                           std::to_string(used.revision));
    }
    return {};
  });
}

Status SetParameters(const Rest& rest, const Library& library, LibraryData* data) {
  return SetAll(kParameters, rest, library, data);
}

Status SetExtensions(const Rest& rest, const Library& library, LibraryData* data) {
  return SetAll(kExtensionOptions, rest, library, data);
}

std::string OtherName(const Rest& rest) {
  std::string name;
  static_cast<void>(ForEach(rest, [&name](uint16_t type, const Value& value) {
    if (type == IPSET_ATTR_SETNAME2) name = reinterpret_cast<const char*>(value.data());
    return Status{};
  }));
  return name;
}

}  // namespace knp::ipset
