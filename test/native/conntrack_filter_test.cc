// The flows that filters select, and the dumps that are requested for them.
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"
#include "conntrack/filter.h"
#include "conntrack/records.h"
#include "records/fields.h"

namespace {

using knp::conntrack::Filter;
using knp::conntrack::Flow;
using knp::conntrack::KernelPart;
using knp::conntrack::kMostWalks;
using knp::conntrack::Narrows;
using knp::conntrack::PlanDumps;
using knp::conntrack::Selector;
using Fields = uint8_t;

constexpr Fields kSource = knp::conntrack::kSource;
constexpr Fields kDestination = knp::conntrack::kDestination;
constexpr Fields kSourcePort = knp::conntrack::kSourcePort;
constexpr Fields kDestinationPort = knp::conntrack::kDestinationPort;

uint8_t Width(uint16_t family) {
  return family == AF_INET6 ? 128 : 32;
}

// For services that differ in the last byte of their address.
Filter To(uint8_t service, uint16_t port, uint16_t family = AF_INET, uint8_t protocol = IPPROTO_UDP) {
  Filter filter;
  filter.family = family;
  filter.protocol = protocol;
  filter.original.fields = kDestination | kDestinationPort;
  filter.original.destination_prefix = Width(family);
  filter.original.tuple.destination = {10, 96, 0, service};
  filter.original.tuple.destination_port = port;
  return filter;
}

Flow FlowTo(uint8_t service, uint16_t port) {
  Flow flow;
  flow.family = AF_INET;
  flow.protocol = IPPROTO_UDP;
  flow.original.source = {10, 0, 0, 9};
  flow.original.destination = {10, 96, 0, service};
  flow.original.source_port = 4000;
  flow.original.destination_port = port;
  flow.reply.source = {10, 0, 0, 1};
  flow.reply.destination = flow.original.source;
  flow.reply.source_port = 5353;
  flow.reply.destination_port = 4000;
  return flow;
}

bool Selects(const std::vector<Filter>& filters, const Flow& flow) {
  return Selector(filters).Selects(flow);
}

}  // namespace

TEST(AFilterSelectsWhatItNames) {
  const Flow flow = FlowTo(10, 53);
  Filter filter;
  CHECK(Selects({filter}, flow));  // nothing said, everything selected
  CHECK(!Selects({}, flow));
  CHECK(Selects({To(10, 53)}, flow));
  CHECK(!Selects({To(11, 53)}, flow));
  CHECK(!Selects({To(10, 54)}, flow));
  CHECK(!Selects({To(10, 53, AF_INET6)}, flow));
  CHECK(!Selects({To(10, 53, AF_INET, IPPROTO_TCP)}, flow));
  CHECK(Selects({To(10, 53, AF_UNSPEC, 0)}, flow));
  filter = To(10, 53);
  filter.reply = {kSource | kSourcePort, flow.reply, 32, 32};
  CHECK(Selects({filter}, flow));
  filter.reply.tuple.source_port = 53;
  CHECK(!Selects({filter}, flow));
  filter = Filter{};
  filter.original = {kSource | kDestination | kSourcePort | kDestinationPort, flow.original, 32, 32};
  filter.reply = {kDestination, flow.reply, 32, 32};
  CHECK(Selects({filter}, flow));
  filter.original.tuple.source_port = 0;  // a port that is 0 is one
  CHECK(!Selects({filter}, flow));
}

TEST(AnyOfManyFiltersSelects) {
  std::vector<Filter> filters;
  for (uint8_t service = 0; service < 200; service++) filters.push_back(To(service, 53));
  for (uint16_t port = 1000; port < 1200; port++) filters.push_back(To(250, port));
  Filter by_client;
  by_client.original.fields = kSourcePort;
  by_client.original.tuple.source_port = 4001;
  filters.push_back(by_client);
  CHECK(Selects(filters, FlowTo(199, 53)));
  CHECK(!Selects(filters, FlowTo(200, 53)));
  CHECK(Selects(filters, FlowTo(250, 1199)));
  CHECK(!Selects(filters, FlowTo(10, 1199)));
  Flow flow = FlowTo(200, 53);
  flow.original.source_port = 4001;
  CHECK(Selects(filters, flow));
}

