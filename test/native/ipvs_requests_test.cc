// Requests of ipvsadm → structs, checked field by field → the same bytes.
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"
#include "ipvs/codec.h"
#include "messages.h"

namespace {

using knp::ipvs::AddressBytes;
using knp::ipvs::Operation;
using knp::ipvs::RealServerState;
using knp::ipvs::ServiceId;
using knp::ipvs::ServiceState;
using knp::ipvs::Verb;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::test::AttributePayload;
using knp::test::BeginsWith;
using knp::test::Capture;
using knp::test::MessagesOf;
using knp::test::WithSenderOf;

constexpr uint16_t kAck = NLM_F_ACK;

AddressBytes V4(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
  return {a, b, c, d};
}

// fd00:10:96::1
AddressBytes V6Service() {
  return {0xfd, 0, 0, 0x10, 0, 0x96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

std::vector<uint8_t> Encoded(uint16_t family, const Operation& operation) {
  std::vector<uint8_t> buffer;
  MessageBuilder builder(&buffer);
  CHECK(EncodeOperation(&builder, family, kAck, operation));
  return buffer;
}

// Decodes a request on a service, and checks that it encodes to the same bytes.
ServiceState RoundTrip(const std::string& name, Verb verb) {
  const std::vector<uint8_t> bytes = Capture(name);
  const std::vector<Message> messages = MessagesOf(bytes);
  CHECK_EQUAL(messages.size(), 1);
  ServiceState state;
  CHECK(DecodeService(messages[0], &state).ok());
  Operation operation;
  operation.verb = verb;
  operation.service = state.service;
  CHECK_EQUAL(WithSenderOf(Encoded(messages[0].type, operation), bytes), bytes);
  return state;
}

// Decodes a request on a server. ipvsadm repeats settings of the service and of deleted servers that the
// kernel does not read; we leave them out: our name of the service must be the beginning of that of ipvsadm
// of it, and so for a deleted server, whereas a server with settings must be the same bytes.
RealServerState ServerRoundTrip(const std::string& name, Verb verb) {
  const std::vector<uint8_t> bytes = Capture(name);
  const std::vector<Message> messages = MessagesOf(bytes);
  Operation operation;
  operation.verb = verb;
  RealServerState state;
  CHECK(DecodeServiceId(messages[0], &operation.service.id).ok());
  CHECK(DecodeServer(messages[0], operation.service.id.family, &state).ok());
  operation.server = state.server;
  const std::vector<uint8_t> ours = Encoded(messages[0].type, operation);
  constexpr size_t kHeader = sizeof(genlmsghdr);
  CHECK(BeginsWith(AttributePayload(bytes, kHeader, IPVS_CMD_ATTR_SERVICE),
                   AttributePayload(ours, kHeader, IPVS_CMD_ATTR_SERVICE)));
  const std::vector<uint8_t> captured = AttributePayload(bytes, kHeader, IPVS_CMD_ATTR_DEST);
  const std::vector<uint8_t> server = AttributePayload(ours, kHeader, IPVS_CMD_ATTR_DEST);
  if (verb == Verb::kDeleteRealServer) {
    CHECK(BeginsWith(captured, server));
  } else {
    CHECK_EQUAL(server, captured);
  }
  CHECK_EQUAL(+ours[NLMSG_HDRLEN], +bytes[NLMSG_HDRLEN]);  // genlmsghdr.cmd
  return state;
}

void CheckDeletion(const std::string& name, const ServiceId& expected) {
  const std::vector<uint8_t> bytes = Capture(name);
  const std::vector<Message> messages = MessagesOf(bytes);
  Operation operation;
  operation.verb = Verb::kDeleteService;
  CHECK(DecodeServiceId(messages[0], &operation.service.id).ok());
  CHECK_EQUAL(operation.service.id.family, expected.family);
  CHECK_EQUAL(operation.service.id.protocol, expected.protocol);
  CHECK_EQUAL(operation.service.id.port, expected.port);
  CHECK_EQUAL(operation.service.id.firewall_mark, expected.firewall_mark);
  CHECK(operation.service.id.address == expected.address);
  const std::vector<uint8_t> ours = Encoded(messages[0].type, operation);
  CHECK(BeginsWith(AttributePayload(bytes, sizeof(genlmsghdr), IPVS_CMD_ATTR_SERVICE),
                   AttributePayload(ours, sizeof(genlmsghdr), IPVS_CMD_ATTR_SERVICE)));
  CHECK_EQUAL(+ours[NLMSG_HDRLEN], +bytes[NLMSG_HDRLEN]);
}

// ipvsadm asks for an acknowledgement of listings too, which end with NLMSG_DONE instead.
void CheckPlain(const std::string& name, std::vector<uint8_t> ours) {
  const std::vector<uint8_t> bytes = Capture(name);
  knp::netlink::AddFlags(ours.data(), kAck);
  CHECK_EQUAL(WithSenderOf(ours, bytes), bytes);
}

}  // namespace

TEST(IpvsadmAddsATcpService) {
  const auto service = RoundTrip("ipvs-add-service-tcp.request", Verb::kAddService).service;
  CHECK_EQUAL(service.id.family, AF_INET);
  CHECK_EQUAL(service.id.protocol, IPPROTO_TCP);
  CHECK_EQUAL(service.id.port, 443);
  CHECK(service.id.address == V4(10, 96, 0, 1));
  CHECK_EQUAL(service.id.firewall_mark, 0);
  CHECK_EQUAL(service.scheduler, "rr");
  CHECK_EQUAL(service.flags, 0);
  CHECK_EQUAL(service.timeout, 0);
  CHECK_EQUAL(service.netmask, 0xffffffff);
  CHECK_EQUAL(service.persistence_engine, "");
}

TEST(IpvsadmAddsAPersistentUdpService) {
  const auto service = RoundTrip("ipvs-add-service-udp-persistent.request", Verb::kAddService).service;
  CHECK_EQUAL(service.id.protocol, IPPROTO_UDP);
  CHECK_EQUAL(service.id.port, 53);
  CHECK_EQUAL(service.scheduler, "wrr");
  CHECK_EQUAL(service.flags, IP_VS_SVC_F_PERSISTENT);
  CHECK_EQUAL(service.timeout, 10800);
}

TEST(IpvsadmAddsAnSctpService) {
  const auto service = RoundTrip("ipvs-add-service-sctp.request", Verb::kAddService).service;
  CHECK_EQUAL(service.id.protocol, IPPROTO_SCTP);
  CHECK_EQUAL(service.id.port, 9999);
  CHECK_EQUAL(service.scheduler, "lc");
}

TEST(IpvsadmAddsAnIPv6Service) {
  const auto service = RoundTrip("ipvs-add-service-tcp6.request", Verb::kAddService).service;
  CHECK_EQUAL(service.id.family, AF_INET6);
  CHECK(service.id.address == V6Service());
  CHECK_EQUAL(service.scheduler, "sh");
  CHECK_EQUAL(service.netmask, 64);
  CHECK_EQUAL(service.timeout, 300);
}

TEST(IpvsadmAddsAServiceWithSchedulerFlags) {
  const auto service = RoundTrip("ipvs-add-service-mh-port.request", Verb::kAddService).service;
  CHECK_EQUAL(service.scheduler, "mh");
  CHECK_EQUAL(service.flags, IP_VS_SVC_F_SCHED1 | IP_VS_SVC_F_SCHED2);
}

TEST(IpvsadmAddsAServiceWithAPersistenceEngine) {
  const auto service = RoundTrip("ipvs-add-service-sip.request", Verb::kAddService).service;
  CHECK_EQUAL(service.persistence_engine, "sip");
  CHECK_EQUAL(service.flags, IP_VS_SVC_F_PERSISTENT | IP_VS_SVC_F_ONEPACKET);
  CHECK_EQUAL(ntohl(service.netmask), 0xffffff00);
}

TEST(IpvsadmAddsServicesByMark) {
  const auto v4 = RoundTrip("ipvs-add-service-mark.request", Verb::kAddService).service;
  CHECK_EQUAL(v4.id.firewall_mark, 1);
  CHECK_EQUAL(v4.id.family, AF_INET);
  const auto v6 = RoundTrip("ipvs-add-service-mark6.request", Verb::kAddService).service;
  CHECK_EQUAL(v6.id.firewall_mark, 4294967295);
  CHECK_EQUAL(v6.id.family, AF_INET6);
}

TEST(IpvsadmEditsAService) {
  const auto service = RoundTrip("ipvs-edit-service.request", Verb::kUpdateService).service;
  CHECK_EQUAL(service.scheduler, "wlc");
  CHECK_EQUAL(service.timeout, 90);
}

TEST(IpvsadmAddsServers) {
  const auto plain = ServerRoundTrip("ipvs-add-server.request", Verb::kAddRealServer).server;
  CHECK(plain.address == V4(10, 0, 0, 4));
  CHECK_EQUAL(plain.family, AF_INET);
  CHECK_EQUAL(plain.port, 6443);
  CHECK_EQUAL(plain.weight, 5);
  CHECK_EQUAL(plain.forwarding, IP_VS_CONN_F_MASQ);
  const auto bounded = ServerRoundTrip("ipvs-add-server-thresholds.request", Verb::kAddRealServer).server;
  CHECK_EQUAL(bounded.forwarding, IP_VS_CONN_F_DROUTE);
  CHECK_EQUAL(bounded.upper_threshold, 100);
  CHECK_EQUAL(bounded.lower_threshold, 50);
  CHECK_EQUAL(bounded.weight, 0);
  const auto v6 = ServerRoundTrip("ipvs-add-server6.request", Verb::kAddRealServer).server;
  CHECK_EQUAL(v6.family, AF_INET6);
  CHECK_EQUAL(+v6.address[0], 0xfd);
  CHECK_EQUAL(+v6.address[15], 4);
  CHECK_EQUAL(v6.weight, 2147483647);
  const auto tunnel = ServerRoundTrip("ipvs-add-server-tunnel.request", Verb::kAddRealServer).server;
  CHECK_EQUAL(tunnel.forwarding, IP_VS_CONN_F_TUNNEL);
  CHECK_EQUAL(tunnel.tunnel.type, IP_VS_CONN_F_TUNNEL_TYPE_GUE);
  CHECK_EQUAL(tunnel.tunnel.port, 6080);
  CHECK_EQUAL(tunnel.tunnel.flags, IP_VS_TUNNEL_ENCAP_FLAG_NOCSUM);
}

TEST(IpvsadmEditsAndDeletesAServer) {
  CHECK_EQUAL(ServerRoundTrip("ipvs-edit-server.request", Verb::kUpdateRealServer).server.weight, 0);
  const auto deleted = ServerRoundTrip("ipvs-delete-server.request", Verb::kDeleteRealServer).server;
  CHECK(deleted.address == V4(10, 0, 0, 4));
  CHECK_EQUAL(deleted.port, 6443);
}

TEST(IpvsadmDeletesServices) {
  ServiceId udp;
  udp.family = AF_INET;
  udp.protocol = IPPROTO_UDP;
  udp.port = 53;
  udp.address = V4(10, 96, 0, 10);
  CheckDeletion("ipvs-delete-service.request", udp);
  ServiceId mark;
  mark.family = AF_INET6;
  mark.firewall_mark = 4294967295;
  CheckDeletion("ipvs-delete-service-mark.request", mark);
}

TEST(IpvsadmAsksForListingsAndSettings) {
  const uint16_t family = MessagesOf(Capture("ipvs-flush.request"))[0].type;
  std::vector<uint8_t> ours;
  MessageBuilder builder(&ours);
  const auto check = [&](const char* name, bool encoded) {
    CHECK(encoded);
    CheckPlain(name, ours);
    ours.clear();
  };
  const auto operation = [&](Verb verb) {
    Operation operation;
    operation.verb = verb;
    operation.timeouts = {900, 120, 300};
    return EncodeOperation(&builder, family, kAck, operation);
  };
  check("ipvs-flush.request", operation(Verb::kFlush));
  check("ipvs-zero.request", operation(Verb::kZero));
  check("ipvs-set-timeouts.request", operation(Verb::kSetTimeouts));
  check("ipvs-list-services.request", knp::ipvs::EncodeListServices(&builder, family));
  check("ipvs-list-daemons.request", knp::ipvs::EncodeListDaemons(&builder, family));
  check("ipvs-get-info.request", knp::ipvs::EncodeGetInfo(&builder, family));
  check("ipvs-get-timeouts.request", knp::ipvs::EncodeGetTimeouts(&builder, family));
  const std::vector<uint8_t> listing = Capture("ipvs-list-servers.request");
  ServiceId id;
  CHECK(DecodeServiceId(MessagesOf(listing)[0], &id).ok());
  check("ipvs-list-servers.request", EncodeListServers(&builder, family, id));
}

TEST(IpvsadmZerosAService) {
  const std::vector<uint8_t> bytes = Capture("ipvs-zero-service.request");
  Operation operation;
  operation.verb = Verb::kZero;
  CHECK(DecodeServiceId(MessagesOf(bytes)[0], &operation.service.id).ok());
  CHECK_EQUAL(operation.service.id.port, 443);
  const std::vector<uint8_t> ours = Encoded(MessagesOf(bytes)[0].type, operation);
  CHECK(BeginsWith(AttributePayload(bytes, sizeof(genlmsghdr), IPVS_CMD_ATTR_SERVICE),
                   AttributePayload(ours, sizeof(genlmsghdr), IPVS_CMD_ATTR_SERVICE)));
  CHECK_EQUAL(+ours[NLMSG_HDRLEN], +bytes[NLMSG_HDRLEN]);
}

TEST(IpvsadmStartsDaemons) {
  const auto round_trip = [](const char* name) {
    const std::vector<uint8_t> bytes = Capture(name);
    Operation operation;
    operation.verb = Verb::kStartDaemon;
    CHECK(DecodeDaemon(MessagesOf(bytes)[0], &operation.daemon).ok());
    CHECK_EQUAL(WithSenderOf(Encoded(MessagesOf(bytes)[0].type, operation), bytes), bytes);
    return operation.daemon;
  };
  const auto plain = round_trip("ipvs-start-daemon.request");
  CHECK_EQUAL(plain.state, IP_VS_STATE_MASTER);
  CHECK_EQUAL(plain.interface, "lo");
  CHECK_EQUAL(plain.sync_id, 7);
  CHECK_EQUAL(plain.group_family, 0);
  const auto group = round_trip("ipvs-start-daemon-group.request");
  CHECK_EQUAL(group.state, IP_VS_STATE_BACKUP);
  CHECK_EQUAL(group.max_length, 1400);
  CHECK(group.group == V4(224, 0, 0, 99));
  CHECK_EQUAL(group.port, 9000);
  CHECK_EQUAL(+group.ttl, 3);
  const auto group6 = round_trip("ipvs-start-daemon-group6.request");
  CHECK_EQUAL(group6.group_family, AF_INET6);
  CHECK_EQUAL(+group6.group[0], 0xff);
  CHECK_EQUAL(+group6.group[15], 0x51);
  CHECK_EQUAL(+group6.ttl, 255);
}

TEST(IpvsadmStopsADaemon) {
  const std::vector<uint8_t> bytes = Capture("ipvs-stop-daemon.request");
  Operation operation;
  operation.verb = Verb::kStopDaemon;
  operation.daemon.state = IP_VS_STATE_BACKUP;
  const std::vector<uint8_t> ours = Encoded(MessagesOf(bytes)[0].type, operation);
  CHECK(BeginsWith(AttributePayload(bytes, sizeof(genlmsghdr), IPVS_CMD_ATTR_DAEMON),
                   AttributePayload(ours, sizeof(genlmsghdr), IPVS_CMD_ATTR_DAEMON)));
  CHECK_EQUAL(+ours[NLMSG_HDRLEN], +bytes[NLMSG_HDRLEN]);
}

TEST(ATimeoutOfZeroIsLeftOut) {
  Operation operation;
  operation.verb = Verb::kSetTimeouts;
  operation.timeouts = {0, 7, 0};
  const std::vector<uint8_t> ours = Encoded(32, operation);
  knp::ipvs::Timeouts read;
  CHECK(DecodeTimeouts(MessagesOf(ours)[0], &read).ok());
  CHECK_EQUAL(ours.size(), NLMSG_HDRLEN + sizeof(genlmsghdr) + 8);
  CHECK_EQUAL(read.tcp_fin, 7);
}
