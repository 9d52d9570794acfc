// rtnetlink structs ↔ messages. No socket, no JavaScript.
//
// Encoders write one whole message with sequence number 0 and return MessageBuilder::End(); `flags` are added
// to NLM_F_REQUEST. Decoders return kMalformedReply for an invalid message and skip attributes that
// they do not know, but for those of an address, which are kept in Address::others.
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
// Kinds are names of kernel modules less "rtnl-link-"; MODULE_NAME_LEN is 56, the longest there is has 11.
constexpr size_t kLongestKind = 31;

// RTM_GETLINK: every link with NLM_F_DUMP, or the one of that name: an alternative name if it is longer than
// kLongestLinkName.
[[nodiscard]] bool EncodeListLinks(netlink::MessageBuilder* builder);
[[nodiscard]] bool EncodeGetLink(netlink::MessageBuilder* builder, std::string_view name);

// RTM_NEWADDR, whose flags tell an addition (NLM_F_CREATE | NLM_F_EXCL) from a replacement; RTM_DELADDR.
[[nodiscard]] bool EncodeNewAddress(netlink::MessageBuilder* builder, uint16_t flags, const Address& address);
[[nodiscard]] bool EncodeDeleteAddress(netlink::MessageBuilder* builder, uint16_t flags,
                                       const Address& address);
// RTM_GETADDR with NLM_F_DUMP, both families; of one link when the index is not 0 (by kernels since 4.20, on
// sockets with NETLINK_GET_STRICT_CHK; others list all).
[[nodiscard]] bool EncodeListAddresses(netlink::MessageBuilder* builder, int32_t link_index);

// A message of JavaScript's, whose references have been replaced.
[[nodiscard]] bool EncodeMessage(netlink::MessageBuilder* builder, uint16_t flags, const Encoded& message);

// RTM_NEWLINK and RTM_DELLINK, RTM_NEWADDR and RTM_DELADDR, in replies as in requests. The address of a
// point-to-point link is its own end's (IFA_LOCAL).
netlink::Status DecodeLink(const netlink::Message& message, Link* out);
netlink::Status DecodeAddress(const netlink::Message& message, Address* out);

// Indexes of the links that a message about a link, a route or a neighbour refers to.
netlink::Status DecodeLinkIndexes(const netlink::Message& message, std::vector<int32_t>* out);

}  // namespace knp::rtnetlink
