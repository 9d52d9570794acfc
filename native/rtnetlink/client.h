// Links and addresses of one network namespace: codec plus socket. Every method blocks; call it off the event
// loop. Any thread may call, one at a time is let through.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "netlink/batch.h"
#include "netlink/socket.h"
#include "netlink/status.h"
#include "rtnetlink/types.h"

namespace knp::rtnetlink {

class Client {
 public:
  // Opens the socket in the network namespace at this path (empty: that of the process).
  netlink::Status Open(const std::string& network_namespace, std::chrono::milliseconds timeout);

  netlink::Status ListLinks(std::vector<Link>* out);
  // ENODEV when there is none of that name.
  netlink::Status GetLink(const std::string& name, Link* out);
  // Both families; of every link when `link` is empty, else ENODEV when there is none of that name.
  netlink::Status ListAddresses(const std::string& link, std::vector<NamedAddress>* out);

  // Carries the operations out in their order; returns those that failed.
  std::vector<netlink::Failure> Apply(const std::vector<Operation>& operations);

 private:
  // The result of a batch's look-up of a name: the index, or the reason why there is none.
  struct Resolved {
    int32_t index = 0;
    netlink::Status status;
  };
  using Names = std::map<std::string, Resolved>;

  netlink::Status DumpLinks(std::vector<Link>* out);
  netlink::Status FindLink(const std::string& name, Link* out);
  static void ApplyToLink(uint32_t index, const Operation& operation, netlink::Batch* batch, Names* names);
  void ApplyToAddress(uint32_t index, const Operation& operation, netlink::Batch* batch, Names* names);

  std::mutex mutex_;
  netlink::Socket socket_;
};

}  // namespace knp::rtnetlink
