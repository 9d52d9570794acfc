// Answers of the kernel → structs. Expected values: captures/ipvs-replies.txt, which ipvsadm printed of
// the same state.
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "check.h"
#include "genl/family.h"
#include "ipvs/codec.h"
#include "messages.h"

namespace {

using knp::ipvs::Counters;
using knp::ipvs::RealServerState;
using knp::ipvs::ServiceState;
using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::test::Capture;
using knp::test::MessagesOf;

std::vector<ServiceState> Services(const std::vector<uint8_t>& bytes) {
  std::vector<ServiceState> services;
  for (const Message& message : MessagesOf(bytes)) {
    CHECK(DecodeService(message, &services.emplace_back()).ok());
  }
  return services;
}

std::vector<RealServerState> Servers(const std::vector<uint8_t>& bytes) {
  std::vector<RealServerState> servers;
  for (const Message& message : MessagesOf(bytes)) {
    CHECK(DecodeServer(message, AF_INET, &servers.emplace_back()).ok());
  }
  return servers;
}

void CheckCounters(const Counters& counters) {
  CHECK_EQUAL(counters.connections, 2);
  CHECK_EQUAL(counters.in_packets, 9);
  CHECK_EQUAL(counters.out_packets, 8);
  CHECK_EQUAL(counters.in_bytes, 1494);
  CHECK_EQUAL(counters.out_bytes, 1432);
}

// The offset of the first attribute of this type inside the nested attribute that each message has on its
// first level.
size_t FindNested(const std::vector<uint8_t>& bytes, uint16_t type) {
  size_t at = NLMSG_HDRLEN + sizeof(genlmsghdr) + NLA_HDRLEN;
  while (at + sizeof(nlattr) <= bytes.size()) {
    nlattr attribute{};
    std::memcpy(&attribute, bytes.data() + at, sizeof(attribute));
    if ((attribute.nla_type & NLA_TYPE_MASK) == type) return at;
    at += NLA_ALIGN(attribute.nla_len);
  }
  CHECK(false);
  return 0;
}

void SetType(std::vector<uint8_t>* bytes, size_t at, uint16_t type) {
  std::memcpy(bytes->data() + at + offsetof(nlattr, nla_type), &type, sizeof(type));
}

}  // namespace

TEST(TheKernelListsServices) {
  const std::vector<ServiceState> services = Services(Capture("ipvs-services.reply"));
  CHECK_EQUAL(services.size(), 3);
  int seen = 0;
  for (const ServiceState& state : services) {
    const auto& service = state.service;
    if (service.id.firewall_mark == 77) {
      seen += 1;
      CHECK_EQUAL(service.id.family, AF_INET6);
      CHECK_EQUAL(service.scheduler, "lc");
      CHECK_EQUAL(service.flags, 0);  // IP_VS_SVC_F_HASHED is left out
      CHECK_EQUAL(state.counters.connections, 0);
    } else if (service.id.family == AF_INET6) {
      seen += 10;
      CHECK_EQUAL(service.id.protocol, IPPROTO_TCP);
      CHECK_EQUAL(service.id.port, 443);
      CHECK_EQUAL(+service.id.address[15], 7);
      CHECK_EQUAL(service.scheduler, "mh");
      CHECK_EQUAL(service.flags, IP_VS_SVC_F_PERSISTENT);
      CHECK_EQUAL(service.timeout, 300);
      CHECK_EQUAL(service.netmask, 64);
    } else {
      seen += 100;
      CHECK_EQUAL(service.id.port, 80);
      CHECK(service.id.address == (knp::ipvs::AddressBytes{10, 96, 7, 1}));
      CHECK_EQUAL(service.scheduler, "wrr");
      CHECK_EQUAL(service.timeout, 600);
      CHECK_EQUAL(service.netmask, 0xffffffff);
      CheckCounters(state.counters);
    }
  }
  CHECK_EQUAL(seen, 111);
}

