#include "netlink/message_reader.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cstring>

#include "netlink/message_builder.h"

namespace knp::netlink {
namespace {

// Longest text that is kept of an extended acknowledgement.
constexpr size_t kLongestText = 1024;

// The kernel's words in the attributes that begin `start` bytes into the payload, and the place in the
// request that they are about. One that cannot be read must not hide the number of the error.
std::string ReadExtended(const Message& message, size_t start, uint32_t* offset) {
  std::string text;
  ReadError error;
  AttributeReader attributes = message.Attributes(start, &error);
  while (attributes.Next()) {
    if (attributes.type() == NLMSGERR_ATTR_MSG) text = attributes.String(kLongestText);
    attributes.Read(NLMSGERR_ATTR_OFFS, offset);
  }
  return text;
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
  message->port = header.nlmsg_pid;
  message->payload = next_ + sizeof(header);
  message->size = header.nlmsg_len - sizeof(header);
  const size_t step = std::min(remaining_, NlmsgAlign(header.nlmsg_len));
  next_ += step;
  remaining_ -= step;
  return true;
}

Status ReadAcknowledgement(const Message& message) {
  uint32_t offset = 0;
  return ReadAcknowledgement(message, &offset);
}

Status ReadAcknowledgement(const Message& message, uint32_t* offset) {
  *offset = 0;
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
  if (message.type == NLMSG_DONE) return Status::Reply(-error, ReadExtended(message, sizeof(error), offset));
  // struct nlmsgerr: the number, the header of the request, and, unless NLM_F_CAPPED, the rest of the
  // request.
  nlmsgerr reply{};
  if (!message.ReadHeader(&reply)) return Status::Errno(-error);
  const bool capped = (message.flags & NLM_F_CAPPED) != 0;
  const size_t request = capped ? sizeof(nlmsghdr) : NlmsgAlign(reply.msg.nlmsg_len);
  return Status::Reply(-error, ReadExtended(message, sizeof(error) + request, offset));
}

}  // namespace knp::netlink
