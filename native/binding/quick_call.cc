#include "binding/quick_call.h"

#include <dlfcn.h>
#include <time.h>

#include "binding/job.h"
#include "binding/loop_time.h"

struct uv_loop_s;

namespace knp::binding {
namespace {

constexpr uint64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;

using LoopNow = uint64_t (*)(const uv_loop_s* loop);

// uv_now() of the program, which Node.js offers beside N-API. A program without it does not wait for calls: the
// binary needs no symbol but those of N-API.
LoopNow FindLoopNow() {
  static const auto found = reinterpret_cast<LoopNow>(dlsym(RTLD_DEFAULT, "uv_now"));
  return found;
}

// The loop time of this thread: each environment has a thread of its own.
LoopTime* LoopTimeHere() {
  thread_local LoopTime loop_time;
  return &loop_time;
}

uint64_t ClockNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // the clock of uv_now()
  return static_cast<uint64_t>(now.tv_sec) * kNanosecondsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

// When the event loop began its current turn, in ns; 0 if that is not known.
uint64_t TurnBegin(napi_env env) {
  uv_loop_s* loop = nullptr;
  const LoopNow now = FindLoopNow();
  if (now == nullptr || napi_get_uv_event_loop(env, &loop) != napi_ok) return 0;
  return now(loop) * kNanosecondsPerMillisecond;
}

}  // namespace

bool QuickCall::MayWait(napi_env env) {
  const uint64_t turn = TurnBegin(env);
  return turn != 0 && LoopTimeHere()->MayWait(turn);
}

Napi::Value QuickCall::Run(Napi::Env env, const std::shared_ptr<CallThread>& thread, Work work) {
  const uint64_t turn = TurnBegin(env);
  LoopTime* loop = LoopTimeHere();
  const auto call = std::make_shared<QuickCall>(thread, std::move(work));
  thread->Post([call] { call->failures_ = call->work_(); }, loop->HasWaited(turn));
  const bool ended = thread->Await(kBound);
  loop->Waited(turn, ClockNow());
  return ended ? ToValue(env, call->failures_) : call->Leave(env);
}

Napi::Value QuickCall::Leave(Napi::Env env) {
  auto* held = new std::shared_ptr<QuickCall>(shared_from_this());  // as long as calls_ exists
  if (napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "knp"), 0, 1, held,
                                      Finalize, this, CallBack, &calls_) != napi_ok) {
    delete held;
    thread_->AwaitEnd();  // nothing else is left: without the function the thread could not report its end
    return ToValue(env, failures_);
  }
  deferred_ = std::make_unique<Deferred>(env);
  // Hooks run in reverse order: this one, and with it the call, ends before the function, whose own hook was
  // added when it was made.
  static_cast<void>(napi_add_env_cleanup_hook(env, End, this));
  const auto report = [this] {
    static_cast<void>(napi_call_threadsafe_function(calls_, nullptr, napi_tsfn_nonblocking));
  };
  if (thread_->Leave(report)) return deferred_->promise();
  Release(env);
  return ToValue(env, failures_);
}

// `env` is null for a call that was still queued when the environment ended.
void QuickCall::CallBack(napi_env env, napi_value /*none*/, void* data, void* /*no_data*/) {
  auto* call = static_cast<QuickCall*>(data);
  if (env != nullptr && !call->ended_) call->Settle(env);
}

void QuickCall::Settle(Napi::Env env) {
  thread_->AwaitEnd();
  deferred_->Resolve(ToValue(env, failures_));
  Release(env);
}

void QuickCall::Release(Napi::Env env) {
  static_cast<void>(napi_remove_env_cleanup_hook(env, End, this));
  static_cast<void>(napi_release_threadsafe_function(calls_, napi_tsfn_release));
}

void QuickCall::End(void* data) {
  auto* call = static_cast<QuickCall*>(data);
  call->ended_ = true;
  call->thread_->AwaitEnd();
  static_cast<void>(napi_release_threadsafe_function(call->calls_, napi_tsfn_release));
}

void QuickCall::Finalize(napi_env /*env*/, void* held, void* /*call*/) {
  delete static_cast<std::shared_ptr<QuickCall>*>(held);
}

}  // namespace knp::binding
