// Records that cross to JavaScript: every field is read from its place and written to it. test/unit/kernel
// has tests of the places themselves.
#include "ipvs/records.h"

#include <arpa/inet.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"
#include "records/fields.h"
#include "rtnetlink/records.h"

namespace {

using knp::records::At;
using knp::records::Load;
using knp::records::Store;

}  // namespace

TEST(NumbersAreLittleEndian) {
  std::vector<uint8_t> bytes(9, 0xff);
  Store(bytes.data(), knp::records::U64{1}, 0x0807060504030201);
  CHECK_EQUAL(bytes, (std::vector<uint8_t>{0xff, 1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK_EQUAL(Load(bytes.data(), knp::records::U8{1}), 1);
  CHECK_EQUAL(Load(bytes.data(), knp::records::U16{1}), 0x0201);
  CHECK_EQUAL(Load(bytes.data(), knp::records::U32{1}), 0x04030201);
  CHECK_EQUAL(Load(bytes.data(), knp::records::U64{1}), 0x0807060504030201);
  Store(bytes.data(), knp::records::U16{0}, 0x10203);
  CHECK_EQUAL(bytes, (std::vector<uint8_t>{3, 2, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(TextIsPaddedWithZeros) {
  std::vector<uint8_t> bytes(6, 0xff);
  Store(bytes.data(), knp::records::Text{1, 4}, "abcd");
  CHECK_EQUAL(bytes, (std::vector<uint8_t>{0xff, 'a', 'b', 'c', 0, 0xff}));
  Store(bytes.data(), knp::records::Text{1, 4}, "x");
  CHECK_EQUAL(bytes, (std::vector<uint8_t>{0xff, 'x', 0, 0, 0, 0xff}));
  CHECK_EQUAL(Load(bytes.data(), knp::records::Text{1, 4}), "x");
}

TEST(AnIpvsOperationIsRead) {
  using Operation = knp::ipvs::layout::Operation;
  using Service = knp::ipvs::layout::Service;
  using Server = knp::ipvs::layout::Server;
  std::vector<uint8_t> record(Operation::kSize);
  Store(record.data(), Operation::kVerb, 6);
  uint8_t* service = At(record.data(), Operation::kService);
  Store(service, Service::kFamily, 4);
  Store(service, Service::kProtocol, IPPROTO_UDP);
  Store(service, Service::kPort, 53);
  Store(service, Service::kFlags, 0x10);
  Store(service, Service::kTimeout, 10800);
  Store(service, Service::kNetmask, 24);
  Store(service, Service::kAddress, {10, 0, 0, 1});
  Store(service, Service::kScheduler, "mh");
  Store(service, Service::kPersistenceEngine, "sip");
  uint8_t* server = At(record.data(), Operation::kArgument);
  Store(server, Server::kFamily, 6);
  Store(server, Server::kForwarding, 2);
  Store(server, Server::kPort, 6443);
  Store(server, Server::kWeight, 2147483647);
  Store(server, Server::kUpperThreshold, 100);
  Store(server, Server::kLowerThreshold, 50);
  Store(server, Server::kTunnelType, 1);
  Store(server, Server::kTunnelPort, 6080);
  Store(server, Server::kTunnelFlags, 2);
  Store(server, Server::kAddress, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4});
  const auto operations = knp::ipvs::OperationRecords(record.data(), record.size());
  CHECK_EQUAL(operations.size(), 1);
  const auto operation = operations[0];
  CHECK(operation.verb == knp::ipvs::Verb::kUpdateRealServer);
  CHECK_EQUAL(operation.service.id.family, AF_INET);
  CHECK_EQUAL(operation.service.id.protocol, IPPROTO_UDP);
  CHECK_EQUAL(operation.service.id.port, 53);
  CHECK_EQUAL(+operation.service.id.address[0], 10);
  CHECK_EQUAL(+operation.service.id.address[3], 1);
  CHECK_EQUAL(operation.server.family, AF_INET6);
  CHECK_EQUAL(operation.server.forwarding, IP_VS_CONN_F_TUNNEL);
  CHECK_EQUAL(operation.server.port, 6443);
  CHECK_EQUAL(operation.server.weight, 2147483647);
  CHECK_EQUAL(operation.server.upper_threshold, 100);
  CHECK_EQUAL(operation.server.lower_threshold, 50);
  CHECK_EQUAL(operation.server.tunnel.type, 1);
  CHECK_EQUAL(operation.server.tunnel.port, 6080);
  CHECK_EQUAL(operation.server.tunnel.flags, 2);
  CHECK_EQUAL(+operation.server.address[15], 4);
  // Only the verbs that add and update a service read its settings.
  CHECK_EQUAL(operation.service.flags, 0);
  Store(record.data(), Operation::kVerb, static_cast<uint8_t>(knp::ipvs::Verb::kUpdateService));
  const auto updated = operations[0].service;
  CHECK_EQUAL(updated.flags, 0x10);
  CHECK_EQUAL(updated.timeout, 10800);
  CHECK_EQUAL(ntohl(updated.netmask), 0xffffff00);
  CHECK_EQUAL(updated.scheduler, "mh");
  CHECK_EQUAL(updated.persistence_engine, "sip");
}

TEST(TextThatFillsItsFieldIsCutBeforeTheLastByte) {
  std::vector<uint8_t> record(knp::ipvs::layout::Service::kSize, 'x');
  const auto service = knp::ipvs::LoadService(record.data());
  CHECK_EQUAL(service.scheduler.size(), 15);
  CHECK_EQUAL(service.persistence_engine.size(), 15);
}

TEST(ALengthThatIsNoMultipleLosesOnlyTheRest) {
  const std::vector<uint8_t> record(knp::ipvs::layout::Operation::kSize * 2 - 1, 1);
  CHECK_EQUAL(knp::ipvs::OperationRecords(record.data(), record.size()).size(), 1);
  CHECK_EQUAL(
      knp::rtnetlink::LoadOperations(record.data(), knp::rtnetlink::layout::Operation::kSize - 1, {}).size(),
      0);
}

namespace {

// The netmask byte of a listed IPv4 service with this mask.
int ListedNetmask(uint32_t mask) {
  knp::ipvs::ServiceState state;
  state.service.id.family = AF_INET;
  state.service.netmask = htonl(mask);
  return Load(knp::ipvs::StoreListing({state}).data(), knp::ipvs::layout::Service::kNetmask);
}

}  // namespace

TEST(AnIPv4NetmaskIsListedAsItsPrefixLengthOrZero) {
  for (int prefix = 1; prefix <= 32; prefix++) {
    const uint32_t mask = prefix == 32 ? 0xffffffff : ~(0xffffffff >> prefix);
    CHECK_EQUAL(ListedNetmask(mask), prefix);
  }
  CHECK_EQUAL(ListedNetmask(0), 0);
  CHECK_EQUAL(ListedNetmask(0xff00ff00), 0);
  CHECK_EQUAL(ListedNetmask(0x00ffffff), 0);
}

TEST(AnIpvsListingIsWritten) {
  knp::ipvs::ServiceState state;
  state.service.id.family = AF_INET6;
  state.service.id.protocol = IPPROTO_SCTP;
  state.service.id.port = 9999;
  state.service.id.address[15] = 7;
  state.service.flags = 1;
  state.service.timeout = 300;
  state.service.netmask = 64;
  state.service.scheduler = "rr";
  state.counters = {1, 2, 3, 4, 0x0102030405060708};
  knp::ipvs::RealServerState server;
  server.server.family = AF_INET6;
  server.server.port = 80;
  server.server.weight = 3;
  server.active_connections = 5;
  server.inactive_connections = 6;
  server.persistent_connections = 7;
  server.counters.connections = 8;
  server.server.address[0] = 0xfd;
  state.servers.push_back(server);
  const auto listing = knp::ipvs::StoreListing({state});
  using ListedService = knp::ipvs::layout::ListedService;
  using ListedServer = knp::ipvs::layout::ListedServer;
  using Service = knp::ipvs::layout::Service;
  using Server = knp::ipvs::layout::Server;
  using Counters = knp::ipvs::layout::Counters;
  CHECK_EQUAL(listing.size(), ListedService::kSize + ListedServer::kSize);
  const uint8_t* service = Load(listing.data(), ListedService::kService);
  CHECK_EQUAL(Load(service, Service::kFamily), 6);
  CHECK_EQUAL(Load(service, Service::kProtocol), IPPROTO_SCTP);
  CHECK_EQUAL(Load(service, Service::kPort), 9999);
  CHECK_EQUAL(Load(service, Service::kFlags), 1);
  CHECK_EQUAL(Load(service, Service::kTimeout), 300);
  CHECK_EQUAL(Load(service, Service::kNetmask), 64);
  CHECK_EQUAL(Load(service, Service::kRealServers), 1);
  CHECK(Load(service, Service::kAddress) == state.service.id.address);
  CHECK_EQUAL(Load(service, Service::kScheduler), "rr");
  const uint8_t* counters = Load(listing.data(), ListedService::kCounters);
  CHECK_EQUAL(Load(counters, Counters::kConnections), 1);
  CHECK_EQUAL(Load(counters, Counters::kInPackets), 2);
  CHECK_EQUAL(Load(counters, Counters::kOutPackets), 3);
  CHECK_EQUAL(Load(counters, Counters::kInBytes), 4);
  CHECK_EQUAL(Load(counters, Counters::kOutBytes), 0x0102030405060708);
  const uint8_t* listed = listing.data() + ListedService::kSize;
  CHECK_EQUAL(Load(Load(listed, ListedServer::kServer), Server::kPort), 80);
  CHECK_EQUAL(Load(Load(listed, ListedServer::kServer), Server::kWeight), 3);
  CHECK(Load(Load(listed, ListedServer::kServer), Server::kAddress) == server.server.address);
  CHECK_EQUAL(Load(listed, ListedServer::kActiveConnections), 5);
  CHECK_EQUAL(Load(listed, ListedServer::kInactiveConnections), 6);
  CHECK_EQUAL(Load(listed, ListedServer::kPersistentConnections), 7);
  CHECK_EQUAL(Load(Load(listed, ListedServer::kCounters), Counters::kConnections), 8);
}

TEST(AListingWithoutCountersHasEachServiceWithItsNumberOfServersAndThem) {
  using Service = knp::ipvs::layout::Service;
  using Server = knp::ipvs::layout::Server;
  knp::ipvs::Service service;
  service.id.family = AF_INET;
  service.id.port = 53;
  service.scheduler = "wrr";
  knp::ipvs::RealServer server;
  server.family = AF_INET;
  server.weight = 3;
  std::vector<uint8_t> listing;
  knp::ipvs::AppendService(service, &listing);
  const size_t second = listing.size();
  knp::ipvs::AppendService(service, &listing);
  for (server.port = 80; server.port < 82; server.port++) {
    knp::ipvs::AppendServer(server, second, &listing);
  }
  CHECK_EQUAL(listing.size(), 2 * Service::kSize + 2 * Server::kSize);
  CHECK_EQUAL(Load(listing.data(), Service::kRealServers), 0);
  CHECK_EQUAL(Load(listing.data() + second, Service::kRealServers), 2);
  CHECK_EQUAL(Load(listing.data() + second, Service::kPort), 53);
  CHECK_EQUAL(Load(listing.data() + second, Service::kScheduler), "wrr");
  const uint8_t* last = listing.data() + listing.size() - Server::kSize;
  CHECK_EQUAL(Load(last, Server::kPort), 81);
  CHECK_EQUAL(Load(last, Server::kWeight), 3);
}

TEST(ADaemonIsWrittenAndReadAgain) {
  knp::ipvs::Daemon daemon;
  daemon.state = IP_VS_STATE_BACKUP;
  daemon.sync_id = 255;
  daemon.interface = "a-longest-name0";
  daemon.max_length = 1400;
  daemon.group_family = AF_INET6;
  daemon.group = {0xff, 1};
  daemon.port = 8848;
  daemon.ttl = 3;
  const auto stored = knp::ipvs::StoreDaemons({daemon});
  CHECK_EQUAL(stored.size(), knp::ipvs::layout::Daemon::kSize);
  std::vector<uint8_t> record(knp::ipvs::layout::Operation::kSize);
  record[knp::ipvs::layout::Operation::kVerb.offset] = static_cast<uint8_t>(knp::ipvs::Verb::kStartDaemon);
  std::copy(stored.begin(), stored.end(), At(record.data(), knp::ipvs::layout::Operation::kArgument));
  const auto read = knp::ipvs::OperationRecords(record.data(), record.size())[0].daemon;
  CHECK_EQUAL(read.state, daemon.state);
  CHECK_EQUAL(read.sync_id, daemon.sync_id);
  CHECK_EQUAL(read.interface, daemon.interface);
  CHECK_EQUAL(read.max_length, daemon.max_length);
  CHECK_EQUAL(read.group_family, AF_INET6);
  CHECK(read.group == daemon.group);
  CHECK_EQUAL(read.port, daemon.port);
  CHECK_EQUAL(+read.ttl, +daemon.ttl);
}

TEST(IpvsTimeoutsAndVersionAreWritten) {
  const auto stored = knp::ipvs::StoreTimeouts({900, 120, 300});
  std::vector<uint8_t> record(knp::ipvs::layout::Operation::kSize);
  record[knp::ipvs::layout::Operation::kVerb.offset] = static_cast<uint8_t>(knp::ipvs::Verb::kSetTimeouts);
  std::copy(stored.begin(), stored.end(), At(record.data(), knp::ipvs::layout::Operation::kArgument));
  const auto timeouts = knp::ipvs::OperationRecords(record.data(), record.size())[0].timeouts;
  CHECK_EQUAL(timeouts.tcp, 900);
  CHECK_EQUAL(timeouts.tcp_fin, 120);
  CHECK_EQUAL(timeouts.udp, 300);
  const auto info = knp::ipvs::StoreInfo({0x010201, 4096});
  CHECK_EQUAL(Load(info.data(), knp::ipvs::layout::KernelIpvs::kVersion), 0x010201);
  CHECK_EQUAL(Load(info.data(), knp::ipvs::layout::KernelIpvs::kConnectionTableSize), 4096);
}

namespace {

// A message with one reference to a link, whose index is at `offset` in a payload of 8 bytes.
std::vector<uint8_t> MessageWithReference(uint32_t offset) {
  namespace layout = knp::rtnetlink::layout;
  std::vector<uint8_t> bytes(layout::Message::kSize + 8 + layout::Reference::kSize + 4);
  Store(bytes.data(), layout::Message::kType, RTM_NEWROUTE);
  Store(bytes.data(), layout::Message::kFlags, NLM_F_CREATE);
  Store(bytes.data(), layout::Message::kPayloadLength, 8);
  Store(bytes.data(), layout::Message::kReferenceCount, 1);
  uint8_t* reference = bytes.data() + layout::Message::kSize + 8;
  Store(reference, layout::Reference::kKind, 1);
  Store(reference, layout::Reference::kOffset, offset);
  Store(reference, layout::Reference::kLength, 2);
  std::memcpy(reference + layout::Reference::kSize, "lo", 2);
  return bytes;
}

}  // namespace

TEST(MessagesOfRtnetlinkAreRead) {
  const std::vector<uint8_t> bytes = MessageWithReference(4);
  knp::rtnetlink::Encoded message;
  CHECK(knp::rtnetlink::LoadMessage(bytes.data(), bytes.size(), &message));
  CHECK_EQUAL(message.type, RTM_NEWROUTE);
  CHECK_EQUAL(message.flags, NLM_F_CREATE);
  CHECK_EQUAL(message.payload.size(), 8);
  CHECK_EQUAL(message.references.size(), 1);
  CHECK_EQUAL(message.references[0].name, "lo");
  CHECK_EQUAL(message.references[0].offset, 4);
}

TEST(AMessageThatIsNotWholeIsRefused) {
  const std::vector<uint8_t> whole = MessageWithReference(4);
  for (size_t size = 0; size < whole.size(); size++) {
    knp::rtnetlink::Encoded message;
    CHECK(!knp::rtnetlink::LoadMessage(whole.data(), size, &message));
  }
  knp::rtnetlink::Encoded message;
  for (const uint32_t offset : {5U, 8U, 0xffffffffU}) {
    const std::vector<uint8_t> beyond = MessageWithReference(offset);
    CHECK(!knp::rtnetlink::LoadMessage(beyond.data(), beyond.size(), &message));
  }
  std::vector<uint8_t> record(knp::rtnetlink::layout::Operation::kSize);
  Store(record.data(), knp::rtnetlink::layout::Operation::kMessageOffset, 1);
  Store(record.data(), knp::rtnetlink::layout::Operation::kMessageLength, whole.size());
  CHECK_EQUAL(knp::rtnetlink::LoadOperations(record.data(), record.size(), whole).at(0).type, 0);
  Store(record.data(), knp::rtnetlink::layout::Operation::kMessageOffset, 0);
  CHECK_EQUAL(knp::rtnetlink::LoadOperations(record.data(), record.size(), whole).at(0).type, RTM_NEWROUTE);
}
