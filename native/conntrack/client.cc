#include "conntrack/client.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <unordered_map>
#include <utility>

#include "conntrack/codec.h"
#include "conntrack/filter.h"
#include "conntrack/settings.h"
#include "netlink/exchange.h"

namespace knp::conntrack {
namespace {

using netlink::Failure;
using netlink::FailureKind;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::Status;

// No such flow, or another one with the same tuple.
bool IsGone(const Failure& failure) {
  return failure.status.is_errno(ENOENT);
}

bool Encode(MessageBuilder* builder, const Operation& operation) {
  switch (operation.verb) {
    case Verb::kAddFlow:
      return EncodeAdd(builder, operation);
    case Verb::kUpdateFlow:
      return EncodeUpdate(builder, operation);
    case Verb::kDeleteFlow:
      break;
  }
  return EncodeDelete(builder, operation.flow);
}

// An update does not compare the id, and must not clear a bit of the status (EBUSY).
bool NeedsLookUp(const Operation& operation) {
  if (operation.verb != Verb::kUpdateFlow) return false;
  return operation.flow.id != 0 || (operation.given & kGivesStatus) != 0;
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

Status Client::Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Status status = netlink::OpenSockets({network_namespace, NETLINK_NETFILTER, timeout},
                                       {{&socket_, netlink::kLargestPart}});
  if (!status.ok()) return status;
  network_namespace_ = network_namespace;
  return netlink::Query(&socket_, EncodeGetStatistics, [](const Message&) { return Status{}; });
}

Status Client::List(const std::vector<Filter>& filters, const ListOptions& options, std::vector<Flow>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Listing listing(filters);
  // The kernel filters no other table.
  const bool is_filtered = options.table == Table::kConntrack;
  for (const Filter& filter : is_filtered ? PlanDumps(filters) : std::vector<Filter>(1)) {
    Status status = ListInto(filter, options, &listing);
    if (!status.ok() && !(options.partial && status.kind == FailureKind::kInterrupted)) return status;
  }
  *out = listing.Take();
  return {};
}

Status Client::Get(const Flow& name, bool zero_counters, std::vector<Flow>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // With the id, the kernel may have another flow, whose counters must stay.
  if (zero_counters && name.id != 0) {
    Flow found;
    Status status = Query(name, false, &found);
    if (!status.ok()) return status;
  }
  return Query(name, zero_counters, &out->emplace_back());
}

Status Client::Delete(const Filter& filter, Deletion* out) {
  *out = {};
  if (!Narrows(filter)) return Status::Errno(EINVAL, "a deletion must have a condition that narrows it");
  // Linux 6.11 can delete by a filter. That is not used: it does not return the number of deleted flows, and
  // may compare IPv6 addresses wrongly (see KernelPart).
  std::vector<Flow> flows;
  Status status = List({filter}, {}, &flows);
  if (!status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  netlink::Batch batch(&socket_);
  for (size_t i = 0; i < flows.size(); i++) {
    batch.Add(static_cast<uint32_t>(i),
              [&](MessageBuilder* builder) { return EncodeDelete(builder, flows[i]); });
  }
  std::vector<Failure> failures = batch.Finish();
  out->deleted = static_cast<uint32_t>(flows.size() - failures.size());
  for (Failure& failure : failures) {
    if (IsGone(failure)) continue;
    out->failed.push_back(flows[failure.index]);
    failure.index = static_cast<uint32_t>(out->failures.size());
    out->failures.push_back(std::move(failure));
  }
  return {};
}

std::vector<Failure> Client::Apply(std::vector<Operation> operations) {
  const std::lock_guard<std::mutex> lock(mutex_);
  netlink::Batch batch(&socket_);
  for (size_t i = 0; i < operations.size(); i++) {
    const auto index = static_cast<uint32_t>(i);
    Operation& operation = operations[i];
    if (NeedsLookUp(operation)) {
      batch.Flush();  // the operations before it may be about the same flow
      Flow found;
      Status status = Query(operation.flow, false, &found);
      if (!status.ok()) {
        batch.Fail(index, std::move(status));
        continue;
      }
      operation.flow.status |= found.status;
    }
    batch.Add(index, [&](MessageBuilder* builder) { return Encode(builder, operation); });
  }
  std::vector<Failure> failures = batch.Finish();
  const auto is_done = [&](const Failure& failure) {
    return operations[failure.index].verb == Verb::kDeleteFlow && IsGone(failure);
  };
  failures.erase(std::remove_if(failures.begin(), failures.end(), is_done), failures.end());
  return failures;
}

Status Client::Flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return netlink::Command(&socket_, EncodeFlush);
}

Status Client::ReadStatistics(Statistics* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Status status = netlink::Query(&socket_, EncodeGetStatistics,
                                 [&](const Message& reply) { return DecodeStatistics(reply, out); });
  if (!status.ok()) return status;
  const auto restart = [&] { out->cpus.clear(); };
  return netlink::Dump(&socket_, EncodeListCpus, restart,
                       [&](const Message& reply) { return DecodeCpu(reply, &out->cpus.emplace_back()); });
}

Status Client::ListExpectations(std::vector<Expectation>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto restart = [&] { out->clear(); };
  return netlink::Dump(&socket_, EncodeListExpectations, restart,
                       [&](const Message& reply) { return DecodeExpectation(reply, &out->emplace_back()); });
}

Status Client::ReadCapabilities(Capabilities* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!network_namespace_) return Status::Errno(EBADF);
  Status status = ReadSettings(*network_namespace_, &out->settings);
  if (!status.ok()) return status;
  Flow nothing;  // that a kernel with zones does not find
  nothing.family = AF_INET;
  nothing.protocol = IPPROTO_RAW;
  nothing.zone = 1;
  Flow found;
  status = Query(nothing, false, &found);
  if (!status.ok() && !status.is_errno(ENOENT) && !status.is_errno(EOPNOTSUPP)) return status;
  out->zones = !status.is_errno(EOPNOTSUPP);
  status = netlink::Command(&socket_, EncodeDeleteNothing);
  out->delete_by_filter = status.ok();
  return status.is_errno(ENOENT) ? Status{} : status;
}

Status Client::ListInto(const Filter& filter, const ListOptions& options, Listing* listing) {
  const auto encode = [&](MessageBuilder* builder) {
    return EncodeList(builder, filter, options.table, options.zero_counters);
  };
  // The next attempt finds the same flows again.
  const auto restart = [] {};
  return netlink::Dump(&socket_, encode, restart, [&](const Message& reply) {
    Flow flow;
    Status status = DecodeFlow(reply, &flow);
    if (status.ok()) listing->Add(flow);
    return status;
  });
}

// The kernel does not compare the id.
Status Client::Query(const Flow& name, bool zero_counters, Flow* out) {
  const auto encode = [&](MessageBuilder* builder) { return EncodeGet(builder, name, zero_counters); };
  bool found = false;
  Status status = netlink::Query(&socket_, encode, [&](const Message& reply) {
    found = true;
    return DecodeFlow(reply, out);
  });
  if (!status.ok()) return status;
  return found && (name.id == 0 || name.id == out->id) ? Status{} : Status::Errno(ENOENT);
}

}  // namespace knp::conntrack
