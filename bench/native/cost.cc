#include "bench/native/cost.h"

#include <chrono>

namespace knp::bench {
namespace {

uint64_t Now() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

uint64_t Nanoseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_usec) * 1'000;
}

}  // namespace

Meter::Meter() {
  static_cast<void>(getrusage(RUSAGE_SELF, &self_));
  static_cast<void>(getrusage(RUSAGE_CHILDREN, &children_));
  // Last: the other clocks are read outside the measured time.
  wall_ = Now();
}

void Meter::Stop(Cost* cost) const {
  cost->wall += Now() - wall_;
  rusage now{};
  static_cast<void>(getrusage(RUSAGE_SELF, &now));
  cost->user += Nanoseconds(now.ru_utime) - Nanoseconds(self_.ru_utime);
  cost->system += Nanoseconds(now.ru_stime) - Nanoseconds(self_.ru_stime);
  static_cast<void>(getrusage(RUSAGE_CHILDREN, &now));
  cost->children += Nanoseconds(now.ru_utime) - Nanoseconds(children_.ru_utime) + Nanoseconds(now.ru_stime) -
                    Nanoseconds(children_.ru_stime);
}

}  // namespace knp::bench