TEST(AFilterSelectsNetworks) {
  const Flow flow = FlowTo(10, 53);
  Filter filter;
  filter.family = AF_INET;
  filter.original.fields = kDestination;
  filter.original.tuple.destination = {10, 96, 0, 15};
  const auto selects = [&](uint8_t prefix) {
    filter.original.destination_prefix = prefix;
    return Selects({filter}, flow);
  };
  CHECK(selects(0) && selects(24) && selects(29));
  CHECK(!selects(30) && !selects(32));
  filter.original.tuple.destination = flow.original.destination;
  CHECK(selects(32));
}

TEST(AFilterSelectsKindsOfIcmp) {
  Flow flow = FlowTo(10, 0);
  flow.protocol = IPPROTO_ICMP;
  flow.original.source_port = 7;
  flow.original.destination_port = 8 << 8 | 1;
  Filter filter;
  const auto selects = [&](Fields fields, uint16_t kind) {
    filter.original.fields = fields;
    filter.original.tuple.destination_port = kind;
    return Selects({filter}, flow);
  };
  CHECK(selects(knp::conntrack::kIcmpType, 8 << 8) && !selects(knp::conntrack::kIcmpType, 9 << 8 | 1));
  CHECK(selects(knp::conntrack::kIcmpCode, 1) && !selects(knp::conntrack::kIcmpCode, 8 << 8));
  CHECK(!selects(knp::conntrack::kIcmpKind, 8 << 8) && selects(knp::conntrack::kIcmpKind, 8 << 8 | 1));
  CHECK(!selects(kSourcePort, 0));
}

TEST(AFilterSelectsByConditions) {
  Flow flow = FlowTo(10, 53);
  flow.mark = 6;
  flow.status = 0xe;
  flow.zone = 1;
  Filter filter;
  const auto selects = [&](uint8_t condition) {
    filter.conditions = condition;
    return Selects({filter}, flow);
  };
  CHECK(selects(0));
  filter.mark = 2;
  filter.mark_mask = 3;
  CHECK(selects(knp::conntrack::kOnMark));
  filter.mark_mask = 7;
  CHECK(!selects(knp::conntrack::kOnMark));
  filter.status = 4;
  filter.status_mask = 5;
  CHECK(selects(knp::conntrack::kOnStatus));
  filter.status_mask = 6;
  CHECK(!selects(knp::conntrack::kOnStatus));
  CHECK(!selects(knp::conntrack::kOnZone) && selects(knp::conntrack::kOnReplyZone));
  filter.zone = 1;
  CHECK(selects(knp::conntrack::kOnZone));
  filter.labels[15] = 1;
  CHECK(!selects(knp::conntrack::kOnLabels));
  flow.details = std::make_shared<knp::conntrack::Details>();
  flow.details->labels[15] = 3;
  CHECK(selects(knp::conntrack::kOnLabels));
}

TEST(OnlyAConditionThatFlowsDoNotFulfilByDefaultNarrows) {
  CHECK(!Narrows(Filter{}));
  Filter filter;
  filter.family = AF_INET;
  filter.protocol = IPPROTO_UDP;
  CHECK(!Narrows(filter));
  filter.reply.fields = 0xc0;  // no fields that there are
  CHECK(!Narrows(filter));
  filter.reply.fields = kSource;
  CHECK(!Narrows(filter));  // the network of all addresses
  filter.reply.source_prefix = 1;
  CHECK(Narrows(filter));
  CHECK(Narrows(To(10, 53)));
  filter = Filter{};
  filter.conditions = 0x1f;
  filter.mark_mask = 1;
  filter.status = filter.status_mask = 8;
  CHECK(!Narrows(filter));
  filter.mark = 1;
  CHECK(Narrows(filter));
  filter.mark = 0;
  filter.reply_zone = 1;
  CHECK(Narrows(filter));
  filter.reply_zone = 0;
  filter.labels[15] = 1;
  CHECK(Narrows(filter));
  filter.conditions = 0;
  CHECK(!Narrows(filter));
}

