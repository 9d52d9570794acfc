#include "conntrack/codec.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace knp::conntrack {
namespace {

using netlink::AttributeReader;
using netlink::Fault;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::ReadError;
using netlink::Status;

// enum ctattr_filter, and the flags that its attributes hold: not in the kernel's public headers. Numbers of
// net/netfilter/nf_internals.h, part of the ABI since 5.8.
enum : uint16_t { kFilterOriginalFlags = 1, kFilterReplyFlags = 2 };
constexpr uint32_t kFlagSource = 1U << 0;
constexpr uint32_t kFlagDestination = 1U << 1;
constexpr uint32_t kFlagProtocol = 1U << 3;
constexpr uint32_t kFlagSourcePort = 1U << 4;
constexpr uint32_t kFlagDestinationPort = 1U << 5;

void Begin(MessageBuilder* builder, uint8_t message, uint16_t flags, uint16_t family) {
  builder->Begin(static_cast<uint16_t>(NFNL_SUBSYS_CTNETLINK << 8 | message),
                 static_cast<uint16_t>(NLM_F_REQUEST | flags), 0);
  builder->PutHeader(nfgenmsg{static_cast<uint8_t>(family), NFNETLINK_V0, 0});
}

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

void PutIcmp(MessageBuilder* builder, uint8_t protocol, const Tuple& tuple) {
  const bool six = protocol == IPPROTO_ICMPV6;
  builder->PutU8(six ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE,
                 static_cast<uint8_t>(tuple.destination_port));
  builder->PutU8(six ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE,
                 static_cast<uint8_t>(tuple.destination_port >> 8));
  builder->PutBigEndian16(six ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID, tuple.source_port);
}

void PutProtocol(MessageBuilder* builder, uint8_t protocol, const Tuple& tuple, uint8_t fields) {
  const size_t attributes = BeginNested(builder, CTA_TUPLE_PROTO);
  builder->PutU8(CTA_PROTO_NUM, protocol);
  if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) {
    if ((fields & kPorts) != 0) PutIcmp(builder, protocol, tuple);
  } else {
    if ((fields & kSourcePort) != 0) builder->PutBigEndian16(CTA_PROTO_SRC_PORT, tuple.source_port);
    if ((fields & kDestinationPort) != 0) {
      builder->PutBigEndian16(CTA_PROTO_DST_PORT, tuple.destination_port);
    }
  }
  builder->EndNested(attributes);
}

uint32_t FlagsOf(uint8_t fields, uint8_t protocol) {
  uint32_t flags = 0;
  if ((fields & kSource) != 0) flags |= kFlagSource;
  if ((fields & kDestination) != 0) flags |= kFlagDestination;
  if ((fields & kSourcePort) != 0) flags |= kFlagSourcePort;
  if ((fields & kDestinationPort) != 0) flags |= kFlagDestinationPort;
  if (protocol != 0) flags |= kFlagProtocol;
  return flags;
}

void PutTupleFilter(MessageBuilder* builder, uint16_t type, const Filter& filter, const TupleFilter& side) {
  const size_t tuple = BeginNested(builder, type);
  if ((side.fields & kAddresses) != 0) PutAddresses(builder, filter.family, side.tuple, side.fields);
  if (filter.protocol != 0) PutProtocol(builder, filter.protocol, side.tuple, side.fields);
  builder->EndNested(tuple);
}

// CTA_TUPLE_ORIG, CTA_TUPLE_REPLY and CTA_FILTER, whose flags name the fields that are compared.
void PutFilter(MessageBuilder* builder, const Filter& filter) {
  const uint32_t original = FlagsOf(filter.original.fields, filter.protocol);
  // Once is enough for the protocol, but ports have no meaning without it.
  const uint32_t reply = filter.reply.fields == 0 ? 0 : FlagsOf(filter.reply.fields, filter.protocol);
  if (original != 0) PutTupleFilter(builder, CTA_TUPLE_ORIG, filter, filter.original);
  if (reply != 0) PutTupleFilter(builder, CTA_TUPLE_REPLY, filter, filter.reply);
  if ((original | reply) == 0) return;
  const size_t flags = BeginNested(builder, CTA_FILTER);
  if (original != 0) builder->PutU32(kFilterOriginalFlags, original);
  if (reply != 0) builder->PutU32(kFilterReplyFlags, reply);
  builder->EndNested(flags);
}

// The parts of a tuple that were read: its addresses by family, and whether there was a protocol.
struct TupleSeen {
  uint8_t four = 0;  // sums of kSource, kDestination
  uint8_t six = 0;
  bool protocol = false;
};

template <size_t kWidth>
void ReadAddress(AttributeReader* attribute, std::array<uint8_t, 16>* out) {
  const auto bytes = attribute->Fixed<std::array<uint8_t, kWidth>>();
  for (size_t i = 0; i < kWidth; i++) (*out)[i] = bytes[i];
}

