// A thread that carries out calls for which JavaScript's thread waits, but not for long: the kernel may make
// a call wait for a lock that another process holds. JavaScript's thread then leaves the call to this thread.
// docs/decisions/0038-a-thread-for-quick-calls.md has the reasons.
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace knp::binding {

// Looks at a value for a short time, before a thread sleeps: to wake a thread takes longer than most calls.
// Where that is in vain, because the other thread has no processor of its own, it seldom tries again.
class Spin {
 public:
  // The longest time of one look.
  static constexpr std::chrono::microseconds kTime{20};

  // True once `is_there()` is true.
  template <typename IsThere>
  bool Wait(const IsThere& is_there, std::chrono::microseconds longest = kTime) {
    using Clock = std::chrono::steady_clock;
    static const bool several = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    if (!several || skip_ > 0) {
      skip_ -= skip_ > 0 ? 1 : 0;
      return false;
    }
    const Clock::time_point end = Clock::now() + longest;
    do {
      for (int i = 0; i < kLooks; i++) {
        if (is_there()) {
          longest_skip_ = 1;
          return true;
        }
        Pause();
      }
    } while (Clock::now() < end);
    skip_ = longest_skip_;
    longest_skip_ = std::min(2 * longest_skip_, kMostSkipped);
    return false;
  }

 private:
  static constexpr int kLooks = 16;  // between two reads of the clock
  static constexpr int kMostSkipped = 256;

  // Tells the processor that the loop waits.
  static void Pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  int skip_ = 0;
  int longest_skip_ = 1;
};

// One thread, that of JavaScript, calls every method. No mutex: a thread that is preempted while it has one
// would keep the other from its work for longer than the bound.
class CallThread {
 public:
  using Work = std::function<void()>;

  CallThread() = default;
  // Only when no call is under way.
  ~CallThread() {
    if (!started_) return;
    state_.exchange(kEnd);
    Wake();
    pthread_join(thread_, nullptr);
  }
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  // Whether it can take a call. The first question starts the thread.
  bool IsReady() {
    if (!started_) started_ = Start();
    return started_ && HasEnded(state_.load());
  }

  // Starts a call, when it is ready. `follows`: right after another one, as probably a next one will.
  void Post(Work work, bool follows) {
    work_ = std::move(work);
    spins_ = follows;
    woken_ = state_.exchange(kPosted) == kAsleep;
    if (woken_) Wake();
  }

  // Waits for the end of the call, but no longer than `bound` and the time of a look. False if it may not
  // have ended.
  bool Await(std::chrono::microseconds bound) {
    // To wake the thread takes longer than a look. If this thread slept meanwhile, the other one would look
    // in vain for the next call, and sleep again: each call of a series would wake both.
    const std::chrono::microseconds longest = woken_ && spins_ ? kWake : Spin::kTime;
    if (caller_.Wait([this] { return HasEnded(state_.load()); }, longest)) return true;
    uint32_t posted = kPosted;
    if (!state_.compare_exchange_strong(posted, kAwaited)) return true;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(bound);
    const std::chrono::nanoseconds rest = bound - seconds;
    const timespec time{static_cast<time_t>(seconds.count()), static_cast<long>(rest.count())};
    Sleep(kAwaited, &time);
    return HasEnded(state_.load());
  }

  // After Await(): leaves the call to the thread, which calls `then` after it. False if it has ended
  // meanwhile.
  bool Leave(Work then) {
    then_ = std::move(then);
    uint32_t awaited = kAwaited;
    return state_.compare_exchange_strong(awaited, kLeft);
  }

  // After Await(): waits for the end of the call, and of `then`.
  void AwaitEnd() {
    for (uint32_t state = state_.load(); !HasEnded(state); state = state_.load()) Sleep(state, nullptr);
  }

 private:
  enum : uint32_t {
    kIdle,
    kAsleep,   // idle, and the thread sleeps
    kPosted,   // a call is under way
    kAwaited,  // the same, and the thread that waits for it sleeps
    kLeft,     // the same, and the thread calls `then`
    kEnd,
  };

  // musl gives a thread 128 KiB, in which not every library can be loaded.
  static constexpr size_t kStack = size_t{1024} * 1024;
  // A look for the end of a call for which the thread was woken.
  static constexpr std::chrono::microseconds kWake{80};

  static bool HasEnded(uint32_t state) { return state == kIdle || state == kAsleep; }

  bool Start() {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    const bool done = pthread_attr_setstacksize(&attributes, kStack) == 0 &&
                      pthread_create(&thread_, &attributes, Execute, this) == 0;
    pthread_attr_destroy(&attributes);
    return done;
  }

  static void* Execute(void* data) {
    static_cast<CallThread*>(data)->Loop();
    return nullptr;
  }

  void Loop() {
    bool spins = false;
    while (AwaitWork(spins)) {
      work_();
      work_ = nullptr;
      spins = spins_;  // before the next call can change it
      Finish();
    }
  }

  bool AwaitWork(bool spins) {
    if (!spins || !own_.Wait([this] { return state_.load() != kIdle; })) {
      uint32_t idle = kIdle;
      state_.compare_exchange_strong(idle, kAsleep);
      while (state_.load() == kAsleep) Sleep(kAsleep, nullptr);
    }
    return state_.load() != kEnd;
  }

  void Finish() {
    uint32_t state = state_.load();
    while (state != kLeft && !state_.compare_exchange_weak(state, kIdle)) {
    }
    if (state == kPosted) return;
    if (state == kLeft) {
      then_();
      then_ = nullptr;
      state_.store(kIdle);
    }
    Wake();
  }

  // Sleeps while the state is this one, but no longer than `time`; possibly shorter. The two threads never
  // sleep at the same time.
  void Sleep(uint32_t state, const timespec* time) { Futex(FUTEX_WAIT_PRIVATE, state, time); }
  void Wake() { Futex(FUTEX_WAKE_PRIVATE, 1, nullptr); }

  void Futex(int command, uint32_t value, const timespec* time) {
    static_assert(sizeof(state_) == sizeof(uint32_t));
    syscall(SYS_futex, &state_, command, value, time, nullptr, 0);
  }

  pthread_t thread_{};
  bool started_ = false;
  Work work_;           // of the thread while a call is under way
  bool spins_ = false;  // the same
  Work then_;           // of the thread when the call is left
  bool woken_ = false;  // of the thread that calls: for the last call
  Spin caller_;         // the same
  Spin own_;
  std::atomic<uint32_t> state_{kIdle};
};

}  // namespace knp::binding
