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
  const std::vector<Failure> failures = client.Apply({request});
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
  knp::rtnetlink::Encoded message;
  message.type = RTM_GETLINK;
  std::vector<uint8_t> answer;
  CHECK(!client.Read(message, &answer).ok());
  CHECK_EQUAL(client.Apply({message}).size(), 1);
}

TEST(AMessageThatWasNotWholeFailsAlone) {
  knp::rtnetlink::Client client;
  CHECK(knp::test::OpenAt("", &client).ok());
  const std::vector<Failure> failures = client.Apply({knp::rtnetlink::Encoded{}});
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
  std::vector<knp::rtnetlink::Encoded> messages;
  for (int i = 0; i < 40; i++) {
    paths.push_back(std::string(folder) + "/" + std::to_string(i));
    CHECK(symlink("/proc/self/ns/net", paths.back().c_str()) == 0);
    knp::rtnetlink::Encoded message;
    message.type = RTM_SETLINK;
    message.payload.resize(sizeof(ifinfomsg) + sizeof(nlattr) + sizeof(int32_t));
    const nlattr attribute{sizeof(nlattr) + sizeof(int32_t), IFLA_NET_NS_FD};
    std::memcpy(message.payload.data() + sizeof(ifinfomsg), &attribute, sizeof(attribute));
    message.references.push_back(
        {knp::rtnetlink::ReferenceKind::kNetworkNamespace, sizeof(ifinfomsg) + sizeof(nlattr), paths.back()});
    messages.push_back(message);
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
  const std::vector<Failure> failures = client.Apply(messages);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_EQUAL(failures.size(), messages.size());
  for (const Failure& failure : failures) {
    CHECK(!failure.status.is_errno(EMFILE));
    CHECK(failure.status.message.find("cannot open") == std::string::npos);
  }
  for (const std::string& path : paths) unlink(path.c_str());
  rmdir(folder);
}
