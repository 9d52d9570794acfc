// Splits a received datagram into messages, and reads NLMSG_ERROR and NLMSG_DONE.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netlink/attribute_reader.h"
#include "netlink/status.h"

namespace knp::netlink {

// One message. `payload` points into the datagram and ends with it.
struct Message {
  uint16_t type = 0;
  uint16_t flags = 0;
  uint32_t sequence = 0;
  uint32_t port = 0;  // of a reply, that of the socket; of a notification, of whose request caused it
  const uint8_t* payload = nullptr;
  size_t size = 0;

  // The family's fixed header (genlmsghdr, ifinfomsg, …); false when the message is too short for it.
  template <typename Header>
  [[nodiscard]] bool ReadHeader(Header* header) const {
    return CopyHeader(header, sizeof(*header));
  }
  // The attributes behind a fixed header of `header_size` bytes.
  AttributeReader Attributes(size_t header_size, ReadError* error) const;

 private:
  bool CopyHeader(void* header, size_t header_size) const;
};

class MessageReader {
 public:
  MessageReader(const uint8_t* data, size_t size) : next_(data), remaining_(size) {}

  // Moves to the next message; false after the last one and when the rest is not a message: see malformed().
  bool Next(Message* message);
  bool malformed() const { return malformed_; }

 private:
  const uint8_t* next_;
  size_t remaining_;
  bool malformed_ = false;
};

// The result in NLMSG_ERROR or NLMSG_DONE: ok, the kernel's errno with the text of its extended
// acknowledgement, or kMalformedReply.
Status ReadAcknowledgement(const Message& message);
// The same, with the place in the request of the attribute that the kernel refused (NLMSGERR_ATTR_OFFS), in
// bytes; 0 where it does not say.
Status ReadAcknowledgement(const Message& message, uint32_t* offset);

}  // namespace knp::netlink
