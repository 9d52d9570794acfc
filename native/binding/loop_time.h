// Decides whether a quick call may run on JavaScript's thread, so that such calls do not keep the event loop
// from its other work. docs/decisions/0019-quick-calls-on-the-thread-of-javascript.md has the reasons.
#pragma once

#include <algorithm>
#include <cstdint>

namespace knp::binding {

// One for each event loop. All times are of one monotonic clock, in ns. `turn` is the time at which the loop
// began the callbacks that run now (uv_now).
class LoopTime {
 public:
  // The time that one turn of the loop may take until its calls go to the pool.
  static constexpr uint64_t kLongestTurn = 2'000'000;
  // A call that takes so long has waited for a lock in the kernel.
  static constexpr uint64_t kWait = 10'000'000;
  // The time for which calls go to the pool after one that has waited.
  static constexpr uint64_t kPause = 1'000'000'000;

  bool MayRun(uint64_t turn) const {
    return turn >= resume_ && (turn != turn_ || last_ - turn < kLongestTurn);
  }

  // Whether Ran() needs the time at which the call began. A clock may cost as much as a call: as long as
  // calls are quick, it is read once for each.
  bool NeedsBegin(uint64_t turn) const { return turn < exact_until_; }

  // Records a call that has run. Without `began` (0), the call counts from the end of the last one in the
  // same turn. If that is long, JavaScript may have taken the time: the next calls are measured from their
  // beginning.
  void Ran(uint64_t turn, uint64_t began, uint64_t ended) {
    const bool exact = began != 0;
    if (!exact) began = turn == turn_ ? last_ : turn;
    if (ended - std::min(began, ended) >= kWait) {
      if (exact) resume_ = ended + kPause;
      exact_until_ = std::max(ended, resume_) + kPause;
    }
    turn_ = turn;
    last_ = std::max(turn, ended);
  }

 private:
  uint64_t turn_ = 0;  // in which a call ran last
  uint64_t last_ = 0;  // end of the last call
  uint64_t resume_ = 0;
  uint64_t exact_until_ = 0;
};

}  // namespace knp::binding
