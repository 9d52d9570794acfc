// One request and its replies.
#pragma once

#include <functional>

#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::netlink {

// Writes the request, and returns the result of MessageBuilder::End(): EMSGSIZE if it is false.
using Encode = std::function<bool(MessageBuilder*)>;

// Takes one reply. A failure ends the exchange.
using ReplyHandler = std::function<Status(const Message&)>;

// Number of attempts to read before kInterrupted is returned.
constexpr int kReadAttempts = 10;

// Sends one message with NLM_F_REQUEST | NLM_F_ACK that only reads. The sequence number is filled in here.
// Returns the error of the kernel as kErrno. Every reply is handed over until the kernel acknowledges. When
// replies are lost (ENOBUFS), or one is longer than the socket's buffer, the request is sent again, and its
// replies are handed over once more.
Status Query(Socket* socket, const Encode& encode, const ReplyHandler& on_reply);

// The same for a request with NLM_F_REQUEST | NLM_F_DUMP. `restart` is called before the first reply of each
// attempt: the kernel may report only at the end that the listed objects changed meanwhile (NLM_F_DUMP_INTR),
// and everything is read again. Generic netlink's IPVS never reports it.
Status Dump(Socket* socket, const Encode& encode, const std::function<void()>& restart,
            const ReplyHandler& on_reply);

}  // namespace knp::netlink
