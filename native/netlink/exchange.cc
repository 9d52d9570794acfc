#include "netlink/exchange.h"

#include <linux/netlink.h>

#include <cerrno>
#include <vector>

namespace knp::netlink {
namespace {

struct Progress {
  bool acknowledged = false;  // NLMSG_ERROR or NLMSG_DONE came: nothing more is under way on the socket
  bool interrupted = false;   // the objects changed while they were listed
  bool lost = false;          // replies were dropped
  bool truncated = false;     // lost because a reply was longer than the buffer, which is larger now
};

Status Lost() {
  return Status::Of(FailureKind::kUnknownOutcome, "replies were lost");
}

Status ReadDatagram(const uint8_t* data, size_t size, uint32_t sequence, const ReplyHandler& on_reply,
                    Progress* progress) {
  MessageReader messages(data, size);
  Message message;
  while (messages.Next(&message)) {
    if (message.sequence != sequence) continue;  // late replies to a request that was given up
    if ((message.flags & NLM_F_DUMP_INTR) != 0) progress->interrupted = true;
    switch (message.type) {
      case NLMSG_NOOP:
        break;
      case NLMSG_OVERRUN:
        progress->lost = true;
        return Lost();
      case NLMSG_ERROR:
      case NLMSG_DONE:
        progress->acknowledged = true;
        return ReadAcknowledgement(message);
      default: {
        Status status = on_reply(message);
        if (!status.ok()) return status;
      }
    }
  }
  if (messages.malformed()) return Status::Of(FailureKind::kMalformedReply, "truncated message");
  return {};
}

Status SendAndReceive(Socket* socket, std::vector<uint8_t>* request, const ReplyHandler& on_reply,
                      Progress* progress) {
  const uint32_t sequence = socket->TakeSequence();
  SetSequence(request->data(), sequence);
  Status status = socket->Send(request->data(), request->size());
  while (status.ok() && !progress->acknowledged) {
    const uint8_t* data = nullptr;
    size_t size = 0;
    // The limit is for each datagram of a dump, and not for the whole dump: a long listing is not a slow one.
    Deadline deadline = socket->NewDeadline();
    status = socket->Receive(&deadline, &data, &size);
    if (status.is_errno(ENOBUFS) || status.kind == FailureKind::kTruncated) {
      progress->lost = true;
      progress->truncated = status.kind == FailureKind::kTruncated;
      status = Lost();
    }
    if (status.ok()) status = ReadDatagram(data, size, sequence, on_reply, progress);
  }
  // A dump that was given up would disturb the next request. When no new socket can be opened, the old one
  // stays in use: its sequence numbers still distinguish the replies.
  if (!progress->acknowledged) static_cast<void>(socket->Reopen());
  return status;
}

}  // namespace

Status Command(Socket* socket, const Encode& encode) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!encode(&builder)) return Status::Errno(EMSGSIZE);
  Progress progress;
  return SendAndReceive(
      socket, &request, [](const Message&) { return Status{}; }, &progress);
}

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
  const std::string reason = progress.lost ? "replies were lost" : "the listing changed while it was read";
  return Status::Of(FailureKind::kInterrupted,
                    reason + ", " + std::to_string(kReadAttempts) + " times in a row");
}

}  // namespace knp::netlink
