// The raw limit of nftables: sends transactions that were encoded before, one after another, with nothing but
// send(2) and recv(2). It shares no code with the client that it is compared with. For the benchmark only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/native/cost.h"
#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::bench {

class PreparedTransactions {
 public:
  // `messages`: whole transactions, one after another, each from NFNL_MSG_BATCH_BEGIN to NFNL_MSG_BATCH_END
  // with at least one message between them. Opens a socket in the network namespace of the calling thread.
  // EINVAL if they are not transactions.
  netlink::Status Prepare(std::vector<uint8_t> messages);

  // Sends all of them once. The kernel has carried a transaction out, and has queued its answer, when send(2)
  // returns. Returns the first error of the kernel, with the number of its message.
  netlink::Status Send(Cost* cost);

 private:
  struct Transaction {
    size_t start;
    size_t size;
    uint32_t last;  // sequence number of the message before the end, which asks for an acknowledgement
    uint32_t count;
  };

  netlink::Status Split();
  netlink::Status Open();
  netlink::Status SendOne(const Transaction& transaction, Cost* cost);
  // Reads what the kernel has queued. An error is followed by others.
  netlink::Status ReadAnswer(uint32_t last, Cost* cost);

  std::vector<uint8_t> messages_;
  std::vector<Transaction> transactions_;
  std::vector<uint8_t> datagram_;
  netlink::Descriptor socket_;
};

}  // namespace knp::bench
