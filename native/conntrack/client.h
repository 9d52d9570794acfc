// The flows of one network namespace: codec plus socket. Every method blocks; call it off the event loop. Any
// thread may call, one at a time is let through.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "conntrack/types.h"
#include "netlink/batch.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::conntrack {

// The result of a deletion by filter. A flow that was gone already is in neither part.
struct Deletion {
  uint32_t deleted = 0;
  std::vector<netlink::Failure> failures;  // each by its place in `failed`
  std::vector<Flow> failed;
};

class Client {
 public:
  // Opens the socket in the network namespace at this path (empty: that of the process). The kernel loads
  // nf_conntrack_netlink by itself; EINVAL when it cannot.
  netlink::Status Open(const std::string& network_namespace, std::chrono::milliseconds timeout);

  // The flows that any of the filters selects, each once. Not a consistent snapshot: the kernel offers none.
  // With `partial`, a listing that was cut short (kInterrupted) returns the flows read so far.
  netlink::Status List(const std::vector<Filter>& filters, bool partial, std::vector<Flow>* out);

  // Deletes the flows that the filter selects. EINVAL, and nothing is sent, for a filter that does not
  // satisfy Narrows(). A failure to list them is the status; a failure to delete one is part of the result.
  netlink::Status Delete(const Filter& filter, Deletion* out);

  // Deletes flows by name; returns those that could not be. One that is gone already is no failure.
  std::vector<netlink::Failure> DeleteFlows(const std::vector<Flow>& flows);

 private:
  class Listing;

  netlink::Status Dump(const Filter& filter, Listing* listing);
  std::vector<netlink::Failure> Send(const std::vector<Flow>& flows);

  std::mutex mutex_;
  netlink::Socket socket_;
};

}  // namespace knp::conntrack
