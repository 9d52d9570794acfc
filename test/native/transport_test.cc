// Sockets, exchanges and batches: against a fake kernel at the other end of a socket pair, which answers what
// a test says, and against the real one, of which nothing is asked that needs privileges.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "check.h"
#include "genl/family.h"
#include "ipvs/codec.h"
#include "messages.h"
#include "netlink/batch.h"
#include "netlink/exchange.h"
#include "netlink/socket.h"
#include "rtnetlink/client.h"
#include "rtnetlink/codec.h"

namespace {

using knp::netlink::Batch;
using knp::netlink::Descriptor;
using knp::netlink::Failure;
using knp::netlink::Fault;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::netlink::Socket;
using knp::netlink::SocketOptions;
using knp::netlink::Status;
using knp::test::MessagesOf;

constexpr uint16_t kReply = 100;

// Answers, in a thread of its own, each datagram that the socket under test sends.
class FakeKernel {
 public:
  // Returns the datagrams to answer with.
  using Answer = std::function<std::vector<std::vector<uint8_t>>(const std::vector<Message>&)>;

  explicit FakeKernel(Answer answer) : answer_(std::move(answer)) {
    int ends[2] = {-1, -1};
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    SocketOptions options;
    options.protocol = NETLINK_ROUTE;
    options.timeout = std::chrono::milliseconds(50);
    socket = Socket::Adopt(Descriptor(ends[0]), options);
    thread_ = std::thread([this, end = ends[1]] { Serve(end); });
  }
  ~FakeKernel() {
    socket = Socket();
    thread_.join();
  }
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  Socket socket;

