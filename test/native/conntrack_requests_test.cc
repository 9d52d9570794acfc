// Operations and filters of conntrack → the bytes that conntrack(8) sends. Expected values:
// captures/conntrack-replies.txt.
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"
#include "conntrack/codec.h"
#include "conntrack_messages.h"
#include "messages.h"

namespace {

using knp::conntrack::Details;
using knp::conntrack::Filter;
using knp::conntrack::Flow;
using knp::conntrack::Operation;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::test::AttributePayload;
using knp::test::Capture;
using knp::test::FlowOf;
using knp::test::Flows;
using knp::test::kEndpoint;
using knp::test::kService;
using knp::test::MessagesOf;
using knp::test::WithSenderOf;

std::vector<uint8_t> List(const Filter& filter) {
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  CHECK(EncodeList(&builder, filter));
  return bytes;
}

std::vector<uint8_t> Delete(const Flow& flow) {
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  CHECK(EncodeDelete(&builder, flow));
  return bytes;
}

std::vector<uint8_t> Add(const Operation& operation) {
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  CHECK(EncodeAdd(&builder, operation));
  return bytes;
}

std::vector<uint8_t> Payload(const std::vector<uint8_t>& bytes, uint16_t type) {
  return AttributePayload(bytes, sizeof(nfgenmsg), type);
}

// conntrack names the flows that it deletes by all their fields; we use only the fields that name them.
void DeletesTheSame(const std::string& name) {
  const std::vector<uint8_t> theirs = Capture("conntrack-delete-" + name + ".request");
  Flow flow = FlowOf(theirs);
  flow.id = 0x01020304;
  const std::vector<uint8_t> ours = Delete(flow);
  CHECK(!Payload(theirs, CTA_TUPLE_ORIG).empty());
  CHECK_EQUAL(Payload(ours, CTA_TUPLE_ORIG), Payload(theirs, CTA_TUPLE_ORIG));
  CHECK_EQUAL(Payload(ours, CTA_ZONE), Payload(theirs, CTA_ZONE));
  CHECK_EQUAL(Payload(ours, CTA_ID), (std::vector<uint8_t>{1, 2, 3, 4}));
  CHECK(Payload(ours, CTA_TUPLE_REPLY).empty());
  // Type, and family of nfgenmsg.
  const Message message = MessagesOf(ours)[0];
  CHECK_EQUAL(message.type, MessagesOf(theirs)[0].type);
  CHECK_EQUAL(message.payload[0], MessagesOf(theirs)[0].payload[0]);
}

// A filter by original destination, its port and reply source.
Filter Narrow(uint16_t family) {
  Filter filter;
  filter.family = family;
  filter.protocol = IPPROTO_UDP;
  filter.original.fields = knp::conntrack::kDestination | knp::conntrack::kDestinationPort;
  filter.original.tuple.destination = kService;
  filter.original.tuple.destination_port = 53;
  filter.reply.fields = knp::conntrack::kSource;
  filter.reply.tuple.source = kEndpoint;
  return filter;
}

}  // namespace

TEST(ConntrackDeletesFlows) {
  for (const char* name : {"udp", "udp6", "tcp", "sctp6", "icmp", "icmp6", "zone"}) DeletesTheSame(name);
  const Flow flow = FlowOf(Capture("conntrack-delete-udp.request"));
  CHECK(Payload(Delete(flow), CTA_ID).empty());
  CHECK(Payload(Delete(flow), CTA_ZONE).empty());
}

TEST(EveryDeletionNamesAFlow) {
  // Even one of nothing has a tuple: the kernel takes a deletion without one for all flows.
  const std::vector<uint8_t> bytes = Delete(Flow{});
  CHECK(!Payload(bytes, CTA_TUPLE_ORIG).empty());
  CHECK(Payload(bytes, CTA_FILTER).empty());
}

TEST(ConntrackListsFlows) {
  Filter filter;
  filter.family = AF_INET;
  std::vector<uint8_t> theirs = Capture("conntrack-list4.request");
  CHECK_EQUAL(WithSenderOf(List(filter), theirs), theirs);
  filter.family = AF_INET6;
  theirs = Capture("conntrack-list6.request");
  CHECK_EQUAL(WithSenderOf(List(filter), theirs), theirs);
}

TEST(ConntrackCountsFlows) {
  const std::vector<uint8_t> theirs = Capture("conntrack-statistics.request");
  std::vector<uint8_t> ours;
  MessageBuilder builder(&ours);
  CHECK(knp::conntrack::EncodeGetStatistics(&builder));
  CHECK_EQUAL(ours[offsetof(nlmsghdr, nlmsg_flags)], NLM_F_REQUEST | NLM_F_ACK);
  ours[offsetof(nlmsghdr, nlmsg_flags)] = NLM_F_REQUEST;
  CHECK_EQUAL(WithSenderOf(ours, theirs), theirs);
}

