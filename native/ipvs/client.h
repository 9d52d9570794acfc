// IPVS of one network namespace: codec plus sockets. Every method blocks; call it off the event loop. Any
// thread may call: one mutex lets one call through at a time, because the kernel works on one at a time
// anyway (genl_mutex) and two writers are slower than one.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "genl/family.h"
#include "ipvs/connections.h"
#include "ipvs/records.h"
#include "ipvs/types.h"
#include "netlink/batch.h"
#include "netlink/message_reader.h"
#include "netlink/network_namespace.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::ipvs {

// Messages of failures; src/kernel/ipvs/names.ts has their hints.
constexpr const char* kNoFamily = "the kernel has no IPVS";                                // ENOENT
constexpr const char* kNoLocalTable = "the network namespace has no local routing table";  // EINVAL

class Client {
 public:
  // Opens the sockets and looks the family up: ENOENT with kNoFamily when the module ip_vs is not loaded.
  netlink::Status Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

  // Carries the operations out in their order, and returns those that failed. Some errno have several causes:
  // then the kernel is asked again, and the message of the failure names the cause: kNoFamily, kNoLocalTable.
  std::vector<netlink::Failure> Apply(const OperationRecords& operations);

  // Every service with its servers. The kernel neither locks nor marks a listing that changes meanwhile
  // (NLM_F_DUMP_INTR is never set): duplicates are removed, and services added or deleted meanwhile may be
  // missing.
  netlink::Status List(std::vector<ServiceState>* out);
  // Every service, without its servers and counters, as records: one dump. As consistent as List().
  netlink::Status ListServices(std::vector<uint8_t>* records);
  // The servers of each of these services, without counters and connections, as records; the kernel lists
  // none for a service that does not exist.
  netlink::Status ListServers(const std::vector<ServiceId>& ids, std::vector<uint8_t>* records);
  // One service with its servers; ESRCH when there is none.
  netlink::Status Get(const ServiceId& id, ServiceState* out);

  netlink::Status GetInfo(Info* out);
  netlink::Status GetTimeouts(Timeouts* out);
  // Those that run: at most one in each state.
  netlink::Status ListDaemons(std::vector<Daemon>* out);

  // The next piece of the connection table as text; empty at the end. `listing` is a number of the caller's:
  // the first call with it begins a listing, which keeps a file open until EndConnections().
  netlink::Status ReadConnections(uint32_t listing, std::vector<uint8_t>* out);
  void EndConnections(uint32_t listing);

 private:
  using Restart = std::function<void()>;

  netlink::Status LookUpFamily();
  std::vector<netlink::Failure> Send(const OperationRecords& operations);
  void Explain(const OperationRecords& operations, std::vector<netlink::Failure>* failures) const;
  // Each dump calls `restart` before it begins, which may be several times, and `add` for each object.
  template <typename Decoded, typename Add>
  netlink::Status DumpServices(const Restart& restart, const Add& add);
  template <typename Decoded, typename Add>
  netlink::Status DumpServers(const ServiceId& id, const Restart& restart, const Add& add);
  netlink::Status DumpServersOf(ServiceState* service);
  netlink::Status RetryAfterReload(const std::function<netlink::Status()>& call);

  std::mutex mutex_;
  netlink::SharedNamespace namespace_ = std::make_shared<const netlink::NetworkNamespace>();
  std::map<uint32_t, ConnectionReader> connections_;
  uint16_t family_id_ = genl::kNoFamily;
  // Three sockets, because the kernel makes the parts of every dump as large as the largest buffer that a
  // socket was ever read with. A list of servers is short, and is read twice as fast with a small buffer; the
  // list of services is long.
  netlink::Socket commands_;
  netlink::Socket services_;
  netlink::Socket servers_;
};

}  // namespace knp::ipvs
