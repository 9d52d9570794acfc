// Batches: against a fake kernel.
#include "netlink/batch.h"

#include <cerrno>

#include "check.h"
#include "fake_kernel.h"

namespace {

using knp::netlink::Batch;
using knp::netlink::Failure;
using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::netlink::Status;
using knp::test::Acknowledged;
using knp::test::FakeKernel;
using knp::test::kReply;

void AddPlain(Batch* batch, uint32_t index) {
  batch->Add(index, [](MessageBuilder* builder) {
    builder->Begin(kReply, NLM_F_REQUEST, 0);
    return builder->End();
  });
}

}  // namespace

TEST(ABatchAsksForOneAcknowledgementAndTellsFailuresBySequence) {
  std::vector<size_t> loads;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    loads.push_back(request.size());
    for (size_t i = 0; i < request.size(); i++) {
      CHECK_EQUAL(request[i].flags & NLM_F_ACK, i + 1 == request.size() ? NLM_F_ACK : 0);
      CHECK_EQUAL(request[i].sequence, request[0].sequence + i);
    }
    std::vector<std::vector<uint8_t>> replies;
    if (request.size() > 1) replies.push_back(Acknowledged(NLMSG_ERROR, 0, request[1].sequence, -EEXIST));
    replies.push_back(Acknowledged(NLMSG_ERROR, 0, request.back().sequence, 0));
    return replies;
  });
  Batch batch(&kernel.socket, 4);
  for (uint32_t i = 0; i < 9; i++) AddPlain(&batch, 10 * i);
  batch.Fail(15, Status::Errno(ENODEV));
  const std::vector<Failure> failures = batch.Finish();
  CHECK(loads == (std::vector<size_t>{4, 4, 1}));
  CHECK_EQUAL(failures.size(), 3);
  CHECK_EQUAL(failures[0].index, 10);
  CHECK(failures[0].status.is_errno(EEXIST));
  CHECK_EQUAL(failures[1].index, 15);
  CHECK(failures[1].status.is_errno(ENODEV));
  CHECK_EQUAL(failures[2].index, 50);
}

TEST(ABatchWithoutAnswerIsUnknownAndWhatFollowsIsNotSent) {
  int sends = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    sends++;
    return {Acknowledged(NLMSG_ERROR, 0, request[0].sequence, -ENOENT)};  // but none for the last
  });
  Batch batch(&kernel.socket, 2);
  for (uint32_t i = 0; i < 5; i++) AddPlain(&batch, i);
  const std::vector<Failure> failures = batch.Finish();
  CHECK_EQUAL(sends, 1);
  CHECK_EQUAL(failures.size(), 5);
  CHECK(failures[0].status.is_errno(ENOENT));
  CHECK(failures[1].status.kind == FailureKind::kUnknownOutcome);
  for (size_t i = 2; i < 5; i++) CHECK(failures[i].status.kind == FailureKind::kTimeout);
  CHECK(failures[0].rest.ok());
  CHECK(failures[1].rest.kind == FailureKind::kTimeout);
  CHECK_EQUAL(failures[1].rest.message, failures[2].status.message);
}

// As nfnetlink does without CAP_NET_ADMIN.
TEST(ABufferThatIsRefusedAsAWholeFailsAtOnce) {
  int sends = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    sends++;
    return {Acknowledged(NLMSG_ERROR, 0, request[0].sequence, -EPERM)};
  });
  Batch batch(&kernel.socket, 3);
  for (uint32_t i = 0; i < 5; i++) AddPlain(&batch, i);
  const std::vector<Failure> failures = batch.Finish();
  CHECK_EQUAL(sends, 2);
  CHECK_EQUAL(failures.size(), 5);
  for (const Failure& failure : failures) CHECK(failure.status.is_errno(EPERM));
}

// As a module that checks rights itself could answer, or a security module.
TEST(ARefusalOfTheFirstMessageAloneIsNotThatOfOthers) {
  FakeKernel kernel([](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    std::vector<uint8_t> replies = Acknowledged(NLMSG_ERROR, 0, request[0].sequence, -EPERM);
    const std::vector<uint8_t> last = Acknowledged(NLMSG_ERROR, 0, request.back().sequence, 0);
    replies.insert(replies.end(), last.begin(), last.end());
    return {replies};
  });
  Batch batch(&kernel.socket, 3);
  for (uint32_t i = 0; i < 3; i++) AddPlain(&batch, i);
  const std::vector<Failure> failures = batch.Finish();
  CHECK_EQUAL(failures.size(), 1);
  CHECK_EQUAL(failures[0].index, 0);
  CHECK(failures[0].status.is_errno(EPERM));
}

TEST(AMessageThatCannotBeEncodedFailsAlone) {
  FakeKernel kernel([](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    return {Acknowledged(NLMSG_ERROR, 0, request.back().sequence, 0)};
  });
  Batch batch(&kernel.socket, 4);
  AddPlain(&batch, 0);
  batch.Add(1, [](MessageBuilder* builder) {
    builder->Begin(kReply, NLM_F_REQUEST, 0);
    builder->PutBytes(1, std::vector<uint8_t>(70000).data(), 70000);
    return builder->End();
  });
  AddPlain(&batch, 2);
  const std::vector<Failure> failures = batch.Finish();
  CHECK_EQUAL(failures.size(), 1);
  CHECK_EQUAL(failures[0].index, 1);
  CHECK(failures[0].status.is_errno(EMSGSIZE));
}

// It may have had the answer to any of them. Not waited for: the kernel has answered inside send(2).
TEST(ABatchWithAnAnswerLongerThanTheBufferIsUnknownAndTheNextOneIsSent) {
  int sends = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    sends++;
    std::vector<std::vector<uint8_t>> replies;
    replies.push_back(Acknowledged(NLMSG_ERROR, 0, request[0].sequence, -ENOENT));
    if (sends == 1) replies.emplace_back(9000);
    replies.push_back(Acknowledged(NLMSG_ERROR, 0, request.back().sequence, 0));
    return replies;
  });
  Batch batch(&kernel.socket, 3);
  for (uint32_t i = 0; i < 6; i++) AddPlain(&batch, i);
  const std::vector<Failure> failures = batch.Finish();
  CHECK_EQUAL(sends, 2);
  CHECK_EQUAL(failures.size(), 4);
  CHECK(failures[0].status.is_errno(ENOENT));
  CHECK(failures[1].status.kind == FailureKind::kUnknownOutcome);
  CHECK(failures[2].status.kind == FailureKind::kUnknownOutcome);
  CHECK(failures[3].status.is_errno(ENOENT));
  CHECK_EQUAL(failures[3].index, 3);
}
