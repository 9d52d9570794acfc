// The replies to one request, datagram by datagram: what exchanges and listings have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "netlink/exchange.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::netlink {

// What the replies so far have said.
struct Progress {
  bool acknowledged = false;  // NLMSG_ERROR or NLMSG_DONE came: nothing more is under way on the socket
  bool interrupted = false;   // the objects changed while they were listed
  bool lost = false;          // replies were dropped
  bool truncated = false;     // lost because a reply was longer than the buffer, which is larger now
};

// Sends a message with a sequence number of its own, which is returned in `sequence`.
Status SendRequest(Socket* socket, std::vector<uint8_t>* request, uint32_t* sequence);

// Receives one datagram, and hands its replies to that request over.
Status ReceiveReplies(Socket* socket, uint32_t sequence, const ReplyHandler& on_reply, Progress* progress);

// kInterrupted: so many attempts as kReadAttempts have failed, the last one with this progress.
Status Interrupted(const Progress& progress);

}  // namespace knp::netlink
