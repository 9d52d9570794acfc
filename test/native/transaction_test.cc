// Transactions: against a fake kernel that answers as nfnetlink_rcv_batch() does.
#include "netlink/transaction.h"

#include <linux/netfilter/nfnetlink.h>

#include <cerrno>
#include <numeric>

#include "check.h"
#include "fake_kernel.h"
#include "messages.h"
#include "netlink/client.h"

namespace {

using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::netlink::Pieces;
using knp::netlink::Status;
using knp::netlink::Transact;
using knp::netlink::TransactionAnswer;
using knp::netlink::TransactionReplies;
using knp::test::Acknowledged;
using knp::test::FakeKernel;
using knp::test::kReply;
using knp::test::MessagesOf;

using Bytes = std::vector<uint8_t>;

void Append(Bytes* out, const Bytes& more) {
  out->insert(out->end(), more.begin(), more.end());
}

Bytes MessageOf(uint16_t type, size_t payload = sizeof(nfgenmsg), uint16_t flags = 0) {
  Bytes bytes;
  const Bytes zeros(payload);
  knp::netlink::AppendMessage(Message{type, flags, 99, 0, zeros.data(), zeros.size()}, &bytes);
  return bytes;
}

// A transaction of so many ordinary messages.
Bytes TransactionOf(size_t count) {
  Bytes bytes = MessageOf(NFNL_MSG_BATCH_BEGIN);
  for (size_t i = 0; i < count; i++) Append(&bytes, MessageOf(kReply, 20, NLM_F_ACK | NLM_F_CREATE));
  Append(&bytes, MessageOf(NFNL_MSG_BATCH_END));
  return bytes;
}

// Replies in one datagram: places of messages with their errors, 0 for an acknowledgement.
Bytes Replies(uint32_t first, std::initializer_list<std::pair<uint32_t, int>> replies) {
  Bytes datagram;
  for (const auto& [place, error] : replies) {
    Append(&datagram, Acknowledged(NLMSG_ERROR, 0, first + place, -error));
  }
  return datagram;
}

// The outcome of a transaction of three ordinary messages that is answered so.
Status Outcome(std::initializer_list<std::pair<uint32_t, int>> replies, TransactionAnswer* answer) {
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<Bytes> {
    if (replies.size() == 0) return {};
    return {Replies(request[0].sequence, replies)};
  });
  return Transact(&kernel.socket, {TransactionOf(3)}, answer);
}

}  // namespace

TEST(ATransactionAsksForTheFirstAndTheLastAcknowledgement) {
  int sends = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<Bytes> {
    sends++;
    CHECK_EQUAL(request.size(), 5);
    for (size_t i = 0; i < request.size(); i++) {
      CHECK_EQUAL(request[i].sequence, request[0].sequence + i);
      const uint16_t own = i == 0 || i == 4 ? 0 : NLM_F_CREATE;
      const uint16_t asks = i == 1 || i == 3 ? NLM_F_ACK : 0;
      CHECK_EQUAL(request[i].flags, NLM_F_REQUEST | own | asks);
    }
    return {Replies(request[0].sequence, {{1, 0}, {3, 0}})};
  });
  TransactionAnswer answer;
  CHECK(Transact(&kernel.socket, {TransactionOf(3)}, &answer).ok());
  CHECK(answer.failures.empty());
  CHECK_EQUAL(sends, 1);
}

TEST(ATransactionOfSeveralPiecesIsOneSend) {
  for (const size_t pieces : {2, 1500}) {
    FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<Bytes> {
      CHECK_EQUAL(request.size(), pieces + 2);
      const auto last = static_cast<uint32_t>(pieces);
      return {Replies(request[0].sequence, {{1, 0}, {last, 0}})};
    });
    Pieces parts{MessageOf(NFNL_MSG_BATCH_BEGIN)};
    for (size_t i = 0; i < pieces; i++) parts.push_back(MessageOf(kReply));
    parts.push_back(MessageOf(NFNL_MSG_BATCH_END));
    TransactionAnswer answer;
    CHECK(Transact(&kernel.socket, parts, &answer).ok());
  }
}

TEST(ATransactionHasEveryErrorOfItsMessages) {
  TransactionAnswer answer;
  CHECK(Outcome({{1, ENOENT}, {2, EEXIST}, {3, 0}}, &answer).ok());
  CHECK_EQUAL(answer.failures.size(), 2);
  CHECK_EQUAL(answer.failures[0].index, 1);
  CHECK(answer.failures[0].status.is_errno(ENOENT));
  CHECK_EQUAL(answer.failures[1].index, 2);
  CHECK(!answer.errors_lost);
}

// The last message then has no acknowledgement.
TEST(ATransactionWhoseLastMessageFailsIsNotWaitedFor) {
  TransactionAnswer answer;
  CHECK(Outcome({{1, 0}, {3, EBUSY}}, &answer).ok());
  CHECK_EQUAL(answer.failures.size(), 1);
  CHECK(answer.failures[0].status.is_errno(EBUSY));
}

TEST(AnErrorOnTheBeginIsThatOfTheWhole) {
  for (const int error : {EPERM, ERESTART, EOPNOTSUPP}) {
    TransactionAnswer answer;
    CHECK(Outcome({{0, error}}, &answer).is_errno(error));
    CHECK(answer.failures.empty());
  }
}

