#include "netlink/listing.h"

#include "netlink/message_builder.h"

namespace knp::netlink {

Status Listing::Read(Socket* socket, Portion* out) {
  *out = {};
  if (!under_way_) {
    Status status = Begin(socket, out);
    if (!status.ok()) return status;
  }
  const auto append = [out](const Message& reply) {
    AppendMessage(reply, &out->messages);
    return Status{};
  };
  while (!progress_.acknowledged && out->messages.size() < kFullPortion) {
    Status status = ReceiveReplies(socket, sequence_, append, &progress_);
    if (progress_.lost) {
      Fail(socket);
      return {};
    }
    if (!status.ok()) {
      if (!progress_.acknowledged) static_cast<void>(socket->Reopen());
      under_way_ = false;
      return status;
    }
  }
  if (!progress_.acknowledged) return {};
  if (progress_.interrupted) {
    Fail(socket);
  } else {
    under_way_ = false;
    out->ended = true;
  }
  return {};
}

Status Listing::Begin(Socket* socket, Portion* out) {
  if (attempts_ == kReadAttempts) return Interrupted(progress_);
  out->restarted = begun_;
  begun_ = true;
  progress_ = {};
  Status status = SendRequest(socket, &request_, &sequence_);
  under_way_ = status.ok();
  return status;
}

// Ends an attempt. A longer buffer, which has a bound, is none.
void Listing::Fail(Socket* socket) {
  if (!progress_.acknowledged) static_cast<void>(socket->Reopen());
  if (!progress_.truncated) attempts_++;
  under_way_ = false;
}

}  // namespace knp::netlink
