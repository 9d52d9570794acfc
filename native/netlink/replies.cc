#include "netlink/replies.h"

#include <linux/netlink.h>

#include <cerrno>
#include <string>

namespace knp::netlink {
namespace {

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

}  // namespace

Status SendRequest(Socket* socket, std::vector<uint8_t>* request, uint32_t* sequence) {
  *sequence = socket->TakeSequence();
  SetSequence(request->data(), *sequence);
  return socket->Send(request->data(), request->size());
}

Status ReceiveReplies(Socket* socket, uint32_t sequence, const ReplyHandler& on_reply, Progress* progress) {
  const uint8_t* data = nullptr;
  size_t size = 0;
  // The limit is for each datagram of a dump, and not for the whole dump: a long listing is not a slow one.
  Deadline deadline = socket->NewDeadline();
  Status status = socket->Receive(&deadline, &data, &size);
  if (status.is_errno(ENOBUFS) || status.kind == FailureKind::kTruncated) {
    progress->lost = true;
    progress->truncated = status.kind == FailureKind::kTruncated;
    return Lost();
  }
  return status.ok() ? ReadDatagram(data, size, sequence, on_reply, progress) : status;
}

Status Interrupted(const Progress& progress) {
  const std::string reason = progress.lost ? "replies were lost" : "the listing changed while it was read";
  return Status::Of(FailureKind::kInterrupted,
                    reason + ", " + std::to_string(kReadAttempts) + " times in a row");
}

}  // namespace knp::netlink
