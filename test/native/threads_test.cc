// Clients and watches that several threads use at once: ThreadSanitizer reads along
// (test/native/threads.test.ts).
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

#include "check.h"
#include "ipset/client.h"
#include "netlink/client.h"
#include "opening.h"
#include "rtnetlink/client.h"
#include "rtnetlink/watch.h"

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kThreads = 4;
constexpr int kRounds = 25;

// Runs `work(number of the thread)` on several threads at once.
void OnThreads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

// RTM_GETLINK of every link.
std::vector<uint8_t> ListLinks() {
  const std::vector<uint8_t> header(sizeof(ifinfomsg));
  std::vector<uint8_t> bytes;
  const knp::netlink::Message request{RTM_GETLINK, NLM_F_DUMP, 0, 0, header.data(), header.size()};
  AppendMessage(request, &bytes);
  return bytes;
}

// RTM_GETLINK of lo, whose index is looked up by its name.
knp::rtnetlink::Encoded LoopbackRequest() {
  knp::rtnetlink::Encoded request;
  request.type = RTM_GETLINK;
  request.flags = NLM_F_ACK;
  request.payload.resize(sizeof(ifinfomsg));
  request.references.push_back({knp::rtnetlink::ReferenceKind::kLink, offsetof(ifinfomsg, ifi_index), "lo"});
  return request;
}

}  // namespace

TEST(ThreadsShareAClient) {
  knp::rtnetlink::Client links;
  knp::netlink::Client messages;
  messages.SetProtocol(NETLINK_ROUTE, true);
  CHECK(knp::test::OpenAt("", &links).ok());
  CHECK(knp::test::OpenAt("", &messages).ok());
  std::atomic<int> failures{0};
  OnThreads([&](int number) {
    for (int i = 0; i < kRounds; i++) {
      std::vector<uint8_t> replies;
      const bool ok = number % 2 == 0 ? links.Read(LoopbackRequest(), &replies).ok()
                                      : messages.Query(ListLinks(), &replies).ok();
      if (!ok || replies.empty()) failures++;
    }
  });
  CHECK_EQUAL(failures.load(), 0);
}

TEST(ThreadsOpenAndCloseClientsAndWatches) {
  std::atomic<int> failures{0};
  OnThreads([&](int) {
    for (int i = 0; i < kRounds; i++) {
      knp::rtnetlink::Client client;
      knp::rtnetlink::Watch watch;
      if (!knp::test::OpenAt("/proc/self/ns/net", &client).ok() && !knp::test::OpenAt("", &client).ok())
        failures++;
      if (!knp::test::OpenAt("", &watch).ok() || !watch.Start(milliseconds(0), [] {}).ok()) failures++;
      static_cast<void>(watch.Take());
    }
  });
  CHECK_EQUAL(failures.load(), 0);
}

// libipset has state of the process, which one lock guards. Without privilege the kernel refuses, after
// libipset has done its part.
TEST(ThreadsWriteSetsWithClientsOfTheirOwn) {
  OnThreads([&](int number) {
    knp::ipset::Client client;
    if (!knp::test::OpenAt("", &client).ok()) return;
    for (int i = 0; i < kRounds; i++) {
      knp::ipset::Operation operation;
      operation.verb = knp::ipset::Verb::kDestroy;
      operation.set.name = "knp-absent-" + std::to_string(number);
      static_cast<void>(client.Apply({operation}));
    }
  });
}