 private:
  void Serve(int end) {
    std::vector<uint8_t> buffer(65536);
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

std::vector<uint8_t> Built(uint16_t type, uint16_t flags, uint32_t sequence) {
  std::vector<uint8_t> buffer;
  MessageBuilder builder(&buffer);
  builder.Begin(type, flags, sequence);
  CHECK(builder.End());
  return buffer;
}

std::vector<uint8_t> Acknowledged(uint16_t type, uint16_t flags, uint32_t sequence, int32_t error) {
  std::vector<uint8_t> buffer;
  MessageBuilder builder(&buffer);
  builder.Begin(type, flags, sequence);
  nlmsgerr reply{};
  reply.error = error;
  builder.PutHeader(reply);
  CHECK(builder.End());
  return buffer;
}

std::vector<uint8_t> Request(uint16_t flags) {
  return Built(kReply, NLM_F_REQUEST | flags, 0);
}

Status CountReplies(int* count) {
  (*count)++;
  return {};
}

}  // namespace

TEST(AQuerySkipsLateRepliesAndReturnsTheKernelsError) {
  FakeKernel kernel([](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    const uint32_t sequence = request[0].sequence;
    return {Acknowledged(NLMSG_ERROR, 0, sequence - 1, -ENOMEM), Built(kReply, 0, sequence - 1),
            Built(NLMSG_NOOP, 0, sequence), Built(kReply, 0, sequence),
            Acknowledged(NLMSG_ERROR, 0, sequence, -ENOENT)};
  });
  std::vector<uint8_t> request = Request(NLM_F_ACK);
  int replies = 0;
  CHECK(Query(&kernel.socket, &request, [&](const Message&) {
          return CountReplies(&replies);
        }).is_errno(ENOENT));
  CHECK_EQUAL(replies, 1);
}

TEST(AQueryWithoutAnswerTimesOut) {
  FakeKernel kernel([](const std::vector<Message>&) { return std::vector<std::vector<uint8_t>>(); });
  std::vector<uint8_t> request = Request(NLM_F_ACK);
  const Status status = Query(&kernel.socket, &request, [](const Message&) { return Status{}; });
  CHECK(status.fault == Fault::kTimeout);
}

TEST(AQueryAnsweredWithNonsenseIsMalformed) {
  for (const std::vector<uint8_t>& nonsense :
       {std::vector<uint8_t>{1}, std::vector<uint8_t>(15, 0xff), std::vector<uint8_t>(40, 0)}) {
    FakeKernel kernel(
        [&](const std::vector<Message>&) { return std::vector<std::vector<uint8_t>>{nonsense}; });
    std::vector<uint8_t> request = Request(NLM_F_ACK);
    const Status status = Query(&kernel.socket, &request, [](const Message&) { return Status{}; });
    CHECK(status.fault == Fault::kMalformedReply);
  }
}

TEST(ADatagramLongerThanTheBufferIsMalformed) {
  FakeKernel kernel([](const std::vector<Message>& request) {
    return std::vector<std::vector<uint8_t>>{std::vector<uint8_t>(9000),
                                             Built(kReply, 0, request[0].sequence)};
  });
  std::vector<uint8_t> request = Request(NLM_F_ACK);
  const Status status = Query(&kernel.socket, &request, [](const Message&) { return Status{}; });
  CHECK(status.fault == Fault::kMalformedReply);
}

TEST(AnInterruptedDumpIsReadAgain) {
  int attempts = 0;
  FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    const uint32_t sequence = request[0].sequence;
    const uint16_t flags = ++attempts < 3 ? NLM_F_MULTI | NLM_F_DUMP_INTR : NLM_F_MULTI;
    return {Built(kReply, flags, sequence), Acknowledged(NLMSG_DONE, NLM_F_MULTI, sequence, 0)};
  });
  std::vector<uint8_t> request = Request(NLM_F_DUMP);
  int replies = 0;
  const auto on_reply = [&](const Message&) { return CountReplies(&replies); };
  CHECK(Dump(
            &kernel.socket, &request, [&] { replies = 0; }, on_reply)
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
  std::vector<uint8_t> request = Request(NLM_F_DUMP);
  const Status status = Dump(
      &kernel.socket, &request, [] {}, [](const Message&) { return Status{}; });
  CHECK(status.fault == Fault::kInterrupted);
  CHECK_EQUAL(attempts, knp::netlink::kReadAttempts);
}

TEST(AnErrorAtTheEndOfADumpIsItsResult) {
  FakeKernel kernel([](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
    const uint32_t sequence = request[0].sequence;
    return {Built(kReply, NLM_F_MULTI, sequence), Acknowledged(NLMSG_DONE, NLM_F_MULTI, sequence, -EMSGSIZE)};
  });
  std::vector<uint8_t> request = Request(NLM_F_DUMP);
  CHECK(Dump(
            &kernel.socket, &request, [] {}, [](const Message&) { return Status{}; })
            .is_errno(EMSGSIZE));
}

namespace {

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
  CHECK(failures[1].status.fault == Fault::kUnknownOutcome);
  for (size_t i = 2; i < 5; i++) CHECK(failures[i].status.fault == Fault::kTimeout);
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

namespace {

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
      CHECK(failures[i].status.fault == Fault::kUnknownOutcome);
    }
  }
  CHECK(known > 0);
  CHECK(known < 120);
  CHECK(failures[59].status.fault == Fault::kUnknownOutcome);
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

std::vector<uint8_t> LinksRequest() {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  CHECK(knp::rtnetlink::EncodeListLinks(&builder));
  return request;
}

}  // namespace

TEST(AReadWhoseRepliesWereLostIsRepeated) {
  Socket socket = RouteSocket(4096);
  Overflow(&socket);
  std::vector<uint8_t> request = LinksRequest();
  int attempts = 0;
  int replies = 0;
  const auto restart = [&] { attempts++; };
  CHECK(Dump(&socket, &request, restart, [&](const Message&) { return CountReplies(&replies); }).ok());
  CHECK_EQUAL(attempts, 2);
  CHECK(replies > 0);
}

TEST(AReadWhoseRepliesAreLostAtEveryAttemptIsGivenUp) {
  Socket socket = RouteSocket(4096);
  std::vector<uint8_t> request = LinksRequest();
  int attempts = 0;
  const auto restart = [&] {
    attempts++;
    Overflow(&socket);
  };
  const Status status = Dump(&socket, &request, restart, [](const Message&) { return Status{}; });
  CHECK(status.fault == Fault::kInterrupted);
  CHECK_EQUAL(attempts, knp::netlink::kReadAttempts);
}

TEST(AChangeWhoseReplyWasLostIsUnknownAndNotRepeated) {
  Socket socket = RouteSocket(4096);
  Overflow(&socket);
  std::vector<uint8_t> request = LinksRequest();
  CHECK(Command(&socket, &request).fault == Fault::kUnknownOutcome);
}

