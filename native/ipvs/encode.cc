#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "ipvs/codec.h"

namespace knp::ipvs {
namespace {

using netlink::MessageBuilder;

void Begin(MessageBuilder* builder, uint16_t family_id, uint8_t command, uint16_t flags) {
  builder->Begin(family_id, NLM_F_REQUEST | flags, 0);
  builder->PutHeader(genlmsghdr{command, IPVS_GENL_VERSION, 0});
}

// Attributes are in the order in which ipvsadm sends them; the kernel accepts any order.
void PutServiceId(MessageBuilder* builder, const ServiceId& id) {
  builder->PutU16(IPVS_SVC_ATTR_AF, id.family);
  if (id.firewall_mark != 0) {
    builder->PutU32(IPVS_SVC_ATTR_FWMARK, id.firewall_mark);
    return;
  }
  builder->PutU16(IPVS_SVC_ATTR_PROTOCOL, id.protocol);
  builder->PutBytes(IPVS_SVC_ATTR_ADDR, id.address.data(), id.address.size());
  builder->PutBigEndian16(IPVS_SVC_ATTR_PORT, id.port);
}

void PutSettings(MessageBuilder* builder, const Service& service) {
  // The kernel changes the flags that the mask names.
  const ip_vs_flags flags{service.flags, ~uint32_t{0}};
  builder->PutString(IPVS_SVC_ATTR_SCHED_NAME, service.scheduler);
  // Absent means none, in changes too.
  if (!service.persistence_engine.empty()) {
    builder->PutString(IPVS_SVC_ATTR_PE_NAME, service.persistence_engine);
  }
  builder->PutBytes(IPVS_SVC_ATTR_FLAGS, &flags, sizeof(flags));
  builder->PutU32(IPVS_SVC_ATTR_TIMEOUT, service.timeout);
  builder->PutU32(IPVS_SVC_ATTR_NETMASK, service.netmask);
}

void PutServerId(MessageBuilder* builder, const RealServer& server) {
  builder->PutU16(IPVS_DEST_ATTR_ADDR_FAMILY, server.family);
  builder->PutBytes(IPVS_DEST_ATTR_ADDR, server.address.data(), server.address.size());
  builder->PutBigEndian16(IPVS_DEST_ATTR_PORT, server.port);
}

void PutServerSettings(MessageBuilder* builder, const RealServer& server) {
  builder->PutU32(IPVS_DEST_ATTR_FWD_METHOD, server.forwarding & IP_VS_CONN_F_FWD_MASK);
  builder->PutU32(IPVS_DEST_ATTR_WEIGHT, server.weight);
  builder->PutU8(IPVS_DEST_ATTR_TUN_TYPE, server.tunnel.type);
  builder->PutBigEndian16(IPVS_DEST_ATTR_TUN_PORT, server.tunnel.port);
  builder->PutU16(IPVS_DEST_ATTR_TUN_FLAGS, server.tunnel.flags);
  builder->PutU32(IPVS_DEST_ATTR_U_THRESH, server.upper_threshold);
  builder->PutU32(IPVS_DEST_ATTR_L_THRESH, server.lower_threshold);
}

// The flag of a nested attribute. libnl 3 has set it since 3.5; the kernel does not look at it here.
constexpr uint16_t Nested(uint16_t type) {
  return type | NLA_F_NESTED;
}

void PutServiceName(MessageBuilder* builder, const ServiceId& id) {
  const size_t service = builder->BeginNested(Nested(IPVS_CMD_ATTR_SERVICE));
  PutServiceId(builder, id);
  builder->EndNested(service);
}

void PutService(MessageBuilder* builder, const Service& service) {
  const size_t nested = builder->BeginNested(Nested(IPVS_CMD_ATTR_SERVICE));
  PutServiceId(builder, service.id);
  PutSettings(builder, service);
  builder->EndNested(nested);
}

void PutServer(MessageBuilder* builder, const RealServer& server, bool with_settings) {
  const size_t nested = builder->BeginNested(Nested(IPVS_CMD_ATTR_DEST));
  PutServerId(builder, server);
  if (with_settings) PutServerSettings(builder, server);
  builder->EndNested(nested);
}

void PutTimeouts(MessageBuilder* builder, const Timeouts& timeouts) {
  if (timeouts.tcp != 0) builder->PutU32(IPVS_CMD_ATTR_TIMEOUT_TCP, timeouts.tcp);
  if (timeouts.tcp_fin != 0) builder->PutU32(IPVS_CMD_ATTR_TIMEOUT_TCP_FIN, timeouts.tcp_fin);
  if (timeouts.udp != 0) builder->PutU32(IPVS_CMD_ATTR_TIMEOUT_UDP, timeouts.udp);
}

void PutDaemon(MessageBuilder* builder, const Daemon& daemon, bool with_settings) {
  const size_t nested = builder->BeginNested(Nested(IPVS_CMD_ATTR_DAEMON));
  builder->PutU32(IPVS_DAEMON_ATTR_STATE, daemon.state);
  if (with_settings) {
    builder->PutString(IPVS_DAEMON_ATTR_MCAST_IFN, daemon.interface);
    builder->PutU32(IPVS_DAEMON_ATTR_SYNC_ID, daemon.sync_id);
    if (daemon.max_length != 0) builder->PutU16(IPVS_DAEMON_ATTR_SYNC_MAXLEN, daemon.max_length);
    if (daemon.port != 0) builder->PutU16(IPVS_DAEMON_ATTR_MCAST_PORT, daemon.port);
    if (daemon.ttl != 0) builder->PutU8(IPVS_DAEMON_ATTR_MCAST_TTL, daemon.ttl);
    if (daemon.group_family == AF_INET) {
      builder->PutBytes(IPVS_DAEMON_ATTR_MCAST_GROUP, daemon.group.data(), 4);
    } else if (daemon.group_family == AF_INET6) {
      builder->PutBytes(IPVS_DAEMON_ATTR_MCAST_GROUP6, daemon.group.data(), daemon.group.size());
    }
  }
  builder->EndNested(nested);
}

bool EncodePlain(MessageBuilder* builder, uint16_t family_id, uint8_t command, uint16_t flags) {
  Begin(builder, family_id, command, flags);
  return builder->End();
}

}  // namespace

bool EncodeOperation(MessageBuilder* builder, uint16_t family_id, uint16_t flags,
                     const Operation& operation) {
  const ServiceId& id = operation.service.id;
  Begin(builder, family_id, static_cast<uint8_t>(operation.verb), flags);
  switch (operation.verb) {
    case Verb::kAddService:
    case Verb::kUpdateService:
      PutService(builder, operation.service);
      break;
    case Verb::kDeleteService:
      PutServiceName(builder, id);
      break;
    case Verb::kAddRealServer:
    case Verb::kUpdateRealServer:
      PutServiceName(builder, id);
      PutServer(builder, operation.server, true);
      break;
    case Verb::kDeleteRealServer:
      PutServiceName(builder, id);
      PutServer(builder, operation.server, false);
      break;
    case Verb::kZero:
      if (id.family != AF_UNSPEC) PutServiceName(builder, id);
      break;
    case Verb::kFlush:
      break;
    case Verb::kSetTimeouts:
      PutTimeouts(builder, operation.timeouts);
      break;
    case Verb::kStartDaemon:
    case Verb::kStopDaemon:
      PutDaemon(builder, operation.daemon, operation.verb == Verb::kStartDaemon);
      break;
  }
  return builder->End();
}

bool EncodeListServices(MessageBuilder* builder, uint16_t family_id) {
  return EncodePlain(builder, family_id, IPVS_CMD_GET_SERVICE, NLM_F_DUMP);
}

bool EncodeGetService(MessageBuilder* builder, uint16_t family_id, const ServiceId& id) {
  Begin(builder, family_id, IPVS_CMD_GET_SERVICE, NLM_F_ACK);
  PutServiceName(builder, id);
  return builder->End();
}

bool EncodeListServers(MessageBuilder* builder, uint16_t family_id, const ServiceId& id) {
  Begin(builder, family_id, IPVS_CMD_GET_DEST, NLM_F_DUMP);
  PutServiceName(builder, id);
  return builder->End();
}

bool EncodeGetInfo(MessageBuilder* builder, uint16_t family_id) {
  return EncodePlain(builder, family_id, IPVS_CMD_GET_INFO, NLM_F_ACK);
}

bool EncodeGetTimeouts(MessageBuilder* builder, uint16_t family_id) {
  return EncodePlain(builder, family_id, IPVS_CMD_GET_CONFIG, NLM_F_ACK);
}

bool EncodeListDaemons(MessageBuilder* builder, uint16_t family_id) {
  return EncodePlain(builder, family_id, IPVS_CMD_GET_DAEMON, NLM_F_DUMP);
}

}  // namespace knp::ipvs
