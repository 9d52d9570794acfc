// A netlink socket to the kernel: opening, sending a buffer of messages, receiving one datagram within a time
// limit.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::netlink {

// The end of a wait for a reply. Its time begins with the first wait: as a rule the reply is there already,
// and the clock is not read.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : left_(limit) {}

  // Time until the end, 0 after it.
  std::chrono::milliseconds Left();

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds left_;
  std::optional<Clock::time_point> end_;
};

// The largest part of a dump that the kernel makes, in bytes.
constexpr size_t kLargestPart = size_t{32} * 1024;

struct SocketOptions {
  SharedNamespace network_namespace;
  int protocol = 0;  // NETLINK_GENERIC, NETLINK_ROUTE
  std::chrono::milliseconds timeout{5000};
  // NETLINK_GET_STRICT_CHK: rtnetlink's dumps apply the filters in their requests (4.20).
  bool strict_checking = false;
  // Bytes offered to recvmsg(2). The kernel makes the parts of a dump as large as the largest buffer it has
  // ever seen on the socket, up to 32 KiB, and allocates that much for each: small for many short dumps,
  // large for few long ones. Never less than 8192, the longest part that is sent to a small buffer
  // (NLMSG_GOODSIZE).
  size_t datagram_size = 8192;
  // Bytes of queued replies (SO_RCVBUFFORCE) and of one send (SO_SNDBUFFORCE), as far as the kernel grants
  // them.
  int buffer_size = 1 << 20;
  // Bytes up to which the buffer grows for a longer datagram. A link may be described by more than 32 KiB.
  size_t longest_datagram = size_t{16} << 20;
};

class Socket {
 public:
  static Status Open(const SocketOptions& options, Socket* out);
  // Takes over a descriptor that speaks netlink, for tests: without Reopen().
  static Socket Adopt(Descriptor descriptor, const SocketOptions& options);

  // Opens a new socket in the same namespace and closes this one, with any dump that is still under way on
  // it: the kernel refuses a second dump on a socket (EBUSY).
  Status Reopen();

  // Sends a buffer of messages in one call. The kernel has processed all of them, and queued every reply but
  // the later parts of a dump, when this returns.
  Status Send(const uint8_t* data, size_t size);
  // The same of a buffer of `size` bytes in several parts.
  Status Send(const std::vector<iovec>& parts, size_t size);

  // Makes room for a send of `size` bytes and for the replies to `messages`, as far as the kernel grants it:
  // CAP_NET_ADMIN over the namespace. For the replies at most 32 MiB.
  void ReserveFor(size_t size, size_t messages);

  // Receives one datagram, which is valid until the next call. kTimeout when none came by `deadline`; ENOBUFS
  // when the kernel dropped replies because the receive buffer was full; kTruncated when it was longer than
  // the buffer: it is lost, and the buffer has room for another one of its length.
  Status Receive(Deadline* deadline, const uint8_t** data, size_t* size);

  // The time limit for a reply.
  Deadline NewDeadline() const { return Deadline(options_.timeout); }

  // Whether the link of this index has this name, in the network namespace of the socket (SIOCGIFNAME,
  // netdevice(7)). Needs no lock of rtnetlink, and a fraction of the time of RTM_GETLINK. False for an
  // alternative name (IFLA_ALT_IFNAME), and when it is not known.
  bool HasLink(int32_t index, const std::string& name) const;

  // `count` consecutive sequence numbers that this socket has not used, and returns the first.
  uint32_t TakeSequence(uint32_t count = 1);

  // Messages that may be sent in one buffer so that the replies to all of them fit into the receive buffer: a
  // queued reply takes 768 bytes of it in Linux 6.1, 960 in 6.12.
  size_t BatchLimit() const { return batch_limit_; }

 private:
  Status Grow(size_t length);

  SocketOptions options_;
  Descriptor descriptor_;
  std::vector<uint8_t> datagram_;
  size_t batch_limit_ = 1;
  // Sizes that were asked for, in bytes.
  size_t send_buffer_ = 0;
  size_t receive_buffer_ = 0;
  uint32_t sequence_ = 0;
};

// A socket that is to be opened.
struct NewSocket {
  Socket* socket;
  size_t datagram_size;  // see SocketOptions
};

// Opens the sockets of a client.
Status OpenSockets(SocketOptions options, std::initializer_list<NewSocket> sockets);

}  // namespace knp::netlink
