#include "netlink/batch.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace knp::netlink {
namespace {

const Deadline kNoWait{std::chrono::milliseconds(0)};

Status Unknown(const std::string& reason) {
  return Status::Of(FailureKind::kUnknownOutcome, "replies were lost: " + reason);
}

}  // namespace

void Batch::Flush() {
  if (messages_.empty()) return;
  const auto count = static_cast<uint32_t>(messages_.size());
  const uint32_t first = socket_->TakeSequence(count);
  for (uint32_t i = 0; i < count; i++) SetSequence(buffer_.data() + messages_[i].start, first + i);
  AddFlags(buffer_.data() + messages_.back().start, NLM_F_ACK);

  Status sent = socket_->Send(buffer_.data(), buffer_.size());
  if (!sent.ok()) {
    // The kernel refused the buffer as a whole (EMSGSIZE, ENOBUFS, ENOMEM) before it looked at any message.
    for (Sent& message : messages_) message.status = sent;
    Break(std::move(sent));
  } else {
    Status awaited = Await(first);
    if (!awaited.ok()) {
      for (Sent& message : messages_) {
        if (message.status.ok()) message.status = Status::Of(FailureKind::kUnknownOutcome, awaited.message);
      }
    }
    if (!awaited.ok() && awaited.kind != FailureKind::kUnknownOutcome) Break(std::move(awaited));
  }
  for (Sent& message : messages_) {
    if (!message.status.ok()) Fail(message.index, std::move(message.status));
  }
  // The load that broke the batch has failures: nothing is sent after it.
  if (!broken_.ok()) failures_.back().rest = broken_;
  messages_.clear();
  buffer_.clear();
}

std::vector<Failure> Batch::Finish() {
  Flush();
  std::sort(failures_.begin(), failures_.end(),
            [](const Failure& a, const Failure& b) { return a.index < b.index; });
  return std::exchange(failures_, {});
}

// Receives until the last message is answered. kUnknownOutcome when replies were lost, which leaves the
// socket usable; after any other failure the rest of the batch is not sent.
Status Batch::Await(uint32_t first) {
  Deadline deadline = socket_->NewDeadline();
  std::string lost;  // how
  bool refused = false;
  while (true) {
    const uint8_t* data = nullptr;
    size_t size = 0;
    Status status = socket_->Receive(&deadline, &data, &size);
    if (status.is_errno(ENOBUFS) || status.kind == FailureKind::kTruncated) {
      // The receive buffer overflowed, and replies were lost, the last one among them; or one was too long.
      // The queued replies are read without waiting, so that the next batch does not receive them; the other
      // outcomes are unknown.
      lost = status.kind == FailureKind::kTruncated ? status.message : "receive buffer too small";
      deadline = kNoWait;
      continue;
    }
    if (status.kind == FailureKind::kTimeout && !lost.empty()) return Unknown(lost);
    if (status.kind == FailureKind::kTimeout && refused) {
      RefuseAll();
      return {};
    }
    if (!status.ok()) return status;
    if (ReadReplies(data, size, first, &status)) return lost.empty() ? Status{} : Unknown(lost);
    if (!status.ok()) return status;
    if (!refused && messages_.front().status.is_errno(EPERM)) {
      // nfnetlink checks the capability once for a buffer and answers its first message only. Other families
      // answer each. All answers were queued inside send(2): one that is not there yet will not follow.
      refused = true;
      deadline = kNoWait;
    }
  }
}

bool Batch::ReadReplies(const uint8_t* data, size_t size, uint32_t first, Status* status) {
  MessageReader messages(data, size);
  Message message;
  while (messages.Next(&message)) {
    // Unsigned: a number below `first` is far beyond the end.
    const uint32_t place = message.sequence - first;
    if (place >= messages_.size()) continue;
    // NLMSG_DONE ends the reply to a message that the kernel takes for a request to list.
    if (message.type != NLMSG_ERROR && message.type != NLMSG_DONE) continue;
    messages_[place].status = ReadAcknowledgement(message);
    if (place + 1 == messages_.size()) return true;
  }
  if (messages.malformed()) *status = Status::Of(FailureKind::kMalformedReply, "truncated message");
  return false;
}

void Batch::RefuseAll() {
  for (Sent& message : messages_) {
    if (message.status.ok()) message.status = messages_.front().status;
  }
}

void Batch::Break(Status status) {
  broken_ = std::move(status);
  broken_.message = "not sent, because an earlier send failed: " + broken_.message;
}

}  // namespace knp::netlink
