// ctnetlink structs ↔ messages. No socket, no JavaScript.
//
// Encoders write one whole message with sequence number 0 and return MessageBuilder::End(). The decoder
// returns kMalformedReply for a message that breaks a rule and skips attributes that it does not know.
#pragma once

#include <cstdint>

#include "conntrack/types.h"
#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "netlink/status.h"

namespace knp::conntrack {

// IPCTNL_MSG_CT_GET with NLM_F_DUMP and a filter that the kernel applies correctly (see KernelPart). Kernels
// before 5.8 apply the family only.
[[nodiscard]] bool EncodeList(netlink::MessageBuilder* builder, const Filter& filter);

// IPCTNL_MSG_CT_DELETE of one flow, by its original tuple, zone and, unless 0, id. ENOENT when there is none,
// or another with that tuple. Never without a tuple: the kernel would delete every flow.
[[nodiscard]] bool EncodeDelete(netlink::MessageBuilder* builder, const Flow& flow);

// IPCTNL_MSG_CT_GET_STATS, which any kernel with ctnetlink answers: how many flows there are.
[[nodiscard]] bool EncodeGetStatistics(netlink::MessageBuilder* builder);

// IPCTNL_MSG_CT_NEW, in a dump or a notification; also a request by tuple, which has fewer attributes.
netlink::Status DecodeFlow(const netlink::Message& message, Flow* out);

}  // namespace knp::conntrack
