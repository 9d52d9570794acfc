// Notices that links or addresses of a network namespace changed: a socket subscribed to the kernel's
// notifications, and a thread that reads them. It tells that something changed, not what: who wants to know
// looks, as after every loss of notifications anyway.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "netlink/message_reader.h"
#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::rtnetlink {

// What changed: a sum of these.
enum Change : uint8_t {
  kLinksChanged = 1,
  kAddressesChanged = 2,
  kChangesLost = 4,  // anything may have changed: notifications were dropped, or could not be read
};

// What a notification tells of; 0 for none of this.
uint8_t ReadNotification(const netlink::Message& message);
// The same for a whole datagram; kChangesLost where it is malformed.
uint8_t ReadNotifications(const uint8_t* data, size_t size);

class Watch {
 public:
  Watch() = default;
  ~Watch() { Stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Subscribes in the network namespace at this path (empty: that of the process). What changes from here on
  // is noticed.
  netlink::Status Open(const std::string& network_namespace);

  // Starts to call `tell(changes)`, on a thread of its own: once for everything within `gather` of a first
  // change. Nothing that it does may throw.
  netlink::Status Start(std::chrono::milliseconds gather, std::function<void(uint8_t)> tell);

  // Ends the thread and waits for that, which is a matter of microseconds beside what `tell` takes. No call
  // is made after it. May be called at any time, by one thread at a time.
  void Stop();

 private:
  static void* RunThread(void* watch);
  void Run();
  bool AwaitChanges(uint8_t* changes);
  bool Receive(uint8_t* changes);
  bool Pause(int milliseconds, bool for_notifications);

  netlink::Descriptor socket_;
  netlink::Descriptor stop_;  // an eventfd, readable once the thread is to end
  std::chrono::milliseconds gather_{0};
  std::function<void(uint8_t)> tell_;
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace knp::rtnetlink
