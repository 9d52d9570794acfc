// ctnetlink structs ↔ messages. No socket, no JavaScript.
//
// Encoders write one whole message with sequence number 0 and return MessageBuilder::End(). Decoders return
// kMalformedReply for an invalid message and skip attributes that they do not know.
#pragma once

#include <cstdint>

#include "conntrack/types.h"
#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "netlink/status.h"

namespace knp::conntrack {

// The dump of a table, with a filter that the kernel applies correctly (see KernelPart); it applies none to
// other tables than kConntrack, and kernels before 5.8 apply the family and the mark only. With
// `zero_counters`, the counters of each flow are set to zero once they are read.
[[nodiscard]] bool EncodeList(netlink::MessageBuilder* builder, const Filter& filter,
                              Table table = Table::kConntrack, bool zero_counters = false);

// IPCTNL_MSG_CT_GET of one flow, by its original tuple and zone. The kernel does not compare the id. ENOENT
// when there is none.
[[nodiscard]] bool EncodeGet(netlink::MessageBuilder* builder, const Flow& flow, bool zero_counters);

// IPCTNL_MSG_CT_NEW of a new flow. EEXIST when one has one of its tuples.
[[nodiscard]] bool EncodeAdd(netlink::MessageBuilder* builder, const Operation& operation);

// IPCTNL_MSG_CT_NEW of a flow that exists, by its original tuple and zone. ENOENT when there is none.
[[nodiscard]] bool EncodeUpdate(netlink::MessageBuilder* builder, const Operation& operation);

// IPCTNL_MSG_CT_DELETE of one flow, by its original tuple, zone and, unless 0, id. ENOENT when there is none,
// or another with that tuple. Never without a tuple: the kernel would delete every flow.
[[nodiscard]] bool EncodeDelete(netlink::MessageBuilder* builder, const Flow& flow);

// IPCTNL_MSG_CT_DELETE of every flow of both families.
[[nodiscard]] bool EncodeFlush(netlink::MessageBuilder* builder);

// IPCTNL_MSG_CT_DELETE by a filter that selects no flow, because no flow has this protocol. A kernel that
// deletes by a filter accepts it; an older one looks for a flow with the tuple in it, and returns ENOENT.
[[nodiscard]] bool EncodeDeleteNothing(netlink::MessageBuilder* builder);

// IPCTNL_MSG_CT_GET_STATS, which any kernel with ctnetlink answers: how many flows there are.
[[nodiscard]] bool EncodeGetStatistics(netlink::MessageBuilder* builder);
// IPCTNL_MSG_CT_GET_STATS_CPU with NLM_F_DUMP.
[[nodiscard]] bool EncodeListCpus(netlink::MessageBuilder* builder);

// IPCTNL_MSG_EXP_GET with NLM_F_DUMP.
[[nodiscard]] bool EncodeListExpectations(netlink::MessageBuilder* builder);

// IPCTNL_MSG_CT_NEW, in a dump or a notification; also a request by tuple, which has fewer attributes.
netlink::Status DecodeFlow(const netlink::Message& message, Flow* out);

// A notification: DecodeFlow() and what happened to the flow. kNone, and no flow, for a message of another
// kind.
netlink::Status DecodeEvent(const netlink::Message& message, FlowEvent* event, Flow* out);

// The answers to EncodeGetStatistics, EncodeListCpus and EncodeListExpectations.
netlink::Status DecodeStatistics(const netlink::Message& message, Statistics* out);
netlink::Status DecodeCpu(const netlink::Message& message, CpuStatistics* out);
netlink::Status DecodeExpectation(const netlink::Message& message, Expectation* out);

}  // namespace knp::conntrack
