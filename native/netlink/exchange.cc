#include "netlink/exchange.h"

#include <cerrno>
#include <vector>

#include "netlink/replies.h"

namespace knp::netlink {
namespace {

Status SendAndReceive(Socket* socket, std::vector<uint8_t>* request, const ReplyHandler& on_reply,
                      Progress* progress) {
  uint32_t sequence = 0;
  Status status = SendRequest(socket, request, &sequence);
  while (status.ok() && !progress->acknowledged) {
    status = ReceiveReplies(socket, sequence, on_reply, progress);
  }
  // A dump that was given up would disturb the next request. When no new socket can be opened, the old one
  // stays in use: its sequence numbers still distinguish the replies.
  if (!progress->acknowledged) static_cast<void>(socket->Reopen());
  return status;
}

}  // namespace

Status Query(Socket* socket, const Encode& encode, const ReplyHandler& on_reply) {
  return Dump(
      socket, encode, [] {}, on_reply);
}

Status Dump(Socket* socket, const Encode& encode, const std::function<void()>& restart,
            const ReplyHandler& on_reply) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!encode(&builder)) return Status::Errno(EMSGSIZE);
  Progress progress;
  for (int attempt = 0; attempt < kReadAttempts;) {
    restart();
    progress = {};
    Status status = SendAndReceive(socket, &request, on_reply, &progress);
    if (!progress.lost && (!status.ok() || !progress.interrupted)) return status;
    // The buffer has a bound, so that it cannot grow for ever.
    if (!progress.truncated) attempt++;
  }
  return Interrupted(progress);
}

}  // namespace knp::netlink
