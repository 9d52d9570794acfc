// Replies that find the receive buffer full: on sockets of the real kernel, of which nothing is asked that
// needs privileges.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "check.h"
#include "messages.h"
#include "netlink/batch.h"
#include "netlink/exchange.h"
#include "netlink/socket.h"

namespace {

using knp::netlink::Batch;
using knp::netlink::Failure;
using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::netlink::Socket;
using knp::netlink::SocketOptions;
using knp::netlink::Status;
using knp::test::CountReplies;

Socket RouteSocket(int buffer_size) {
  SocketOptions options;
  options.protocol = NETLINK_ROUTE;
  options.buffer_size = buffer_size;
  Socket socket;
  CHECK(Socket::Open(options, &socket).ok());
  return socket;
}

// Asks for a link that does not exist: ENODEV.
void AddLookUp(Batch* batch, uint32_t index) {
  batch->Add(index, [](MessageBuilder* builder) {
    builder->Begin(RTM_GETLINK, NLM_F_REQUEST, 0);
    builder->PutHeader(ifinfomsg{});
    builder->PutString(IFLA_IFNAME, "knp-none");
    return builder->End();
  });
}

}  // namespace

TEST(RepliesThatOverflowTheReceiveBufferLeaveTheOutcomeUnknown) {
  Socket socket = RouteSocket(4096);
  Batch batch(&socket, 60);
  for (uint32_t i = 0; i < 120; i++) AddLookUp(&batch, i);
  const std::vector<Failure> failures = batch.Finish();
  CHECK_EQUAL(failures.size(),
              120);  // every one, in order, of both loads: an overflow does not stop the second
  size_t known = 0;
  for (size_t i = 0; i < failures.size(); i++) {
    CHECK_EQUAL(failures[i].index, i);
    if (failures[i].status.is_errno(ENODEV)) {
      known++;
    } else {
      CHECK(failures[i].status.kind == FailureKind::kUnknownOutcome);
    }
  }
  CHECK(known > 0);
  CHECK(known < 120);
  CHECK(failures[59].status.kind == FailureKind::kUnknownOutcome);
}

namespace {

// Leaves the receive buffer overflown: the next receive reports ENOBUFS.
void Overflow(Socket* socket) {
  std::vector<uint8_t> buffer;
  for (int i = 0; i < 60; i++) {
    MessageBuilder builder(&buffer);
    builder.Begin(RTM_GETLINK, NLM_F_REQUEST, socket->TakeSequence());
    builder.PutHeader(ifinfomsg{});
    builder.PutString(IFLA_IFNAME, "knp-none");
    CHECK(builder.End());
  }
  CHECK(socket->Send(buffer.data(), buffer.size()).ok());
}

bool EncodeLinksRequest(MessageBuilder* builder) {
  builder->Begin(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 0);
  builder->PutHeader(ifinfomsg{});
  builder->PutU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return builder->End();
}

}  // namespace

TEST(AReadWhoseRepliesWereLostIsRepeated) {
  Socket socket = RouteSocket(4096);
  Overflow(&socket);
  int attempts = 0;
  int replies = 0;
  const auto restart = [&] { attempts++; };
  CHECK(Dump(&socket, EncodeLinksRequest, restart, [&](const Message&) {
          return CountReplies(&replies);
        }).ok());
  CHECK_EQUAL(attempts, 2);
  CHECK(replies > 0);
}

TEST(AReadWhoseRepliesAreLostAtEveryAttemptIsGivenUp) {
  Socket socket = RouteSocket(4096);
  int attempts = 0;
  const auto restart = [&] {
    attempts++;
    Overflow(&socket);
  };
  const Status status = Dump(&socket, EncodeLinksRequest, restart, [](const Message&) { return Status{}; });
  CHECK(status.kind == FailureKind::kInterrupted);
  CHECK_EQUAL(attempts, knp::netlink::kReadAttempts);
}

TEST(ABatchOfTheSocketsOwnLimitDoesNotOverflow) {
  for (const int buffer_size : {4096, 65536, 1 << 20}) {
    Socket socket = RouteSocket(buffer_size);
    Batch batch(&socket);
    for (uint32_t i = 0; i < 600; i++) AddLookUp(&batch, i);
    for (const Failure& failure : batch.Finish()) CHECK(failure.status.is_errno(ENODEV));
  }
}
