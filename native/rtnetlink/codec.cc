#include "rtnetlink/codec.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace knp::rtnetlink {
namespace {

using netlink::AttributeReader;
using netlink::FailureKind;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::ReadError;
using netlink::Status;

// IFLA_ALT_IFNAME, of Linux 5.5.
constexpr uint16_t kIflaAltIfname = 53;

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

// The most bytes of the name of a kind (MODULE_NAME_LEN).
constexpr size_t kLongestKind = 64;

// The attributes of settings that are the index of a link.
std::vector<uint16_t> ReferencesOf(const std::string& kind) {
  if (kind == "bond") return {IFLA_BOND_ACTIVE_SLAVE, IFLA_BOND_PRIMARY};
  if (kind == "vxlan") return {IFLA_VXLAN_LINK};
  return {};
}

void ReadReferences(AttributeReader settings, const std::vector<uint16_t>& references,
                    std::vector<int32_t>* out) {
  while (!references.empty() && settings.Next()) {
    if (std::find(references.begin(), references.end(), settings.type()) == references.end()) continue;
    out->push_back(static_cast<int32_t>(settings.U32()));
  }
}

// The links that the settings of a kind name, and those of a port. The kind precedes its settings.
void ReadInfoIndexes(AttributeReader info, std::vector<int32_t>* out) {
  std::string kind;
  std::string master;
  while (info.Next()) {
    if (info.type() == IFLA_INFO_KIND) kind = info.String(kLongestKind);
    if (info.type() == IFLA_INFO_SLAVE_KIND) master = info.String(kLongestKind);
    if (info.type() == IFLA_INFO_DATA) ReadReferences(info.Nested(), ReferencesOf(kind), out);
    if (info.type() == IFLA_INFO_SLAVE_DATA && master == "bridge") {
      ReadReferences(info.Nested(), {IFLA_BRPORT_BACKUP_PORT}, out);
    }
  }
}

Status ReadLinkIndexes(const Message& message, std::vector<int32_t>* out) {
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(ifinfomsg), &error);
  while (attributes.Next()) {
    if (attributes.type() == IFLA_LINK || attributes.type() == IFLA_MASTER) {
      out->push_back(static_cast<int32_t>(attributes.U32()));
    } else if (attributes.type() == IFLA_LINKINFO) {
      ReadInfoIndexes(attributes.Nested(), out);
    }
  }
  return error.ok() ? Status{} : error.ToStatus();
}

template <typename Header, typename Index>
Status ReadIndex(const Message& message, Index Header::*index, std::vector<int32_t>* out) {
  Header header{};
  if (!message.ReadHeader(&header)) return Status::Of(FailureKind::kMalformedReply, "no header");
  out->push_back(static_cast<int32_t>(header.*index));
  return {};
}

// The link of a neighbour, and the one by which a VXLAN reaches the other end.
Status ReadNeighbourIndexes(const Message& message, std::vector<int32_t>* out) {
  const Status status = ReadIndex<ndmsg>(message, &ndmsg::ndm_ifindex, out);
  if (!status.ok()) return status;
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(ndmsg), &error);
  while (attributes.Next()) {
    if (attributes.type() == NDA_IFINDEX) out->push_back(static_cast<int32_t>(attributes.U32()));
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
      return Status::Of(FailureKind::kMalformedReply, "next hop of unexpected length");
    }
  }
  return error.ok() ? Status{} : error.ToStatus();
}

}  // namespace

bool EncodeGetLink(MessageBuilder* builder, std::string_view name) {
  builder->Begin(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK, 0);
  builder->PutHeader(ifinfomsg{});
  builder->PutString(name.size() > kLongestLinkName ? kIflaAltIfname : uint16_t{IFLA_IFNAME}, name);
  builder->PutU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return builder->End();
}

bool EncodeMessage(MessageBuilder* builder, const Encoded& message) {
  builder->Begin(message.type, NLM_F_REQUEST | message.flags, 0);
  builder->PutPayload(message.payload.data(), message.payload.size());
  return builder->End();
}

Status DecodeLink(const Message& message, Link* out) {
  ifinfomsg header{};
  if (!message.ReadHeader(&header)) return Status::Of(FailureKind::kMalformedReply, "no ifinfomsg");
  Link link;
  link.index = header.ifi_index;
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    if (attributes.type() == IFLA_IFNAME) link.name = attributes.String(kLongestLinkName);
  }
  if (!error.ok()) return error.ToStatus();
  if (link.index == 0 && link.name.empty())
    return Status::Of(FailureKind::kMalformedReply, "link without a name");
  *out = std::move(link);
  return {};
}

Status DecodeLinkIndexes(const Message& message, std::vector<int32_t>* out) {
  switch (message.type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return ReadLinkIndexes(message, out);
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return ReadRouteIndexes(message, out);
    case RTM_NEWADDR:
    case RTM_DELADDR:
      return ReadIndex<ifaddrmsg>(message, &ifaddrmsg::ifa_index, out);
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
      return ReadNeighbourIndexes(message, out);
    default:
      return {};
  }
}

}  // namespace knp::rtnetlink
