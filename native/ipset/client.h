// ipset of one network namespace: listings over a socket of our own, changes through libipset. Every method
// blocks; call it off the event loop. Any thread may call: one listing is let through at a time, and one
// batch of changes in the whole process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ipset/types.h"
#include "netlink/batch.h"
#include "netlink/exchange.h"
#include "netlink/message_builder.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::ipset {

class Client {
 public:
  // Opens the socket in the network namespace at this path (empty: that of the process). Does not load
  // libipset. The timeout bounds listings; libipset has none.
  netlink::Status Open(const std::string& network_namespace, std::chrono::milliseconds timeout);

  // Every set, without entries.
  netlink::Status List(std::vector<SetState>* out);
  // One set with its entries; ENOENT when there is none.
  netlink::Status Get(const std::string& name, SetState* out);

  // Carries the operations out in their order; returns those that failed.
  std::vector<netlink::Failure> Apply(const std::vector<Operation>& operations);
  // Whether the set of one operation has its entry, or matches it (IPSET_CMD_TEST).
  netlink::Status Test(const std::vector<Operation>& operation, bool* found);

  // The types among those named that the kernel supports; it loads their modules.
  netlink::Status Types(const std::vector<std::string>& names, std::vector<TypeSupport>* out);
  netlink::Status Protocol(ProtocolVersions* out);

 private:
  // Runs `work`, which uses libipset, in the network namespace of the client.
  netlink::Status RunInside(const std::function<void()>& work);
  netlink::Status Query(std::vector<uint8_t>* request, const netlink::ReplyHandler& on_reply);
  netlink::Status Dump(std::vector<uint8_t>* request, std::vector<SetState>* out);

  std::mutex mutex_;
  std::shared_ptr<const netlink::NetworkNamespace> network_namespace_ =
      std::make_shared<const netlink::NetworkNamespace>();
  netlink::Socket socket_;
};

}  // namespace knp::ipset
