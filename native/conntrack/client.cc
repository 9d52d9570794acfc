#include "conntrack/client.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <unordered_map>
#include <utility>

#include "conntrack/codec.h"
#include "conntrack/filter.h"
#include "netlink/exchange.h"

namespace knp::conntrack {
namespace {

using netlink::Failure;
using netlink::Fault;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::Status;

// The largest part of a dump that the kernel makes.
constexpr size_t kDatagram = size_t{32} * 1024;

// No such flow, or another one with the same tuple.
bool IsGone(const Failure& failure) {
  return failure.status.is_errno(ENOENT);
}

}  // namespace

// Collects the selected flows, each once: dumps overlap, and a dump may list a flow twice, when the flow at
// which one of its parts ended is gone before the next part.
class Client::Listing {
 public:
  explicit Listing(const std::vector<Filter>& filters) : selector_(filters) {}

  void Add(const Flow& flow) {
    if (!selector_.Selects(flow)) return;
    // Ids are hashes: of two flows that share one, a repetition of the second may be missed.
    const auto [found, added] = places_.emplace(flow.id, flows_.size());
    if (added || !HaveOneName(flows_[found->second], flow)) flows_.push_back(flow);
  }

  std::vector<Flow> Take() { return std::move(flows_); }

 private:
  static bool HaveOneName(const Flow& a, const Flow& b) {
    return a.family == b.family && a.protocol == b.protocol && a.zone == b.zone &&
           a.original.source == b.original.source && a.original.destination == b.original.destination &&
           a.original.source_port == b.original.source_port &&
           a.original.destination_port == b.original.destination_port;
  }

  Selector selector_;
  std::vector<Flow> flows_;
  std::unordered_map<uint32_t, size_t> places_;  // in flows_, by id
};

Status Client::Open(const std::string& network_namespace, std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  netlink::SocketOptions options;
  options.protocol = NETLINK_NETFILTER;
  options.timeout = timeout;
  Status status = netlink::OpenSockets(network_namespace, &options, {{&socket_, kDatagram}});
  if (!status.ok()) return status;
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!EncodeGetStatistics(&builder)) return Status::Errno(EMSGSIZE);
  return netlink::Query(&socket_, &request, [](const Message&) { return Status{}; });
}

Status Client::List(const std::vector<Filter>& filters, bool partial, std::vector<Flow>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Listing listing(filters);
  for (const Filter& filter : PlanDumps(filters)) {
    Status status = Dump(filter, &listing);
    if (!status.ok() && !(partial && status.fault == Fault::kInterrupted)) return status;
  }
  *out = listing.Take();
  return {};
}

Status Client::Delete(const Filter& filter, Deletion* out) {
  *out = {};
  if (!Narrows(filter))
    return Status::Errno(EINVAL, "a deletion must name a family and an address or a port");
  // Linux 6.11 can delete by a filter. That is not used: it does not return the number of deleted flows, and
  // may compare IPv6 addresses wrongly (see KernelPart).
  std::vector<Flow> flows;
  Status status = List({filter}, false, &flows);
  if (!status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Failure> failures = Send(flows);
  out->deleted = static_cast<uint32_t>(flows.size() - failures.size());
  for (Failure& failure : failures) {
    if (IsGone(failure)) continue;
    out->failed.push_back(flows[failure.index]);
    failure.index = static_cast<uint32_t>(out->failures.size());
    out->failures.push_back(std::move(failure));
  }
  return {};
}

std::vector<Failure> Client::DeleteFlows(const std::vector<Flow>& flows) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Failure> failures = Send(flows);
  failures.erase(std::remove_if(failures.begin(), failures.end(), IsGone), failures.end());
  return failures;
}

Status Client::Dump(const Filter& filter, Listing* listing) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!EncodeList(&builder, filter)) return Status::Errno(EMSGSIZE);
  // The next attempt finds the same flows again.
  const auto restart = [] {};
  return netlink::Dump(&socket_, &request, restart, [&](const Message& reply) {
    Flow flow;
    Status status = DecodeFlow(reply, &flow);
    if (status.ok()) listing->Add(flow);
    return status;
  });
}

std::vector<Failure> Client::Send(const std::vector<Flow>& flows) {
  netlink::Batch batch(&socket_);
  for (size_t i = 0; i < flows.size(); i++) {
    batch.Add(static_cast<uint32_t>(i),
              [&](MessageBuilder* builder) { return EncodeDelete(builder, flows[i]); });
  }
  return batch.Finish();
}

}  // namespace knp::conntrack
