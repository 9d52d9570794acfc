// The client of rtnetlink on the real kernel, of which nothing is asked that needs privileges.
#include <unistd.h>

#include <cerrno>

#include "check.h"
#include "rtnetlink/client.h"

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
