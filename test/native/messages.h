// Messages of netlink, as tests look at them.
#pragma once

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <cstring>
#include <vector>

#include "check.h"
#include "netlink/message_reader.h"
#include "netlink/status.h"

namespace knp::test {

// Every message of a datagram; `bytes` must outlive them.
inline std::vector<netlink::Message> MessagesOf(const std::vector<uint8_t>& bytes) {
  std::vector<netlink::Message> messages;
  netlink::MessageReader reader(bytes.data(), bytes.size());
  netlink::Message message;
  while (reader.Next(&message)) messages.push_back(message);
  CHECK(!reader.malformed());
  return messages;
}

// A copy with the sequence number and port of another message, which every sender chooses for itself.
inline std::vector<uint8_t> WithSenderOf(std::vector<uint8_t> bytes, const std::vector<uint8_t>& other) {
  constexpr size_t kOffset = offsetof(nlmsghdr, nlmsg_seq);
  std::memcpy(bytes.data() + kOffset, other.data() + kOffset, sizeof(nlmsghdr) - kOffset);
  return bytes;
}

// The payload of the first attribute of this type on the first level.
inline std::vector<uint8_t> AttributePayload(const std::vector<uint8_t>& bytes, size_t header_size,
                                             uint16_t type) {
  size_t at = NLMSG_HDRLEN + header_size;
  while (at + sizeof(nlattr) <= bytes.size()) {
    nlattr attribute{};
    std::memcpy(&attribute, bytes.data() + at, sizeof(attribute));
    if (attribute.nla_len < sizeof(attribute) || at + attribute.nla_len > bytes.size()) break;
    const auto begin = bytes.begin() + static_cast<long>(at);
    if ((attribute.nla_type & NLA_TYPE_MASK) == type)
      return {begin + sizeof(attribute), begin + attribute.nla_len};
    at += NLA_ALIGN(attribute.nla_len);
  }
  return {};
}

// A handler of replies that only counts them.
inline netlink::Status CountReplies(int* count) {
  (*count)++;
  return {};
}

// Whether `whole` begins with `part`, which is not empty.
inline bool BeginsWith(const std::vector<uint8_t>& whole, const std::vector<uint8_t>& part) {
  return !part.empty() && whole.size() >= part.size() && std::equal(part.begin(), part.end(), whole.begin());
}

}  // namespace knp::test
