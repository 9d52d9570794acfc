// Writes netlink messages one after another into a buffer of the caller's.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace knp::netlink {

// #define NLMSG_ALIGN(len) ( ((len)+NLMSG_ALIGNTO-1) & ~(NLMSG_ALIGNTO-1) )
constexpr size_t NlmsgAlign(size_t length) {
  return (length + 3) & ~size_t{3};
}

// #define NLA_ALIGN(len) (((len) + NLA_ALIGNTO - 1) & ~(NLA_ALIGNTO - 1))
constexpr size_t NlaAlign(size_t length) {
  return (length + 3) & ~size_t{3};
}

struct Message;

class MessageBuilder {
 public:
  // Appends to `buffer`, which must outlive the builder.
  explicit MessageBuilder(std::vector<uint8_t>* buffer) : buffer_(buffer) {}

  // Begins a message: struct nlmsghdr, its length filled in by End().
  void Begin(uint16_t type, uint16_t flags, uint32_t sequence);

  // The family's fixed header (genlmsghdr, ifaddrmsg, …), right after nlmsghdr.
  template <typename Header>
  void PutHeader(const Header& header) {
    Append(&header, sizeof(header));
  }

  // A payload that the caller has encoded: the fixed header with the attributes behind it.
  void PutPayload(const uint8_t* payload, size_t size) { Append(payload, size); }

  // One attribute each. Integers are in host order, but for the BigEndian ones.
  void PutU8(uint16_t type, uint8_t value) { PutBytes(type, &value, sizeof(value)); }
  void PutU16(uint16_t type, uint16_t value) { PutBytes(type, &value, sizeof(value)); }
  void PutU32(uint16_t type, uint32_t value) { PutBytes(type, &value, sizeof(value)); }
  void PutBigEndian16(uint16_t type, uint16_t value);
  void PutBigEndian32(uint16_t type, uint32_t value);
  // NLA_NUL_STRING: with the terminator.
  void PutString(uint16_t type, std::string_view value);
  void PutBytes(uint16_t type, const void* data, size_t size) {
    uint8_t* payload = PutAttribute(type, size);
    if (size > 0) std::memcpy(payload, data, size);
  }

  // Begins an attribute that holds attributes; EndNested() takes the result. The caller adds NLA_F_NESTED to
  // `type` where the family uses it.
  size_t BeginNested(uint16_t type);
  void EndNested(size_t start);

  // A whole message with other flags and without a sequence number. Needs neither Begin() nor End().
  void Copy(const Message& message, uint16_t flags);

  // Ends the message. False, and the message is taken back, when an attribute in it was longer than the 65
  // 535 bytes that nla_len can express.
  [[nodiscard]] bool End();

 private:
  void Append(const void* data, size_t size);
  // Appends an attribute without its payload, of which it returns the place: `size` bytes, and the padding.
  uint8_t* PutAttribute(uint16_t type, size_t size) {
    const size_t length = sizeof(nlattr) + size;
    if (length > std::numeric_limits<uint16_t>::max()) overflow_ = true;
    const nlattr attribute{static_cast<uint16_t>(length), type};
    // nla_len does not count the padding; the next attribute is aligned.
    uint8_t* start = Extend(NlaAlign(length));
    std::memcpy(start, &attribute, sizeof(attribute));
    return start + sizeof(attribute);
  }
  // Appends zeros, and returns their place until the next call.
  uint8_t* Extend(size_t size) {
    const size_t start = buffer_->size();
    buffer_->resize(start + size);
    return buffer_->data() + start;
  }

  std::vector<uint8_t>* buffer_;
  size_t start_ = 0;
  bool overflow_ = false;
};

// Changes the sequence number or the flags, or adds flags, of the message that begins at `message`.
void SetSequence(uint8_t* message, uint32_t sequence);
void SetFlags(uint8_t* message, uint16_t flags);
void AddFlags(uint8_t* message, uint16_t flags);

// Appends a message with its header, without its sequence number, padded to 4 bytes.
void AppendMessage(const Message& message, std::vector<uint8_t>* out);

}  // namespace knp::netlink
