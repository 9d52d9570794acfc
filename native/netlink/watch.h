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
  std::vector<uint8_t> records;  // of the family, for JavaScript; of those before the first loss
  uint64_t count = 0;            // of notifications that have records
  bool lost = false;             // later ones were lost, and no more are added
  uint64_t dropped = 0;          // number of those that were lost, as far as it is known

  bool empty() const { return records.empty() && !lost; }
};

// Adds later notifications. Records beyond `most_bytes` are lost: a reader that is this far behind had better
// list everything.
void Append(Notifications* notifications, Notifications later, size_t most_bytes);

// Appends the records of one notification, or reports a loss; does nothing for a message of another kind.
using NotificationReader = std::function<void(const Message&, Notifications*)>;

// The notifications of a whole datagram. A loss where it is malformed, or has an error instead of a
// notification.
Notifications ReadNotifications(const uint8_t* data, size_t size, const NotificationReader& read);

// The groups of a watch.
struct WatchOptions {
  SharedNamespace network_namespace;
  int protocol = 0;              // NETLINK_ROUTE
  std::vector<uint32_t> groups;  // RTNLGRP_LINK
};

class Watch {
 public:
  Watch() = default;
  ~Watch() { Stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The size of the socket's receive buffer, in bytes, before Join(); after it, what the kernel has granted:
  // without CAP_NET_ADMIN not more than net.core.rmem_max. The kernel counts its own structures twice that
  // size.
  void SetReceiveBuffer(int size) { receive_buffer_ = size; }
  int receive_buffer() const { return receive_buffer_; }

  // Joins the groups. Every later notification is read, from Start() on. `read` is called on the watch's
  // thread, and by nobody else; and so is `on_lost` after the kernel has dropped notifications, when those
  // before them were read. EPERM for a group that needs a capability, ENOENT for one that does not exist.
  Status Join(const WatchOptions& options, NotificationReader read, std::function<void()> on_lost = {});
  // The same with a socket that has joined already.
  Status Adopt(Descriptor socket, NotificationReader read, std::function<void()> on_lost = {});

  // Starts to read, on a thread of its own, and to call `ready` on it: when there is something to take, and
  // not again before Take(). Everything within `gather` of a first notification makes one call, unless it is
  // so much that half of the room for it is full, or some was lost. `ready` must not throw.
  Status Start(std::chrono::milliseconds gather, std::function<void()> ready);

  // The notifications since the last call; may be empty. Any thread may call.
  Notifications Take();

  // Makes the thread end, after the call of `read`, `on_lost` or `ready` that it makes now. Does not wait for
  // it.
  void RequestStop() const;
  // Ends the thread and waits for its end: microseconds, and the time of such a call, which may wait for a
  // lock of the kernel. No call is made after it. Any thread may call at any time, but not the watch's own.
  void Stop();

 private:
  // What one attempt to receive has found.
  enum class Received : uint8_t { kDatagram, kNothing, kOverflow, kFailure };

  static void* RunThread(void* watch);
  void Run();
  bool Gather(Notifications* notifications);
  bool Receive(Notifications* notifications);
  Received ReceiveOne(Notifications* notifications);
  void ReadBeforeLoss(Notifications* notifications);
  void Lose(uint64_t dropped, Notifications* notifications);
  bool ReadDrops(uint32_t* out) const;
  void Report(Notifications notifications);
  bool Pause(int milliseconds, bool for_notifications);

  Descriptor socket_;
  Descriptor stop_;  // an eventfd, readable once the thread is to end
  NotificationReader read_;
  std::function<void()> on_lost_;
  int receive_buffer_ = 1 << 20;  // room for some thousand notifications
  size_t most_bytes_ = 0;         // of records that wait to be taken
  int most_queued_ = 0;           // more datagrams than the receive buffer has room for
  uint32_t drops_ = 0;            // of the socket, as far as they were reported
  std::vector<uint8_t> datagram_;
  std::chrono::milliseconds gather_{0};
  std::function<void()> ready_;

  std::mutex stopping_;  // of the two below, once the thread has started
  pthread_t thread_{};
  bool running_ = false;

  std::mutex mutex_;  // of the two below
  Notifications pending_;
  bool reported_ = false;
};

}  // namespace knp::netlink
