#include "bench/native/messages.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "netlink/message_builder.h"
#include "netlink/message_reader.h"

namespace knp::bench {
namespace {

using netlink::Status;

constexpr int kSocketBuffer = 4 << 20;  // in bytes
constexpr time_t kSecondsForReply = 60;

}  // namespace

Status PreparedMessages::Prepare(int protocol, std::vector<uint8_t> messages, size_t load,
                                 size_t datagram_size) {
  messages_ = std::move(messages);
  datagram_.resize(datagram_size);
  Status split = SplitIntoLoads(load);
  if (!split.ok()) return split;
  socket_ = netlink::Descriptor(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  const int fd = socket_.get();
  if (fd < 0) return Status::Errno(errno, "cannot open a netlink socket");
  const int size = kSocketBuffer;
  const timeval limit{kSecondsForReply, 0};
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0 ||
      setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0 ||
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
      setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on)) < 0) {
    return Status::Errno(errno, "cannot set an option of a netlink socket");
  }
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel)) < 0) {
    return Status::Errno(errno, "cannot connect a netlink socket");
  }
  return {};
}

// Numbers the messages from 1, and asks for an acknowledgement of the last one of each load: the kernel
// reports every error unasked.
Status PreparedMessages::SplitIntoLoads(size_t load) {
  loads_.clear();
  uint32_t sequence = 0;
  for (size_t start = 0; start < messages_.size();) {
    nlmsghdr header{};
    const size_t left = messages_.size() - start;
    if (left >= sizeof(header)) std::memcpy(&header, messages_.data() + start, sizeof(header));
    const size_t length = netlink::NlmsgAlign(header.nlmsg_len);
    if (header.nlmsg_len < sizeof(header) || length > left) {
      return Status::Errno(EINVAL, "message " + std::to_string(sequence + 1) + " has a wrong length");
    }
    netlink::SetSequence(messages_.data() + start, ++sequence);
    if (loads_.empty() || loads_.back().count >= load) loads_.push_back(Load{start, 0, 0, 0});
    Load& current = loads_.back();
    current.size += length;
    current.last = sequence;
    current.count++;
    start += length;
    if (current.count < load && start < messages_.size()) continue;
    netlink::AddFlags(messages_.data() + start - length, NLM_F_ACK);
  }
  return {};
}

Status PreparedMessages::Send(Cost* cost) {
  const Meter meter;
  for (const Load& load : loads_) {
    Status status = SendLoad(load, cost);
    if (!status.ok()) return status;
  }
  meter.Stop(cost);
  return {};
}

Status PreparedMessages::SendLoad(const Load& load, Cost* cost) {
  const ssize_t sent = send(socket_.get(), messages_.data() + load.start, load.size, 0);
  cost->system_calls++;
  cost->messages += load.count;
  if (sent < 0) return Status::Errno(errno, "send");
  return Await(load.last, cost);
}

Status PreparedMessages::Await(uint32_t last, Cost* cost) {
  while (true) {
    const ssize_t received = recv(socket_.get(), datagram_.data(), datagram_.size(), 0);
    cost->system_calls++;
    if (received < 0) return Status::Errno(errno, "recv");
    netlink::MessageReader messages(datagram_.data(), static_cast<size_t>(received));
    netlink::Message message;
    while (messages.Next(&message)) {
      if (message.type != NLMSG_ERROR && message.type != NLMSG_DONE) continue;
      Status status = ReadAcknowledgement(message);
      if (!status.ok()) {
        status.message = "message " + std::to_string(message.sequence) + " " + status.message;
        return status;
      }
      if (message.sequence == last) return {};
    }
    if (messages.malformed()) return Status::Of(netlink::FailureKind::kMalformedReply, "truncated message");
  }
}

}  // namespace knp::bench
