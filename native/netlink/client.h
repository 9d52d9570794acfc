// Messages of any protocol of netlink, as they are: for families that have no client of their own. Every
// method blocks; call it off the event loop. Any thread may call, one at a time is let through.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netlink/batch.h"
#include "netlink/listing.h"
#include "netlink/message_reader.h"
#include "netlink/socket.h"
#include "netlink/status.h"
#include "netlink/transaction.h"
#include "netlink/watch.h"

namespace knp::netlink {

class Client {
 public:
  // What Open() opens: NETLINK_GENERIC, with or without strict checking (SocketOptions).
  void SetProtocol(int protocol, bool strict_checking) {
    protocol_ = protocol;
    strict_checking_ = strict_checking;
  }

  Status Open(const SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

  // Sends messages, one after another in `messages`, in their order; returns those that failed. Lengths,
  // sequence numbers and NLM_F_REQUEST are filled in here.
  std::vector<Failure> Send(const std::vector<uint8_t>& messages);

  // Sends one message, and appends its replies. It is repeated when replies were lost or, of a listing
  // (NLM_F_DUMP), changed meanwhile; and once on a new socket when a listing is still under way on the old
  // one (EBUSY), which a message of Send() may have begun.
  Status Query(const std::vector<uint8_t>& message, std::vector<uint8_t>* out);

  // Begins a listing with one message (NLM_F_DUMP), and reads its first portion; then each later one, until
  // one is the last. Any other call ends a listing that is under way.
  Status BeginListing(const std::vector<uint8_t>& message, Portion* out);
  Status ReadListing(Portion* out);

  // Carries out a transaction of netfilter: see Transact() in transaction.h.
  Status Transact(Pieces pieces, TransactionAnswer* out);

 private:
  // Makes the socket free for another request: the kernel lists one thing at a time on a socket.
  void EndListing();
  Status ReadPortion(Portion* out);

  std::mutex mutex_;
  int protocol_ = 0;
  bool strict_checking_ = true;
  Socket socket_;
  std::optional<Listing> listing_;
};

// Notifications of any groups of a protocol, as messages.
class MessageWatch : public Watch {
 public:
  // The groups that Open() joins.
  void SetGroups(int protocol, std::vector<uint32_t> groups) {
    protocol_ = protocol;
    groups_ = std::move(groups);
  }

  // Joins the groups. The timeout is not used: nothing is waited for.
  Status Open(const SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

 private:
  int protocol_ = 0;
  std::vector<uint32_t> groups_;
};

}  // namespace knp::netlink
