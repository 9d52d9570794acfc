// Calls on JavaScript's thread: how long, and after which calls no longer.
#include "binding/loop_time.h"

#include <vector>

#include "binding/quick.h"
#include "check.h"

namespace {

using knp::binding::AreQuick;
using knp::binding::LoopTime;

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kTurn = 5'000'000'000;

// A call in the turn that began at `turn`.
void Call(LoopTime* loop, uint64_t turn, uint64_t began, uint64_t ended) {
  loop->Ran(turn, loop->NeedsBegin(turn) ? began : 0, ended);
}

// A quick call, and one that waits, in a turn of its own.
void QuickCall(LoopTime* loop, uint64_t turn) {
  Call(loop, turn, turn, turn + 5 * kMicrosecond);
}
void Wait(LoopTime* loop, uint64_t turn) {
  Call(loop, turn, turn, turn + 30 * kMillisecond);
}

}  // namespace

TEST(CallsOfATurnEndWithItsTime) {
  LoopTime loop;
  uint64_t now = kTurn;
  size_t calls = 0;
  for (; loop.MayRun(kTurn) && calls < 10'000; calls++) {
    Call(&loop, kTurn, now, now + 5 * kMicrosecond);
    now += 5 * kMicrosecond;
  }
  CHECK_EQUAL(calls, 400);  // 2 ms
  CHECK(loop.MayRun(now));  // the next turn
}

TEST(ALongTurnOfJavaScriptIsNoWaitOfACall) {
  LoopTime loop;
  for (uint64_t turn = kTurn; turn < kTurn + 10'000 * kMillisecond; turn += 100 * kMillisecond) {
    CHECK(loop.MayRun(turn));
    Call(&loop, turn, turn + 50 * kMillisecond, turn + 50 * kMillisecond + kMicrosecond);
  }
}

TEST(TheClockIsReadOnceForEachQuickCall) {
  LoopTime loop;
  QuickCall(&loop, kTurn);
  CHECK(!loop.NeedsBegin(kTurn));
  Wait(&loop, kTurn + kMillisecond);
  CHECK(loop.NeedsBegin(kTurn + 100 * kMillisecond));
  QuickCall(&loop, kTurn + 100 * kMillisecond);
  CHECK(loop.NeedsBegin(kTurn + 200 * kMillisecond));
  CHECK(!loop.NeedsBegin(kTurn + 2000 * kMillisecond));
}

TEST(CallsPauseAfterTheSecondWaitInASecondAndThenAfterEach) {
  LoopTime loop;
  Wait(&loop, kTurn);
  CHECK(loop.MayRun(kTurn + 31 * kMillisecond));
  QuickCall(&loop, kTurn + 31 * kMillisecond);
  const uint64_t second = kTurn + 500 * kMillisecond;
  Wait(&loop, second);
  const uint64_t end = second + 30 * kMillisecond;
  CHECK(!loop.MayRun(end + kMillisecond));
  CHECK(!loop.MayRun(end + 999 * kMillisecond));
  CHECK(loop.MayRun(end + 1000 * kMillisecond));
  Wait(&loop, end + 1000 * kMillisecond);
  CHECK(!loop.MayRun(end + 1040 * kMillisecond));
}

TEST(OnlyOperationsOfAFewMicrosecondsAreQuick) {
  using knp::ipvs::Verb;
  std::vector<knp::ipvs::Operation> operations(2);
  operations[0].verb = operations[1].verb = Verb::kAddRealServer;
  CHECK(AreQuick(operations));
  for (const Verb verb : {Verb::kAddService, Verb::kUpdateService, Verb::kDeleteService, Verb::kFlush,
                          Verb::kZero, Verb::kStartDaemon, Verb::kStopDaemon}) {
    operations[1].verb = verb;
    CHECK(!AreQuick(operations));
  }
  std::vector<knp::conntrack::Operation> flows(1);
  CHECK(AreQuick(flows));
  flows[0].given = knp::conntrack::kTranslatesSource;
  CHECK(!AreQuick(flows));
  flows[0].given = knp::conntrack::kGivesTimeout;
  flows[0].flow.fields = knp::conntrack::kHasMaster;
  CHECK(!AreQuick(flows));
  std::vector<knp::rtnetlink::Operation> changes(1);
  changes[0].verb = knp::rtnetlink::Verb::kDeleteAddress;
  CHECK(AreQuick(changes));
  changes[0].verb = knp::rtnetlink::Verb::kSend;
  CHECK(!AreQuick(changes));
  std::vector<knp::ipset::Operation> sets(1);
  sets[0].verb = knp::ipset::Verb::kAdd;
  CHECK(AreQuick(sets));
  sets[0].verb = knp::ipset::Verb::kSwap;
  CHECK(!AreQuick(sets));
}
