// The raw limit of netlink: sends messages that were encoded before, with nothing but send(2) and recv(2). It
// shares no code with the clients that it is compared with. For the benchmark only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/native/cost.h"
#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::bench {

class PreparedMessages {
 public:
  // `messages`: struct nlmsghdr, payload, padding to 4 bytes, one after another. `load`: messages in one
  // buffer. `datagram_size`: bytes offered to recv(2). Opens a socket in the network namespace of the calling
  // thread. EINVAL if a length is wrong.
  netlink::Status Prepare(int protocol, std::vector<uint8_t> messages, size_t load, size_t datagram_size);

  // Sends all of them once, and reads replies until the last one of each buffer is acknowledged. A message
  // that lists objects (NLM_F_DUMP) must be alone in its buffer. Returns the first error of the kernel, with
  // the number of its message.
  netlink::Status Send(Cost* cost);

 private:
  struct Load {
    size_t start;
    size_t size;
    uint32_t last;  // sequence number of its last message
    uint32_t count;
  };

  netlink::Status SplitIntoLoads(size_t load);
  netlink::Status SendLoad(const Load& load, Cost* cost);
  // Reads datagrams until `last` is answered.
  netlink::Status Await(uint32_t last, Cost* cost);

  std::vector<uint8_t> messages_;
  std::vector<Load> loads_;
  std::vector<uint8_t> datagram_;
  netlink::Descriptor socket_;
};

}  // namespace knp::bench
