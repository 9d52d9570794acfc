// The client of rtnetlink on the real kernel, of which nothing is asked that needs privileges.
#include <linux/rtnetlink.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "check.h"
#include "netlink/message_reader.h"
#include "rtnetlink/client.h"
#include "rtnetlink/codec.h"

namespace {

using knp::netlink::Failure;
using knp::netlink::Status;

}  // namespace

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

TEST(AMessageIsSentWithTheIndexOfItsLink) {
  knp::rtnetlink::Client client;
  CHECK(client.Open("", std::chrono::milliseconds(5000)).ok());
  knp::rtnetlink::Encoded request;
  request.type = RTM_GETLINK;
  request.flags = NLM_F_ACK;
  request.payload.resize(sizeof(ifinfomsg));
  request.references.push_back({knp::rtnetlink::ReferenceKind::kLink, offsetof(ifinfomsg, ifi_index), "lo"});
  std::vector<uint8_t> answer;
  CHECK(client.Read(request, &answer).ok());
  knp::netlink::MessageReader messages(answer.data(), answer.size());
  knp::netlink::Message message;
  CHECK(messages.Next(&message));
  knp::rtnetlink::Link link;
  CHECK(DecodeLink(message, &link).ok());
  CHECK_EQUAL(link.name, "lo");
  request.references[0].name = "knp-none";
  const Status missing = client.Read(request, &answer);
  CHECK(missing.is_errno(ENODEV));
  CHECK_EQUAL(missing.message, "there is no link knp-none");
  // Without a look-up, there is no link with the index 0.
  knp::rtnetlink::Operation operation;
  operation.verb = knp::rtnetlink::Verb::kSend;
  operation.message = request;
  const std::vector<Failure> failures = client.Apply({operation});
  CHECK_EQUAL(failures.size(), 1);
  CHECK(failures[0].status.is_errno(ENODEV));
}

TEST(ANamespaceThatIsNoneIsRefused) {
  knp::rtnetlink::Client client;
  CHECK(client.Open("/nonexistent/netns", std::chrono::milliseconds(5000)).is_errno(ENOENT));
  const Status status = client.Open("/proc/self/cmdline", std::chrono::milliseconds(5000));
  CHECK(status.is_errno(EINVAL) || status.is_errno(EPERM));
  CHECK(client.Open("/proc/self/ns/net", std::chrono::milliseconds(5000)).ok() || geteuid() != 0);
}

TEST(AClientThatWasNeverOpenedOnlyFails) {
  knp::rtnetlink::Client client;
  std::vector<knp::rtnetlink::Link> links;
  CHECK(!client.ListLinks(&links).ok());
  knp::rtnetlink::Operation operation;
  operation.verb = knp::rtnetlink::Verb::kDeleteAddress;
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
