#include "rtnetlink/codec.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "records/fields.h"

namespace knp::rtnetlink {
namespace {

using netlink::AttributeReader;
using netlink::Fault;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::ReadError;
using netlink::Status;

// IFA_PROTO, of Linux 5.18: older headers lack it.
constexpr uint16_t kIfaProto = 11;
// IFLA_ALT_IFNAME, of Linux 5.5.
constexpr uint16_t kIflaAltIfname = 53;

void BeginLink(MessageBuilder* builder, uint16_t type, uint16_t flags, int32_t index) {
  builder->Begin(type, NLM_F_REQUEST | flags, 0);
  ifinfomsg header{};
  header.ifi_index = index;
  builder->PutHeader(header);
}

bool EncodeAddress(MessageBuilder* builder, uint16_t type, uint16_t flags, const Address& address) {
  builder->Begin(type, NLM_F_REQUEST | flags, 0);
  ifaddrmsg header{};
  header.ifa_family = static_cast<uint8_t>(address.family);
  header.ifa_prefixlen = address.prefix;
  header.ifa_flags = static_cast<uint8_t>(address.flags);
  header.ifa_scope = address.scope;
  header.ifa_index = static_cast<uint32_t>(address.link_index);
  builder->PutHeader(header);
  const size_t size = address.family == AF_INET6 ? 16 : 4;
  builder->PutBytes(IFA_LOCAL, address.bytes.data(), size);
  // With IFA_LOCAL alone, a deletion of IPv4 would not look at the prefix length.
  builder->PutBytes(IFA_ADDRESS, address.peer.data(), size);
  if (address.has_broadcast) builder->PutBytes(IFA_BROADCAST, address.broadcast.data(), size);
  if (!address.label.empty()) builder->PutString(IFA_LABEL, address.label);
  if (address.flags > UINT8_MAX) builder->PutU32(IFA_FLAGS, address.flags);
  if (address.valid != kForever || address.preferred != kForever) {
    ifa_cacheinfo lifetimes{};
    lifetimes.ifa_valid = address.valid;
    lifetimes.ifa_prefered = address.preferred;
    builder->PutBytes(IFA_CACHEINFO, &lifetimes, sizeof(lifetimes));
  }
  if (address.metric != 0) builder->PutU32(IFA_RT_PRIORITY, address.metric);
  if (address.protocol != 0) builder->PutU8(kIfaProto, address.protocol);
  return builder->End();
}

// Appends an attribute that has no field.
void Keep(AttributeReader* attribute, std::vector<uint8_t>* out) {
  using Field = layout::Attribute;
  const size_t start = out->size();
  out->resize(start + Field::kSize + netlink::NlmsgAlign(attribute->size()));
  uint8_t* record = out->data() + start;
  records::Store(record, Field::kType, attribute->type());
  records::Store(record, Field::kLength, attribute->size());
  attribute->Bytes(record + Field::kSize, attribute->size());
}

std::string ReadKind(AttributeReader attributes) {
  std::string kind;
  while (attributes.Next()) {
    if (attributes.type() == IFLA_INFO_KIND) kind = attributes.String(kLongestKind);
  }
  return kind;
}

// The links of struct rtnexthop, of which RTA_MULTIPATH is a list.
bool ReadNextHops(AttributeReader* attribute, std::vector<int32_t>* out) {
  std::vector<uint8_t> hops(attribute->size());
  hops.resize(attribute->Bytes(hops.data(), hops.size()));
  for (size_t at = 0; at < hops.size();) {
    rtnexthop hop{};
    if (hops.size() - at < sizeof(hop)) return false;
    std::memcpy(&hop, hops.data() + at, sizeof(hop));
    if (hop.rtnh_len < sizeof(hop)) return false;
    out->push_back(hop.rtnh_ifindex);
    at += netlink::NlmsgAlign(hop.rtnh_len);
  }
  return true;
}

Status ReadIndexes(AttributeReader attributes, const ReadError& error,
                   std::initializer_list<uint16_t> references, std::vector<int32_t>* out) {
  while (attributes.Next()) {
    if (std::find(references.begin(), references.end(), attributes.type()) != references.end()) {
      out->push_back(static_cast<int32_t>(attributes.U32()));
    }
  }
  return error.ok() ? Status{} : error.ToStatus();
}

Status ReadRouteIndexes(const Message& message, std::vector<int32_t>* out) {
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(rtmsg), &error);
  while (attributes.Next()) {
    if (attributes.type() == RTA_OIF || attributes.type() == RTA_IIF) {
      out->push_back(static_cast<int32_t>(attributes.U32()));
    } else if (attributes.type() == RTA_MULTIPATH && !ReadNextHops(&attributes, out)) {
      return Status::Of(Fault::kMalformedReply, "next hop of unexpected length");
    }
  }
  return error.ok() ? Status{} : error.ToStatus();
}

}  // namespace

bool EncodeListLinks(MessageBuilder* builder) {
  BeginLink(builder, RTM_GETLINK, NLM_F_DUMP, 0);
  builder->PutU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return builder->End();
}

