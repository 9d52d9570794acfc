// Notifications of the kernel: a socket that has joined multicast groups, and a thread that reads it and
// keeps what it reads until it is taken.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "netlink/message_reader.h"
#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::netlink {

// Notifications since they were taken last.
struct Notifications {
  std::vector<uint8_t> records;  // of the family, for JavaScript; none when some were lost
  bool lost = false;

  // Records beyond this bound are lost: a reader that is this far behind had better list everything.
  static constexpr size_t kMostBytes = size_t{4} << 20;

  bool empty() const { return records.empty() && !lost; }
};

// Adds later notifications.
void Append(Notifications* notifications, Notifications later);

// Appends the records of one notification, or reports a loss; does nothing for a message of another kind.
using NotificationReader = std::function<void(const Message&, Notifications*)>;

// Reads a whole datagram. A loss where it is malformed, or has an error instead of a notification.
void ReadNotifications(const uint8_t* data, size_t size, const NotificationReader& read,
                       Notifications* notifications);

// The groups of a watch.
struct WatchOptions {
  std::string network_namespace;  // path; empty: that of the process
  int protocol = 0;               // NETLINK_ROUTE
  std::vector<uint32_t> groups;   // RTNLGRP_LINK
};

class Watch {
 public:
  Watch() = default;
  ~Watch() { Stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Joins the groups. Every later notification is read, from Start() on. `read` is called on the watch's
  // thread, and by nobody else. EPERM for a group that needs a capability, ENOENT for one that does not
  // exist.
  Status Join(const WatchOptions& options, NotificationReader read);

  // Starts to read, on a thread of its own, and to call `ready` on it: when there is something to take, and
  // not again before Take(). Everything within `gather` of a first notification makes one call. `ready` must
  // not throw.
  Status Start(std::chrono::milliseconds gather, std::function<void()> ready);

  // The notifications since the last call; may be empty. Any thread may call.
  Notifications Take();

  // Ends the thread and waits for its end: microseconds, and the time of `ready`. No call is made after it.
  // May be called at any time, by one thread at a time.
  void Stop();

 private:
  static void* RunThread(void* watch);
  void Run();
  bool Gather(Notifications* notifications);
  bool Receive(Notifications* notifications);
  void Discard();
  void Report(Notifications notifications);
  bool Pause(int milliseconds, bool for_notifications);

  Descriptor socket_;
  Descriptor stop_;  // an eventfd, readable once the thread is to end
  NotificationReader read_;
  std::vector<uint8_t> datagram_;
  std::chrono::milliseconds gather_{0};
  std::function<void()> ready_;
  pthread_t thread_{};
  bool running_ = false;

  std::mutex mutex_;  // of the two below
  Notifications pending_;
  bool reported_ = false;
};

}  // namespace knp::netlink
