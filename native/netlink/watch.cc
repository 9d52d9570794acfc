#include "netlink/watch.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace knp::netlink {
namespace {

using Clock = std::chrono::steady_clock;

// The first buffer for a notification. A longer one is lost, and the buffer grows. A link with 256 virtual
// functions has about 40 KiB.
constexpr size_t kUsualDatagram = size_t{64} * 1024;
// A bound on memory.
constexpr size_t kLongestDatagram = size_t{16} << 20;
// Records that may wait to be taken, where the receive buffer is not larger.
constexpr size_t kLeastMostBytes = size_t{4} << 20;
// Datagrams that are read before they are reported, so that a steady stream is reported too.
constexpr int kMostAtOnce = 1000;
// Bytes of the receive buffer that the smallest datagram takes are more.
constexpr int kLeastQueuedSize = 512;
// Pause after an unexpected error, before the next try.
constexpr int kPauseMilliseconds = 1000;

// Joins one after another: the mask of bind(2) has room for the first 32 groups only. Without bind(2), the
// socket has port 0, the kernel's, to which the kernel does not notify.
Status JoinGroups(int fd, const std::vector<uint32_t>& groups) {
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof(own)) < 0) {
    return Status::Errno(errno, "cannot bind a netlink socket");
  }
  for (const uint32_t group : groups) {
    if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0) {
      return Status::Errno(errno, "cannot join the group " + std::to_string(group));
    }
  }
  return {};
}

// Asks for a receive buffer of this size, and returns the size that the kernel has granted, which it doubles
// for its structures.
int SetReceiveBufferOf(int fd, int size) {
  // Both are optional: the second one needs CAP_NET_ADMIN, watching may not.
  static_cast<void>(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
  static_cast<void>(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)));
  int doubled = 0;
  socklen_t length = sizeof(doubled);
  return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &doubled, &length) == 0 ? doubled / 2 : size;
}

}  // namespace

void Append(Notifications* notifications, Notifications later, size_t most_bytes) {
  const size_t bytes = notifications->records.size() + later.records.size();
  if (notifications->lost || bytes > most_bytes) {
    notifications->lost = true;
    notifications->dropped += later.count;
  } else {
    if (notifications->records.empty()) {
      notifications->records = std::move(later.records);
    } else {
      notifications->records.insert(notifications->records.end(), later.records.begin(), later.records.end());
    }
    notifications->count += later.count;
  }
  notifications->lost = notifications->lost || later.lost;
  notifications->dropped += later.dropped;
}

Notifications ReadNotifications(const uint8_t* data, size_t size, const NotificationReader& read) {
  Notifications found;
  MessageReader messages(data, size);
  Message message;
  while (messages.Next(&message)) {
    const size_t before = found.records.size();
    const bool lost_before = found.lost;
    if (message.type == NLMSG_ERROR || message.type == NLMSG_OVERRUN) {
      found.lost = true;
    } else {
      read(message, &found);
    }
    if (found.records.size() == before) continue;
    // Those after a loss are read all the same: the reader may keep something of them.
    if (lost_before) found.records.resize(before);
    (lost_before ? found.dropped : found.count)++;
  }
  if (messages.malformed()) found.lost = true;
  return found;
}

Status Watch::Join(const WatchOptions& options, NotificationReader read, std::function<void()> on_lost) {
  if (running_) return Status::Errno(EINVAL, "started already");
  Descriptor socket;
  Status status =
      options.network_namespace->OpenSocket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, options.protocol, &socket);
  if (!status.ok()) return status;
  receive_buffer_ = SetReceiveBufferOf(socket.get(), receive_buffer_);
  status = JoinGroups(socket.get(), options.groups);
  if (!status.ok()) return status;
  return Adopt(std::move(socket), std::move(read), std::move(on_lost));
}

Status Watch::Adopt(Descriptor socket, NotificationReader read, std::function<void()> on_lost) {
  if (running_) return Status::Errno(EINVAL, "started already");
  Descriptor stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.open()) return Status::Errno(errno, "eventfd");
  socket_ = std::move(socket);
  stop_ = std::move(stop);
  read_ = std::move(read);
  on_lost_ = std::move(on_lost);
  most_bytes_ = std::max(kLeastMostBytes, static_cast<size_t>(receive_buffer_));
  // The kernel has doubled the size.
  most_queued_ = std::max(kMostAtOnce, receive_buffer_ / (kLeastQueuedSize / 2));
  drops_ = 0;
  datagram_.resize(kUsualDatagram);
  return {};
}

Status Watch::Start(std::chrono::milliseconds gather, std::function<void()> ready) {
  if (running_ || !socket_.open()) return Status::Errno(EINVAL, "not open, or started already");
  gather_ = gather;
  ready_ = std::move(ready);
  // Not std::thread: it reports failure by an exception.
  const int error = pthread_create(&thread_, nullptr, RunThread, this);
  if (error != 0) return Status::Errno(error, "cannot start a thread to watch with");
  running_ = true;
  return {};
}

Notifications Watch::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  reported_ = false;
  return std::exchange(pending_, {});
}

