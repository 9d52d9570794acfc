// Answers and events of the kernel → structs → records. Expected values: captures/conntrack-replies.txt.
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "check.h"
#include "conntrack/codec.h"
#include "conntrack/records.h"
#include "conntrack_messages.h"
#include "messages.h"
#include "records/fields.h"

namespace {

using Address = std::array<uint8_t, 16>;
using knp::conntrack::Details;
using knp::conntrack::Expectation;
using knp::conntrack::Flow;
using knp::conntrack::FlowEvent;
using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::test::Capture;
using knp::test::Flows;
using knp::test::kClient;
using knp::test::kEndpoint;
using knp::test::kService;
using knp::test::MessagesOf;

constexpr Address kService6{0xfd, 0, 0, 0x96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a};

}  // namespace

TEST(TheKernelListsFlows) {
  const std::vector<Flow> flows = Flows("conntrack-flows4.reply");
  CHECK_EQUAL(flows.size(), 4);
  const Flow& zoned = flows[0];
  CHECK_EQUAL(zoned.zone, 258);
  CHECK_EQUAL(zoned.reply_zone, 258);
  CHECK_EQUAL(zoned.id, 1966537128);
  CHECK_EQUAL(zoned.status, 8);
  const Flow& udp = flows[1];
  CHECK_EQUAL(udp.family, AF_INET);
  CHECK_EQUAL(udp.protocol, IPPROTO_UDP);
  CHECK(udp.original.source == kClient);
  CHECK(udp.original.destination == kService);
  CHECK_EQUAL(udp.original.source_port, 4660);
  CHECK_EQUAL(udp.original.destination_port, 53);
  CHECK(udp.reply.source == kEndpoint);
  CHECK(udp.reply.destination == kClient);
  CHECK_EQUAL(udp.reply.source_port, 5353);
  CHECK_EQUAL(udp.reply.destination_port, 4660);
  CHECK_EQUAL(udp.zone, 0);
  CHECK_EQUAL(udp.id, 529710881);
  CHECK_EQUAL(udp.mark, 16384);
  CHECK(udp.timeout > 0 && udp.timeout <= 30);
  const Flow& icmp = flows[2];
  CHECK_EQUAL(icmp.protocol, IPPROTO_ICMP);
  CHECK_EQUAL(icmp.original.source_port, 513);
  CHECK_EQUAL(icmp.original.destination_port, 8 << 8);
  CHECK_EQUAL(icmp.reply.destination_port, 0);
  const Flow& tcp = flows[3];
  CHECK_EQUAL(tcp.protocol, IPPROTO_TCP);
  CHECK_EQUAL(tcp.original.destination_port, 80);
  CHECK_EQUAL(tcp.status, 0xe);
  CHECK_EQUAL(tcp.fields, knp::conntrack::kHasState);
  CHECK_EQUAL(tcp.state, 3);  // TCP_CONNTRACK_ESTABLISHED
  CHECK_EQUAL(tcp.use, 1);
}

TEST(TheKernelListsFlowsOfIPv6) {
  const std::vector<Flow> flows = Flows("conntrack-flows6.reply");
  CHECK_EQUAL(flows.size(), 3);
  CHECK_EQUAL(flows[0].family, AF_INET6);
  CHECK(flows[0].original.destination == kService6);
  CHECK_EQUAL(flows[0].reply.source_port, 5353);
  CHECK_EQUAL(flows[1].protocol, IPPROTO_SCTP);
  CHECK_EQUAL(flows[1].original.source_port, 4000);
  CHECK_EQUAL(flows[1].id, 2312467322);
  CHECK_EQUAL(flows[1].state, 4);  // SCTP_CONNTRACK_ESTABLISHED
  CHECK(flows[1].details != nullptr);
  // conntrack(8) writes the tags 1 and 2 in the order of its own machine.
  CHECK_EQUAL(flows[1].details->original_tag, 0x01000000);
  CHECK_EQUAL(flows[1].details->reply_tag, 0x02000000);
  CHECK_EQUAL(flows[2].protocol, IPPROTO_ICMPV6);
  CHECK_EQUAL(flows[2].original.source_port, 513);
  CHECK_EQUAL(flows[2].original.destination_port, 128 << 8);
  CHECK_EQUAL(flows[2].reply.destination_port, 129 << 8);
}

