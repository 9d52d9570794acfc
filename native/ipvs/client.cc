#include "ipvs/client.h"

#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "genl/family.h"
#include "ipvs/codec.h"
#include "ipvs/proc_net.h"
#include "netlink/exchange.h"

namespace knp::ipvs {
namespace {

using netlink::Message;
using netlink::MessageBuilder;
using netlink::Status;

constexpr size_t kSmallDatagram = size_t{8} * 1024;

// A verb is the number of a command, and is from outside: others must be refused.
bool IsVerb(Verb verb) {
  switch (verb) {
    case Verb::kAddService:
    case Verb::kUpdateService:
    case Verb::kDeleteService:
    case Verb::kAddRealServer:
    case Verb::kUpdateRealServer:
    case Verb::kDeleteRealServer:
    case Verb::kStartDaemon:
    case Verb::kStopDaemon:
    case Verb::kSetTimeouts:
    case Verb::kZero:
    case Verb::kFlush:
      return true;
  }
  return false;
}

// Equal for equal names, for finding duplicates: the address and other fields.
using Name = std::array<uint8_t, 32>;

struct HashOfName {
  size_t operator()(const Name& name) const {
    const std::string_view bytes(reinterpret_cast<const char*>(name.data()), name.size());
    return std::hash<std::string_view>()(bytes);
  }
};

using Names = std::unordered_set<Name, HashOfName>;

Name NameOf(const AddressBytes& address, const std::array<uint32_t, 4>& fields) {
  Name name;
  static_assert(sizeof(address) + sizeof(fields) == sizeof(name));
  std::memcpy(name.data(), address.data(), sizeof(address));
  std::memcpy(name.data() + sizeof(address), fields.data(), sizeof(fields));
  return name;
}

Name NameOf(const Service& service) {
  const ServiceId& id = service.id;
  return NameOf(id.address, {id.family, id.protocol, id.port, id.firewall_mark});
}

Name NameOf(const ServiceState& state) {
  return NameOf(state.service);
}

Name NameOf(const RealServer& server) {
  return NameOf(server.address, {server.family, server.port, 0, 0});
}

Name NameOf(const RealServerState& state) {
  return NameOf(state.server);
}

}  // namespace

Status Client::Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  namespace_ = network_namespace;
  Status status = netlink::OpenSockets(
      {network_namespace, NETLINK_GENERIC, timeout},
      {{&commands_, kSmallDatagram}, {&services_, netlink::kLargestPart}, {&servers_, kSmallDatagram}});
  if (!status.ok()) return status;
  return LookUpFamily();
}

Status Client::LookUpFamily() {
  Status status = genl::LookUpFamily(&commands_, IPVS_GENL_NAME, &family_id_);
  if (status.is_errno(ENOENT)) status.message = kNoFamily;
  return status;
}

std::vector<netlink::Failure> Client::Apply(const OperationRecords& operations) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<netlink::Failure> failures = Send(operations);
  const auto is_missing = [](const netlink::Failure& failure) { return failure.status.is_errno(ENOENT); };
  if (std::any_of(failures.begin(), failures.end(), is_missing)) {
    // An object or a scheduler does not exist, or the family has another id now: see RetryAfterReload(). IPVS
    // lost its whole state with its module, so everything is sent again.
    const uint16_t before = family_id_;
    const Status looked_up = LookUpFamily();
    if (looked_up.ok() && family_id_ != before) failures = Send(operations);
    if (looked_up.is_errno(ENOENT)) {
      for (netlink::Failure& failure : failures) {
        if (is_missing(failure)) failure.status = looked_up;
      }
    }
  }
  Explain(operations, &failures);
  return failures;
}

// ip_vs_new_dest() asks for the type of an IPv4 address, which the kernel finds in the local table only.
void Client::Explain(const OperationRecords& operations, std::vector<netlink::Failure>* failures) const {
  const auto is_refused = [&](const netlink::Failure& failure) {
    const Operation operation = operations[failure.index];
    return operation.verb == Verb::kAddRealServer && operation.server.family == AF_INET &&
           failure.status.is_errno(EINVAL) && failure.status.message.empty();
  };
  if (std::none_of(failures->begin(), failures->end(), is_refused) || !LacksLocalTable(*namespace_)) return;
  for (netlink::Failure& failure : *failures) {
    if (is_refused(failure)) failure.status.message = kNoLocalTable;
  }
}

std::vector<netlink::Failure> Client::Send(const OperationRecords& operations) {
  netlink::Batch batch(&commands_);
  for (size_t i = 0; i < operations.size(); i++) {
    const Operation operation = operations[i];
    if (!IsVerb(operation.verb)) {
      batch.Fail(static_cast<uint32_t>(i), Status::Errno(EINVAL, "no such operation"));
      continue;
    }
    const auto add = [&](const Operation& message) {
      batch.Add(static_cast<uint32_t>(i),
                [&](MessageBuilder* builder) { return EncodeOperation(builder, family_id_, 0, message); });
    };
    if (operation.verb != Verb::kStopDaemon) {
      add(operation);
      continue;
    }
    // The kernel stops a thread that has not run yet with EINTR, and acknowledges no message that ends so
    // (netlink_rcv_skb). Timeouts without a value change nothing: their acknowledgement ends the load
    // instead.
    batch.Flush();
    add(operation);
    Operation nothing;
    nothing.verb = Verb::kSetTimeouts;
    add(nothing);
  }
  return batch.Finish();
}

