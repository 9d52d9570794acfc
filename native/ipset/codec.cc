#include "ipset/codec.h"

#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "records/fields.h"

namespace knp::ipset {
namespace {

using netlink::AttributeReader;
using netlink::FailureKind;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::NlaAlign;
using netlink::ReadError;
using netlink::Status;

// The first version of the netlink interface (IPSET_PROTOCOL_MIN, Linux 2.6.39). Every later
// kernel accepts it for these requests, so that nothing has to be negotiated.
constexpr uint8_t kInterfaceVersion = 6;
// IPSET_MAXNAMELEN less the terminator.
constexpr size_t kLongestName = IPSET_MAXNAMELEN - 1;
constexpr uint32_t kExtensions = IPSET_FLAG_WITH_COUNTERS | IPSET_FLAG_WITH_COMMENT | IPSET_FLAG_WITH_SKBINFO;

// Entries for which memory is reserved: as many as the maximum of a set by default, because the number is
// from a message.
constexpr uint32_t kMostReserved = 65536;

constexpr uint16_t MessageType(ipset_cmd command) {
  return static_cast<uint16_t>(NFNL_SUBSYS_IPSET << 8 | command);
}

void Begin(MessageBuilder* builder, ipset_cmd command, uint16_t flags) {
  builder->Begin(MessageType(command), NLM_F_REQUEST | NLM_F_ACK | flags, 0);
  nfgenmsg header{};
  header.nfgen_family = AF_INET;
  header.version = NFNETLINK_V0;
  builder->PutHeader(header);
  builder->PutU8(IPSET_ATTR_PROTOCOL, kInterfaceVersion);
}

// NLM_F_ACK: kernels before 5.7 report a missing set only when an acknowledgement was requested.
void BeginList(MessageBuilder* builder) {
  Begin(builder, IPSET_CMD_LIST, NLM_F_DUMP);
}

// Whether a message is a reply to this command.
bool IsReply(const Message& message, ipset_cmd command) {
  return message.type == MessageType(command) && message.size >= sizeof(nfgenmsg);
}

// The width of an attribute that is kept, in bytes. JavaScript reads those that it knows at this width.
struct Width {
  uint16_t type;
  size_t size;
};
// An address in an attribute of its own.
constexpr size_t kNested4 = sizeof(nlattr) + 4;
constexpr size_t kNested6 = sizeof(nlattr) + 16;
constexpr Width kParameterWidths[] = {
    {IPSET_ATTR_IP, kNested4},  {IPSET_ATTR_IP_TO, kNested4},  {IPSET_ATTR_TIMEOUT, 4},
    {IPSET_ATTR_MARKMASK, 4},   {kBitmaskAttribute, kNested4}, {kBitmaskAttribute, kNested6},
    {IPSET_ATTR_INITVAL, 4},    {IPSET_ATTR_NETMASK, 1},       {IPSET_ATTR_SIZE, 4},
    {IPSET_ATTR_BUCKETSIZE, 1}, {IPSET_ATTR_MEMSIZE, 4},
};
constexpr Width kExtensionWidths[] = {
    {IPSET_ATTR_TIMEOUT, 4}, {IPSET_ATTR_MARK, 4},    {IPSET_ATTR_ETHER, 6},   {IPSET_ATTR_BYTES, 8},
    {IPSET_ATTR_PACKETS, 8}, {IPSET_ATTR_SKBMARK, 8}, {IPSET_ATTR_SKBPRIO, 4}, {IPSET_ATTR_SKBQUEUE, 2},
};

// Whether the attribute has one of the widths listed for its type, or its type is not listed.
template <size_t kCount>
bool Fits(const Width (&widths)[kCount], const AttributeReader& attribute) {
  bool listed = false;
  for (const Width& width : widths) {
    if (width.type != attribute.type()) continue;
    if (width.size == attribute.size()) return true;
    listed = true;
  }
  return !listed;
}

// Keeps an attribute that has no field.
template <size_t kCount>
void Keep(const Width (&widths)[kCount], AttributeReader* attribute, Rest* rest, ReadError* error) {
  if (!Fits(widths, *attribute)) {
    if (error->ok()) *error = ReadError{"unexpected width", attribute->type(), attribute->size()};
    return;
  }
  constexpr size_t kHeader = layout::Attribute::kSize;
  const size_t start = rest->size();
  const size_t size = attribute->size();
  if (start + kHeader + NlaAlign(size) > kLongestRest) {
    if (error->ok()) *error = ReadError{"does not fit into a record", attribute->type(), size};
    return;
  }
  rest->resize(start + kHeader + NlaAlign(size));
  uint8_t* out = rest->data() + start;
  records::Store(out, layout::Attribute::kLength, size);
  records::Store(out, layout::Attribute::kType, attribute->type());
  attribute->Bytes(out + kHeader, size);
}

// IPSET_ATTR_IP, IPSET_ATTR_IP2: an address inside an attribute of its own.
void ReadAddress(AttributeReader attributes, EntryField field, AddressBytes* address, Entry* out) {
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPSET_ATTR_IPADDR_IPV4: {
        const auto bytes = attributes.Fixed<std::array<uint8_t, 4>>();
        *address = {bytes[0], bytes[1], bytes[2], bytes[3]};
        out->family = AF_INET;
        out->fields |= field;
        break;
      }
      case IPSET_ATTR_IPADDR_IPV6:
        *address = attributes.Fixed<AddressBytes>();
        out->family = AF_INET6;
        out->fields |= field;
        break;
      default:
        break;
    }
  }
}

