#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include <utility>

#include "conntrack/codec.h"
#include "conntrack/tuple.h"

namespace knp::conntrack {
namespace {

using netlink::AttributeReader;
using netlink::FailureKind;
using netlink::Message;
using netlink::ReadError;
using netlink::Status;

constexpr size_t kLongestSecctx = 4096;  // one page
constexpr size_t kLongestHelper = 15;    // NF_CT_HELPER_NAME_LEN, without the zero

uint64_t BigEndian64(AttributeReader* attribute) {
  const auto bytes = attribute->Fixed<std::array<uint8_t, 8>>();
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

Details* DetailsOf(Flow* flow) {
  if (!flow->details) flow->details = std::make_shared<Details>();
  flow->fields |= kHasDetails;
  return flow->details.get();
}

void ReadCounters(AttributeReader attributes, Counters* out) {
  while (attributes.Next()) {
    if (attributes.type() == CTA_COUNTERS_PACKETS) out->packets = BigEndian64(&attributes);
    if (attributes.type() == CTA_COUNTERS_BYTES) out->bytes = BigEndian64(&attributes);
  }
}

void ReadTimestamps(AttributeReader attributes, Flow* out) {
  while (attributes.Next()) {
    if (attributes.type() == CTA_TIMESTAMP_START) {
      DetailsOf(out)->start = BigEndian64(&attributes);
      out->fields |= kHasStart;
    } else if (attributes.type() == CTA_TIMESTAMP_STOP) {
      DetailsOf(out)->stop = BigEndian64(&attributes);
      out->fields |= kHasStop;
    }
  }
}

void ReadTcp(AttributeReader attributes, Flow* out) {
  while (attributes.Next()) {
    if (attributes.type() != CTA_PROTOINFO_TCP_STATE) continue;
    out->state = attributes.U8();
    out->fields |= kHasState;
  }
}

void ReadSctp(AttributeReader attributes, Flow* out) {
  while (attributes.Next()) {
    switch (attributes.type()) {
      case CTA_PROTOINFO_SCTP_STATE:
        out->state = attributes.U8();
        out->fields |= kHasState;
        break;
      case CTA_PROTOINFO_SCTP_VTAG_ORIGINAL:
        DetailsOf(out)->original_tag = attributes.BigEndian32();
        out->fields |= kHasTags;
        break;
      case CTA_PROTOINFO_SCTP_VTAG_REPLY:
        DetailsOf(out)->reply_tag = attributes.BigEndian32();
        out->fields |= kHasTags;
        break;
      default:
        break;
    }
  }
}

void ReadProtocolState(AttributeReader attributes, Flow* out) {
  while (attributes.Next()) {
    if (attributes.type() == CTA_PROTOINFO_TCP) ReadTcp(attributes.Nested(), out);
    if (attributes.type() == CTA_PROTOINFO_SCTP) ReadSctp(attributes.Nested(), out);
  }
}

std::string ReadName(AttributeReader attributes, uint16_t type, size_t longest) {
  std::string name;
  while (attributes.Next()) {
    if (attributes.type() == type) name = attributes.String(longest);
  }
  return name;
}

// An attribute of the parts that most flows do not have.
void ReadDetail(AttributeReader* attribute, Flow* out) {
  switch (attribute->type()) {
    case CTA_COUNTERS_ORIG:
      ReadCounters(attribute->Nested(), &DetailsOf(out)->original);
      out->fields |= kHasCounters;
      break;
    case CTA_COUNTERS_REPLY:
      ReadCounters(attribute->Nested(), &DetailsOf(out)->reply);
      out->fields |= kHasCounters;
      break;
    case CTA_TIMESTAMP:
      ReadTimestamps(attribute->Nested(), out);
      break;
    case CTA_LABELS:
      attribute->Bytes(DetailsOf(out)->labels.data(), sizeof(Labels));
      out->fields |= kHasLabels;
      break;
    case CTA_HELP:
      DetailsOf(out)->helper = ReadName(attribute->Nested(), CTA_HELP_NAME, kLongestHelper);
      break;
    case CTA_SECCTX:
      DetailsOf(out)->secctx = ReadName(attribute->Nested(), CTA_SECCTX_NAME, kLongestSecctx);
      break;
    case CTA_TUPLE_MASTER: {
      ReadTuple master;
      Read(attribute->Nested(), &master);
      DetailsOf(out)->master = master.tuple;
      DetailsOf(out)->master_protocol = master.protocol;
      out->fields |= kHasMaster;
      break;
    }
    default:
      break;
  }
}

void ReadAttribute(AttributeReader* attribute, Flow* out) {
  switch (attribute->type()) {
    case CTA_ZONE:  // of both directions
      out->zone = attribute->BigEndian16();
      out->reply_zone = out->zone;
      break;
    case CTA_ID:
      out->id = attribute->BigEndian32();
      break;
    case CTA_STATUS:
      out->status = attribute->BigEndian32();
      break;
    case CTA_MARK:
      out->mark = attribute->BigEndian32();
      break;
    case CTA_TIMEOUT:
      out->timeout = attribute->BigEndian32();
      break;
    case CTA_USE:
      out->use = attribute->BigEndian32();
      break;
    case CTA_PROTOINFO:
      ReadProtocolState(attribute->Nested(), out);
      break;
    default:
      ReadDetail(attribute, out);
  }
}

Status Malformed(const char* message) {
  return Status::Of(FailureKind::kMalformedReply, message);
}

uint16_t KindOf(uint8_t subsystem, uint8_t message) {
  return static_cast<uint16_t>(subsystem << 8 | message);
}

}  // namespace

Status DecodeFlow(const Message& message, Flow* out) {
  nfgenmsg header{};
  if (!message.ReadHeader(&header)) return Malformed("no nfgenmsg");
  Flow flow;
  flow.family = header.nfgen_family;
  ReadTuple original;
  ReadTuple reply;
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    if (attributes.type() == CTA_TUPLE_ORIG)
      Read(attributes.Nested(), &original);
    else if (attributes.type() == CTA_TUPLE_REPLY)
      Read(attributes.Nested(), &reply);
    else
      ReadAttribute(&attributes, &flow);
  }
  if (!error.ok()) return error.ToStatus();
  if (!original.IsWhole(flow.family) || !reply.IsWhole(flow.family) || original.protocol != reply.protocol) {
    return Malformed("flow without both of its tuples");
  }
  flow.protocol = original.protocol;
  flow.original = original.tuple;
  flow.reply = reply.tuple;
  if (original.zone != 0) flow.zone = original.zone;
  if (reply.zone != 0) flow.reply_zone = reply.zone;
  *out = std::move(flow);
  return {};
}

Status DecodeEvent(const Message& message, FlowEvent* event, Flow* out) {
  *event = FlowEvent::kNone;
  if (message.type == KindOf(NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_DELETE)) {
    *event = FlowEvent::kDestroy;
  } else if (message.type == KindOf(NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_NEW)) {
    const bool is_new = (message.flags & (NLM_F_CREATE | NLM_F_EXCL)) != 0;
    *event = is_new ? FlowEvent::kNew : FlowEvent::kUpdate;
  }
  return *event == FlowEvent::kNone ? Status{} : DecodeFlow(message, out);
}

Status DecodeStatistics(const Message& message, Statistics* out) {
  nfgenmsg header{};
  if (!message.ReadHeader(&header)) return Malformed("no nfgenmsg");
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  bool counted = false;
  while (attributes.Next()) {
    counted |= attributes.ReadBigEndian(CTA_STATS_GLOBAL_ENTRIES, &out->entries);
    attributes.ReadBigEndian(CTA_STATS_GLOBAL_MAX_ENTRIES, &out->max_entries);
  }
  if (!error.ok()) return error.ToStatus();
  return counted ? Status{} : Malformed("statistics without the number of flows");
}

Status DecodeCpu(const Message& message, CpuStatistics* out) {
  nfgenmsg header{};
  if (!message.ReadHeader(&header)) return Malformed("no nfgenmsg");
  CpuStatistics cpu;
  cpu.cpu = ntohs(header.res_id);
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    attributes.ReadBigEndian(CTA_STATS_FOUND, &cpu.found);
    attributes.ReadBigEndian(CTA_STATS_INVALID, &cpu.invalid);
    attributes.ReadBigEndian(CTA_STATS_INSERT, &cpu.insert);
    attributes.ReadBigEndian(CTA_STATS_INSERT_FAILED, &cpu.insert_failed);
    attributes.ReadBigEndian(CTA_STATS_DROP, &cpu.drop);
    attributes.ReadBigEndian(CTA_STATS_EARLY_DROP, &cpu.early_drop);
    attributes.ReadBigEndian(CTA_STATS_ERROR, &cpu.error);
    attributes.ReadBigEndian(CTA_STATS_SEARCH_RESTART, &cpu.search_restart);
    attributes.ReadBigEndian(CTA_STATS_CLASH_RESOLVE, &cpu.clash_resolve);
    attributes.ReadBigEndian(CTA_STATS_CHAIN_TOOLONG, &cpu.chain_too_long);
  }
  if (!error.ok()) return error.ToStatus();
  *out = cpu;
  return {};
}