void Watch::RequestStop() const {
  const uint64_t one = 1;
  static_cast<void>(!write(stop_.get(), &one, sizeof(one)));
}

void Watch::Stop() {
  const std::lock_guard<std::mutex> lock(stopping_);
  if (!running_) return;
  RequestStop();
  pthread_join(thread_, nullptr);
  running_ = false;
}

void* Watch::RunThread(void* watch) {
  static_cast<Watch*>(watch)->Run();
  return nullptr;
}

void Watch::Run() {
  Notifications notifications;
  while (Gather(&notifications)) Report(std::exchange(notifications, {}));
}

// Waits for a first notification, and then gathers more for the time of gather_: less after a loss, and when
// half of the room is full, so that a long time at a high rate loses none. False when the watch is to end.
bool Watch::Gather(Notifications* notifications) {
  while (notifications->empty()) {
    if (!Pause(-1, true)) return false;
    if (!Receive(notifications)) return false;
  }
  const Clock::time_point end = Clock::now() + gather_;
  while (!notifications->lost && notifications->records.size() < most_bytes_ / 2) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return true;
    if (!Pause(static_cast<int>(left), true)) return false;
    if (!Receive(notifications)) return false;
  }
  return true;
}

// Reads the queued notifications, up to a bound. False when the watch is to end.
bool Watch::Receive(Notifications* notifications) {
  for (int i = 0; i < kMostAtOnce; i++) {
    switch (ReceiveOne(notifications)) {
      case Received::kDatagram:
        break;
      case Received::kNothing:
        return true;
      case Received::kOverflow:
        ReadBeforeLoss(notifications);
        break;
      case Received::kFailure:
        Lose(0, notifications);
        return Pause(kPauseMilliseconds, false);
    }
  }
  return true;
}

// Receives one datagram, and reads it if it is from the kernel.
Watch::Received Watch::ReceiveOne(Notifications* notifications) {
  sockaddr_nl from{};
  socklen_t from_size = sizeof(from);
  // With MSG_TRUNC the result is the length of the datagram, however much of it fits.
  const ssize_t received = recvfrom(socket_.get(), datagram_.data(), datagram_.size(), MSG_TRUNC,
                                    reinterpret_cast<sockaddr*>(&from), &from_size);
  if (received < 0) {
    if (errno == EINTR) return Received::kDatagram;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Received::kNothing;
    return errno == ENOBUFS ? Received::kOverflow : Received::kFailure;
  }
  // Port 0 is the kernel: others with CAP_NET_ADMIN may send to the groups, too.
  if (from.nl_pid != 0) return Received::kDatagram;
  const auto length = static_cast<size_t>(received);
  if (length <= datagram_.size()) {
    Append(notifications, ReadNotifications(datagram_.data(), length, read_), most_bytes_);
  } else {
    Lose(1, notifications);
    datagram_ = std::vector<uint8_t>(std::min(std::max(length, 2 * datagram_.size()), kLongestDatagram));
  }
  return Received::kDatagram;
}

// Reads the queue to its end after an overflow. The notifications in it are older than those that were
// dropped; and the kernel drops all that follow, without another ENOBUFS, until the queue is empty
// (NETLINK_S_CONGESTED). A listing is as new as the notifications that follow only if it is made after that.
void Watch::ReadBeforeLoss(Notifications* notifications) {
  for (int i = 0; i < most_queued_; i++) {
    const Received received = ReceiveOne(notifications);
    if (received == Received::kNothing || received == Received::kFailure) break;
  }
  uint32_t drops = drops_;
  static_cast<void>(ReadDrops(&drops));
  // The counter of the kernel may wrap.
  Lose(static_cast<uint32_t>(drops - drops_), notifications);
  drops_ = drops;
}

void Watch::Lose(uint64_t dropped, Notifications* notifications) {
  Notifications loss;
  loss.lost = true;
  loss.dropped = dropped;
  Append(notifications, std::move(loss), most_bytes_);
  if (on_lost_) on_lost_();
}

// The notifications that the kernel has not queued, since the socket was opened. Linux 4.12.
bool Watch::ReadDrops(uint32_t* out) const {
  std::array<uint32_t, SK_MEMINFO_VARS> numbers{};
  socklen_t length = sizeof(numbers);
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_MEMINFO, numbers.data(), &length) < 0) return false;
  if (length < (SK_MEMINFO_DROPS + 1) * sizeof(uint32_t)) return false;
  *out = numbers[SK_MEMINFO_DROPS];
  return true;
}

void Watch::Report(Notifications notifications) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Append(&pending_, std::move(notifications), most_bytes_);
    if (std::exchange(reported_, true)) return;
  }
  ready_();
}

// Waits for the time to pass (-1: for ever) or, if asked, a notification. False when the watch is to end.
bool Watch::Pause(int milliseconds, bool for_notifications) {
  std::array<pollfd, 2> wanted{pollfd{stop_.get(), POLLIN, 0}, pollfd{socket_.get(), POLLIN, 0}};
  // A signal ends the wait early, which does no harm.
  const int ready = poll(wanted.data(), for_notifications ? 2 : 1, milliseconds);
  return ready <= 0 || wanted[0].revents == 0;
}

}  // namespace knp::netlink
