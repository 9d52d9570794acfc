#include "rtnetlink/watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "rtnetlink/client.h"
#include "rtnetlink/codec.h"

namespace knp::rtnetlink {
namespace {

using netlink::Descriptor;
using netlink::Message;
using netlink::MessageReader;
using netlink::NetworkNamespace;
using netlink::Status;
using Clock = std::chrono::steady_clock;

// Room for some thousand notifications, as far as the kernel grants it.
constexpr int kReceiveBuffer = 1 << 20;
// A longer notification, as that of a link with very many virtual functions, is cut off and counts as lost.
constexpr size_t kDatagram = size_t{16} * 1024;
// Pause after an unexpected error, before the next try.
constexpr int kPauseMilliseconds = 1000;

uint32_t GroupBit(uint32_t group) {
  return 1U << (group - 1);
}

void ReadLink(const Message& message, bool deleted, LinkNames* names, Changes* changes) {
  changes->kinds |= kLinksChanged;
  Event event;
  event.kind = EventKind::kLink;
  event.deleted = deleted;
  ifinfomsg header{};
  if (!message.ReadHeader(&header) || !DecodeLink(message, &event.link).ok()) {
    changes->kinds |= kChangesLost;
    return;
  }
  // A bridge notifies of its ports, too: RTM_DELLINK then means that the link is no port any more.
  if (header.ifi_family != AF_UNSPEC) return;
  if (deleted) {
    names->erase(event.link.index);
  } else {
    std::string& name = (*names)[event.link.index];
    // Addresses were reported under the former name, and are not reported again.
    if (!name.empty() && name != event.link.name) changes->kinds |= kChangesLost;
    name = event.link.name;
  }
  changes->events.push_back(std::move(event));
}

void ReadAddress(const Message& message, bool deleted, const LinkNames& names, Changes* changes) {
  changes->kinds |= kAddressesChanged;
  Event event;
  event.kind = EventKind::kAddress;
  event.deleted = deleted;
  const Status status = DecodeAddress(message, &event.address.address);
  const auto name = names.find(event.address.address.link_index);
  if (!status.ok() || name == names.end()) {
    changes->kinds |= kChangesLost;
    return;
  }
  event.address.link = name->second;
  changes->events.push_back(std::move(event));
}

// Names of the links that are there already. The kernel notifies of all others.
Status ListNames(const std::string& network_namespace, std::chrono::milliseconds timeout, LinkNames* names) {
  Client client;
  Status status = client.Open(network_namespace, timeout);
  if (!status.ok()) return status;
  std::vector<Link> links;
  status = client.ListLinks(&links);
  for (const Link& link : links) names->emplace(link.index, link.name);
  return status;
}

}  // namespace

void Append(Changes* changes, Changes later) {
  changes->kinds |= later.kinds;
  if (changes->events.size() + later.events.size() > Changes::kMostEvents) changes->kinds |= kChangesLost;
  if ((changes->kinds & kChangesLost) != 0) {
    changes->events.clear();
    return;
  }
  std::move(later.events.begin(), later.events.end(), std::back_inserter(changes->events));
}

void ReadNotification(const Message& message, LinkNames* names, Changes* changes) {
  switch (message.type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      ReadLink(message, message.type == RTM_DELLINK, names, changes);
      break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
      ReadAddress(message, message.type == RTM_DELADDR, *names, changes);
      break;
    case NLMSG_ERROR:
    case NLMSG_OVERRUN:
      changes->kinds |= kChangesLost;
      break;
    default:
      break;
  }
}

void ReadNotifications(const uint8_t* data, size_t size, LinkNames* names, Changes* changes) {
  Changes read;
  MessageReader messages(data, size);
  Message message;
  while (messages.Next(&message)) ReadNotification(message, names, &read);
  if (messages.malformed()) read.kinds |= kChangesLost;
  Append(changes, std::move(read));
}

Status Watch::Open(const std::string& network_namespace, std::chrono::milliseconds timeout) {
  NetworkNamespace where;
  Status status = NetworkNamespace::Open(network_namespace, &where);
  if (!status.ok()) return status;
  Descriptor socket;
  status = where.OpenSocket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_ROUTE, &socket);
  if (!status.ok()) return status;
  // Both are optional: the second one needs CAP_NET_ADMIN, watching does not.
  static_cast<void>(setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer)));
  static_cast<void>(
      setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof(kReceiveBuffer)));
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  own.nl_groups = GroupBit(RTNLGRP_LINK) | GroupBit(RTNLGRP_IPV4_IFADDR) | GroupBit(RTNLGRP_IPV6_IFADDR);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof(own)) < 0) {
    return Status::Errno(errno, "cannot subscribe to notifications");
  }
  LinkNames names;
  status = ListNames(network_namespace, timeout, &names);
  if (!status.ok()) return status;
  Descriptor stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.open()) return Status::Errno(errno, "eventfd");
  socket_ = std::move(socket);
  stop_ = std::move(stop);
  names_ = std::move(names);
  return {};
}

Status Watch::Start(std::chrono::milliseconds gather, std::function<void(Changes)> report) {
  if (running_ || !socket_.open()) return Status::Errno(EINVAL, "not open, or started already");
  gather_ = gather;
  report_ = std::move(report);
  // Not std::thread: it reports failure by an exception.
  const int error = pthread_create(&thread_, nullptr, RunThread, this);
  if (error != 0) return Status::Errno(error, "cannot start a thread to watch with");
  running_ = true;
  return {};
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
  Changes changes;
  while (AwaitChanges(&changes)) report_(std::move(changes));
}

// Waits for a first change, and then gathers more for the time of gather_. False when the watch is to end.
bool Watch::AwaitChanges(Changes* changes) {
  *changes = {};
  while (changes->kinds == 0) {
    if (!Pause(-1, true)) return false;
    if (!Receive(changes)) return false;
  }
  const Clock::time_point end = Clock::now() + gather_;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return true;
    if (!Pause(static_cast<int>(left), true)) return false;
    if (!Receive(changes)) return false;
  }
}

// Reads the queued notifications, up to a bound, so that a steady stream is reported too. False when the
// watch is to end.
bool Watch::Receive(Changes* changes) {
  constexpr int kMostAtOnce = 1000;
  alignas(nlmsghdr) std::array<uint8_t, kDatagram> datagram;
  for (int i = 0; i < kMostAtOnce; i++) {
    sockaddr_nl from{};
    socklen_t from_size = sizeof(from);
    const ssize_t received = recvfrom(socket_.get(), datagram.data(), datagram.size(), 0,
                                      reinterpret_cast<sockaddr*>(&from), &from_size);
    if (received >= 0) {
      // Port 0 is the kernel: others with CAP_NET_ADMIN may send to the groups, too.
      if (from.nl_pid != 0) continue;
      ReadNotifications(datagram.data(), static_cast<size_t>(received), &names_, changes);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno == ENOBUFS) {
      changes->kinds |= kChangesLost;
    } else if (errno != EINTR) {
      changes->kinds |= kChangesLost;
      return Pause(kPauseMilliseconds, false);
    }
  }
  return true;
}

// Waits for the time to pass (-1: for ever) or, if asked, a notification. False when the watch is to end.
bool Watch::Pause(int milliseconds, bool for_notifications) {
  std::array<pollfd, 2> wanted{pollfd{stop_.get(), POLLIN, 0}, pollfd{socket_.get(), POLLIN, 0}};
  // A signal ends the wait early, which does no harm.
  const int ready = poll(wanted.data(), for_notifications ? 2 : 1, milliseconds);
  return ready <= 0 || wanted[0].revents == 0;
}

}  // namespace knp::rtnetlink
