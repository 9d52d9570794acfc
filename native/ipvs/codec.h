// IPVS structs ↔ generic netlink messages. No socket, no JavaScript.
//
// Encoders write one whole message with sequence number 0 and return MessageBuilder::End(). Decoders return
// kMalformedReply for an invalid message and skip attributes that they do not know.
#pragma once

#include <cstdint>

#include "ipvs/types.h"
#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "netlink/status.h"

namespace knp::ipvs {

// `family_id` is from genl::LookUpFamily(); `flags` are added to NLM_F_REQUEST. A timeout of 0 leaves the
// kernel's value as it is.
[[nodiscard]] bool EncodeOperation(netlink::MessageBuilder* builder, uint16_t family_id, uint16_t flags,
                                   const Operation& operation);
// IPVS_CMD_GET_SERVICE: every service with NLM_F_DUMP, or the one that is named.
[[nodiscard]] bool EncodeListServices(netlink::MessageBuilder* builder, uint16_t family_id);
[[nodiscard]] bool EncodeGetService(netlink::MessageBuilder* builder, uint16_t family_id,
                                    const ServiceId& id);
// IPVS_CMD_GET_DEST: the servers of one service. Of a service that does not exist the kernel lists none.
[[nodiscard]] bool EncodeListServers(netlink::MessageBuilder* builder, uint16_t family_id,
                                     const ServiceId& id);
[[nodiscard]] bool EncodeGetInfo(netlink::MessageBuilder* builder, uint16_t family_id);
[[nodiscard]] bool EncodeGetTimeouts(netlink::MessageBuilder* builder, uint16_t family_id);
[[nodiscard]] bool EncodeListDaemons(netlink::MessageBuilder* builder, uint16_t family_id);

// IPVS_CMD_NEW_SERVICE, in replies as in requests; IP_VS_SVC_F_HASHED, which the kernel sets on every
// service, is left out of the flags. `servers` stays empty.
netlink::Status DecodeService(const netlink::Message& message, ServiceState* out);
// IPVS_CMD_NEW_DEST, in replies as in requests. `service_family` is used when the kernel does not
// send the server's own family (before 3.18).
netlink::Status DecodeServer(const netlink::Message& message, uint16_t service_family, RealServerState* out);
// The same without counters and connections, which most attributes are about.
netlink::Status DecodeService(const netlink::Message& message, Service* out);
netlink::Status DecodeServer(const netlink::Message& message, uint16_t service_family, RealServer* out);
// The IPVS_CMD_ATTR_SERVICE that names the service in requests.
netlink::Status DecodeServiceId(const netlink::Message& message, ServiceId* out);
netlink::Status DecodeInfo(const netlink::Message& message, Info* out);
netlink::Status DecodeTimeouts(const netlink::Message& message, Timeouts* out);
// IPVS_CMD_NEW_DAEMON, in replies as in requests that have all attributes; kernels before 4.3 list no group.
netlink::Status DecodeDaemon(const netlink::Message& message, Daemon* out);

}  // namespace knp::ipvs
