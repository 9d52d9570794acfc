// Records that cross to JavaScript: every field lands where the table in records.h says.
#include "ipvs/records.h"

#include <arpa/inet.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "check.h"
#include "records/little_endian.h"
#include "rtnetlink/records.h"

namespace {

using knp::records::Load16;
using knp::records::Load32;
using knp::records::Store16;
using knp::records::Store32;

void Text(uint8_t* at, const char* text) {
  std::copy_n(text, std::strlen(text), at);
}

}  // namespace

TEST(AnIpvsOperationIsRead) {
  std::vector<uint8_t> record(knp::ipvs::kOperationRecord);
  record[0] = 6;
  uint8_t* service = record.data() + 8;
  service[0] = 4;
  service[1] = IPPROTO_UDP;
  Store16(service + 2, 53);
  Store32(service + 8, 0x10);
  Store32(service + 12, 10800);
  service[16] = 24;
  service[24] = 10;
  service[27] = 1;
  Text(service + 40, "mh");
  Text(service + 56, "sip");
  uint8_t* server = record.data() + 80;
  server[0] = 6;
  server[1] = 2;
  Store16(server + 2, 6443);
  Store32(server + 4, 2147483647);
  Store32(server + 8, 100);
  Store32(server + 12, 50);
  server[16] = 1;
  Store16(server + 18, 6080);
  Store16(server + 20, 2);
  server[24 + 15] = 4;
  const auto operations = knp::ipvs::LoadOperations(record.data(), record.size());
  CHECK_EQUAL(operations.size(), 1);
  const auto& operation = operations[0];
  CHECK(operation.verb == knp::ipvs::Verb::kUpdateServer);
  CHECK_EQUAL(operation.service.id.family, AF_INET);
  CHECK_EQUAL(operation.service.id.protocol, IPPROTO_UDP);
  CHECK_EQUAL(operation.service.id.port, 53);
  CHECK_EQUAL(operation.service.flags, 0x10);
  CHECK_EQUAL(operation.service.timeout, 10800);
  CHECK_EQUAL(ntohl(operation.service.netmask), 0xffffff00);
  CHECK_EQUAL(+operation.service.id.address[0], 10);
  CHECK_EQUAL(+operation.service.id.address[3], 1);
  CHECK_EQUAL(operation.service.scheduler, "mh");
  CHECK_EQUAL(operation.service.persistence_engine, "sip");
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
}

TEST(TextThatFillsItsFieldIsCutBeforeTheLastByte) {
  std::vector<uint8_t> record(knp::ipvs::kServiceRecord, 'x');
  const auto service = knp::ipvs::LoadService(record.data());
  CHECK_EQUAL(service.scheduler.size(), 15);
  CHECK_EQUAL(service.persistence_engine.size(), 15);
}

TEST(ALengthThatIsNoMultipleLosesOnlyTheRest) {
  const std::vector<uint8_t> record(knp::ipvs::kOperationRecord * 2 - 1, 1);
  CHECK_EQUAL(knp::ipvs::LoadOperations(record.data(), record.size()).size(), 1);
  CHECK_EQUAL(knp::rtnetlink::LoadOperations(record.data(), knp::rtnetlink::kOperationRecord - 1).size(), 0);
}

namespace {

// The netmask byte of a listed IPv4 service with this mask.
int ListedNetmask(uint32_t mask) {
  knp::ipvs::ServiceState state;
  state.service.id.family = AF_INET;
  state.service.netmask = htonl(mask);
  return knp::ipvs::StoreListing({state})[16];
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
  CHECK_EQUAL(listing.size(), knp::ipvs::kListedServiceRecord + knp::ipvs::kListedServerRecord);
  CHECK_EQUAL(+listing[0], 6);
  CHECK_EQUAL(+listing[1], IPPROTO_SCTP);
  CHECK_EQUAL(Load16(&listing[2]), 9999);
  CHECK_EQUAL(Load32(&listing[8]), 1);
  CHECK_EQUAL(Load32(&listing[12]), 300);
  CHECK_EQUAL(+listing[16], 64);
  CHECK_EQUAL(Load32(&listing[20]), 1);
  CHECK_EQUAL(+listing[39], 7);
  CHECK_EQUAL(+listing[40], 'r');
  CHECK_EQUAL(Load32(&listing[72]), 1);
  CHECK_EQUAL(Load32(&listing[72 + 32]), 0x05060708);
  CHECK_EQUAL(Load32(&listing[72 + 36]), 0x01020304);
  const uint8_t* listed = &listing[knp::ipvs::kListedServiceRecord];
  CHECK_EQUAL(Load16(listed + 2), 80);
  CHECK_EQUAL(Load32(listed + 4), 3);
  CHECK_EQUAL(+listed[24], 0xfd);
  CHECK_EQUAL(Load32(listed + 40), 5);
  CHECK_EQUAL(Load32(listed + 44), 6);
  CHECK_EQUAL(Load32(listed + 48), 7);
  CHECK_EQUAL(Load32(listed + 56), 8);
}

TEST(RtnetlinkRecordsAreReadAndWritten) {
  std::vector<uint8_t> record(knp::rtnetlink::kOperationRecord);
  record[0] = 3;
  record[1] = 6;
  record[2] = 128;
  Text(&record[4], "kube-ipvs0");
  record[20] = 0xfd;
  Text(&record[36], "dummy");
  const auto operation = knp::rtnetlink::LoadOperations(record.data(), record.size()).at(0);
  CHECK(operation.verb == knp::rtnetlink::Verb::kAddAddress);
  CHECK_EQUAL(operation.address.family, AF_INET6);
  CHECK_EQUAL(operation.address.prefix, 128);
  CHECK_EQUAL(operation.link, "kube-ipvs0");
  CHECK_EQUAL(+operation.address.bytes[0], 0xfd);
  CHECK_EQUAL(operation.kind, "dummy");

  const auto links = knp::rtnetlink::StoreLinks({{7, 0x83, 1500, "kube-ipvs0", "dummy"}});
  CHECK_EQUAL(links.size(), knp::rtnetlink::kLinkRecord);
  CHECK_EQUAL(Load32(links.data()), 7);
  CHECK_EQUAL(Load32(&links[4]), 0x83);
  CHECK_EQUAL(Load32(&links[8]), 1500);
  CHECK_EQUAL(+links[12], 'k');
  CHECK_EQUAL(+links[28], 'd');

  knp::rtnetlink::NamedAddress named;
  named.address.family = AF_INET;
  named.address.prefix = 32;
  named.address.scope = 254;
  named.address.flags = 0x80;
  named.address.link_index = 7;
  named.address.bytes[0] = 10;
  named.link = "lo";
  const auto addresses = knp::rtnetlink::StoreAddresses({named});
  CHECK_EQUAL(addresses.size(), knp::rtnetlink::kAddressRecord);
  CHECK_EQUAL(+addresses[0], 4);
  CHECK_EQUAL(+addresses[1], 32);
  CHECK_EQUAL(+addresses[2], 254);
  CHECK_EQUAL(Load32(&addresses[4]), 0x80);
  CHECK_EQUAL(Load32(&addresses[8]), 7);
  CHECK_EQUAL(+addresses[12], 'l');
  CHECK_EQUAL(+addresses[28], 10);
}
