// Notices changes of the links and addresses of a network namespace: a socket subscribed to the kernel's
// notifications, and a thread that reads them and names the link of each address.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "netlink/message_reader.h"
#include "netlink/network_namespace.h"
#include "netlink/status.h"
#include "rtnetlink/types.h"

namespace knp::rtnetlink {

// Changes since they were taken last.
struct Changes {
  uint8_t kinds = 0;          // a sum of Change
  std::vector<Event> events;  // complete unless kinds has kChangesLost

  // Events beyond this bound are lost: a reader that is this far behind had better list everything.
  static constexpr size_t kMostEvents = 4096;
};

// Adds later changes.
void Append(Changes* changes, Changes later);

// Name of each link by its index, from the notifications.
using LinkNames = std::map<int32_t, std::string>;

// Reads one notification; nothing where it is of another kind.
void ReadNotification(const netlink::Message& message, LinkNames* names, Changes* changes);
// Reads a whole datagram; kChangesLost where it is malformed, or names a link that is not known.
void ReadNotifications(const uint8_t* data, size_t size, LinkNames* names, Changes* changes);

class Watch {
 public:
  Watch() = default;
  ~Watch() { Stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Subscribes in the network namespace at this path (empty: that of the process), and lists its links, for
  // which the timeout is. Later changes are noticed.
  netlink::Status Open(const std::string& network_namespace, std::chrono::milliseconds timeout);

  // Starts to call `report(changes)`, on a thread of its own: once for everything within `gather` of a first
  // change. `report` must not throw.
  netlink::Status Start(std::chrono::milliseconds gather, std::function<void(Changes)> report);

  // Ends the thread and waits for its end: microseconds, and the time of `report`. No call is made after it.
  // May be called at any time, by one thread at a time.
  void Stop();

 private:
  static void* RunThread(void* watch);
  void Run();
  bool AwaitChanges(Changes* changes);
  bool Receive(Changes* changes);
  bool Pause(int milliseconds, bool for_notifications);

  netlink::Descriptor socket_;
  netlink::Descriptor stop_;  // an eventfd, readable once the thread is to end
  std::chrono::milliseconds gather_{0};
  std::function<void(Changes)> report_;
  LinkNames names_;
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace knp::rtnetlink