TEST(TheKernelIsAskedForWhatItGetsRight) {
  const Fields all = kSource | kDestination | kSourcePort | kDestinationPort;
  Filter filter = To(10, 53);
  filter.original = {all, {}, 32, 32};
  filter.reply = {all, {}, 32, 32};
  CHECK_EQUAL(KernelPart(filter).original.fields, all);
  CHECK_EQUAL(KernelPart(filter).reply.fields, all);
  filter.reply.source_prefix = 31;
  CHECK_EQUAL(KernelPart(filter).reply.fields, kDestination | kSourcePort | kDestinationPort);
  filter.conditions = 0x1f;
  CHECK_EQUAL(KernelPart(filter).conditions, knp::conntrack::kOnMark);
  filter.protocol = IPPROTO_SCTP;
  CHECK_EQUAL(KernelPart(filter).original.fields, kSource | kDestination);
  filter.family = AF_INET6;
  CHECK_EQUAL(KernelPart(filter).original.fields, 0);
  filter.protocol = IPPROTO_TCP;
  CHECK_EQUAL(KernelPart(filter).original.fields, kSourcePort | kDestinationPort);
  CHECK_EQUAL(KernelPart(filter).reply.fields, kSourcePort | kDestinationPort);
}

TEST(TheKernelIsAskedForAMarkThatAllHave) {
  const auto marked = [](uint32_t mark) {
    Filter filter;
    filter.conditions = knp::conntrack::kOnMark;
    filter.mark = mark;
    filter.mark_mask = 0xff;
    return filter;
  };
  CHECK_EQUAL(PlanDumps({marked(1), marked(2), marked(1)}).size(), 2);
  std::vector<Filter> filters;
  for (uint32_t mark = 0; mark <= kMostWalks; mark++) filters.push_back(marked(mark));
  CHECK_EQUAL(PlanDumps(filters).size(), 1);
  CHECK_EQUAL(PlanDumps(filters)[0].conditions, 0);
}

TEST(EachKernelPartIsListedOnce) {
  CHECK(PlanDumps({}).empty());
  CHECK_EQUAL(PlanDumps({To(10, 53), To(11, 53), To(10, 53)}).size(), 2);
  // Without their addresses, which the kernel gets wrong, these are one.
  const std::vector<Filter> six = PlanDumps({To(10, 53, AF_INET6), To(11, 53, AF_INET6)});
  CHECK_EQUAL(six.size(), 1);
  CHECK_EQUAL(six[0].original.fields, kDestinationPort);
  CHECK_EQUAL(six[0].original.tuple.destination_port, 53);
}

TEST(OfManyTheirCommonPartIsListed) {
  std::vector<Filter> filters;
  for (uint8_t service = 0; service < kMostWalks; service++) filters.push_back(To(service, 53));
  CHECK_EQUAL(PlanDumps(filters).size(), kMostWalks);
  filters.push_back(To(kMostWalks, 53));
  std::vector<Filter> dumps = PlanDumps(filters);
  CHECK_EQUAL(dumps.size(), 1);
  CHECK_EQUAL(dumps[0].family, AF_INET);
  CHECK_EQUAL(dumps[0].protocol, IPPROTO_UDP);
  CHECK_EQUAL(dumps[0].original.fields, kDestinationPort);
  // One more, with another port; then of another protocol, which makes ports useless to the kernel.
  filters.push_back(To(10, 54));
  CHECK_EQUAL(PlanDumps(filters)[0].original.fields, 0);
  CHECK_EQUAL(PlanDumps(filters)[0].protocol, IPPROTO_UDP);
  filters.back() = To(10, 53, AF_INET, IPPROTO_TCP);
  CHECK_EQUAL(PlanDumps(filters)[0].original.fields, 0);
  CHECK_EQUAL(PlanDumps(filters)[0].protocol, 0);
  CHECK_EQUAL(PlanDumps(filters)[0].family, AF_INET);
  // The other family has a listing of its own: of both together, the kernel could filter nothing.
  filters.push_back(To(10, 53, AF_INET6));
  dumps = PlanDumps(filters);
  CHECK_EQUAL(dumps.size(), 2);
  CHECK_EQUAL(dumps[0].family, AF_INET);
  CHECK_EQUAL(dumps[1].family, AF_INET6);
  CHECK_EQUAL(dumps[1].protocol, IPPROTO_UDP);
}

