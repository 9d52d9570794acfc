// Transactions of netfilter: messages between NFNL_MSG_BATCH_BEGIN and NFNL_MSG_BATCH_END, of which the
// kernel applies all or none (nfnetlink_rcv_batch()).
//
// The kernel works through a transaction inside send(2), to its end even after errors, and has then queued
// every reply. It answers each message that fails, and those that ask for it (NLM_F_ACK): here the first and
// the last ordinary one. Kernels before 6.10 do not answer NLM_F_ACK of the messages that begin and end it.
// What fails as a whole is answered on the message that begins it (EPERM, ERESTART, EOPNOTSUPP), or, during
// the commit, on the first ordinary one, whose acknowledgement then follows all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "netlink/message_reader.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::netlink {

// Whole messages, one after another.
using Pieces = std::vector<std::vector<uint8_t>>;

struct TransactionFailure {
  uint32_t index = 0;   // of the message; that which begins the transaction is 0
  Status status;        // kErrno
  uint32_t offset = 0;  // of the offending attribute in the message; 0: unknown
};

// The messages that the kernel refused, in their order. Empty: the transaction was committed.
struct TransactionAnswer {
  std::vector<TransactionFailure> failures;
  bool errors_lost = false;  // the errors of more messages may have been lost
};

// Collects the replies to a transaction of `count` messages, of which the first has the sequence number
// `first`.
class TransactionReplies {
 public:
  TransactionReplies(uint32_t first, uint32_t count) : first_(first), count_(count) {}

  // kMalformedReply for an acknowledgement that cannot be read.
  Status Read(const Message& message);

  // Whether the last reply was read: the kernel answers messages in their order.
  bool complete() const { return last_acknowledged_; }

  // The answer, or the failure of the transaction as a whole, after which nothing was applied either. `lost`
  // tells how replies were lost, and is empty if none was. Any error means that nothing was applied; without
  // one, and without the last reply or after a loss, the outcome is unknown.
  Status Finish(const std::string& lost, TransactionAnswer* out);

 private:
  uint32_t first_;
  uint32_t count_;
  std::vector<TransactionFailure> failures_;
  Status whole_;
  bool first_acknowledged_ = false;
  bool last_acknowledged_ = false;
};

// Checks that the pieces are one transaction, with at least one ordinary message, and fills in sequence
// numbers from `first` on, NLM_F_REQUEST, and NLM_F_ACK of the two messages that ask for it. Returns the
// number of messages, 0 if the pieces are not one. Clears NLM_F_ACK of all others.
uint32_t PrepareTransaction(uint32_t first, Pieces* pieces);

// Sends a transaction in one call, and waits for its answer. A failure means that nothing was applied, unless
// it is kUnknownOutcome. It is never sent again.
Status Transact(Socket* socket, Pieces pieces, TransactionAnswer* out);

// The TRANSACTION_ANSWER record and what follows it.
std::vector<uint8_t> StoreAnswer(const TransactionAnswer& answer);

}  // namespace knp::netlink
