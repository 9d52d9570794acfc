// A fake kernel at the other end of a socket pair, which answers as a test decides.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"
#include "messages.h"
#include "netlink/exchange.h"
#include "netlink/message_builder.h"
#include "netlink/socket.h"

namespace knp::test {

// A type of messages that nothing else uses.
constexpr uint16_t kReply = 100;

// Answers, in a thread of its own, each datagram that the socket under test sends.
class FakeKernel {
 public:
  // Returns the datagrams to answer with.
  using Answer = std::function<std::vector<std::vector<uint8_t>>(const std::vector<netlink::Message>&)>;

  explicit FakeKernel(Answer answer, size_t longest_datagram = size_t{16} << 20)
      : answer_(std::move(answer)) {
    int ends[2] = {-1, -1};
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    netlink::SocketOptions options;
    options.protocol = -1;  // so that Reopen() fails, and the socket stays
    // Longer than the thread of answers waits for a CPU on a busy machine.
    options.timeout = std::chrono::milliseconds(1000);
    options.longest_datagram = longest_datagram;
    socket = netlink::Socket::Adopt(netlink::Descriptor(ends[0]), options);
    thread_ = std::thread([this, end = ends[1]] { Serve(end); });
  }
  ~FakeKernel() {
    socket = netlink::Socket();
    thread_.join();
  }
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  netlink::Socket socket;

 private:
  void Serve(int end) {
    std::vector<uint8_t> buffer(size_t{256} * 1024);
    while (true) {
      const ssize_t size = recv(end, buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      const std::vector<uint8_t> request(buffer.begin(), buffer.begin() + size);
      for (const auto& reply : answer_(MessagesOf(request))) {
        static_cast<void>(send(end, reply.data(), reply.size(), MSG_NOSIGNAL));
      }
    }
    close(end);
  }

  Answer answer_;
  std::thread thread_;
};

inline std::vector<uint8_t> Built(uint16_t type, uint16_t flags, uint32_t sequence) {
  std::vector<uint8_t> buffer;
  netlink::MessageBuilder builder(&buffer);
  builder.Begin(type, flags, sequence);
  CHECK(builder.End());
  return buffer;
}

inline std::vector<uint8_t> Acknowledged(uint16_t type, uint16_t flags, uint32_t sequence, int32_t error) {
  std::vector<uint8_t> buffer;
  netlink::MessageBuilder builder(&buffer);
  builder.Begin(type, flags, sequence);
  nlmsgerr reply{};
  reply.error = error;
  builder.PutHeader(reply);
  CHECK(builder.End());
  return buffer;
}

inline netlink::Encode Request(uint16_t flags) {
  return [flags](netlink::MessageBuilder* builder) {
    builder->Begin(kReply, static_cast<uint16_t>(NLM_F_REQUEST | flags), 0);
    return builder->End();
  };
}

}  // namespace knp::test