// netlink_ack() of a failed commit comes before the acknowledgements.
TEST(AFailedCommitIsThatOfTheWhole) {
  TransactionAnswer answer;
  CHECK(Outcome({{1, EINVAL}, {1, 0}, {3, 0}}, &answer).is_errno(EINVAL));
  CHECK(answer.failures.empty());
  CHECK(Outcome({{1, ENOMEM}}, &answer).is_errno(ENOMEM));
  CHECK(Outcome({{1, EINVAL}, {3, 0}}, &answer).ok());
  CHECK_EQUAL(answer.failures.size(), 1);
}

TEST(ATransactionOfOneMessageTellsItsErrorFromThatOfTheCommit) {
  for (const bool committing : {false, true}) {
    FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<Bytes> {
      Bytes replies = Replies(request[0].sequence, {{1, EINVAL}});
      if (committing) Append(&replies, Replies(request[0].sequence, {{1, 0}}));
      return {replies};
    });
    TransactionAnswer answer;
    const Status status = Transact(&kernel.socket, {TransactionOf(1)}, &answer);
    CHECK_EQUAL(status.is_errno(EINVAL), committing);
    CHECK_EQUAL(answer.failures.size(), committing ? 0 : 1);
  }
}

TEST(ATransactionWithoutItsLastReplyHasAnUnknownOutcome) {
  TransactionAnswer answer;
  CHECK(Outcome({}, &answer).kind == FailureKind::kUnknownOutcome);
  CHECK(Outcome({{1, 0}}, &answer).kind == FailureKind::kUnknownOutcome);
  CHECK(Outcome({{200, 0}}, &answer).kind == FailureKind::kUnknownOutcome);
}

TEST(RepliesThatAreLostLeaveTheOutcomeUnknownUnlessThereIsAnError) {
  for (const bool failing : {false, true}) {
    TransactionReplies replies(10, 5);
    const Bytes datagram = Replies(10, {{1, failing ? ENOENT : 0}, {3, 0}});
    for (const Message& message : MessagesOf(datagram)) CHECK(replies.Read(message).ok());
    TransactionAnswer answer;
    const Status status = replies.Finish("why", &answer);
    CHECK_EQUAL(status.ok(), failing);
    CHECK_EQUAL(status.kind == FailureKind::kUnknownOutcome, !failing);
    CHECK_EQUAL(answer.errors_lost, failing);
  }
}

TEST(AReplyThatIsTooLongDoesNotHideTheOthers) {
  FakeKernel kernel([](const std::vector<Message>& request) -> std::vector<Bytes> {
    const uint32_t first = request[0].sequence;
    Bytes replies = Replies(first, {{1, ENOENT}});
    Append(&replies, Bytes(3, 1));  // the rest is malformed
    return {replies};
  });
  TransactionAnswer answer;
  CHECK(Transact(&kernel.socket, {TransactionOf(3)}, &answer).ok());
  CHECK_EQUAL(answer.failures.size(), 1);
  CHECK(answer.errors_lost);
}

TEST(BytesThatAreNoTransactionAreNotSent) {
  int sends = 0;
  FakeKernel kernel([&](const std::vector<Message>&) -> std::vector<Bytes> {
    sends++;
    return {};
  });
  const Bytes begin = MessageOf(NFNL_MSG_BATCH_BEGIN);
  const Bytes end = MessageOf(NFNL_MSG_BATCH_END);
  const Bytes plain = MessageOf(kReply);
  Bytes cut = TransactionOf(1);
  cut.resize(cut.size() - 4);
  const Bytes odd(21);
  const std::vector<Pieces> broken = {
      {},
      {{}},
      {begin, end},
      {begin, plain},
      {plain, end},
      {begin, begin, plain, end},
      {begin, plain, end, plain},
      {begin, MessageOf(NLMSG_NOOP), end},
      {begin, MessageOf(kReply, 0), end},
      {cut},
      {begin, odd, end},
  };
  for (const Pieces& pieces : broken) {
    TransactionAnswer answer;
    const Status status = Transact(&kernel.socket, pieces, &answer);
    CHECK(status.is_errno(EINVAL));
    CHECK_EQUAL(status.message, "malformed transaction");
  }
  CHECK_EQUAL(sends, 0);
}

TEST(TheAnswerOfATransactionIsARecordWithItsFailures) {
  TransactionAnswer answer;
  answer.errors_lost = true;
  answer.failures.push_back({7, Status::Errno(EEXIST, "so"), 116});
  answer.failures.push_back({300, Status::Errno(ENOENT), 0});
  const Bytes expected = {1,  0, 0, 0,                                                         //
                          7,  0, 0, 0, 17, 0, 0, 0, 116, 0, 0, 0, 2, 0, 0, 0, 's', 'o', 0, 0,  //
                          44, 1, 0, 0, 2,  0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0};
  CHECK_EQUAL(StoreAnswer(answer), expected);
}

TEST(AnAcknowledgementHasThePlaceOfTheAttribute) {
  Bytes bytes;
  knp::netlink::MessageBuilder builder(&bytes);
  builder.Begin(NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, 3);
  nlmsgerr reply{};
  reply.error = -EEXIST;
  builder.PutHeader(reply);
  builder.PutString(NLMSGERR_ATTR_MSG, "taken");
  builder.PutU32(NLMSGERR_ATTR_OFFS, 116);
  CHECK(builder.End());
  uint32_t offset = 0;
  const std::vector<Message> messages = MessagesOf(bytes);
  const Status status = ReadAcknowledgement(messages[0], &offset);
  CHECK(status.is_errno(EEXIST));
  CHECK_EQUAL(status.message, "taken");
  CHECK_EQUAL(offset, 116);
}
