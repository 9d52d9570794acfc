#include "netlink/transaction.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "netlink/layouts.h"
#include "netlink/message_builder.h"

namespace knp::netlink {
namespace {

constexpr size_t kAlignment = 4;
constexpr uint32_t kFewestMessages = 3;  // begin, one ordinary message, end
// iovecs of one send (UIO_MAXIOV).
constexpr size_t kMostPieces = 1024;

// Whether a message may have this place: the first one begins the transaction. Each has struct nfgenmsg, for
// the kernel silently drops a transaction with one that is shorter.
bool IsInPlace(const Message& message, uint32_t place) {
  if (message.size < sizeof(nfgenmsg)) return false;
  if (place == 0) return message.type == NFNL_MSG_BATCH_BEGIN;
  return message.type >= NFNL_MSG_BATCH_END;
}

// The number of messages of a transaction, 0 if the pieces are not one.
uint32_t CountMessages(const Pieces& pieces) {
  uint32_t count = 0;
  bool ended = false;
  for (const std::vector<uint8_t>& piece : pieces) {
    // The kernel finds the next message behind the padding.
    if (piece.size() % kAlignment != 0) return 0;
    MessageReader reader(piece.data(), piece.size());
    Message message;
    for (; reader.Next(&message); count++) {
      if (ended || !IsInPlace(message, count)) return 0;
      ended = message.type == NFNL_MSG_BATCH_END;
    }
    if (reader.malformed()) return 0;
  }
  return ended && count >= kFewestMessages ? count : 0;
}

// The start of a message within its piece.
uint8_t* StartOf(const Message& message) {
  return const_cast<uint8_t*>(message.payload) - sizeof(nlmsghdr);
}

// The kernel takes at most kMostPieces in one call.
void Join(Pieces* pieces) {
  if (pieces->size() <= kMostPieces) return;
  size_t total = 0;
  for (const std::vector<uint8_t>& piece : *pieces) total += piece.size();
  std::vector<uint8_t> whole;
  whole.reserve(total);
  for (const std::vector<uint8_t>& piece : *pieces) whole.insert(whole.end(), piece.begin(), piece.end());
  pieces->clear();
  pieces->push_back(std::move(whole));
}

Status ReadDatagram(const uint8_t* data, size_t size, TransactionReplies* replies) {
  MessageReader messages(data, size);
  Message message;
  while (messages.Next(&message)) {
    Status status = replies->Read(message);
    if (!status.ok()) return status;
  }
  if (messages.malformed()) return Status::Of(FailureKind::kMalformedReply, "truncated message");
  return {};
}

// How replies were lost, or empty: the socket is usable all the same.
std::string LossOf(const Status& status) {
  // Reported once, before the replies that fitted.
  if (status.is_errno(ENOBUFS)) return "the receive buffer was too small";
  const bool lost = status.kind == FailureKind::kTruncated || status.kind == FailureKind::kMalformedReply;
  return lost ? status.message : std::string();
}

// Reads every reply. Only the first is waited for: the kernel has queued all of them.
Status Await(Socket* socket, TransactionReplies* replies, TransactionAnswer* out) {
  Deadline deadline = socket->NewDeadline();
  std::string lost;
  while (!replies->complete() || !lost.empty()) {
    const uint8_t* data = nullptr;
    size_t size = 0;
    Status status = socket->Receive(&deadline, &data, &size);
    deadline = Deadline(std::chrono::milliseconds(0));
    if (status.ok()) status = ReadDatagram(data, size, replies);
    if (status.ok()) continue;
    const std::string loss = LossOf(status);
    if (loss.empty()) break;  // there are no more
    lost = loss;
  }
  return replies->Finish(lost, out);
}

}  // namespace

Status TransactionReplies::Read(const Message& message) {
  // Unsigned: the number of an earlier request is far beyond the end.
  const uint32_t place = message.sequence - first_;
  if (place >= count_ || message.type != NLMSG_ERROR) return {};
  uint32_t offset = 0;
  Status status = ReadAcknowledgement(message, &offset);
  if (status.kind == FailureKind::kMalformedReply) return status;
  const bool is_first = place == 1;
  if (status.ok()) {
    if (is_first) first_acknowledged_ = true;
    if (place + 2 == count_) last_acknowledged_ = true;
    return {};
  }
  const bool is_ordinary = place > 0 && place + 1 < count_;
  // Out of memory is answered on the first ordinary message, whichever it was that had no room.
  if (!is_ordinary || (is_first && status.is_errno(ENOMEM))) {
    whole_ = std::move(status);
  } else {
    failures_.push_back({place, std::move(status), offset});
  }
  return {};
}

Status TransactionReplies::Finish(const std::string& lost, TransactionAnswer* out) {
  if (!whole_.ok()) return std::move(whole_);
  if (failures_.empty()) {
    if (lost.empty() && last_acknowledged_) return {};
    const std::string reason = lost.empty() ? "the kernel sent none" : lost;
    return Status::Of(FailureKind::kUnknownOutcome, "replies were lost: " + reason);
  }
  // A message has one acknowledgement. A second one is that of the commit.
  if (failures_.front().index == 1 && first_acknowledged_) return std::move(failures_.front().status);
  out->failures = std::move(failures_);
  out->errors_lost = !lost.empty();
  return {};
}

uint32_t PrepareTransaction(uint32_t first, Pieces* pieces) {
  const uint32_t count = CountMessages(*pieces);
  if (count == 0) return 0;
  uint32_t place = 0;
  for (std::vector<uint8_t>& piece : *pieces) {
    MessageReader reader(piece.data(), piece.size());
    Message message;
    for (; reader.Next(&message); place++) {
      const bool asks = place == 1 || place + 2 == count;
      const auto flags = static_cast<uint16_t>((message.flags & ~NLM_F_ACK) | NLM_F_REQUEST);
      uint8_t* start = StartOf(message);
      SetSequence(start, first + place);
      SetFlags(start, asks ? static_cast<uint16_t>(flags | NLM_F_ACK) : flags);
    }
  }
  return count;
}

Status Transact(Socket* socket, Pieces pieces, TransactionAnswer* out) {
  const uint32_t count = CountMessages(pieces);
  if (count == 0) return Status::Errno(EINVAL, "malformed transaction");
  const uint32_t first = socket->TakeSequence(count);
  PrepareTransaction(first, &pieces);
  Join(&pieces);
  size_t size = 0;
  std::vector<iovec> buffers;
  buffers.reserve(pieces.size());
  for (std::vector<uint8_t>& piece : pieces) {
    size += piece.size();
    buffers.push_back({piece.data(), piece.size()});
  }
  socket->ReserveFor(size, count);
  Status sent = socket->Send(buffers, size);
  if (sent.is_errno(EMSGSIZE)) {
    sent.message = "a transaction of " + std::to_string(size) +
                   " bytes is longer than the send buffer, which needs CAP_NET_ADMIN to grow";
  }
  // The kernel refused it as a whole (EMSGSIZE, ENOBUFS, ENOMEM) before it looked at any message.
  if (!sent.ok()) return sent;
  TransactionReplies replies(first, count);
  return Await(socket, &replies, out);
}

std::vector<uint8_t> StoreAnswer(const TransactionAnswer& answer) {
  using Head = layout::TransactionAnswer;
  using Field = layout::TransactionFailure;
  using records::Store;
  std::vector<uint8_t> bytes(Head::kSize);
  Store(bytes.data(), Head::kErrorsLost, answer.errors_lost ? 1 : 0);
  for (const TransactionFailure& failure : answer.failures) {
    const std::string& text = failure.status.message;
    const size_t start = bytes.size();
    bytes.resize(start + Field::kSize + NlmsgAlign(text.size()));
    uint8_t* record = bytes.data() + start;
    Store(record, Field::kIndex, failure.index);
    Store(record, Field::kErrno, static_cast<uint32_t>(failure.status.error));
    Store(record, Field::kOffset, failure.offset);
    Store(record, Field::kTextLength, text.size());
    std::copy(text.begin(), text.end(), record + Field::kSize);
  }
  return bytes;
}

}  // namespace knp::netlink
