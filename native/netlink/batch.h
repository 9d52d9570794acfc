// Many operations in few sends, with one result for each.
//
// The kernel works through a buffer of messages inside send(2), continues after one that fails, and answers
// every failure with an NLMSG_ERROR of that message's sequence number, asked for or not. So only the last
// message asks for an acknowledgement, and once that is received the failures before it are complete. One
// exception: without CAP_NET_ADMIN nfnetlink refuses a buffer as a whole, and answers its first message only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::netlink {

// An operation that did not succeed, by its place in the caller's list.
struct Failure {
  uint32_t index = 0;
  Status status;
  // The status of every operation after the load of this one, which was not sent because the send of the
  // load, or the wait for its answer, failed as a whole. Otherwise ok.
  Status rest = {};
};

class Batch {
 public:
  explicit Batch(Socket* socket) : Batch(socket, socket->BatchLimit()) {}
  Batch(Socket* socket, size_t limit) : socket_(socket), limit_(limit) {}

  // Adds the message that `encode(MessageBuilder*)` writes, begun with NLM_F_REQUEST and without NLM_F_ACK,
  // for the operation `index`; sends the gathered messages when they are a full load. `encode` returns
  // the result of MessageBuilder::End().
  template <typename Encode>
  void Add(uint32_t index, const Encode& encode) {
    if (!broken_.ok()) return Fail(index, broken_);
    const size_t start = buffer_.size();
    MessageBuilder builder(&buffer_);
    if (!encode(&builder)) return Fail(index, Status::Errno(EMSGSIZE, "attribute too long"));
    messages_.push_back(Sent{index, start, {}});
    if (messages_.size() >= limit_ || buffer_.size() >= kFullBuffer) Flush();
  }

  // Records an operation that failed without a message.
  void Fail(uint32_t index, Status status) { failures_.push_back(Failure{index, std::move(status)}); }

  // Sends the gathered messages and waits for their results. After a send or a wait that failed as a whole
  // nothing more is sent: later operations fail with the same error.
  void Flush();

  // Flushes, and returns every failure in the order of the caller's list.
  std::vector<Failure> Finish();

 private:
  // Bytes of messages that are sent at once: far below the smallest send buffer, so that a long message still
  // fits behind them (EMSGSIZE).
  static constexpr size_t kFullBuffer = size_t{64} * 1024;

  struct Sent {
    uint32_t index;
    size_t start;   // offset of the message in buffer_
    Status status;  // from the replies so far
  };

  Status Await(uint32_t first);
  // Reads replies; true after the reply to the last message.
  bool ReadReplies(const uint8_t* data, size_t size, uint32_t first, Status* status);
  // Gives every message without an error that of the first.
  void RefuseAll();
  void Break(Status status);

  Socket* socket_;
  size_t limit_;
  std::vector<uint8_t> buffer_;
  std::vector<Sent> messages_;
  std::vector<Failure> failures_;
  Status broken_;
};

}  // namespace knp::netlink
