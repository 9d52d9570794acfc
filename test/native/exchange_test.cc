// One request and its replies: against a fake kernel.
#include "netlink/exchange.h"

#include <algorithm>
#include <cerrno>

#include "check.h"
#include "fake_kernel.h"

namespace {

using knp::netlink::Encode;
using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::netlink::Status;
using knp::test::Acknowledged;
using knp::test::Built;
using knp::test::CountReplies;
using knp::test::FakeKernel;
using knp::test::kReply;
using knp::test::Request;

}  // namespace

TEST(AQuerySkipsLateRepliesAndReturnsTheKernelsError) {
  FakeKernel kernel([](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    const uint32_t sequence = request[0].sequence;
    return {Acknowledged(NLMSG_ERROR, 0, sequence - 1, -ENOMEM), Built(kReply, 0, sequence - 1),
            Built(NLMSG_NOOP, 0, sequence), Built(kReply, 0, sequence),
            Acknowledged(NLMSG_ERROR, 0, sequence, -ENOENT)};
  });
  const Encode request = Request(NLM_F_ACK);
  int replies = 0;
  CHECK(Query(&kernel.socket, request, [&](const Message&) {
          return CountReplies(&replies);
        }).is_errno(ENOENT));
  CHECK_EQUAL(replies, 1);
}

TEST(AQueryWithoutAnswerTimesOut) {
  FakeKernel kernel([](const std::vector<Message>&) { return std::vector<std::vector<uint8_t>>(); });
  const Encode request = Request(NLM_F_ACK);
  const Status status = Query(&kernel.socket, request, [](const Message&) { return Status{}; });
  CHECK(status.kind == FailureKind::kTimeout);
}

TEST(AQueryAnsweredWithNonsenseIsMalformed) {
  for (const std::vector<uint8_t>& nonsense :
       {std::vector<uint8_t>{1}, std::vector<uint8_t>(15, 0xff), std::vector<uint8_t>(40, 0)}) {
    FakeKernel kernel(
        [&](const std::vector<Message>&) { return std::vector<std::vector<uint8_t>>{nonsense}; });
    const Encode request = Request(NLM_F_ACK);
    const Status status = Query(&kernel.socket, request, [](const Message&) { return Status{}; });
    CHECK(status.kind == FailureKind::kMalformedReply);
  }
}

namespace {

// A reply whose payload has this size.
std::vector<uint8_t> OfSize(size_t payload, uint16_t flags, uint32_t sequence) {
  const std::vector<uint8_t> bytes(payload);
  std::vector<uint8_t> reply;
  const Message message{kReply, flags, 0, 0, bytes.data(), bytes.size()};
  AppendMessage(message, &reply);
  knp::netlink::SetSequence(reply.data(), sequence);
  return reply;
}

}  // namespace

// A link with hundreds of alternative names.
TEST(AReplyLongerThanTheBufferIsReadInALargerOne) {
  for (const uint16_t flags : {NLM_F_ACK, NLM_F_DUMP}) {
    int attempts = 0;
    FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
      attempts++;
      const uint32_t sequence = request[0].sequence;
      return {OfSize(100, NLM_F_MULTI, sequence), OfSize(60000, NLM_F_MULTI, sequence),
              OfSize(130000, NLM_F_MULTI, sequence), Acknowledged(NLMSG_DONE, NLM_F_MULTI, sequence, 0)};
    });
    const Encode request = Request(flags);
    std::vector<size_t> sizes;
    const auto restart = [&] { sizes.clear(); };
    const Status status = Dump(&kernel.socket, request, restart, [&](const Message& message) {
      sizes.push_back(message.size);
      return Status{};
    });
    CHECK(status.ok());
    CHECK(sizes == (std::vector<size_t>{100, 60000, 130000}));
    CHECK_EQUAL(attempts, 3);
    // The buffer stays: the next request is sent once.
    CHECK(Dump(&kernel.socket, request, restart, [](const Message&) { return Status{}; }).ok());
    CHECK_EQUAL(attempts, 4);
  }
}

// More lengths than attempts: each makes the buffer larger, and none is charged.
TEST(ABufferThatGrowsIsNoFailedAttempt) {
  int attempts = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    const uint32_t sequence = request[0].sequence;
    const size_t size = size_t{8192} << std::min(attempts++, 3);
    if (attempts % 2 == 0) return {Acknowledged(NLMSG_DONE, NLM_F_DUMP_INTR, sequence, 0)};
    return {OfSize(size, NLM_F_MULTI, sequence), Acknowledged(NLMSG_DONE, 0, sequence, 0)};
  });
  const Encode request = Request(NLM_F_DUMP);
  CHECK(Dump(
            &kernel.socket, request, [] {}, [](const Message&) { return Status{}; })
            .ok());
}

TEST(ADatagramBeyondTheBoundIsMalformed) {
  FakeKernel kernel(
      [](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
        return {OfSize(70000, 0, request[0].sequence)};
      },
      65536);
  const Encode request = Request(NLM_F_ACK);
  const Status status = Query(&kernel.socket, request, [](const Message&) { return Status{}; });
  CHECK(status.kind == FailureKind::kMalformedReply);
}

TEST(AnInterruptedDumpIsReadAgain) {
  int attempts = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    const uint32_t sequence = request[0].sequence;
    const uint16_t flags = ++attempts < 3 ? NLM_F_MULTI | NLM_F_DUMP_INTR : NLM_F_MULTI;
    return {Built(kReply, flags, sequence), Acknowledged(NLMSG_DONE, NLM_F_MULTI, sequence, 0)};
  });
  const Encode request = Request(NLM_F_DUMP);
  int replies = 0;
  const auto on_reply = [&](const Message&) { return CountReplies(&replies); };
  CHECK(Dump(
            &kernel.socket, request, [&] { replies = 0; }, on_reply)
            .ok());
  CHECK_EQUAL(attempts, 3);
  CHECK_EQUAL(replies, 1);
}

TEST(ADumpThatIsAlwaysInterruptedIsGivenUp) {
  int attempts = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    attempts++;
    return {Acknowledged(NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, request[0].sequence, 0)};
  });
  const Encode request = Request(NLM_F_DUMP);
  const Status status = Dump(
      &kernel.socket, request, [] {}, [](const Message&) { return Status{}; });
  CHECK(status.kind == FailureKind::kInterrupted);
  CHECK_EQUAL(attempts, knp::netlink::kReadAttempts);
}

TEST(AnErrorAtTheEndOfADumpIsItsResult) {
  FakeKernel kernel([](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    const uint32_t sequence = request[0].sequence;
    return {Built(kReply, NLM_F_MULTI, sequence), Acknowledged(NLMSG_DONE, NLM_F_MULTI, sequence, -EMSGSIZE)};
  });
  const Encode request = Request(NLM_F_DUMP);
  CHECK(Dump(
            &kernel.socket, request, [] {}, [](const Message&) { return Status{}; })
            .is_errno(EMSGSIZE));
}