// Expected values: captures/conntrack-details.txt.
TEST(TheKernelListsDetails) {
  const std::vector<Flow> flows = Flows("conntrack-details.reply");
  CHECK_EQUAL(flows.size(), 2);
  const Flow& udp = flows[0].protocol == IPPROTO_UDP ? flows[0] : flows[1];
  const Flow& tcp = flows[0].protocol == IPPROTO_TCP ? flows[0] : flows[1];
  CHECK((udp.fields & knp::conntrack::kHasCounters) != 0);
  CHECK_EQUAL(udp.details->original.packets, 2);
  CHECK_EQUAL(udp.details->original.bytes, 58);
  CHECK_EQUAL(udp.details->reply.packets, 2);
  CHECK_EQUAL(tcp.details->original.bytes, 246);
  CHECK_EQUAL(tcp.details->reply.packets, 3);
  CHECK_EQUAL(tcp.details->reply.bytes, 164);
  CHECK_EQUAL(tcp.details->helper, "ftp");
  CHECK((tcp.fields & (knp::conntrack::kHasStart | knp::conntrack::kHasStop)) == 0);
  CHECK((udp.fields & knp::conntrack::kHasLabels) != 0);
  CHECK(udp.details->labels == (knp::conntrack::Labels{1U << 5}));
}

TEST(TheKernelListsExpectations) {
  const std::vector<uint8_t> bytes = Capture("conntrack-expectation.reply");
  Expectation expectation;
  CHECK(DecodeExpectation(MessagesOf(bytes)[0], &expectation).ok());
  CHECK_EQUAL(expectation.family, AF_INET);
  CHECK_EQUAL(expectation.protocol, IPPROTO_TCP);
  CHECK(expectation.tuple.source == kEndpoint);
  CHECK(expectation.tuple.destination == kClient);
  CHECK_EQUAL(expectation.tuple.destination_port, 41739);
  CHECK_EQUAL(expectation.mask.source_port, 0);
  CHECK_EQUAL(expectation.mask.destination_port, 0xffff);
  CHECK(expectation.mask.source == (Address{255, 255, 255, 255}));
  CHECK_EQUAL(expectation.master.source_port, 4001);
  CHECK_EQUAL(expectation.master.destination_port, 21);
  CHECK_EQUAL(expectation.master_protocol, IPPROTO_TCP);
  CHECK_EQUAL(expectation.helper, "ftp");
  CHECK_EQUAL(expectation.policy, 0);
  CHECK(expectation.timeout >= 298 && expectation.timeout <= 300);
  const std::vector<uint8_t> record = knp::conntrack::StoreExpectations({expectation});
  CHECK_EQUAL(record.size(), knp::conntrack::layout::Expectation::kSize);
}

TEST(TheKernelReportsStatistics) {
  const std::vector<uint8_t> global = Capture("conntrack-statistics.reply");
  knp::conntrack::Statistics statistics;
  CHECK(DecodeStatistics(MessagesOf(global)[0], &statistics).ok());
  CHECK_EQUAL(statistics.entries, 2);
  CHECK(statistics.max_entries > 0);
  const std::vector<uint8_t> cpus = Capture("conntrack-cpus.reply");
  knp::conntrack::CpuStatistics cpu;
  cpu.cpu = 9;
  CHECK(DecodeCpu(MessagesOf(cpus)[0], &cpu).ok());
  CHECK_EQUAL(cpu.cpu, 0);
  CHECK_EQUAL(cpu.found, 0);
}

TEST(AFlowWithoutBothTuplesIsMalformed) {
  const std::vector<uint8_t> whole = Capture("conntrack-delete-udp.request");
  const auto kind = [](const std::vector<uint8_t>& bytes) {
    Flow flow;
    return DecodeFlow(MessagesOf(bytes)[0], &flow).kind;
  };
  CHECK(kind(whole) == FailureKind::kNone);
  constexpr size_t kOriginal = NLMSG_HDRLEN + sizeof(nfgenmsg);
  constexpr size_t kReply = kOriginal + 52;
  for (const size_t tuple : {kOriginal, kReply}) {
    std::vector<uint8_t> bytes = whole;
    bytes[tuple + 2] = CTA_HELP;  // no tuple any more
    CHECK(kind(bytes) == FailureKind::kMalformedReply);
    bytes = whole;
    bytes[tuple + 10] = CTA_IP_V4_DST;  // two destinations
    CHECK(kind(bytes) == FailureKind::kMalformedReply);
    bytes = whole;
    bytes[tuple + 10] = CTA_IP_V6_SRC;  // of four bytes
    CHECK(kind(bytes) == FailureKind::kMalformedReply);
  }
  std::vector<uint8_t> bytes = whole;
  bytes[NLMSG_HDRLEN] = AF_INET6;  // nfgen_family
  CHECK(kind(bytes) == FailureKind::kMalformedReply);
  bytes = whole;
  bytes[kReply + 32] = IPPROTO_TCP;  // the protocol of one direction
  CHECK(kind(bytes) == FailureKind::kMalformedReply);
}

