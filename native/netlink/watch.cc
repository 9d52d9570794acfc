#include "netlink/watch.h"

#include <linux/netlink.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace knp::netlink {
namespace {

using Clock = std::chrono::steady_clock;

// Room for some thousand notifications, as far as the kernel grants it.
constexpr int kReceiveBuffer = 1 << 20;
// A longer notification is cut off and counts as lost. The longest known one, of a link with 256 virtual
// functions, has about 40 KiB.
constexpr size_t kLongestNotification = size_t{64} * 1024;
// Datagrams that are read before they are reported, so that a steady stream is reported too.
constexpr int kMostAtOnce = 1000;
// More datagrams than the receive buffer has room for.
constexpr int kMostQueued = 1 << 16;
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

// The size of a datagram from the kernel, 0 for one of another sender, negative with errno.
ssize_t ReceiveFromKernel(int fd, std::vector<uint8_t>* datagram) {
  sockaddr_nl from{};
  socklen_t from_size = sizeof(from);
  const ssize_t received =
      recvfrom(fd, datagram->data(), datagram->size(), 0, reinterpret_cast<sockaddr*>(&from), &from_size);
  // Port 0 is the kernel: others with CAP_NET_ADMIN may send to the groups, too.
  return received >= 0 && from.nl_pid != 0 ? 0 : received;
}

}  // namespace

void Append(Notifications* notifications, Notifications later) {
  const size_t bytes = notifications->records.size() + later.records.size();
  notifications->lost = notifications->lost || later.lost || bytes > Notifications::kMostBytes;
  if (notifications->lost) {
    notifications->records = std::vector<uint8_t>();  // and frees them, which clear() would not
  } else if (notifications->records.empty()) {
    notifications->records = std::move(later.records);
  } else {
    notifications->records.insert(notifications->records.end(), later.records.begin(), later.records.end());
  }
}

void ReadNotifications(const uint8_t* data, size_t size, const NotificationReader& read,
                       Notifications* notifications) {
  Notifications found;
  MessageReader messages(data, size);
  Message message;
  while (messages.Next(&message)) {
    if (message.type == NLMSG_ERROR || message.type == NLMSG_OVERRUN) {
      found.lost = true;
    } else {
      read(message, &found);
    }
  }
  if (messages.malformed()) found.lost = true;
  Append(notifications, std::move(found));
}

Status Watch::Join(const WatchOptions& options, NotificationReader read) {
  if (running_) return Status::Errno(EINVAL, "started already");
  NetworkNamespace where;
  Status status = NetworkNamespace::Open(options.network_namespace, &where);
  if (!status.ok()) return status;
  Descriptor socket;
  status = where.OpenSocket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, options.protocol, &socket);
  if (!status.ok()) return status;
  // Both are optional: the second one needs CAP_NET_ADMIN, watching may not.
  static_cast<void>(setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer)));
  static_cast<void>(
      setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof(kReceiveBuffer)));
  status = JoinGroups(socket.get(), options.groups);
  if (!status.ok()) return status;
  Descriptor stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.open()) return Status::Errno(errno, "eventfd");
  socket_ = std::move(socket);
  stop_ = std::move(stop);
  read_ = std::move(read);
  datagram_.resize(kLongestNotification);
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

void Watch::Stop() {
  if (!running_) return;
  const uint64_t one = 1;
  static_cast<void>(!write(stop_.get(), &one, sizeof(one)));
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

// Waits for a first notification, and then gathers more for the time of gather_. False when the watch is to
// end.
bool Watch::Gather(Notifications* notifications) {
  while (notifications->empty()) {
    if (!Pause(-1, true)) return false;
    if (!Receive(notifications)) return false;
  }
  const Clock::time_point end = Clock::now() + gather_;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return true;
    if (!Pause(static_cast<int>(left), true)) return false;
    if (!Receive(notifications)) return false;
  }
}

// Reads the queued notifications, up to a bound. False when the watch is to end.
bool Watch::Receive(Notifications* notifications) {
  for (int i = 0; i < kMostAtOnce; i++) {
    const ssize_t received = ReceiveFromKernel(socket_.get(), &datagram_);
    if (received > 0) {
      ReadNotifications(datagram_.data(), static_cast<size_t>(received), read_, notifications);
    } else if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return true;
    } else if (received < 0 && errno != EINTR) {
      const bool overflow = errno == ENOBUFS;
      Append(notifications, Notifications{{}, true});
      if (!overflow) return Pause(kPauseMilliseconds, false);
      Discard();
    }
  }
  return true;
}

// Reads the queue to its end after an overflow. The notifications in it are older than those that were
// dropped; and the kernel drops all that follow, without another ENOBUFS, until the queue is empty
// (NETLINK_S_CONGESTED). A listing is as new as the notifications that follow only if it is made after that.
void Watch::Discard() {
  for (int i = 0; i < kMostQueued; i++) {
    const ssize_t received = ReceiveFromKernel(socket_.get(), &datagram_);
    if (received < 0 && errno != EINTR && errno != ENOBUFS) return;
  }
}

void Watch::Report(Notifications notifications) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Append(&pending_, std::move(notifications));
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
