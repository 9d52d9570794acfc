// Messages of any family: copied as they are, and sent in buffers of a bounded size.
#include <algorithm>
#include <cerrno>
#include <numeric>

#include "check.h"
#include "fake_kernel.h"
#include "netlink/client.h"
#include "opening.h"

namespace {

using knp::netlink::Batch;
using knp::netlink::Client;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::test::Acknowledged;
using knp::test::FakeKernel;
using knp::test::kReply;
using knp::test::MessagesOf;

std::vector<uint8_t> WithPayload(uint16_t flags, const std::vector<uint8_t>& payload) {
  std::vector<uint8_t> bytes;
  const Message message{kReply, flags, 7, 0, payload.data(), payload.size()};
  AppendMessage(message, &bytes);
  return bytes;
}

}  // namespace

TEST(AMessageIsCopiedWithItsLengthAndPadding) {
  for (const size_t size : {0, 1, 4, 5, 1000}) {
    std::vector<uint8_t> payload(size);
    std::iota(payload.begin(), payload.end(), 1);
    const std::vector<uint8_t> bytes = WithPayload(NLM_F_MULTI, payload);
    CHECK_EQUAL(bytes.size() % 4, 0);
    const std::vector<Message> copies = MessagesOf(bytes);
    CHECK_EQUAL(copies.size(), 1);
    CHECK_EQUAL(copies[0].flags, NLM_F_MULTI);
    CHECK_EQUAL(copies[0].sequence, 0);
    CHECK(std::vector<uint8_t>(copies[0].payload, copies[0].payload + copies[0].size) == payload);
  }
}

TEST(LongMessagesAreSentInSeveralBuffers) {
  size_t buffers = 0;
  size_t longest = 0;
  size_t messages = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    buffers++;
    messages += request.size();
    longest = std::max(longest, request.size());
    return {Acknowledged(NLMSG_ERROR, 0, request.back().sequence, 0)};
  });
  const std::vector<uint8_t> payload(30000);
  Batch batch(&kernel.socket, 256);
  for (uint32_t i = 0; i < 9; i++) {
    batch.Add(i, [&](MessageBuilder* builder) {
      builder->Copy(Message{kReply, NLM_F_REQUEST, 0, 0, payload.data(), payload.size()}, NLM_F_REQUEST);
      return true;
    });
  }
  CHECK(batch.Finish().empty());
  CHECK_EQUAL(messages, 9);
  CHECK_EQUAL(buffers, 3);
  CHECK_EQUAL(longest, 3);
}

// A message that the kernel takes for a request to list is answered with NLMSG_DONE.
TEST(ABatchThatEndsWithAListingEnds) {
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    return {Acknowledged(NLMSG_DONE, NLM_F_MULTI, request.back().sequence, 0)};
  });
  Batch batch(&kernel.socket, 256);
  batch.Add(0, [](MessageBuilder* builder) {
    builder->Copy(Message{kReply, 0, 0, 0, nullptr, 0}, NLM_F_REQUEST | NLM_F_DUMP);
    return true;
  });
  CHECK(batch.Finish().empty());
}

TEST(MalformedMessagesOfACallerAreRefused) {
  Client client;
  client.SetProtocol(NETLINK_ROUTE, true);
  CHECK(knp::test::OpenAt("", &client).ok());
  std::vector<uint8_t> cut = WithPayload(0, std::vector<uint8_t>(8));
  cut.resize(cut.size() - 4);
  const auto failures = client.Send(cut);
  CHECK_EQUAL(failures.size(), 1);
  CHECK(failures[0].status.is_errno(EINVAL));
  std::vector<uint8_t> replies;
  CHECK(client.Query(cut, &replies).is_errno(EINVAL));
  CHECK(client.Query({}, &replies).is_errno(EINVAL));
  CHECK(client.Send({}).empty());
  CHECK(knp::test::OpenAt("/nonexistent", &client).is_errno(ENOENT));
}
