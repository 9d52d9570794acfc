// Calls on a thread for which another one waits for a bounded time.
#include "binding/call_thread.h"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "check.h"

namespace {

using knp::binding::CallThread;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kShort{500};
constexpr std::chrono::seconds kLong{20};

}  // namespace

TEST(ACallThatEndsInTimeIsOver) {
  CallThread thread;
  int sum = 0;
  for (int i = 1; i <= 1000; i++) {
    CHECK(thread.IsReady());
    // One after another, and with pauses: the thread looks for the next call, or sleeps.
    thread.Post([&sum, i] { sum += i; }, i % 3 != 0);
    CHECK(thread.Await(kLong));
    CHECK_EQUAL(sum, i * (i + 1) / 2);
  }
}

TEST(ACallThatWaitsIsLeft) {
  CallThread thread;
  std::promise<void> lock;
  std::promise<void> reported;
  CHECK(thread.IsReady());
  bool done = false;
  thread.Post(
      [&] {
        lock.get_future().wait();
        done = true;
      },
      false);
  const Clock::time_point began = Clock::now();
  CHECK(!thread.Await(kShort));
  CHECK(Clock::now() - began < std::chrono::seconds(10));
  CHECK(thread.Leave([&] { reported.set_value(); }));
  CHECK(!thread.IsReady());
  lock.set_value();
  reported.get_future().wait();
  thread.AwaitEnd();
  CHECK(done);
  CHECK(thread.IsReady());
}

TEST(ACallThatEndsWhileItIsLeftIsReportedOnce) {
  CallThread thread;
  int left = 0;
  int ended = 0;
  for (int i = 0; i < 300; i++) {
    std::atomic<int> reports{0};
    CHECK(thread.IsReady());
    thread.Post([i] { std::this_thread::sleep_for(std::chrono::microseconds(i % 60)); }, i % 2 == 0);
    if (thread.Await(std::chrono::microseconds(i % 7))) {
      ended++;
      continue;
    }
    const bool is_left = thread.Leave([&] { reports++; });
    thread.AwaitEnd();
    CHECK_EQUAL(reports.load(), is_left ? 1 : 0);
    left += is_left ? 1 : 0;
  }
  CHECK(left + ended > 0);
}

TEST(AThreadWithoutACallEnds) {
  { const CallThread never; }
  CallThread started;
  CHECK(started.IsReady());
}