TEST(TheKernelListsServers) {
  const std::vector<RealServerState> servers = Servers(Capture("ipvs-servers.reply"));
  CHECK_EQUAL(servers.size(), 2);
  for (const RealServerState& state : servers) {
    CHECK_EQUAL(state.server.family, AF_INET);
    CHECK_EQUAL(state.server.port, 8080);
    CHECK_EQUAL(state.server.forwarding, IP_VS_CONN_F_MASQ);
    const bool busy = state.server.address == knp::ipvs::AddressBytes{10, 0, 7, 4};
    CHECK_EQUAL(state.server.weight, busy ? 7 : 0);
    CHECK_EQUAL(state.server.upper_threshold, busy ? 900 : 0);
    CHECK_EQUAL(state.server.lower_threshold, busy ? 300 : 0);
    CHECK_EQUAL(state.active_connections, busy ? 1 : 0);
    CHECK_EQUAL(state.inactive_connections, busy ? 1 : 0);
    CHECK_EQUAL(state.persistent_connections, busy ? 1 : 0);
    if (busy) CheckCounters(state.counters);
  }
}

TEST(OldKernelsHaveCountersOf32Bits) {
  std::vector<uint8_t> bytes = Capture("ipvs-servers.reply");
  // Linux before 4.1 does not send the 64-bit attribute; here it becomes one that nobody knows.
  SetType(&bytes, FindNested(bytes, IPVS_DEST_ATTR_STATS64), 1000);
  const std::vector<RealServerState> servers = Servers(bytes);
  CHECK_EQUAL(servers.size(), 2);
  const std::vector<RealServerState> before = Servers(Capture("ipvs-servers.reply"));
  CHECK_EQUAL(servers[0].counters.connections, before[0].counters.connections);
  CHECK_EQUAL(servers[0].counters.in_bytes, before[0].counters.in_bytes);
}

TEST(WithoutAFamilyAServerHasThatOfItsService) {
  std::vector<uint8_t> bytes = Capture("ipvs-servers.reply");
  SetType(&bytes, FindNested(bytes, IPVS_DEST_ATTR_ADDR_FAMILY), 1000);  // before 3.18
  CHECK_EQUAL(Servers(bytes)[0].server.family, AF_INET);
}

TEST(AServiceWithoutANameIsMalformed) {
  for (const uint16_t type : {IPVS_SVC_ATTR_AF, IPVS_SVC_ATTR_PROTOCOL, IPVS_SVC_ATTR_ADDR}) {
    std::vector<uint8_t> bytes = Capture("ipvs-add-service-tcp.request");
    SetType(&bytes, FindNested(bytes, type), 1000);
    ServiceState state;
    CHECK(DecodeService(MessagesOf(bytes)[0], &state).kind == FailureKind::kMalformedReply);
  }
}

TEST(AnIPv6ServiceNeedsAllOfItsAddress) {
  std::vector<uint8_t> bytes = Capture("ipvs-add-service-tcp.request");
  const uint16_t family = AF_INET6;
  std::memcpy(bytes.data() + FindNested(bytes, IPVS_SVC_ATTR_AF) + NLA_HDRLEN, &family, sizeof(family));
  ServiceState state;
  CHECK(DecodeService(MessagesOf(bytes)[0], &state).ok());  // sixteen bytes are there
  const uint16_t length = NLA_HDRLEN + 4;
  std::vector<uint8_t> shorter = bytes;
  std::memcpy(shorter.data() + FindNested(bytes, IPVS_SVC_ATTR_ADDR), &length, sizeof(length));
  CHECK(DecodeService(MessagesOf(shorter)[0], &state).kind == FailureKind::kMalformedReply);
}

TEST(TheKernelListsDaemons) {
  const std::vector<uint8_t> bytes = Capture("ipvs-daemons.reply");
  std::vector<knp::ipvs::Daemon> daemons;
  for (const Message& message : MessagesOf(bytes)) {
    if (message.type >= NLMSG_MIN_TYPE) CHECK(DecodeDaemon(message, &daemons.emplace_back()).ok());
  }
  CHECK_EQUAL(daemons.size(), 2);
  CHECK_EQUAL(daemons[0].state, IP_VS_STATE_MASTER);
  CHECK_EQUAL(daemons[0].max_length, 1472);
  CHECK(daemons[0].group == (knp::ipvs::AddressBytes{224, 0, 0, 81}));
  CHECK_EQUAL(daemons[0].port, 8848);
  CHECK_EQUAL(+daemons[0].ttl, 1);
  CHECK_EQUAL(daemons[1].state, IP_VS_STATE_BACKUP);
  CHECK_EQUAL(daemons[1].interface, "lo");
  CHECK_EQUAL(daemons[1].sync_id, 8);
}

