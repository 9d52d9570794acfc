#include "netlink/client.h"

#include <linux/netlink.h>

#include <cerrno>
#include <utility>

#include "netlink/exchange.h"
#include "netlink/message_builder.h"

namespace knp::netlink {
namespace {

// Asks for an acknowledgement, too: with it, a listing that the kernel takes for something else has an end.
void CopyQuestion(const Message& message, MessageBuilder* builder) {
  builder->Copy(message, static_cast<uint16_t>(message.flags | NLM_F_REQUEST | NLM_F_ACK));
}

}  // namespace

Status Client::Open(const SharedNamespace& network_namespace, std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return OpenSockets({network_namespace, protocol_, timeout, strict_checking_}, {{&socket_, kLargestPart}});
}

std::vector<Failure> Client::Send(const std::vector<uint8_t>& messages) {
  const std::lock_guard<std::mutex> lock(mutex_);
  EndListing();
  Batch batch(&socket_);
  MessageReader reader(messages.data(), messages.size());
  Message message;
  uint32_t index = 0;
  for (; reader.Next(&message); index++) {
    batch.Add(index, [&](MessageBuilder* builder) {
      builder->Copy(message, static_cast<uint16_t>(message.flags | NLM_F_REQUEST));
      return true;
    });
  }
  if (reader.malformed()) batch.Fail(index, Status::Errno(EINVAL, "malformed message"));
  return batch.Finish();
}

Status Client::Query(const std::vector<uint8_t>& message, std::vector<uint8_t>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MessageReader reader(message.data(), message.size());
  Message only;
  if (!reader.Next(&only)) return Status::Errno(EINVAL, "malformed message");
  EndListing();
  const auto encode = [&](MessageBuilder* builder) {
    CopyQuestion(only, builder);
    return true;
  };
  const auto ask = [&] {
    return Dump(
        &socket_, encode, [&] { out->clear(); },
        [&](const Message& reply) {
          AppendMessage(reply, out);
          return Status{};
        });
  };
  Status status = ask();
  return status.is_errno(EBUSY) && socket_.Reopen().ok() ? ask() : status;
}

Status Client::BeginListing(const std::vector<uint8_t>& message, Portion* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MessageReader reader(message.data(), message.size());
  Message only;
  if (!reader.Next(&only)) return Status::Errno(EINVAL, "malformed message");
  EndListing();
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  CopyQuestion(only, &builder);
  listing_.emplace(std::move(request));
  return ReadPortion(out);
}

Status Client::ReadListing(Portion* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return listing_ ? ReadPortion(out) : Status::Errno(EINVAL, "no listing is under way");
}

Status Client::ReadPortion(Portion* out) {
  Status status = listing_->Read(&socket_, out);
  if (!status.ok() || out->ended) listing_.reset();
  return status;
}

void Client::EndListing() {
  if (listing_ && listing_->under_way()) static_cast<void>(socket_.Reopen());
  listing_.reset();
}

Status Client::Transact(Pieces pieces, TransactionAnswer* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  EndListing();
  return netlink::Transact(&socket_, std::move(pieces), out);
}

Status MessageWatch::Open(const SharedNamespace& network_namespace, std::chrono::milliseconds /*timeout*/) {
  return Join({network_namespace, protocol_, groups_},
              [](const Message& message, Notifications* out) { AppendMessage(message, &out->records); });
}

}  // namespace knp::netlink