TEST(AFlowIsStored) {
  using knp::records::Load;
  namespace layout = knp::conntrack::layout;
  const std::vector<Flow> flows = Flows("conntrack-flows4.reply");
  const std::vector<uint8_t> records = StoreFlows(flows);
  CHECK_EQUAL(records.size(), flows.size() * layout::Flow::kSize);
  const uint8_t* udp = records.data() + layout::Flow::kSize;
  CHECK_EQUAL(Load(udp, layout::Flow::kFamily), 4);
  CHECK_EQUAL(Load(udp, layout::Flow::kProtocol), 17);
  CHECK_EQUAL(Load(udp, layout::Flow::kZone), 0);
  CHECK_EQUAL(Load(udp, layout::Flow::kId), 529710881);
  CHECK_EQUAL(Load(udp, layout::Flow::kStatus), flows[1].status);
  CHECK_EQUAL(Load(udp, layout::Flow::kMark), 16384);
  CHECK_EQUAL(Load(udp, layout::Flow::kTimeout), flows[1].timeout);
  const uint8_t* original = Load(udp, layout::Flow::kOriginal);
  CHECK(std::equal(kClient.begin(), kClient.end(), original + layout::Tuple::kSource.offset));
  CHECK(std::equal(kService.begin(), kService.end(), original + layout::Tuple::kDestination.offset));
  CHECK_EQUAL(Load(original, layout::Tuple::kSourcePort), 4660);
  CHECK_EQUAL(Load(original, layout::Tuple::kDestinationPort), 53);
  const uint8_t* reply = Load(udp, layout::Flow::kReply);
  CHECK(std::equal(kEndpoint.begin(), kEndpoint.end(), reply + layout::Tuple::kSource.offset));
  CHECK_EQUAL(Load(reply, layout::Tuple::kSourcePort), 5353);
}

TEST(DetailsFollowTheirFlow) {
  using knp::records::Load;
  namespace layout = knp::conntrack::layout;
  std::vector<Flow> flows(2);
  flows[0].fields = knp::conntrack::kHasDetails | knp::conntrack::kHasCounters;
  flows[0].details = std::make_shared<Details>();
  flows[0].details->original = {1, 2};
  flows[0].details->reply = {3, 4};
  flows[0].details->helper = "ftp";
  flows[0].details->secctx = "context";
  flows[1].id = 5;
  const std::vector<uint8_t> records = StoreFlows(flows);
  CHECK_EQUAL(records.size(), 2 * layout::Flow::kSize + layout::Details::kSize + 7);
  const uint8_t* details = records.data() + layout::Flow::kSize;
  CHECK_EQUAL(Load(details, layout::Details::kOriginalPackets), 1);
  CHECK_EQUAL(Load(details, layout::Details::kReplyBytes), 4);
  CHECK_EQUAL(Load(details, layout::Details::kHelper), "ftp");
  CHECK_EQUAL(Load(details, layout::Details::kSecctxLength), 7);
  const uint8_t* secctx = details + layout::Details::kSize;
  CHECK_EQUAL(std::string(secctx, secctx + 7), "context");
  CHECK_EQUAL(Load(secctx + 7, layout::Flow::kId), 5);
}

TEST(AnEventSaysWhatHappened) {
  const std::vector<uint8_t> bytes = Capture("conntrack-delete-udp.request");
  Message message = MessagesOf(bytes)[0];
  const auto event_of = [&](uint16_t type, uint16_t flags) {
    message.type = type;
    message.flags = flags;
    FlowEvent event = FlowEvent::kNone;
    Flow flow;
    CHECK(DecodeEvent(message, &event, &flow).ok());
    CHECK_EQUAL(flow.protocol, event == FlowEvent::kNone ? 0 : IPPROTO_UDP);
    return event;
  };
  constexpr uint16_t kConntrack = NFNL_SUBSYS_CTNETLINK << 8;
  CHECK(event_of(kConntrack | IPCTNL_MSG_CT_NEW, NLM_F_CREATE | NLM_F_EXCL) == FlowEvent::kNew);
  CHECK(event_of(kConntrack | IPCTNL_MSG_CT_NEW, 0) == FlowEvent::kUpdate);
  CHECK(event_of(kConntrack | IPCTNL_MSG_CT_DELETE, 0) == FlowEvent::kDestroy);
  CHECK(event_of(NFNL_SUBSYS_CTNETLINK_EXP << 8, 0) == FlowEvent::kNone);
}
