// One request and its replies.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "netlink/message_reader.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::netlink {

// Takes one reply. A failure ends the exchange.
using ReplyHandler = std::function<Status(const Message&)>;

// Sends `request`, one message with NLM_F_REQUEST | NLM_F_ACK whose sequence number is filled in here, and
// hands over every reply until the kernel acknowledges. An error that the kernel answers comes back as
// kErrno.
Status Query(Socket* socket, std::vector<uint8_t>* request, const ReplyHandler& on_reply);

// The same for a request with NLM_F_REQUEST | NLM_F_DUMP. `restart` is called before the first reply of each
// attempt: the kernel may find out at the end only that what it listed changed meanwhile (NLM_F_DUMP_INTR),
// and everything is read again, at most kDumpAttempts times, then kInterrupted. Generic netlink's IPVS never
// says so.
constexpr int kDumpAttempts = 10;
Status Dump(Socket* socket, std::vector<uint8_t>* request, const std::function<void()>& restart,
            const ReplyHandler& on_reply);

}  // namespace knp::netlink
