// The flows of one network namespace: codec plus socket. Every method blocks; call it off the event loop. Any
// thread may call, one at a time is let through.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "conntrack/records.h"
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
  // Opens the socket. The kernel loads nf_conntrack_netlink by itself; EINVAL when it cannot.
  netlink::Status Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

  // The flows that any of the filters selects, each once. Not a consistent snapshot: the kernel offers none.
  // With `partial`, a listing that was cut short (kInterrupted) returns the flows read so far.
  netlink::Status List(const std::vector<Filter>& filters, const ListOptions& options,
                       std::vector<Flow>* out);

  // The flow with this original tuple, zone and, unless 0, id. ENOENT when there is none.
  netlink::Status Get(const Flow& name, bool zero_counters, std::vector<Flow>* out);

  // Deletes the flows that the filter selects. EINVAL, and nothing is sent, for a filter that does not
  // satisfy Narrows(). A failure to list them is the status; a failure to delete one is part of the result.
  netlink::Status Delete(const Filter& filter, Deletion* out);

  // Carries operations out; returns those that failed. The deletion of a flow that is gone is not a failure.
  // An update that names an id, or sets the status, first reads the flow.
  std::vector<netlink::Failure> Apply(std::vector<Operation> operations);

  // Deletes every flow of both families.
  netlink::Status Flush();

  netlink::Status ReadStatistics(Statistics* out);
  netlink::Status ListExpectations(std::vector<Expectation>* out);
  // What the kernel offers in the client's namespace, found without a change of anything.
  netlink::Status ReadCapabilities(Capabilities* out);

 private:
  class Listing;

  netlink::Status ListInto(const Filter& filter, const ListOptions& options, Listing* listing);
  netlink::Status Query(const Flow& name, bool zero_counters, Flow* out);

  std::mutex mutex_;
  netlink::SharedNamespace network_namespace_;
  netlink::Socket socket_;
};

}  // namespace knp::conntrack
