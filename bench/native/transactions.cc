#include "bench/native/transactions.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "netlink/message_builder.h"
#include "netlink/message_reader.h"

namespace knp::bench {
namespace {

using netlink::Status;

constexpr size_t kDatagram = 8192;           // in bytes: answers are short
constexpr int kReceiveBuffer = 4 << 20;      // in bytes
constexpr size_t kSendOverhead = 64 * 1024;  // of the kernel, in bytes
constexpr uint32_t kFewestMessages = 3;      // begin, one ordinary message, end

Status Malformed(uint32_t place) {
  return Status::Errno(EINVAL, "message " + std::to_string(place) + " is in no transaction");
}

}  // namespace

Status PreparedTransactions::Prepare(std::vector<uint8_t> messages) {
  messages_ = std::move(messages);
  datagram_.resize(kDatagram);
  Status split = Split();
  return split.ok() ? Open() : split;
}

// Numbers the messages from 1.
Status PreparedTransactions::Split() {
  uint32_t sequence = 0;
  size_t before = 0;  // the message before this one
  Transaction current{0, 0, 0, 0};
  for (size_t at = 0; at < messages_.size();) {
    nlmsghdr header{};
    const size_t left = messages_.size() - at;
    if (left >= sizeof(header)) std::memcpy(&header, messages_.data() + at, sizeof(header));
    const size_t length = netlink::NlmsgAlign(header.nlmsg_len);
    sequence++;
    if (header.nlmsg_len < sizeof(header) || length > left) {
      return Status::Errno(EINVAL, "message " + std::to_string(sequence) + " has a wrong length");
    }
    if ((current.count == 0) != (header.nlmsg_type == NFNL_MSG_BATCH_BEGIN)) return Malformed(sequence);
    if (current.count == 0) current = {at, 0, 0, 0};
    netlink::SetSequence(messages_.data() + at, sequence);
    // The kernel refuses the message that ends a transaction without it.
    netlink::AddFlags(messages_.data() + at, NLM_F_REQUEST);
    current.size += length;
    current.count++;
    if (header.nlmsg_type == NFNL_MSG_BATCH_END) {
      if (current.count < kFewestMessages) return Malformed(sequence);
      current.last = sequence - 1;
      netlink::AddFlags(messages_.data() + before, NLM_F_ACK);
      transactions_.push_back(std::exchange(current, {0, 0, 0, 0}));
    }
    before = at;
    at += length;
  }
  return current.count == 0 ? Status{} : Malformed(sequence);
}

Status PreparedTransactions::Open() {
  socket_ = netlink::Descriptor(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  const int fd = socket_.get();
  if (fd < 0) return Status::Errno(errno, "cannot open a netlink socket");
  size_t longest = 0;
  for (const Transaction& each : transactions_) longest = std::max(longest, each.size);
  const int sending = static_cast<int>(longest + kSendOverhead);
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &sending, sizeof(sending)) < 0 ||
      setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof(kReceiveBuffer)) < 0 ||
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

Status PreparedTransactions::Send(Cost* cost) {
  const Meter meter;
  for (const Transaction& transaction : transactions_) {
    Status status = SendOne(transaction, cost);
    if (!status.ok()) return status;
  }
  meter.Stop(cost);
  return {};
}

Status PreparedTransactions::SendOne(const Transaction& transaction, Cost* cost) {
  const ssize_t sent = send(socket_.get(), messages_.data() + transaction.start, transaction.size, 0);
  cost->system_calls++;
  // Those between the begin and the end.
  cost->messages += transaction.count - 2;
  if (sent < 0) return Status::Errno(errno, "send");
  return ReadAnswer(transaction.last, cost);
}

Status PreparedTransactions::ReadAnswer(uint32_t last, Cost* cost) {
  bool acknowledged = false;
  while (true) {
    const ssize_t received = recv(socket_.get(), datagram_.data(), datagram_.size(), MSG_DONTWAIT);
    cost->system_calls++;
    // The error of a commit may follow the acknowledgement.
    if (received < 0 && errno == EAGAIN && acknowledged) return {};
    if (received < 0) return Status::Errno(errno, "recv");
    netlink::MessageReader messages(datagram_.data(), static_cast<size_t>(received));
    netlink::Message message;
    while (messages.Next(&message)) {
      if (message.type != NLMSG_ERROR) continue;
      Status status = ReadAcknowledgement(message);
      if (!status.ok()) {
        status.message = "message " + std::to_string(message.sequence) + " " + status.message;
        return status;
      }
      acknowledged = acknowledged || message.sequence == last;
    }
    if (messages.malformed()) return Status::Of(netlink::FailureKind::kMalformedReply, "truncated message");
  }
}

}  // namespace knp::bench
