// ipset's netlink listing → structs. No socket, no JavaScript; writing goes through libipset.
//
// Encoders write one whole message with sequence number 0 and return MessageBuilder::End(). Decoders return
// kMalformedReply for an invalid message and skip attributes that they do not know.
#pragma once

#include <string_view>
#include <vector>

#include "ipset/types.h"
#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "netlink/status.h"

namespace knp::ipset {

// IPSET_CMD_LIST with NLM_F_DUMP: every set without entries (IPSET_FLAG_LIST_HEADER), or one set with them.
[[nodiscard]] bool EncodeListHeaders(netlink::MessageBuilder* builder);
[[nodiscard]] bool EncodeListSet(netlink::MessageBuilder* builder, std::string_view name);

// Reads one IPSET_CMD_LIST message into `sets`. A set with many entries is in several messages: the first
// has its header and begins a new element, the next are added to the last element.
netlink::Status DecodeListPart(const netlink::Message& message, std::vector<SetState>* sets);

// IPSET_CMD_TYPE: the revisions of one set type. The kernel loads the type's module. `family` is that of the
// sets: AF_UNSPEC for types without addresses.
[[nodiscard]] bool EncodeType(netlink::MessageBuilder* builder, std::string_view name, uint8_t family);
netlink::Status DecodeType(const netlink::Message& message, TypeSupport* out);

// IPSET_CMD_PROTOCOL.
[[nodiscard]] bool EncodeProtocol(netlink::MessageBuilder* builder);
netlink::Status DecodeProtocol(const netlink::Message& message, ProtocolVersions* out);

}  // namespace knp::ipset