TEST(TheCommonPartOfOneAddressKeepsIt) {
  std::vector<Filter> filters;
  for (uint16_t port = 0; port <= kMostWalks; port++) filters.push_back(To(10, port));
  const std::vector<Filter> dumps = PlanDumps(filters);
  CHECK_EQUAL(dumps.size(), 1);
  CHECK_EQUAL(dumps[0].original.fields, kDestination);
}

TEST(AFilterIsRead) {
  using knp::records::At;
  using knp::records::Store;
  using Field = knp::conntrack::layout::Filter;
  using Tuple = knp::conntrack::layout::Tuple;
  std::vector<uint8_t> records(2 * Field::kSize);
  uint8_t* record = records.data() + Field::kSize;
  Store(record, Field::kFamily, 6);
  Store(record, Field::kProtocol, IPPROTO_UDP);
  Store(record, Field::kOriginalFields, kDestination | kDestinationPort);
  Store(record, Field::kReplyFields, kSource);
  Store(record, Field::kReplySourcePrefix, 64);
  Store(record, Field::kConditions, 3);
  Store(record, Field::kMark, 5);
  Store(record, Field::kStatusMask, 0x80000000);
  uint8_t* original = At(record, Field::kOriginal);
  Store(original, Tuple::kSource, {1});
  Store(original, Tuple::kDestination, {2});
  Store(original, Tuple::kSourcePort, 4000);
  Store(original, Tuple::kDestinationPort, 53);
  uint8_t* reply = At(record, Field::kReply);
  Store(reply, Tuple::kSource, {3});
  Store(reply, Tuple::kDestination, {4});
  Store(reply, Tuple::kSourcePort, 5353);
  Store(reply, Tuple::kDestinationPort, 4001);
  const std::vector<Filter> filters = knp::conntrack::LoadFilters(records.data(), records.size());
  CHECK_EQUAL(filters.size(), 2);
  CHECK_EQUAL(filters[0].family, AF_UNSPEC);
  CHECK(!Narrows(filters[0]));
  const Filter& filter = filters[1];
  CHECK_EQUAL(filter.family, AF_INET6);
  CHECK_EQUAL(filter.protocol, IPPROTO_UDP);
  CHECK_EQUAL(filter.original.fields, kDestination | kDestinationPort);
  CHECK_EQUAL(filter.reply.fields, kSource);
  CHECK_EQUAL(filter.reply.source_prefix, 64);
  CHECK_EQUAL(filter.conditions, 3);
  CHECK_EQUAL(filter.mark, 5);
  CHECK_EQUAL(filter.status_mask, 0x80000000);
  CHECK_EQUAL(filter.original.tuple.source[0], 1);
  CHECK_EQUAL(filter.original.tuple.destination[0], 2);
  CHECK_EQUAL(filter.reply.tuple.source[0], 3);
  CHECK_EQUAL(filter.reply.tuple.destination[0], 4);
  CHECK_EQUAL(filter.original.tuple.source_port, 4000);
  CHECK_EQUAL(filter.original.tuple.destination_port, 53);
  CHECK_EQUAL(filter.reply.tuple.source_port, 5353);
  CHECK_EQUAL(filter.reply.tuple.destination_port, 4001);
}
