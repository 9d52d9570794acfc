// Listings that are read in portions, against a fake kernel and in the namespace of this process; settings.
#include "netlink/listing.h"

#include <cerrno>

#include "check.h"
#include "fake_kernel.h"
#include "netlink/client.h"
#include "netlink/setting.h"
#include "opening.h"

namespace {

using knp::netlink::Client;
using knp::netlink::FailureKind;
using knp::netlink::kFullPortion;
using knp::netlink::Listing;
using knp::netlink::Message;
using knp::netlink::Portion;
using knp::test::Acknowledged;
using knp::test::Built;
using knp::test::FakeKernel;
using knp::test::kReply;
using knp::test::MessagesOf;
using Datagrams = std::vector<std::vector<uint8_t>>;

std::vector<uint8_t> ListRequest() {
  return Built(kReply, NLM_F_REQUEST | NLM_F_DUMP, 0);
}

// A part of a listing, of so many replies of 1000 bytes.
std::vector<uint8_t> Part(size_t replies, uint16_t flags, uint32_t sequence) {
  const std::vector<uint8_t> payload(1000 - NLMSG_HDRLEN);
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < replies; i++) {
    std::vector<uint8_t> message;
    AppendMessage(Message{kReply, flags, 0, 0, payload.data(), payload.size()}, &message);
    knp::netlink::SetSequence(message.data(), sequence);
    bytes.insert(bytes.end(), message.begin(), message.end());
  }
  return bytes;
}

std::vector<uint8_t> End(uint16_t flags, uint32_t sequence) {
  return Acknowledged(NLMSG_DONE, static_cast<uint16_t>(NLM_F_MULTI | flags), sequence, 0);
}

}  // namespace

TEST(AListingIsReadInPortions) {
  constexpr size_t kReplies = 8;  // as many as fit into the buffer
  constexpr size_t kParts = 2 * kFullPortion / (kReplies * 1000);
  FakeKernel kernel([&](const std::vector<Message>& request) {
    Datagrams answer(kParts, Part(kReplies, 0, request[0].sequence));
    answer.push_back(End(0, request[0].sequence));
    return answer;
  });
  Listing listing(ListRequest());
  size_t portions = 0;
  size_t replies = 0;
  Portion portion;
  for (; !portion.ended; portions++) {
    CHECK(listing.Read(&kernel.socket, &portion).ok());
    CHECK(!portion.restarted);
    CHECK(portion.messages.size() < kFullPortion + kReplies * 1000);
    CHECK_EQUAL(listing.under_way(), !portion.ended);
    replies += MessagesOf(portion.messages).size();
  }
  CHECK_EQUAL(replies, kParts * kReplies);
  CHECK_EQUAL(portions, 2);
}

TEST(AListingThatChangesBeginsAgain) {
  int requests = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) {
    const uint16_t flags = requests++ < 2 ? NLM_F_DUMP_INTR : 0;
    return Datagrams{Part(1, flags, request[0].sequence), End(0, request[0].sequence)};
  });
  Listing listing(ListRequest());
  Portion portion;
  for (int attempt = 0; attempt < 3; attempt++) {
    CHECK(listing.Read(&kernel.socket, &portion).ok());
    CHECK_EQUAL(MessagesOf(portion.messages).size(), 1);
    CHECK_EQUAL(portion.restarted, attempt > 0);
    CHECK_EQUAL(portion.ended, attempt == 2);
    CHECK(!listing.under_way());
  }
}

TEST(AListingThatAlwaysChangesIsGivenUp) {
  FakeKernel kernel([](const std::vector<Message>& request) {
    return Datagrams{Part(1, NLM_F_DUMP_INTR, request[0].sequence), End(0, request[0].sequence)};
  });
  Listing listing(ListRequest());
  Portion portion;
  for (int i = 0; i < knp::netlink::kReadAttempts; i++) {
    CHECK(listing.Read(&kernel.socket, &portion).ok());
    CHECK(!portion.ended);
  }
  const auto status = listing.Read(&kernel.socket, &portion);
  CHECK(status.kind == FailureKind::kInterrupted);
  CHECK_EQUAL(status.message, "the listing changed while it was read, 10 times in a row");
}

TEST(TheErrorOfAListingEndsIt) {
  FakeKernel kernel([](const std::vector<Message>& request) {
    return Datagrams{Acknowledged(NLMSG_ERROR, 0, request[0].sequence, -EPERM)};
  });
  Listing listing(ListRequest());
  Portion portion;
  CHECK(listing.Read(&kernel.socket, &portion).is_errno(EPERM));
  CHECK(!listing.under_way());
}

TEST(AClientHasOneListingWhichAnyOtherCallEnds) {
  Client client;
  client.SetProtocol(NETLINK_ROUTE, false);
  Portion portion;
  CHECK(client.ReadListing(&portion).is_errno(EINVAL));
  CHECK(knp::test::OpenAt("", &client).ok());
  std::vector<uint8_t> request;
  knp::netlink::MessageBuilder builder(&request);
  builder.Begin(RTM_GETLINK, NLM_F_DUMP, 0);
  builder.PutHeader(ifinfomsg{});
  CHECK(builder.End());
  CHECK(client.BeginListing({}, &portion).is_errno(EINVAL));
  CHECK(client.BeginListing(request, &portion).ok());
  CHECK(portion.ended && !portion.messages.empty());
  CHECK(client.ReadListing(&portion).is_errno(EINVAL));
  std::vector<uint8_t> replies;
  CHECK(client.Query(request, &replies).ok());
  CHECK(!replies.empty());
}

TEST(ASettingIsReadOrTheErrorOfItsFile) {
  const auto here = knp::test::Here();
  std::vector<uint8_t> text;
  CHECK(ReadSetting(*here, "/proc/sys/net/ipv4/ip_forward", &text).ok());
  CHECK_EQUAL(text.size(), 2);
  CHECK(text[0] == '0' || text[0] == '1');
  CHECK(ReadSetting(*here, "/proc/sys/net/ipv4/none", &text).is_errno(ENOENT));
  CHECK(text.empty());
  CHECK(ReadSetting(*here, "/proc/sys/net", &text).is_errno(EISDIR));
}