TEST(ABatchOfTheSocketsOwnLimitDoesNotOverflow) {
  for (const int buffer_size : {4096, 65536, 1 << 20}) {
    Socket socket = RouteSocket(buffer_size);
    Batch batch(&socket);
    for (uint32_t i = 0; i < 600; i++) AddLookUp(&batch, i);
    for (const Failure& failure : batch.Finish()) CHECK(failure.status.is_errno(ENODEV));
  }
}

TEST(LinksAndAddressesAreListed) {
  knp::rtnetlink::Client client;
  CHECK(client.Open("", std::chrono::milliseconds(5000)).ok());
  std::vector<knp::rtnetlink::Link> links;
  CHECK(client.ListLinks(&links).ok());
  bool loopback = false;
  for (const auto& link : links) loopback = loopback || link.name == "lo";
  CHECK(loopback);
  knp::rtnetlink::Link one;
  CHECK(client.GetLink("lo", &one).ok());
  CHECK_EQUAL(one.name, "lo");
  CHECK(client.GetLink("knp-none", &one).is_errno(ENODEV));
  std::vector<knp::rtnetlink::NamedAddress> addresses;
  CHECK(client.ListAddresses("knp-none", &addresses).is_errno(ENODEV));
  CHECK(client.ListAddresses("lo", &addresses).ok());
  for (const auto& address : addresses) CHECK_EQUAL(address.link, "lo");
}

TEST(ANamespaceThatIsNoneIsRefused) {
  knp::rtnetlink::Client client;
  CHECK(client.Open("/nonexistent/netns", std::chrono::milliseconds(5000)).is_errno(ENOENT));
  const Status status = client.Open("/proc/self/cmdline", std::chrono::milliseconds(5000));
  CHECK(status.is_errno(EINVAL) || status.is_errno(EPERM));
  CHECK(client.Open("/proc/self/ns/net", std::chrono::milliseconds(5000)).ok() || geteuid() != 0);
}

TEST(AFamilyThatCannotBeLookedUpLeavesTheIdAsItWas) {
  uint16_t id = knp::genl::kNoFamily;
  for (const int32_t error : {-ENOENT, 0}) {  // 0: acknowledged, but no family in the reply
    FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
      return {Acknowledged(NLMSG_ERROR, 0, request[0].sequence, error)};
    });
    CHECK(!knp::genl::LookUpFamily(&kernel.socket, "IPVS", &id).ok());
    CHECK_EQUAL(id, knp::genl::kNoFamily);
  }
}

TEST(TheKernelRefusesTheIdThatNoFamilyHas) {
  SocketOptions options;
  options.protocol = NETLINK_GENERIC;
  Socket socket;
  CHECK(Socket::Open(options, &socket).ok());
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  CHECK(knp::ipvs::EncodeFlush(&builder, knp::genl::kNoFamily));
  CHECK(Query(&socket, &request, [](const Message&) { return Status{}; }).is_errno(ENOENT));
  uint16_t id = 0;
  CHECK(knp::genl::LookUpFamily(&socket, "nlctrl", &id).ok());
  CHECK_EQUAL(id, GENL_ID_CTRL);
}

TEST(AClientThatWasNeverOpenedOnlyFails) {
  knp::rtnetlink::Client client;
  std::vector<knp::rtnetlink::Link> links;
  CHECK(!client.ListLinks(&links).ok());
  knp::rtnetlink::Operation operation;
  operation.verb = knp::rtnetlink::Verb::kDeleteLink;
  operation.link = "knp-none";
  CHECK_EQUAL(client.Apply({operation}).size(), 1);
}

TEST(AVerbThatDoesNotExistFailsAlone) {
  knp::rtnetlink::Client client;
  CHECK(client.Open("", std::chrono::milliseconds(5000)).ok());
  knp::rtnetlink::Operation operation;
  operation.verb = static_cast<knp::rtnetlink::Verb>(17);
  const std::vector<Failure> failures = client.Apply({operation});
  CHECK_EQUAL(failures.size(), 1);
  CHECK(failures[0].status.is_errno(EINVAL));
}
