// ipset of one network namespace: listings over a socket of our own, changes through libipset. Every method
// blocks; call it off the event loop. Any thread may call: one listing is let through at a time, and one
// batch of changes in the whole process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ipset/session.h"
#include "ipset/types.h"
#include "netlink/batch.h"
#include "netlink/exchange.h"
#include "netlink/message_builder.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::ipset {

class Client {
 public:
  Client() = default;
  ~Client() { EndSession(std::move(session_)); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Opens the socket. Does not load libipset. The timeout bounds listings; libipset has none.
  netlink::Status Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

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
  // Runs `work` with a session in the network namespace of the client. The session is kept for the next call
  // if `work` has succeeded: its socket is then open.
  using Work = std::function<bool(Session*)>;
  netlink::Status WithSession(const Work& work);
  netlink::Status RunInside(const std::function<void()>& work);
  netlink::Status Query(const netlink::Encode& encode, const netlink::ReplyHandler& on_reply);
  netlink::Status Dump(const netlink::Encode& encode, std::vector<SetState>* out);

  std::mutex mutex_;
  netlink::SharedNamespace network_namespace_ = std::make_shared<const netlink::NetworkNamespace>();
  netlink::Socket socket_;
  std::unique_ptr<Session> session_;  // guarded by LibraryMutex()
};

}  // namespace knp::ipset