TEST(ADaemonWithoutAStateIsMalformed) {
  for (const uint16_t type : {IPVS_DAEMON_ATTR_STATE, IPVS_DAEMON_ATTR_MCAST_IFN}) {
    std::vector<uint8_t> bytes = Capture("ipvs-start-daemon.request");
    SetType(&bytes, FindNested(bytes, type), 1000);
    knp::ipvs::Daemon daemon;
    CHECK(DecodeDaemon(MessagesOf(bytes)[0], &daemon).kind == FailureKind::kMalformedReply);
  }
}

// Sets the number in the value of the first nested attribute of this type.
template <typename T>
void SetNumber(std::vector<uint8_t>* bytes, uint16_t type, T number) {
  std::memcpy(bytes->data() + FindNested(*bytes, type) + NLA_HDRLEN, &number, sizeof(number));
}

TEST(EveryProtocolOfAServiceIsKept) {
  for (const uint16_t protocol : {1, 7, 50, 132, 255, 262, 65535}) {
    std::vector<uint8_t> bytes = Capture("ipvs-add-service-tcp.request");
    SetNumber<uint16_t>(&bytes, IPVS_SVC_ATTR_PROTOCOL, protocol);
    ServiceState state;
    CHECK(DecodeService(MessagesOf(bytes)[0], &state).ok());
    CHECK_EQUAL(state.service.id.protocol, protocol);
  }
}

TEST(EveryEncapsulationOfAServerIsKept) {
  for (const uint8_t type : {0, 1, 2, 3, 7, 255}) {
    for (const uint16_t flags : {0, 1, 2, 3, 4, 65535}) {
      std::vector<uint8_t> bytes = Capture("ipvs-servers.reply");
      // Attributes that the kernel always sends.
      SetNumber<uint8_t>(&bytes, IPVS_DEST_ATTR_TUN_TYPE, type);
      SetNumber<uint16_t>(&bytes, IPVS_DEST_ATTR_TUN_FLAGS, flags);
      const RealServerState state = Servers(bytes)[0];
      CHECK_EQUAL(+state.server.tunnel.type, +type);
      CHECK_EQUAL(state.server.tunnel.flags, flags);
    }
  }
}

TEST(EveryStateAndIdOfADaemonIsKept) {
  for (const uint32_t number : {uint32_t{3}, uint32_t{256}, uint32_t{0xffffffff}}) {
    std::vector<uint8_t> bytes = Capture("ipvs-start-daemon.request");
    SetNumber<uint32_t>(&bytes, IPVS_DAEMON_ATTR_STATE, number);
    SetNumber<uint32_t>(&bytes, IPVS_DAEMON_ATTR_SYNC_ID, number);
    knp::ipvs::Daemon daemon;
    CHECK(DecodeDaemon(MessagesOf(bytes)[0], &daemon).ok());
    CHECK_EQUAL(daemon.state, number);
    CHECK_EQUAL(daemon.sync_id, number);
  }
}

TEST(TheKernelTellsInfoTimeoutsAndFamily) {
  knp::ipvs::Info info;
  CHECK(DecodeInfo(MessagesOf(Capture("ipvs-info.reply"))[0], &info).ok());
  CHECK_EQUAL(info.version, 0x010201);
  CHECK_EQUAL(info.connection_table_size, 4096);
  knp::ipvs::Timeouts timeouts;
  CHECK(DecodeTimeouts(MessagesOf(Capture("ipvs-timeouts.reply"))[0], &timeouts).ok());
  CHECK_EQUAL(timeouts.tcp, 900);
  CHECK_EQUAL(timeouts.tcp_fin, 120);
  CHECK_EQUAL(timeouts.udp, 300);
  uint16_t family = 0;
  CHECK(knp::genl::DecodeFamily(MessagesOf(Capture("genl-family.reply"))[0], &family).ok());
  CHECK_EQUAL(family, MessagesOf(Capture("ipvs-flush.request"))[0].type);
}