Entry ReadEntry(AttributeReader attributes, ReadError* error) {
  Entry entry;
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPSET_ATTR_IP:
        ReadAddress(attributes.Nested(), kAddress, &entry.address, &entry);
        break;
      case IPSET_ATTR_IP2:
        ReadAddress(attributes.Nested(), kAddress2, &entry.address2, &entry);
        break;
      case IPSET_ATTR_CIDR:
        entry.prefix = attributes.U8();
        entry.fields |= kPrefix;
        break;
      case IPSET_ATTR_CIDR2:
        entry.prefix2 = attributes.U8();
        entry.fields |= kPrefix2;
        break;
      case IPSET_ATTR_PORT:
        entry.port = attributes.BigEndian16();
        entry.fields |= kPort;
        break;
      case IPSET_ATTR_PROTO:
        entry.protocol = attributes.U8();
        entry.fields |= kProtocol;
        break;
      case IPSET_ATTR_CADT_FLAGS: {
        const uint32_t flags = attributes.BigEndian32();
        if ((flags & IPSET_FLAG_NOMATCH) != 0) entry.fields |= kNoMatch;
        if ((flags & ~uint32_t{IPSET_FLAG_NOMATCH}) != 0) {
          Keep(kExtensionWidths, &attributes, &entry.rest, error);
        }
        break;
      }
      case IPSET_ATTR_PAD:
        break;
      default:
        Keep(kExtensionWidths, &attributes, &entry.rest, error);
    }
  }
  return entry;
}

// IPSET_ATTR_ADT: one IPSET_ATTR_DATA for each entry.
void ReadEntries(AttributeReader attributes, std::vector<Entry>* out, ReadError* error) {
  while (attributes.Next()) {
    if (attributes.type() == IPSET_ATTR_DATA) out->push_back(ReadEntry(attributes.Nested(), error));
  }
}

// Whether a part of a listing is about the last set.
bool Continues(const std::vector<SetState>& sets, const SetState& part) {
  return !sets.empty() && sets.back().header.name == part.header.name;
}

// IPSET_ATTR_DATA of a set.
void ReadParameters(AttributeReader attributes, SetHeader* out, ReadError* error) {
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPSET_ATTR_HASHSIZE:
        out->parameters.hash_size = attributes.BigEndian32();
        break;
      case IPSET_ATTR_MAXELEM:
        out->parameters.max_elements = attributes.BigEndian32();
        break;
      case IPSET_ATTR_PORT:
        out->parameters.port_from = attributes.BigEndian16();
        out->has_ports = true;
        break;
      case IPSET_ATTR_PORT_TO:
        out->parameters.port_to = attributes.BigEndian16();
        break;
      case IPSET_ATTR_REFERENCES:
        out->references = attributes.BigEndian32();
        break;
      case IPSET_ATTR_ELEMENTS:
        out->elements = attributes.BigEndian32();
        out->has_elements = true;
        break;
      case IPSET_ATTR_TIMEOUT:
        out->extended = true;
        Keep(kParameterWidths, &attributes, &out->rest, error);
        break;
      case IPSET_ATTR_CADT_FLAGS:
        if ((attributes.BigEndian32() & kExtensions) != 0) out->extended = true;
        Keep(kParameterWidths, &attributes, &out->rest, error);
        break;
      default:
        Keep(kParameterWidths, &attributes, &out->rest, error);
    }
  }
}

}  // namespace

