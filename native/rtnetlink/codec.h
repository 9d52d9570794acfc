// Names of links ↔ messages; JavaScript encodes and decodes all else. No socket, no JavaScript.
//
// Encoders write one whole message with sequence number 0 and return MessageBuilder::End(). Decoders return
// kMalformedReply for an invalid message and skip attributes that they do not know.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "netlink/status.h"
#include "rtnetlink/types.h"

namespace knp::rtnetlink {

// IFNAMSIZ less the terminator.
constexpr size_t kLongestLinkName = 15;

// RTM_GETLINK of the link of that name: an alternative name if it is longer than kLongestLinkName.
[[nodiscard]] bool EncodeGetLink(netlink::MessageBuilder* builder, std::string_view name);

// A message of JavaScript's, whose references have been replaced.
[[nodiscard]] bool EncodeMessage(netlink::MessageBuilder* builder, const Encoded& message);

// RTM_NEWLINK and RTM_DELLINK.
netlink::Status DecodeLink(const netlink::Message& message, Link* out);

// Indexes of the links that a message about a link, an address, a route or a neighbour refers to.
netlink::Status DecodeLinkIndexes(const netlink::Message& message, std::vector<int32_t>* out);

}  // namespace knp::rtnetlink
