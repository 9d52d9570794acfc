// The client of rtnetlink on the real kernel, of which nothing is asked that needs privileges.
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "netlink/message_reader.h"
#include "opening.h"
#include "rtnetlink/client.h"
#include "rtnetlink/codec.h"

namespace {

using knp::netlink::Failure;
using knp::netlink::Status;

}  // namespace

TEST(LinksAndAddressesAreListed) {
  knp::rtnetlink::Client client;
  CHECK(knp::test::OpenAt("", &client).ok());
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
  CHECK(knp::test::OpenAt("", &client).ok());
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
  CHECK(knp::test::OpenAt("/nonexistent/netns", &client).is_errno(ENOENT));
  const Status status = knp::test::OpenAt("/proc/self/cmdline", &client);
  CHECK(status.is_errno(EINVAL) || status.is_errno(EPERM));
  CHECK(knp::test::OpenAt("/proc/self/ns/net", &client).ok() || geteuid() != 0);
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
  CHECK(knp::test::OpenAt("", &client).ok());
  knp::rtnetlink::Operation operation;
  operation.verb = static_cast<knp::rtnetlink::Verb>(17);
  const std::vector<Failure> failures = client.Apply({operation});
  CHECK_EQUAL(failures.size(), 1);
  CHECK(failures[0].status.is_errno(EINVAL));
}

// The descriptor is of a namespace, not of a path; and staying in one's own needs no privilege.
TEST(TheNamespaceOfTheThreadIsHeldAndNotEntered) {
  for (const char* path : {"", "/proc/self/ns/net", "/proc/thread-self/ns/net"}) {
    knp::netlink::SharedNamespace held;
    CHECK(knp::netlink::NetworkNamespace::Open(path, &held).ok());
    const pthread_t caller = pthread_self();
    bool same = false;
    CHECK(held->Run([&] { same = pthread_equal(caller, pthread_self()) != 0; }).ok());
    CHECK(same);
  }
}

// A batch that refers to more namespaces than there may be descriptors fails for none of them. The links do
// not exist: the kernel refuses each, after it was sent.
TEST(ABatchHasFewNamespacesOpenAtATime) {
  char folder[] = "/tmp/knp-namespaces-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  std::vector<std::string> paths;
  std::vector<knp::rtnetlink::Operation> operations;
  for (int i = 0; i < 40; i++) {
    paths.push_back(std::string(folder) + "/" + std::to_string(i));
    CHECK(symlink("/proc/self/ns/net", paths.back().c_str()) == 0);
    knp::rtnetlink::Operation operation;
    operation.verb = knp::rtnetlink::Verb::kSend;
    operation.message.type = RTM_SETLINK;
    operation.message.payload.resize(sizeof(ifinfomsg) + sizeof(nlattr) + sizeof(int32_t));
    const nlattr attribute{sizeof(nlattr) + sizeof(int32_t), IFLA_NET_NS_FD};
    std::memcpy(operation.message.payload.data() + sizeof(ifinfomsg), &attribute, sizeof(attribute));
    operation.message.references.push_back(
        {knp::rtnetlink::ReferenceKind::kNetworkNamespace, sizeof(ifinfomsg) + sizeof(nlattr), paths.back()});
    operations.push_back(operation);
  }
  knp::rtnetlink::Client client;
  CHECK(knp::test::OpenAt("", &client).ok());
  rlimit before{};
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  // Room for a few more than are open now: the lowest free number is where the next one would be.
  const int lowest = dup(0);
  close(lowest);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(lowest) + 4;
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  const std::vector<Failure> failures = client.Apply(operations);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_EQUAL(failures.size(), operations.size());
  for (const Failure& failure : failures) {
    CHECK(!failure.status.is_errno(EMFILE));
    CHECK(failure.status.message.find("cannot open") == std::string::npos);
  }
  for (const std::string& path : paths) unlink(path.c_str());
  rmdir(folder);
}
