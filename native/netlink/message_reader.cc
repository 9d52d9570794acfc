#include "netlink/message_reader.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cstring>

#include "netlink/message_builder.h"

namespace knp::netlink {
namespace {

// Longest text that is kept of an extended acknowledgement.
constexpr size_t kLongestText = 1024;

// NLMSGERR_ATTR_MSG among the attributes that begin `offset` bytes into the payload.
std::string ReadText(const Message& message, size_t offset) {
  ReadError error;
  AttributeReader attributes = message.Attributes(offset, &error);
  while (attributes.Next()) {
    if (attributes.type() == NLMSGERR_ATTR_MSG) return attributes.String(kLongestText);
  }
  return {};  // a text that cannot be read must not hide the number
}

}  // namespace

AttributeReader Message::Attributes(size_t header_size, ReadError* error) const {
  const size_t offset = std::min(size, NlmsgAlign(header_size));
  return AttributeReader(payload + offset, size - offset, error);
}

bool Message::CopyHeader(void* header, size_t header_size) const {
  if (size < header_size) return false;
  std::memcpy(header, payload, header_size);
  return true;
}

bool MessageReader::Next(Message* message) {
  if (remaining_ == 0) return false;
  nlmsghdr header{};
  if (remaining_ < sizeof(header)) {
    malformed_ = true;
    return false;
  }
  std::memcpy(&header, next_, sizeof(header));
  if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > remaining_) {
    malformed_ = true;
    remaining_ = 0;
    return false;
  }
  message->type = header.nlmsg_type;
  message->flags = header.nlmsg_flags;
  message->sequence = header.nlmsg_seq;
  message->payload = next_ + sizeof(header);
  message->size = header.nlmsg_len - sizeof(header);
  const size_t step = std::min(remaining_, NlmsgAlign(header.nlmsg_len));
  next_ += step;
  remaining_ -= step;
  return true;
}

Status ReadAcknowledgement(const Message& message) {
  int32_t error = 0;
  if (!message.ReadHeader(&error)) {
    // The number of NLMSG_DONE is an addition: a dump may end without.
    if (message.type == NLMSG_DONE && message.size == 0) return {};
    return Status::Of(FailureKind::kMalformedReply, "acknowledgement without a number");
  }
  if (error == 0) return {};
  // ipset has numbers of its own beyond MAX_ERRNO (IPSET_ERR_PRIVATE is 4096), so any negative one is passed
  // on.
  if (error > 0 || error == INT32_MIN) {
    return Status::Of(FailureKind::kMalformedReply, "acknowledgement with a number that is not an errno");
  }
  const bool has_text = (message.flags & NLM_F_ACK_TLVS) != 0;
  if (!has_text) return Status::Errno(-error);
  if (message.type == NLMSG_DONE) return Status::Errno(-error, ReadText(message, sizeof(error)));
  // struct nlmsgerr: the number, the header of the request, and, unless NLM_F_CAPPED, the rest of the
  // request.
  nlmsgerr reply{};
  if (!message.ReadHeader(&reply)) return Status::Errno(-error);
  const bool capped = (message.flags & NLM_F_CAPPED) != 0;
  const size_t request = capped ? sizeof(nlmsghdr) : NlmsgAlign(reply.msg.nlmsg_len);
  return Status::Errno(-error, ReadText(message, sizeof(error) + request));
}

}  // namespace knp::netlink
