#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "conntrack/codec.h"
#include "conntrack/tuple.h"

namespace knp::conntrack {
namespace {

using netlink::MessageBuilder;

// enum ctattr_filter, and the flags that its attributes hold: not in the kernel's public headers. Numbers of
// net/netfilter/nf_internals.h, part of the ABI since 5.8.
enum : uint16_t { kFilterOriginalFlags = 1, kFilterReplyFlags = 2 };
constexpr uint32_t kFlagSource = 1U << 0;
constexpr uint32_t kFlagDestination = 1U << 1;
constexpr uint32_t kFlagProtocol = 1U << 3;
constexpr uint32_t kFlagSourcePort = 1U << 4;
constexpr uint32_t kFlagDestinationPort = 1U << 5;

void Begin(MessageBuilder* builder, uint8_t subsystem, uint8_t message, uint16_t flags, uint16_t family) {
  builder->Begin(static_cast<uint16_t>(subsystem << 8 | message),
                 static_cast<uint16_t>(NLM_F_REQUEST | flags), 0);
  builder->PutHeader(nfgenmsg{static_cast<uint8_t>(family), NFNETLINK_V0, 0});
}

void Begin(MessageBuilder* builder, uint8_t message, uint16_t flags, uint16_t family) {
  Begin(builder, NFNL_SUBSYS_CTNETLINK, message, flags, family);
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
void PutTupleFilters(MessageBuilder* builder, const Filter& filter) {
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

uint8_t GetOrZero(bool zero_counters) {
  return zero_counters ? IPCTNL_MSG_CT_GET_CTRZERO : IPCTNL_MSG_CT_GET;
}

// The attributes that name a flow: the zone of its original direction is that of the lookup.
void PutName(MessageBuilder* builder, const Flow& flow) {
  PutTuple(builder, CTA_TUPLE_ORIG, flow.family, flow.protocol, flow.original);
  if (flow.zone != 0) builder->PutBigEndian16(CTA_ZONE, flow.zone);
}

void PutTcpState(MessageBuilder* builder, uint8_t state) {
  const size_t info = BeginNested(builder, CTA_PROTOINFO);
  const size_t tcp = BeginNested(builder, CTA_PROTOINFO_TCP);
  builder->PutU8(CTA_PROTOINFO_TCP_STATE, state);
  builder->EndNested(tcp);
  builder->EndNested(info);
}

// The kernel wants the state and both tags.
void PutSctpState(MessageBuilder* builder, uint8_t state, const Details& details) {
  const size_t info = BeginNested(builder, CTA_PROTOINFO);
  const size_t sctp = BeginNested(builder, CTA_PROTOINFO_SCTP);
  builder->PutU8(CTA_PROTOINFO_SCTP_STATE, state);
  builder->PutBigEndian32(CTA_PROTOINFO_SCTP_VTAG_ORIGINAL, details.original_tag);
  builder->PutBigEndian32(CTA_PROTOINFO_SCTP_VTAG_REPLY, details.reply_tag);
  builder->EndNested(sctp);
  builder->EndNested(info);
}

// What additions and updates may set alike.
void PutGiven(MessageBuilder* builder, const Operation& operation) {
  const Flow& flow = operation.flow;
  const Details none;
  const Details& details = flow.details ? *flow.details : none;
  const auto gives = [&](GivenField field) { return (operation.given & field) != 0; };
  if (gives(kGivesTimeout)) builder->PutBigEndian32(CTA_TIMEOUT, flow.timeout);
  if (gives(kGivesStatus)) builder->PutBigEndian32(CTA_STATUS, flow.status | IPS_CONFIRMED);
  if (gives(kGivesMark)) {
    builder->PutBigEndian32(CTA_MARK, flow.mark);
    builder->PutBigEndian32(CTA_MARK_MASK, operation.mark_mask);
  }
  if (gives(kGivesLabels)) {
    builder->PutBytes(CTA_LABELS, details.labels.data(), details.labels.size());
    builder->PutBytes(CTA_LABELS_MASK, operation.labels_mask.data(), operation.labels_mask.size());
  }
  if (gives(kGivesHelper)) {
    const size_t helper = BeginNested(builder, CTA_HELP);
    builder->PutString(CTA_HELP_NAME, details.helper);
    builder->EndNested(helper);
  }
  if (gives(kGivesState)) {
    if (flow.protocol == IPPROTO_SCTP)
      PutSctpState(builder, flow.state, details);
    else
      PutTcpState(builder, flow.state);
  }
}

void PutTranslation(MessageBuilder* builder, uint16_t type, uint16_t family, const Translation& translation) {
  const bool six = family == AF_INET6;
  const size_t size = six ? 16 : 4;
  const size_t nat = BeginNested(builder, type);
  builder->PutBytes(six ? CTA_NAT_V6_MINIP : CTA_NAT_V4_MINIP, translation.first.data(), size);
  builder->PutBytes(six ? CTA_NAT_V6_MAXIP : CTA_NAT_V4_MAXIP, translation.last.data(), size);
  if (translation.first_port != 0) {
    const size_t ports = BeginNested(builder, CTA_NAT_PROTO);
    builder->PutBigEndian16(CTA_PROTONAT_PORT_MIN, translation.first_port);
    builder->PutBigEndian16(CTA_PROTONAT_PORT_MAX, translation.last_port);
    builder->EndNested(ports);
  }
  builder->EndNested(nat);
}

}  // namespace

bool EncodeList(MessageBuilder* builder, const Filter& filter, Table table, bool zero_counters) {
  uint8_t message = GetOrZero(zero_counters);
  if (table == Table::kDying) message = IPCTNL_MSG_CT_GET_DYING;
  if (table == Table::kUnconfirmed) message = IPCTNL_MSG_CT_GET_UNCONFIRMED;
  Begin(builder, message, NLM_F_DUMP, filter.family);
  if (table != Table::kConntrack) return builder->End();
  if ((filter.conditions & kOnMark) != 0) {
    builder->PutBigEndian32(CTA_MARK, filter.mark);
    builder->PutBigEndian32(CTA_MARK_MASK, filter.mark_mask);
  }
  // A listing of both families cannot be filtered by tuples (EOPNOTSUPP).
  if (filter.family != AF_UNSPEC) PutTupleFilters(builder, filter);
  return builder->End();
}

bool EncodeGet(MessageBuilder* builder, const Flow& flow, bool zero_counters) {
  Begin(builder, GetOrZero(zero_counters), NLM_F_ACK, flow.family);
  PutName(builder, flow);
  return builder->End();
}

bool EncodeAdd(MessageBuilder* builder, const Operation& operation) {
  const Flow& flow = operation.flow;
  Begin(builder, IPCTNL_MSG_CT_NEW, NLM_F_CREATE | NLM_F_EXCL, flow.family);
  // A zone of one direction is part of its tuple, a zone of both is not.
  const bool both = flow.zone == flow.reply_zone;
  PutTuple(builder, CTA_TUPLE_ORIG, flow.family, flow.protocol, flow.original, both ? 0 : flow.zone);
  PutTuple(builder, CTA_TUPLE_REPLY, flow.family, flow.protocol, flow.reply, both ? 0 : flow.reply_zone);
  if (both && flow.zone != 0) builder->PutBigEndian16(CTA_ZONE, flow.zone);
  PutGiven(builder, operation);
  if ((operation.given & kTranslatesSource) != 0) {
    PutTranslation(builder, CTA_NAT_SRC, flow.family, operation.source);
  }
  if ((operation.given & kTranslatesDestination) != 0) {
    PutTranslation(builder, CTA_NAT_DST, flow.family, operation.destination);
  }
  if ((flow.fields & kHasMaster) != 0 && flow.details) {
    PutTuple(builder, CTA_TUPLE_MASTER, flow.family, flow.details->master_protocol, flow.details->master);
  }
  return builder->End();
}

bool EncodeUpdate(MessageBuilder* builder, const Operation& operation) {
  Begin(builder, IPCTNL_MSG_CT_NEW, 0, operation.flow.family);
  PutName(builder, operation.flow);
  PutGiven(builder, operation);
  return builder->End();
}

bool EncodeDelete(MessageBuilder* builder, const Flow& flow) {
  Begin(builder, IPCTNL_MSG_CT_DELETE, 0, flow.family);
  PutName(builder, flow);
  if (flow.id != 0) builder->PutBigEndian32(CTA_ID, flow.id);
  return builder->End();
}

bool EncodeFlush(MessageBuilder* builder) {
  Begin(builder, IPCTNL_MSG_CT_DELETE, NLM_F_ACK, AF_UNSPEC);
  return builder->End();
}

bool EncodeDeleteNothing(MessageBuilder* builder) {
  Filter filter;
  filter.family = AF_INET;
  filter.protocol = IPPROTO_RAW;
  filter.original.fields = kAddresses;
  Begin(builder, IPCTNL_MSG_CT_DELETE, NLM_F_ACK, filter.family);
  PutTupleFilters(builder, filter);
  return builder->End();
}

bool EncodeGetStatistics(MessageBuilder* builder) {
  Begin(builder, IPCTNL_MSG_CT_GET_STATS, NLM_F_ACK, AF_UNSPEC);
  return builder->End();
}

bool EncodeListCpus(MessageBuilder* builder) {
  Begin(builder, IPCTNL_MSG_CT_GET_STATS_CPU, NLM_F_DUMP, AF_UNSPEC);
  return builder->End();
}

bool EncodeListExpectations(MessageBuilder* builder) {
  Begin(builder, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_GET, NLM_F_DUMP, AF_UNSPEC);
  return builder->End();
}

}  // namespace knp::conntrack
