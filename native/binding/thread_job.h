// One call from JavaScript on a thread of its own: work that waits for another program holds none of libuv's
// threads. The thread is started by JavaScript's, and has the network namespace of that one.
#pragma once

#include <napi.h>
#include <pthread.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <utility>

#include "binding/deferred.h"
#include "binding/job.h"
#include "netlink/status.h"

namespace knp::binding {

// The result of a call that has none. Of this namespace, as all results of a ThreadJob, which looks there for
// ToValue().
struct Nothing {};

inline Napi::Value ToValue(Napi::Env env, const Nothing& /*none*/) {
  return env.Undefined();
}

// `work` runs on the thread: it touches no JavaScript and owns, or shares, all that it uses. If the
// environment ends, `cancel` is called on the JavaScript thread, which then waits for the work to end.
// Everything but Execute() runs on the JavaScript thread.
template <typename Result>
class ThreadJob : public std::enable_shared_from_this<ThreadJob<Result>> {
 public:
  using Work = std::function<netlink::Status(Result*)>;
  using Cancel = std::function<void()>;

  // Returns the promise of the result, for which there must be a ToValue().
  static Napi::Value Start(Napi::Env env, Work work, Cancel cancel) {
    return std::make_shared<ThreadJob>(env, std::move(work), std::move(cancel))->Begin(env);
  }

  // A promise that is rejected.
  static Napi::Value Reject(Napi::Env env, const netlink::Status& status) {
    Deferred deferred(env);
    deferred.Reject(ToError(env, status).Value());
    return deferred.promise();
  }

  ThreadJob(Napi::Env env, Work work, Cancel cancel)
      : deferred_(env), work_(std::move(work)), cancel_(std::move(cancel)) {}

 private:
  Napi::Value Begin(Napi::Env env) {
    auto* held = new std::shared_ptr<ThreadJob>(this->shared_from_this());  // as long as calls_ exists
    if (napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "knp"), 0, 1, held,
                                        Finalize, this, CallBack, &calls_) != napi_ok) {
      delete held;
      return Reject(env, netlink::Status::Errno(ENOMEM, "cannot make a thread-safe function"));
    }
    // Hooks run in reverse order: this one, and with it the thread, ends before the function, whose own hook
    // was added when it was made.
    static_cast<void>(napi_add_env_cleanup_hook(env, End, this));
    // Not std::thread: it reports failure by an exception.
    const int error = pthread_create(&thread_, nullptr, Execute, this);
    if (error == 0) return deferred_.promise();
    Release(env);
    return Reject(env, netlink::Status::Errno(error, "cannot start a thread"));
  }

  static void* Execute(void* data) {
    auto* job = static_cast<ThreadJob*>(data);
    job->status_ = job->work_(&job->result_);
    static_cast<void>(napi_call_threadsafe_function(job->calls_, nullptr, napi_tsfn_nonblocking));
    return nullptr;
  }

  // `env` is null for a call that was still queued when the environment ended.
  static void CallBack(napi_env env, napi_value /*none*/, void* data, void* /*none*/) {
    auto* job = static_cast<ThreadJob*>(data);
    if (env != nullptr && !job->ended_) job->Settle(env);
  }

  void Settle(Napi::Env env) {
    pthread_join(thread_, nullptr);
    if (status_.ok()) {
      deferred_.Resolve(ToValue(env, std::move(result_)));
    } else {
      deferred_.Reject(ToError(env, status_).Value());
    }
    Release(env);
  }

  void Release(Napi::Env env) {
    static_cast<void>(napi_remove_env_cleanup_hook(env, End, this));
    static_cast<void>(napi_release_threadsafe_function(calls_, napi_tsfn_release));
  }

  static void End(void* data) {
    auto* job = static_cast<ThreadJob*>(data);
    job->ended_ = true;
    job->cancel_();
    pthread_join(job->thread_, nullptr);
    static_cast<void>(napi_release_threadsafe_function(job->calls_, napi_tsfn_release));
  }

  static void Finalize(napi_env /*env*/, void* held, void* /*job*/) {
    delete static_cast<std::shared_ptr<ThreadJob>*>(held);
  }

  Deferred deferred_;
  Work work_;
  Cancel cancel_;
  Result result_{};
  netlink::Status status_;
  pthread_t thread_{};
  napi_threadsafe_function calls_ = nullptr;
  bool ended_ = false;
};

}  // namespace knp::binding