Status Client::List(std::vector<ServiceState>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto add = [&](ServiceState service) { out->push_back(std::move(service)); };
  Status status = RetryAfterReload([&] { return DumpServices<ServiceState>([out] { out->clear(); }, add); });
  for (auto service = out->begin(); status.ok() && service != out->end(); service++) {
    status = DumpServersOf(&*service);
  }
  return status;
}

Status Client::ListServices(std::vector<uint8_t>* records) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto add = [&](const Service& service) { AppendService(service, records); };
  return RetryAfterReload([&] { return DumpServices<Service>([records] { records->clear(); }, add); });
}

Status Client::ListServers(const std::vector<ServiceId>& ids, std::vector<uint8_t>* records) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const ServiceId& id : ids) {
    const size_t begin = records->size();
    const auto restart = [&] {
      records->resize(begin);
      Service service;
      service.id = id;
      AppendService(service, records);
    };
    const auto add = [&](const RealServer& server) { AppendServer(server, begin, records); };
    Status status = RetryAfterReload([&] { return DumpServers<RealServer>(id, restart, add); });
    if (!status.ok()) return status;
  }
  return {};
}

Status Client::Get(const ServiceId& id, ServiceState* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool found = false;
  Status status = RetryAfterReload([&] {
    return netlink::Query(
        &commands_, [&](MessageBuilder* builder) { return EncodeGetService(builder, family_id_, id); },
        [&](const Message& reply) {
          found = true;
          return DecodeService(reply, out);
        });
  });
  if (!status.ok()) return status;
  if (!found) return Status::Of(netlink::FailureKind::kMalformedReply, "no virtual service in the reply");
  return DumpServersOf(out);
}

Status Client::GetInfo(Info* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return RetryAfterReload([&] {
    return netlink::Query(
        &commands_, [&](MessageBuilder* builder) { return EncodeGetInfo(builder, family_id_); },
        [&](const Message& reply) { return DecodeInfo(reply, out); });
  });
}

Status Client::GetTimeouts(Timeouts* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return RetryAfterReload([&] {
    return netlink::Query(
        &commands_, [&](MessageBuilder* builder) { return EncodeGetTimeouts(builder, family_id_); },
        [&](const Message& reply) { return DecodeTimeouts(reply, out); });
  });
}

Status Client::ListDaemons(std::vector<Daemon>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return RetryAfterReload([&] {
    return netlink::Dump(
        &commands_, [&](MessageBuilder* builder) { return EncodeListDaemons(builder, family_id_); },
        [&] { out->clear(); },
        [&](const Message& reply) { return DecodeDaemon(reply, &out->emplace_back()); });
  });
}

Status Client::ReadConnections(uint32_t listing, std::vector<uint8_t>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = connections_.find(listing);
  if (found == connections_.end()) {
    ConnectionReader reader;
    Status status = reader.Open(*namespace_);
    if (!status.ok()) return status;
    found = connections_.emplace(listing, std::move(reader)).first;
  }
  return found->second.Read(out);
}

void Client::EndConnections(uint32_t listing) {
  const std::lock_guard<std::mutex> lock(mutex_);
  connections_.erase(listing);
}

template <typename Decoded, typename Add>
Status Client::DumpServices(const Restart& restart, const Add& add) {
  const auto encode = [&](MessageBuilder* builder) { return EncodeListServices(builder, family_id_); };
  Names seen;
  const auto begin = [&] {
    restart();
    seen.clear();
  };
  return netlink::Dump(&services_, encode, begin, [&](const Message& reply) {
    Decoded service;
    Status status = DecodeService(reply, &service);
    if (status.ok() && seen.insert(NameOf(service)).second) add(std::move(service));
    return status;
  });
}

template <typename Decoded, typename Add>
Status Client::DumpServers(const ServiceId& id, const Restart& restart, const Add& add) {
  const auto encode = [&](MessageBuilder* builder) { return EncodeListServers(builder, family_id_, id); };
  Names seen;
  const auto begin = [&] {
    restart();
    seen.clear();
  };
  return netlink::Dump(&servers_, encode, begin, [&](const Message& reply) {
    Decoded server;
    Status status = DecodeServer(reply, id.family, &server);
    if (status.ok() && seen.insert(NameOf(server)).second) add(server);
    return status;
  });
}

Status Client::DumpServersOf(ServiceState* service) {
  std::vector<RealServerState>& servers = service->servers;
  const auto add = [&](const RealServerState& server) { servers.push_back(server); };
  return RetryAfterReload([&] {
    return DumpServers<RealServerState>(
        service->service.id, [&] { servers.clear(); }, add);
  });
}

// The id of a family changes when its module is removed and loaded again, and the kernel answers the old one
// with ENOENT. The requests that are made through this function get ENOENT for no other reason.
Status Client::RetryAfterReload(const std::function<Status()>& call) {
  Status status = call();
  if (!status.is_errno(ENOENT)) return status;
  status = LookUpFamily();
  return status.ok() ? call() : status;
}

}  // namespace knp::ipvs