void ReadAddresses(AttributeReader attributes, Tuple* out, TupleSeen* seen) {
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_IP_V4_SRC:
        ReadAddress<4>(&attributes, &out->source);
        seen->four |= kSource;
        break;
      case CTA_IP_V4_DST:
        ReadAddress<4>(&attributes, &out->destination);
        seen->four |= kDestination;
        break;
      case CTA_IP_V6_SRC:
        ReadAddress<16>(&attributes, &out->source);
        seen->six |= kSource;
        break;
      case CTA_IP_V6_DST:
        ReadAddress<16>(&attributes, &out->destination);
        seen->six |= kDestination;
        break;
      default:
        break;
    }
  }
}

void ReadProtocol(AttributeReader attributes, uint8_t* protocol, Tuple* out, TupleSeen* seen) {
  uint8_t type = 0;
  uint8_t code = 0;
  bool icmp = false;
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_PROTO_NUM:
        *protocol = attributes.U8();
        seen->protocol = true;
        break;
      case CTA_PROTO_SRC_PORT:
      case CTA_PROTO_ICMP_ID:
      case CTA_PROTO_ICMPV6_ID:
        out->source_port = attributes.BigEndian16();
        break;
      case CTA_PROTO_DST_PORT:
        out->destination_port = attributes.BigEndian16();
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
  if (icmp) out->destination_port = static_cast<uint16_t>(type << 8 | code);
}

// Whether a whole tuple of this family was read.
bool ReadTuple(AttributeReader attributes, uint16_t family, uint8_t* protocol, Tuple* out, uint16_t* zone) {
  TupleSeen seen;
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_TUPLE_IP:
        ReadAddresses(attributes.Nested(), out, &seen);
        break;
      case CTA_TUPLE_PROTO:
        ReadProtocol(attributes.Nested(), protocol, out, &seen);
        break;
      case CTA_TUPLE_ZONE:
        *zone = attributes.BigEndian16();
        break;
      default:
        break;
    }
  }
  const bool four = seen.four == kAddresses && seen.six == 0 && family == AF_INET;
  const bool six = seen.six == kAddresses && seen.four == 0 && family == AF_INET6;
  return (four || six) && seen.protocol;
}

}  // namespace

bool EncodeList(MessageBuilder* builder, const Filter& filter) {
  Begin(builder, IPCTNL_MSG_CT_GET, NLM_F_DUMP, filter.family);
  // A listing of both families cannot be filtered (EOPNOTSUPP).
  if (filter.family != AF_UNSPEC) PutFilter(builder, filter);
  return builder->End();
}

bool EncodeDelete(MessageBuilder* builder, const Flow& flow) {
  constexpr uint8_t kWhole = kAddresses | kPorts;
  Begin(builder, IPCTNL_MSG_CT_DELETE, 0, flow.family);
  const size_t tuple = BeginNested(builder, CTA_TUPLE_ORIG);
  PutAddresses(builder, flow.family, flow.original, kWhole);
  PutProtocol(builder, flow.protocol, flow.original, kWhole);
  builder->EndNested(tuple);
  if (flow.zone != 0) builder->PutBigEndian16(CTA_ZONE, flow.zone);
  if (flow.id != 0) builder->PutBigEndian32(CTA_ID, flow.id);
  return builder->End();
}

bool EncodeGetStatistics(MessageBuilder* builder) {
  Begin(builder, IPCTNL_MSG_CT_GET_STATS, NLM_F_ACK, AF_UNSPEC);
  return builder->End();
}

Status DecodeFlow(const Message& message, Flow* out) {
  nfgenmsg header{};
  if (!message.ReadHeader(&header)) return Status::Of(Fault::kMalformedReply, "no nfgenmsg");
  Flow flow;
  flow.family = header.nfgen_family;
  bool original = false;
  bool reply = false;
  uint8_t reply_protocol = 0;
  uint16_t reply_zone = 0;
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_TUPLE_ORIG:
        original = ReadTuple(attributes.Nested(), flow.family, &flow.protocol, &flow.original, &flow.zone);
        break;
      case CTA_TUPLE_REPLY:
        reply = ReadTuple(attributes.Nested(), flow.family, &reply_protocol, &flow.reply, &reply_zone);
        break;
      case CTA_ZONE:  // of both directions
        flow.zone = attributes.BigEndian16();
        break;
      case CTA_ID:
        flow.id = attributes.BigEndian32();
        break;
      case CTA_STATUS:
        flow.status = attributes.BigEndian32();
        break;
      case CTA_MARK:
        flow.mark = attributes.BigEndian32();
        break;
      case CTA_TIMEOUT:
        flow.timeout = attributes.BigEndian32();
        break;
      default:
        break;
    }
  }
  if (!error.ok()) return error.ToStatus();
  if (!original || !reply || reply_protocol != flow.protocol) {
    return Status::Of(Fault::kMalformedReply, "flow without both of its tuples");
  }
  *out = flow;
  return {};
}

}  // namespace knp::conntrack