bool EncodeGetLink(MessageBuilder* builder, std::string_view name) {
  BeginLink(builder, RTM_GETLINK, NLM_F_ACK, 0);
  builder->PutString(name.size() > kLongestLinkName ? kIflaAltIfname : uint16_t{IFLA_IFNAME}, name);
  builder->PutU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return builder->End();
}

bool EncodeNewAddress(MessageBuilder* builder, uint16_t flags, const Address& address) {
  return EncodeAddress(builder, RTM_NEWADDR, flags, address);
}

bool EncodeDeleteAddress(MessageBuilder* builder, uint16_t flags, const Address& address) {
  return EncodeAddress(builder, RTM_DELADDR, flags, address);
}

bool EncodeListAddresses(MessageBuilder* builder, int32_t link_index) {
  builder->Begin(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP, 0);
  ifaddrmsg header{};
  header.ifa_index = static_cast<uint32_t>(link_index);
  builder->PutHeader(header);
  return builder->End();
}

bool EncodeMessage(MessageBuilder* builder, uint16_t flags, const Encoded& message) {
  builder->Begin(message.type, NLM_F_REQUEST | message.flags | flags, 0);
  builder->PutPayload(message.payload.data(), message.payload.size());
  return builder->End();
}

Status DecodeLink(const Message& message, Link* out) {
  ifinfomsg header{};
  if (!message.ReadHeader(&header)) return Status::Of(Fault::kMalformedReply, "no ifinfomsg");
  Link link;
  link.index = header.ifi_index;
  link.flags = header.ifi_flags;
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IFLA_IFNAME:
        link.name = attributes.String(kLongestLinkName);
        break;
      case IFLA_MTU:
        link.mtu = attributes.U32();
        break;
      case IFLA_LINKINFO:
        link.kind = ReadKind(attributes.Nested());
        break;
      default:
        break;
    }
  }
  if (!error.ok()) return error.ToStatus();
  if (link.index == 0 && link.name.empty()) return Status::Of(Fault::kMalformedReply, "link without a name");
  *out = std::move(link);
  return {};
}

Status DecodeAddress(const Message& message, Address* out) {
  ifaddrmsg header{};
  if (!message.ReadHeader(&header)) return Status::Of(Fault::kMalformedReply, "no ifaddrmsg");
  Address address;
  address.family = header.ifa_family;
  address.prefix = header.ifa_prefixlen;
  address.scope = header.ifa_scope;
  address.flags = header.ifa_flags;
  address.link_index = static_cast<int32_t>(header.ifa_index);
  size_t local_size = 0;
  size_t peer_size = 0;
  size_t broadcast_size = 0;
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IFA_LOCAL:
        local_size = attributes.Bytes(address.bytes.data(), address.bytes.size());
        break;
      case IFA_ADDRESS:
        peer_size = attributes.Bytes(address.peer.data(), address.peer.size());
        break;
      case IFA_BROADCAST:
        broadcast_size = attributes.Bytes(address.broadcast.data(), address.broadcast.size());
        break;
      case IFA_LABEL:
        address.label = attributes.String(kLongestLinkName);
        break;
      case IFA_RT_PRIORITY:
        address.metric = attributes.U32();
        break;
      case IFA_CACHEINFO: {
        const auto lifetimes = attributes.Struct<ifa_cacheinfo>();
        address.valid = lifetimes.ifa_valid;
        address.preferred = lifetimes.ifa_prefered;
        break;
      }
      case IFA_FLAGS:  // 3.14: all 32 of them; ifa_flags has room for 8
        address.flags = attributes.U32();
        break;
      case kIfaProto:
        address.protocol = attributes.U8();
        break;
      default:
        Keep(&attributes, &address.others);
        break;
    }
  }
  if (!error.ok()) return error.ToStatus();
  if (local_size == 0) {  // as for most IPv6 addresses
    address.bytes = address.peer;
    local_size = peer_size;
  } else if (peer_size == 0) {
    address.peer = address.bytes;
    peer_size = local_size;
  }
  const size_t width = address.family == AF_INET6 ? 16 : 4;
  address.has_broadcast = broadcast_size != 0;
  const bool fits = local_size == width && peer_size == width && address.prefix <= width * 8;
  if (!fits || (address.has_broadcast && broadcast_size != width))
    return Status::Of(Fault::kMalformedReply, "address of unexpected width");
  *out = std::move(address);
  return {};
}

Status DecodeLinkIndexes(const Message& message, std::vector<int32_t>* out) {
  ReadError error;
  switch (message.type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return ReadIndexes(message.Attributes(sizeof(ifinfomsg), &error), error, {IFLA_LINK, IFLA_MASTER}, out);
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return ReadRouteIndexes(message, out);
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH: {
      ndmsg header{};
      if (!message.ReadHeader(&header)) return Status::Of(Fault::kMalformedReply, "no ndmsg");
      out->push_back(header.ndm_ifindex);
      return {};
    }
    default:
      return {};
  }
}

}  // namespace knp::rtnetlink
