#include "netlink/socket.h"

#include <linux/netlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace knp::netlink {
namespace {

constexpr size_t kSmallestDatagram = 8192;
constexpr size_t kLargestBatch = 256;  // larger ones gain nothing
constexpr size_t kBytesPerReply = 1024;
// Bytes of a send beside its messages: struct sk_buff, as the kernel counts it, with room to spare.
constexpr size_t kSendOverhead = 4096;
// The largest receive buffer that is asked for, in bytes, and send buffer: the kernel doubles the number,
// which is signed.
constexpr size_t kLargestReceiveBuffer = size_t{32} << 20;
constexpr size_t kLargestSendBuffer = INT32_MAX / 2;

void SetOption(int fd, int level, int option, int value) {
  // Each of these options is optional: old kernels lack some, and some need CAP_NET_ADMIN.
  static_cast<void>(setsockopt(fd, level, option, &value, sizeof(value)));
}

void SetBuffers(int fd, int size) {
  SetOption(fd, SOL_SOCKET, SO_RCVBUF, size);  // bounded by net.core.rmem_max
  SetOption(fd, SOL_SOCKET, SO_SNDBUF, size);
  SetOption(fd, SOL_SOCKET, SO_RCVBUFFORCE, size);  // needs CAP_NET_ADMIN over the namespace
  SetOption(fd, SOL_SOCKET, SO_SNDBUFFORCE, size);
}

Status Connect(const SocketOptions& options, Descriptor* out) {
  static const NetworkNamespace kOwn;
  const NetworkNamespace& where = options.network_namespace ? *options.network_namespace : kOwn;
  Descriptor descriptor;
  Status status = where.OpenSocket(AF_NETLINK, SOCK_RAW, options.protocol, &descriptor);
  if (!status.ok()) return status;
  SetBuffers(descriptor.get(), options.buffer_size);
  SetOption(descriptor.get(), SOL_NETLINK, NETLINK_EXT_ACK, 1);  // 4.12: errors have a text
  SetOption(descriptor.get(), SOL_NETLINK, NETLINK_CAP_ACK, 1);  // 4.2: errors do not repeat the request
  if (options.strict_checking) SetOption(descriptor.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1);
  // Port 0 is the kernel. A connected socket receives from its peer only, so nobody else can answer.
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel)) < 0) {
    return Status::Errno(errno, "cannot connect a netlink socket");
  }
  *out = std::move(descriptor);
  return {};
}

Status AwaitReadable(int fd, Deadline* deadline) {
  while (true) {
    pollfd wanted{fd, POLLIN, 0};
    const auto left = std::min<int64_t>(deadline->Left().count(), INT32_MAX);
    const int ready = poll(&wanted, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready == 0) return Status::Of(FailureKind::kTimeout, "no reply from the kernel");
    if (errno != EINTR) return Status::Errno(errno, "poll");
  }
}

// Number of replies that fit into the receive buffer. The kernel may grant a smaller one than was requested.
size_t CountReplies(int fd) {
  int granted = 0;
  socklen_t length = sizeof(granted);
  if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &length) < 0) granted = 0;
  return std::clamp(static_cast<size_t>(granted) / kBytesPerReply, size_t{1}, kLargestBatch);
}

}  // namespace

std::chrono::milliseconds Deadline::Left() {
  if (!end_) {
    if (left_.count() == 0) return left_;
    end_ = Clock::now() + left_;
    return left_;
  }
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()),
                  std::chrono::milliseconds(0));
}

Status Socket::Open(const SocketOptions& options, Socket* out) {
  Descriptor descriptor;
  Status status = Connect(options, &descriptor);
  if (status.ok()) *out = Adopt(std::move(descriptor), options);
  return status;
}

Socket Socket::Adopt(Descriptor descriptor, const SocketOptions& options) {
  Socket socket;
  socket.options_ = options;
  socket.descriptor_ = std::move(descriptor);
  socket.datagram_.resize(std::max(options.datagram_size, kSmallestDatagram));
  socket.batch_limit_ = CountReplies(socket.descriptor_.get());
  socket.send_buffer_ = socket.receive_buffer_ = static_cast<size_t>(options.buffer_size);
  return socket;
}

