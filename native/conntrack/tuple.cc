#include "conntrack/tuple.h"

#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace knp::conntrack {
namespace {

using netlink::AttributeReader;
using netlink::MessageBuilder;

void PutIcmp(MessageBuilder* builder, uint8_t protocol, const Tuple& tuple, uint8_t fields) {
  const bool six = protocol == IPPROTO_ICMPV6;
  if ((fields & kDestinationPort) != 0) {
    builder->PutU8(six ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE,
                   static_cast<uint8_t>(tuple.destination_port));
    builder->PutU8(six ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE,
                   static_cast<uint8_t>(tuple.destination_port >> 8));
  }
  if ((fields & kSourcePort) != 0) {
    builder->PutBigEndian16(six ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID, tuple.source_port);
  }
}

template <size_t kWidth>
void ReadAddress(AttributeReader* attribute, Address* out) {
  const auto bytes = attribute->Fixed<std::array<uint8_t, kWidth>>();
  for (size_t i = 0; i < kWidth; i++) (*out)[i] = bytes[i];
}

void ReadAddresses(AttributeReader attributes, ReadTuple* out) {
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_IP_V4_SRC:
        ReadAddress<4>(&attributes, &out->tuple.source);
        out->four |= kSource;
        break;
      case CTA_IP_V4_DST:
        ReadAddress<4>(&attributes, &out->tuple.destination);
        out->four |= kDestination;
        break;
      case CTA_IP_V6_SRC:
        ReadAddress<16>(&attributes, &out->tuple.source);
        out->six |= kSource;
        break;
      case CTA_IP_V6_DST:
        ReadAddress<16>(&attributes, &out->tuple.destination);
        out->six |= kDestination;
        break;
      default:
        break;
    }
  }
}

void ReadProtocol(AttributeReader attributes, ReadTuple* out) {
  uint8_t type = 0;
  uint8_t code = 0;
  bool icmp = false;
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_PROTO_NUM:
        out->protocol = attributes.U8();
        out->has_protocol = true;
        break;
      case CTA_PROTO_SRC_PORT:
      case CTA_PROTO_ICMP_ID:
      case CTA_PROTO_ICMPV6_ID:
        out->tuple.source_port = attributes.BigEndian16();
        break;
      case CTA_PROTO_DST_PORT:
        out->tuple.destination_port = attributes.BigEndian16();
        break;
      case CTA_PROTO_ICMP_TYPE:
      case CTA_PROTO_ICMPV6_TYPE:
        type = attributes.U8();
        icmp = true;
        break;
      case CTA_PROTO_ICMP_CODE:
      case CTA_PROTO_ICMPV6_CODE:
        code = attributes.U8();
        icmp = true;
        break;
      default:
        break;
    }
  }
  if (icmp) out->tuple.destination_port = static_cast<uint16_t>(type << 8 | code);
}

}  // namespace

size_t BeginNested(MessageBuilder* builder, uint16_t type) {
  return builder->BeginNested(static_cast<uint16_t>(type | NLA_F_NESTED));
}

void PutAddresses(MessageBuilder* builder, uint16_t family, const Tuple& tuple, uint8_t fields) {
  const bool six = family == AF_INET6;
  const size_t size = six ? 16 : 4;
  const size_t addresses = BeginNested(builder, CTA_TUPLE_IP);
  if ((fields & kSource) != 0) {
    builder->PutBytes(six ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, tuple.source.data(), size);
  }
  if ((fields & kDestination) != 0) {
    builder->PutBytes(six ? CTA_IP_V6_DST : CTA_IP_V4_DST, tuple.destination.data(), size);
  }
  builder->EndNested(addresses);
}

void PutProtocol(MessageBuilder* builder, uint8_t protocol, const Tuple& tuple, uint8_t fields) {
  const size_t attributes = BeginNested(builder, CTA_TUPLE_PROTO);
  builder->PutU8(CTA_PROTO_NUM, protocol);
  if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) {
    PutIcmp(builder, protocol, tuple, fields);
  } else {
    if ((fields & kSourcePort) != 0) builder->PutBigEndian16(CTA_PROTO_SRC_PORT, tuple.source_port);
    if ((fields & kDestinationPort) != 0) {
      builder->PutBigEndian16(CTA_PROTO_DST_PORT, tuple.destination_port);
    }
  }
  builder->EndNested(attributes);
}

void PutTuple(MessageBuilder* builder, uint16_t type, uint16_t family, uint8_t protocol, const Tuple& tuple,
              uint16_t zone) {
  const size_t attributes = BeginNested(builder, type);
  PutAddresses(builder, family, tuple, kWholeTuple);
  PutProtocol(builder, protocol, tuple, kWholeTuple);
  if (zone != 0) builder->PutBigEndian16(CTA_TUPLE_ZONE, zone);
  builder->EndNested(attributes);
}

bool ReadTuple::IsWhole(uint16_t family) const {
  const bool is_four = four == kAddresses && six == 0 && family == AF_INET;
  const bool is_six = six == kAddresses && four == 0 && family == AF_INET6;
  return (is_four || is_six) && has_protocol;
}

void Read(AttributeReader attributes, ReadTuple* out) {
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_TUPLE_IP:
        ReadAddresses(attributes.Nested(), out);
        break;
      case CTA_TUPLE_PROTO:
        ReadProtocol(attributes.Nested(), out);
        break;
      case CTA_TUPLE_ZONE:
        out->zone = attributes.BigEndian16();
        break;
      default:
        break;
    }
  }
}

}  // namespace knp::conntrack
