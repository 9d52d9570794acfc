// Batches of a few quick operations, which JavaScript's thread gives to another thread and waits for: a call
// on libuv's pool costs several times as much. One that takes longer goes on without it.
#pragma once

#include <napi.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "binding/call_thread.h"
#include "binding/deferred.h"
#include "netlink/batch.h"

namespace knp::binding {

// Everything but the work, and the notice of its end, runs on JavaScript's thread.
class QuickCall : public std::enable_shared_from_this<QuickCall> {
 public:
  // Touches no JavaScript and owns, or shares, all that it uses.
  using Work = std::function<std::vector<netlink::Failure>()>;

  // The longest time for which JavaScript's thread sleeps in a call.
  static constexpr std::chrono::microseconds kBound{200};

  // Whether the event loop can wait for a call now.
  static bool MayWait(napi_env env);

  // Carries a call out on `thread`, which is ready. Returns its failures, or their promise if the call has
  // not ended within the bound. If the environment ends before the call, JavaScript's thread waits for it
  // then, and the promise is never settled.
  static Napi::Value Run(Napi::Env env, const std::shared_ptr<CallThread>& thread, Work work);

  QuickCall(std::shared_ptr<CallThread> thread, Work work)
      : thread_(std::move(thread)), work_(std::move(work)) {}

 private:
  Napi::Value Leave(Napi::Env env);
  void Settle(Napi::Env env);
  void Release(Napi::Env env);
  static void CallBack(napi_env env, napi_value none, void* data, void* no_data);
  static void End(void* data);
  static void Finalize(napi_env env, void* held, void* data);

  std::shared_ptr<CallThread> thread_;
  Work work_;
  std::vector<netlink::Failure> failures_;
  // Of a call that was left.
  std::unique_ptr<Deferred> deferred_;
  napi_threadsafe_function calls_ = nullptr;
  bool ended_ = false;
};

}  // namespace knp::binding
