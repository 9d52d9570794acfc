#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>

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

bool EncodePlain(MessageBuilder* builder, uint16_t family_id, uint8_t command, uint16_t flags) {
  Begin(builder, family_id, command, flags);
  return builder->End();
}

}  // namespace

bool EncodeOperation(MessageBuilder* builder, uint16_t family_id, uint16_t flags,
                     const Operation& operation) {
  Begin(builder, family_id, static_cast<uint8_t>(operation.verb), flags);
  const size_t service = builder->BeginNested(Nested(IPVS_CMD_ATTR_SERVICE));
  PutServiceId(builder, operation.service.id);
  const bool settings = operation.verb == Verb::kAddService || operation.verb == Verb::kUpdateService;
  if (settings) PutSettings(builder, operation.service);
  builder->EndNested(service);
  switch (operation.verb) {
    case Verb::kAddService:
    case Verb::kUpdateService:
    case Verb::kDeleteService:
      break;
    case Verb::kAddRealServer:
    case Verb::kUpdateRealServer:
    case Verb::kDeleteRealServer: {
      const size_t server = builder->BeginNested(Nested(IPVS_CMD_ATTR_DEST));
      PutServerId(builder, operation.server);
      if (operation.verb != Verb::kDeleteRealServer) PutServerSettings(builder, operation.server);
      builder->EndNested(server);
    }
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

bool EncodeFlush(MessageBuilder* builder, uint16_t family_id) {
  return EncodePlain(builder, family_id, IPVS_CMD_FLUSH, NLM_F_ACK);
}

bool EncodeGetInfo(MessageBuilder* builder, uint16_t family_id) {
  return EncodePlain(builder, family_id, IPVS_CMD_GET_INFO, NLM_F_ACK);
}

bool EncodeGetTimeouts(MessageBuilder* builder, uint16_t family_id) {
  return EncodePlain(builder, family_id, IPVS_CMD_GET_CONFIG, NLM_F_ACK);
}

bool EncodeSetTimeouts(MessageBuilder* builder, uint16_t family_id, const Timeouts& timeouts) {
  Begin(builder, family_id, IPVS_CMD_SET_CONFIG, NLM_F_ACK);
  if (timeouts.tcp != 0) builder->PutU32(IPVS_CMD_ATTR_TIMEOUT_TCP, timeouts.tcp);
  if (timeouts.tcp_fin != 0) builder->PutU32(IPVS_CMD_ATTR_TIMEOUT_TCP_FIN, timeouts.tcp_fin);
  if (timeouts.udp != 0) builder->PutU32(IPVS_CMD_ATTR_TIMEOUT_UDP, timeouts.udp);
  return builder->End();
}

}  // namespace knp::ipvs