Status Socket::Reopen() {
  // One that was never opened has no options to be opened with.
  if (descriptor_.get() < 0) return Status::Errno(EBADF);
  Descriptor descriptor;
  Status status = Connect(options_, &descriptor);
  if (status.ok()) {
    descriptor_ = std::move(descriptor);
    send_buffer_ = receive_buffer_ = static_cast<size_t>(options_.buffer_size);
  }
  return status;
}

void Socket::ReserveFor(size_t size, size_t messages) {
  const size_t sending = std::min(size + kSendOverhead, kLargestSendBuffer);
  if (sending > send_buffer_) {
    SetOption(descriptor_.get(), SOL_SOCKET, SO_SNDBUFFORCE, static_cast<int>(sending));
    send_buffer_ = sending;
  }
  const size_t receiving = std::min(messages * kBytesPerReply, kLargestReceiveBuffer);
  if (receiving > receive_buffer_) {
    SetOption(descriptor_.get(), SOL_SOCKET, SO_RCVBUFFORCE, static_cast<int>(receiving));
    receive_buffer_ = receiving;
  }
}

Status Socket::Send(const uint8_t* data, size_t size) {
  return Send({{const_cast<uint8_t*>(data), size}}, size);
}

Status Socket::Send(const std::vector<iovec>& parts, size_t size) {
  msghdr header{};
  header.msg_iov = const_cast<iovec*>(parts.data());
  header.msg_iovlen = parts.size();
  ssize_t sent = 0;
  do {
    // EINTR is from before the kernel has the buffer: it works through it without being interrupted.
    sent = sendmsg(descriptor_.get(), &header, 0);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return Status::Errno(errno);
  if (static_cast<size_t>(sent) != size) return Status::Errno(EMSGSIZE, "sent only in part");
  return {};
}

Status Socket::Receive(Deadline* deadline, const uint8_t** data, size_t* size) {
  while (true) {
    iovec buffer{datagram_.data(), datagram_.size()};
    msghdr header{};
    header.msg_iov = &buffer;
    header.msg_iovlen = 1;
    // With MSG_TRUNC the result is the length of the datagram, however much of it fits.
    const ssize_t received = recvmsg(descriptor_.get(), &header, MSG_DONTWAIT | MSG_TRUNC);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      Status status = AwaitReadable(descriptor_.get(), deadline);
      if (!status.ok()) return status;
      continue;
    }
    if (received < 0) return Status::Errno(errno);
    if (received == 0) return Status::Of(FailureKind::kMalformedReply, "empty datagram");
    const auto length = static_cast<size_t>(received);
    if (length > datagram_.size()) return Grow(length);
    *data = datagram_.data();
    *size = length;
    return {};
  }
}

Status Socket::Grow(size_t length) {
  const std::string found = "a reply of " + std::to_string(length) + " bytes";
  if (length > options_.longest_datagram) return Status::Of(FailureKind::kMalformedReply, found);
  size_t size = datagram_.size();
  while (size < length) size *= 2;
  datagram_ = std::vector<uint8_t>(size);
  return Status::Of(FailureKind::kTruncated, found + " was cut off");
}

bool Socket::HasLink(int32_t index, const std::string& name) const {
  ifreq request{};
  request.ifr_ifindex = index;
  if (ioctl(descriptor_.get(), SIOCGIFNAME, &request) < 0) return false;
  return name.compare(0, std::string::npos, request.ifr_name, strnlen(request.ifr_name, IFNAMSIZ)) == 0;
}

uint32_t Socket::TakeSequence(uint32_t count) {
  // Never 0, the number of notifications, and without a wrap inside a batch.
  if (sequence_ > UINT32_MAX - count) sequence_ = 0;
  const uint32_t first = sequence_ + 1;
  sequence_ += count;
  return first;
}

Status OpenSockets(SocketOptions options, std::initializer_list<NewSocket> sockets) {
  for (const NewSocket& each : sockets) {
    options.datagram_size = each.datagram_size;
    Status status = Socket::Open(options, each.socket);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace knp::netlink