TEST(AFilterSaysWhatOfItsTuplesCounts) {
  const std::vector<uint8_t> bytes = List(Narrow(AF_INET));
  // IP { destination }, PROTO { number, destination port }; IP { source }, PROTO { number }. The flags are
  // those of net/netfilter/nf_internals.h, in host order.
  const std::vector<uint8_t> original = {12, 0, 1, 0x80, 8,  0, 2, 0, 10, 96, 0, 10, 20, 0,  2, 0x80,
                                         5,  0, 1, 0,    17, 0, 0, 0, 6,  0,  3, 0,  0,  53, 0, 0};
  const std::vector<uint8_t> reply = {12, 0, 1, 0x80, 8, 0, 1, 0, 10, 0, 0, 1,
                                      12, 0, 2, 0x80, 5, 0, 1, 0, 17, 0, 0, 0};
  const std::vector<uint8_t> flags = {8, 0, 1, 0, 0x2a, 0, 0, 0, 8, 0, 2, 0, 0x09, 0, 0, 0};
  CHECK_EQUAL(Payload(bytes, CTA_TUPLE_ORIG), original);
  CHECK_EQUAL(Payload(bytes, CTA_TUPLE_REPLY), reply);
  CHECK_EQUAL(Payload(bytes, CTA_FILTER), flags);
  CHECK_EQUAL(MessagesOf(bytes)[0].payload[0], AF_INET);
}

TEST(AFilterOfBothFamiliesIsLeftToUs) {
  const std::vector<uint8_t> bytes = List(Narrow(AF_UNSPEC));
  CHECK_EQUAL(bytes.size(), NLMSG_HDRLEN + sizeof(nfgenmsg));
}

// What is decoded of a message that was encoded is what was encoded.
TEST(ANewFlowIsEncodedAsItIsListed) {
  Operation operation;
  operation.given = knp::conntrack::kGivesTimeout | knp::conntrack::kGivesStatus |
                    knp::conntrack::kGivesMark | knp::conntrack::kGivesLabels | knp::conntrack::kGivesHelper |
                    knp::conntrack::kGivesState;
  operation.mark_mask = 0xffffffff;
  Flow& flow = operation.flow;
  flow = Flows("conntrack-flows4.reply")[3];
  flow.timeout = 77;
  flow.mark = 0x01020304;
  flow.zone = 6;
  flow.details = std::make_shared<Details>();
  flow.details->labels = {1, 2, 3};
  flow.details->helper = "ftp";
  flow.details->master = flow.reply;
  flow.details->master_protocol = IPPROTO_UDP;
  flow.fields |= knp::conntrack::kHasMaster | knp::conntrack::kHasDetails;
  const Flow read = FlowOf(Add(operation));
  CHECK(read.original.source == flow.original.source);
  CHECK_EQUAL(read.reply.source_port, flow.reply.source_port);
  CHECK_EQUAL(read.timeout, 77);
  CHECK_EQUAL(read.mark, flow.mark);
  CHECK_EQUAL(read.state, flow.state);
  CHECK_EQUAL(read.status, flow.status | 8);  // IPS_CONFIRMED
  CHECK_EQUAL(read.zone, 6);
  CHECK_EQUAL(read.reply_zone, 0);
  CHECK(read.details->labels == flow.details->labels);
  CHECK_EQUAL(read.details->helper, "ftp");
  CHECK_EQUAL(read.details->master_protocol, IPPROTO_UDP);
  CHECK(read.details->master.source == flow.reply.source);
  flow.reply_zone = 6;
  CHECK_EQUAL(FlowOf(Add(operation)).reply_zone, 6);
  CHECK_EQUAL(Payload(Add(operation), CTA_ZONE), (std::vector<uint8_t>{0, 6}));
}

TEST(AnUpdateNamesItsFlowOnly) {
  Operation operation;
  operation.flow = Flows("conntrack-flows4.reply")[0];
  operation.given = knp::conntrack::kGivesMark;
  operation.mark_mask = 3;
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  CHECK(EncodeUpdate(&builder, operation));
  CHECK(Payload(bytes, CTA_TUPLE_REPLY).empty());
  CHECK(Payload(bytes, CTA_TIMEOUT).empty());
  CHECK_EQUAL(Payload(bytes, CTA_MARK_MASK), (std::vector<uint8_t>{0, 0, 0, 3}));
  CHECK_EQUAL(Payload(bytes, CTA_ZONE), (std::vector<uint8_t>{1, 2}));
  CHECK_EQUAL(bytes[offsetof(nlmsghdr, nlmsg_flags)], NLM_F_REQUEST);
}

TEST(OnlyAFlushNamesNoFlow) {
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  CHECK(knp::conntrack::EncodeFlush(&builder));
  CHECK_EQUAL(bytes.size(), NLMSG_HDRLEN + sizeof(nfgenmsg));
  // The probe of deletions by a filter names a tuple, which kernels without them delete.
  bytes.clear();
  MessageBuilder probe(&bytes);
  CHECK(knp::conntrack::EncodeDeleteNothing(&probe));
  CHECK(!Payload(bytes, CTA_TUPLE_ORIG).empty());
  CHECK(!Payload(bytes, CTA_FILTER).empty());
}
