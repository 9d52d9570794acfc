#include "netlink/message_builder.h"

#include <arpa/inet.h>

#include <limits>

#include "netlink/message_reader.h"

namespace knp::netlink {

void MessageBuilder::Begin(uint16_t type, uint16_t flags, uint32_t sequence) {
  start_ = buffer_->size();
  overflow_ = false;
  nlmsghdr header{};
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = sequence;
  Append(&header, sizeof(header));
}

void MessageBuilder::PutBigEndian16(uint16_t type, uint16_t value) {
  PutU16(type, htons(value));
}

void MessageBuilder::PutBigEndian32(uint16_t type, uint32_t value) {
  PutU32(type, htonl(value));
}

void MessageBuilder::PutString(uint16_t type, std::string_view value) {
  // The terminator is a zero of Extend().
  std::memcpy(PutAttribute(type, value.size() + 1), value.data(), value.size());
}

size_t MessageBuilder::BeginNested(uint16_t type) {
  const size_t start = buffer_->size();
  PutAttribute(type, 0);
  return start;
}

void MessageBuilder::EndNested(size_t start) {
  const size_t length = buffer_->size() - start;
  if (length > std::numeric_limits<uint16_t>::max()) overflow_ = true;
  const auto nla_len = static_cast<uint16_t>(length);
  std::memcpy(buffer_->data() + start + offsetof(nlattr, nla_len), &nla_len, sizeof(nla_len));
}

bool MessageBuilder::End() {
  if (overflow_) {
    buffer_->resize(start_);
    return false;
  }
  const auto nlmsg_len = static_cast<uint32_t>(buffer_->size() - start_);
  std::memcpy(buffer_->data() + start_ + offsetof(nlmsghdr, nlmsg_len), &nlmsg_len, sizeof(nlmsg_len));
  return true;
}

void MessageBuilder::Copy(const Message& message, uint16_t flags) {
  Begin(message.type, flags, 0);
  std::memcpy(buffer_->data() + start_ + offsetof(nlmsghdr, nlmsg_pid), &message.port, sizeof(message.port));
  if (message.size > 0) buffer_->insert(buffer_->end(), message.payload, message.payload + message.size);
  static_cast<void>(End());  // the message has no attributes that could be too long
  // nlmsg_len does not count the padding; the next message is aligned.
  buffer_->resize(start_ + NlmsgAlign(buffer_->size() - start_));
}

void MessageBuilder::Append(const void* data, size_t size) {
  uint8_t* start = Extend(NlmsgAlign(size));
  if (size > 0) std::memcpy(start, data, size);
}

void SetSequence(uint8_t* message, uint32_t sequence) {
  std::memcpy(message + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof(sequence));
}

void SetFlags(uint8_t* message, uint16_t flags) {
  std::memcpy(message + offsetof(nlmsghdr, nlmsg_flags), &flags, sizeof(flags));
}

void AddFlags(uint8_t* message, uint16_t flags) {
  uint16_t value = 0;
  std::memcpy(&value, message + offsetof(nlmsghdr, nlmsg_flags), sizeof(value));
  SetFlags(message, static_cast<uint16_t>(value | flags));
}

void AppendMessage(const Message& message, std::vector<uint8_t>* out) {
  MessageBuilder(out).Copy(message, message.flags);
}

}  // namespace knp::netlink