bool EncodeListHeaders(MessageBuilder* builder) {
  BeginList(builder);
  builder->PutBigEndian32(IPSET_ATTR_FLAGS | NLA_F_NET_BYTEORDER, IPSET_FLAG_LIST_HEADER);
  return builder->End();
}

bool EncodeListSet(MessageBuilder* builder, std::string_view name) {
  BeginList(builder);
  builder->PutString(IPSET_ATTR_SETNAME, name);
  return builder->End();
}

Status DecodeListPart(const Message& message, std::vector<SetState>* sets) {
  ReadError error;
  SetState part;
  bool has_type = false;
  if (!IsReply(message, IPSET_CMD_LIST)) {
    return Status::Of(FailureKind::kMalformedReply, "not a part of a listing of sets");
  }
  AttributeReader attributes = message.Attributes(sizeof(nfgenmsg), &error);
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPSET_ATTR_SETNAME:
        part.header.name = attributes.String(kLongestName);
        break;
      case IPSET_ATTR_TYPENAME:
        part.header.type = attributes.String(kLongestName);
        has_type = true;
        break;
      case IPSET_ATTR_FAMILY:
        part.header.family = attributes.U8();
        break;
      case IPSET_ATTR_REVISION:
        part.header.revision = attributes.U8();
        break;
      case IPSET_ATTR_DATA:
        ReadParameters(attributes.Nested(), &part.header, &error);
        break;
      case IPSET_ATTR_ADT:
        // The kernel sends the name and the number of elements first.
        if (!has_type && Continues(*sets, part)) {
          ReadEntries(attributes.Nested(), &sets->back().entries, &error);
        } else {
          part.entries.reserve(std::min(part.header.elements, kMostReserved));
          ReadEntries(attributes.Nested(), &part.entries, &error);
        }
        break;
      default:
        break;
    }
  }
  if (!error.ok()) return error.ToStatus();
  if (part.header.name.empty()) return Status::Of(FailureKind::kMalformedReply, "set without a name");
  if (has_type) {
    sets->push_back(std::move(part));
    return {};
  }
  // Entries before the name have no set.
  if (!Continues(*sets, part) || !part.entries.empty()) {
    return Status::Of(FailureKind::kMalformedReply, "entries of a set that was not begun");
  }
  return {};
}

bool EncodeType(MessageBuilder* builder, std::string_view name, uint8_t family) {
  Begin(builder, IPSET_CMD_TYPE, 0);
  builder->PutString(IPSET_ATTR_TYPENAME, name);
  builder->PutU8(IPSET_ATTR_FAMILY, family);
  return builder->End();
}

Status DecodeType(const Message& message, TypeSupport* out) {
  if (!IsReply(message, IPSET_CMD_TYPE))
    return Status::Of(FailureKind::kMalformedReply, "not a type of sets");
  ReadError error;
  bool has_least = false;
  AttributeReader attributes = message.Attributes(sizeof(nfgenmsg), &error);
  while (attributes.Next()) {
    if (attributes.type() == IPSET_ATTR_TYPENAME) out->name = attributes.String(kLongestName);
    attributes.Read(IPSET_ATTR_REVISION, &out->greatest_revision);
    has_least |= attributes.Read(IPSET_ATTR_REVISION_MIN, &out->least_revision);
  }
  if (!has_least) out->least_revision = out->greatest_revision;
  return error.ToStatus();
}

bool EncodeProtocol(MessageBuilder* builder) {
  Begin(builder, IPSET_CMD_PROTOCOL, 0);
  return builder->End();
}

Status DecodeProtocol(const Message& message, ProtocolVersions* out) {
  if (!IsReply(message, IPSET_CMD_PROTOCOL)) return Status::Of(FailureKind::kMalformedReply, "not a version");
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(nfgenmsg), &error);
  while (attributes.Next()) {
    attributes.Read(IPSET_ATTR_PROTOCOL, &out->greatest);
    attributes.Read(IPSET_ATTR_PROTOCOL_MIN, &out->least);
  }
  if (out->least == 0) out->least = out->greatest;
  return error.ToStatus();
}

}  // namespace knp::ipset
