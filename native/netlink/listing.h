// A listing that is read portion by portion: whoever reads it needs memory for what he keeps, and the kernel
// makes the next part when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "netlink/replies.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::netlink {

// Bytes of messages with which a portion is full. It may be longer by one datagram.
constexpr size_t kFullPortion = size_t{1} << 20;

struct Portion {
  std::vector<uint8_t> messages;  // whole ones, one after another
  bool restarted = false;         // the listing has begun again: what was read before may be old
  bool ended = false;             // the last one
};

class Listing {
 public:
  // `request`: one whole message that asks for a listing.
  explicit Listing(std::vector<uint8_t> request) : request_(std::move(request)) {}

  // Reads the next portion. Where an attempt fails, because the listing changed or replies were lost, the
  // portion has what was read, and the next call begins again, or returns kInterrupted after kReadAttempts.
  // After any other failure, and after the last portion, it must not be called again.
  Status Read(Socket* socket, Portion* out);

  // Whether the kernel still has a part of it to send on the socket, where it would be in the way of every
  // other request.
  bool under_way() const { return under_way_; }

 private:
  Status Begin(Socket* socket, Portion* out);
  void Fail(Socket* socket);

  std::vector<uint8_t> request_;
  uint32_t sequence_ = 0;
  Progress progress_;
  int attempts_ = 0;  // that have failed
  bool begun_ = false;
  bool under_way_ = false;
};

}  // namespace knp::netlink