Status DecodeExpectation(const Message& message, Expectation* out) {
  nfgenmsg header{};
  if (!message.ReadHeader(&header)) return Malformed("no nfgenmsg");
  Expectation expectation;
  expectation.family = header.nfgen_family;
  ReadTuple tuple;
  ReadTuple mask;
  ReadTuple master;
  ReadError error;
  AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    attributes.ReadBigEndian(CTA_EXPECT_TIMEOUT, &expectation.timeout);
    attributes.ReadBigEndian(CTA_EXPECT_ID, &expectation.id);
    attributes.ReadBigEndian(CTA_EXPECT_ZONE, &expectation.zone);
    attributes.ReadBigEndian(CTA_EXPECT_FLAGS, &expectation.flags);
    attributes.ReadBigEndian(CTA_EXPECT_CLASS, &expectation.policy);
    const uint16_t type = attributes.type();
    if (type == CTA_EXPECT_TUPLE) Read(attributes.Nested(), &tuple);
    if (type == CTA_EXPECT_MASK) Read(attributes.Nested(), &mask);
    if (type == CTA_EXPECT_MASTER) Read(attributes.Nested(), &master);
    if (type == CTA_EXPECT_HELP_NAME) expectation.helper = attributes.String(kLongestHelper);
  }
  if (!error.ok()) return error.ToStatus();
  if (!tuple.IsWhole(expectation.family) || !master.IsWhole(expectation.family)) {
    return Malformed("expectation without its tuple, or without its master");
  }
  expectation.protocol = tuple.protocol;
  expectation.tuple = tuple.tuple;
  expectation.mask = mask.tuple;
  expectation.master_protocol = master.protocol;
  expectation.master = master.tuple;
  *out = std::move(expectation);
  return {};
}

}  // namespace knp::conntrack
