#include "netlink/attribute_reader.h"

#include <arpa/inet.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cstring>

#include "netlink/message_builder.h"

namespace knp::netlink {

Status ReadError::ToStatus() const {
  if (ok()) return {};
  return Status::Of(FailureKind::kMalformedReply, "attribute " + std::to_string(attribute) + " of " +
                                                      std::to_string(size) + " bytes: " + reason);
}

bool AttributeReader::Next() {
  payload_ = nullptr;
  size_ = 0;
  type_ = 0;
  if (!error_->ok() || remaining_ == 0) return false;
  nlattr attribute{};
  if (remaining_ < sizeof(attribute)) {
    size_ = remaining_;
    Fail("too short for an attribute");
    return false;
  }
  std::memcpy(&attribute, next_, sizeof(attribute));
  type_ = attribute.nla_type & NLA_TYPE_MASK;
  if (attribute.nla_len < sizeof(attribute) || attribute.nla_len > remaining_) {
    size_ = attribute.nla_len;
    Fail("length beyond the message");
    return false;
  }
  payload_ = next_ + sizeof(attribute);
  size_ = attribute.nla_len - sizeof(attribute);
  // The padding of the last attribute may be missing.
  const size_t step = std::min(remaining_, NlaAlign(attribute.nla_len));
  next_ += step;
  remaining_ -= step;
  return true;
}

uint16_t AttributeReader::BigEndian16() {
  return ntohs(U16());
}

uint32_t AttributeReader::BigEndian32() {
  return ntohl(U32());
}

std::string AttributeReader::String(size_t longest) {
  if (payload_ == nullptr) return {};
  const auto* text = reinterpret_cast<const char*>(payload_);
  const size_t length = strnlen(text, size_);
  if (length > longest) {
    Fail("string too long");
    return {};
  }
  return std::string(text, length);
}

size_t AttributeReader::Bytes(void* out, size_t capacity) {
  if (size_ > capacity) {
    Fail("too long");
    return 0;
  }
  if (size_ > 0) std::memcpy(out, payload_, size_);
  return size_;
}

void AttributeReader::CopyExactly(void* out, size_t size) {
  if (size_ != size) return Fail("unexpected width");
  std::memcpy(out, payload_, size);
}

void AttributeReader::CopyStart(void* out, size_t size) {
  if (size_ < size) return Fail("too short");
  std::memcpy(out, payload_, size);
}

void AttributeReader::Fail(const char* reason) {
  if (!error_->ok()) return;
  error_->reason = reason;
  error_->attribute = type_;
  error_->size = size_;
}

}  // namespace knp::netlink
