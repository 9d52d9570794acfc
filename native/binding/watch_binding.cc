#include "binding/watch_binding.h"

#include <cerrno>
#include <chrono>
#include <utility>

namespace knp::binding {

using netlink::Status;

// A watch that was started, until it is closed or its environment ends: dropping the JavaScript object does
// not end it. Everything but the call of `ready`, and the wait for the end of its thread, runs on the
// JavaScript thread.
class WatchSession : public std::enable_shared_from_this<WatchSession> {
 public:
  explicit WatchSession(std::shared_ptr<netlink::Watch> watch) : watch_(std::move(watch)) {}

  Status Start(Napi::Env env, const Napi::Function& callback, std::chrono::milliseconds gather,
               bool keep_alive) {
    auto* held = new std::shared_ptr<WatchSession>(shared_from_this());  // as long as calls_ exists
    if (napi_create_threadsafe_function(env, callback, nullptr, Napi::String::New(env, "knp"), 0, 1, held,
                                        Finalize, this, CallBack, &calls_) != napi_ok) {
      delete held;
      return Status::Errno(ENOMEM, "cannot make a thread-safe function");
    }
    if (!keep_alive) static_cast<void>(napi_unref_threadsafe_function(env, calls_));
    // Hooks run in reverse order: this one, and with it the thread, ends before the function, whose own hook
    // was added when it was made.
    static_cast<void>(napi_add_env_cleanup_hook(env, End, this));
    open_ = true;
    // The queue has room: a watch makes no second call before its notifications are taken.
    Status status = watch_->Start(gather, [this] {
      static_cast<void>(napi_call_threadsafe_function(calls_, nullptr, napi_tsfn_nonblocking));
    });
    if (!status.ok()) Release(env);
    return status;
  }

  // Waits for the end of the thread on the pool: it may wait for a lock that another process has.
  Napi::Value Close(Napi::Env env) {
    if (!open_) return {};
    open_ = false;
    watch_->RequestStop();
    auto* ending = new Ending(env, shared_from_this());
    const Napi::Value end = ending->end();
    ending->Queue();  // deletes itself when it is done
    return end;
  }

 private:
  class Ending : public Napi::AsyncWorker {
   public:
    Ending(Napi::Env env, std::shared_ptr<WatchSession> session)
        : Napi::AsyncWorker(env, "knp"), deferred_(env), session_(std::move(session)) {}

    Napi::Value end() const { return deferred_.promise(); }

    void Execute() override { session_->watch_->Stop(); }
    void OnOK() override {
      session_->Release(Env());
      deferred_.Resolve(Env().Undefined());
    }

   private:
    Deferred deferred_;
    std::shared_ptr<WatchSession> session_;
  };

  // After the thread has ended, or if there is none.
  void Release(napi_env env) {
    open_ = false;
    if (calls_ == nullptr) return;  // the environment ends, and End() was called
    static_cast<void>(napi_remove_env_cleanup_hook(env, End, this));
    static_cast<void>(napi_release_threadsafe_function(std::exchange(calls_, nullptr), napi_tsfn_release));
  }

  // Waits for the end of the thread, which must not call a function of an environment that has ended.
  static void End(void* data) {
    auto* session = static_cast<WatchSession*>(data);
    session->open_ = false;
    session->watch_->Stop();
    static_cast<void>(
        napi_release_threadsafe_function(std::exchange(session->calls_, nullptr), napi_tsfn_release));
  }

  static void Finalize(napi_env /*env*/, void* held, void* /*session*/) {
    delete static_cast<std::shared_ptr<WatchSession>*>(held);
  }

  // `env` is null for a call that was still queued when the environment ended.
  static void CallBack(napi_env env, napi_value callback, void* data, void* /*none*/) {
    if (env == nullptr || !static_cast<WatchSession*>(data)->open_) return;
    Napi::Function(env, callback).Call({});
  }

  std::shared_ptr<netlink::Watch> watch_;
  napi_threadsafe_function calls_ = nullptr;
  bool open_ = false;
};

std::shared_ptr<WatchSession> StartWatch(const Napi::CallbackInfo& info,
                                         std::shared_ptr<netlink::Watch> watch) {
  const Napi::Env env = info.Env();
  if (!watch) {
    ToError(env, Status::Of(netlink::FailureKind::kClosed)).ThrowAsJavaScriptException();
    return nullptr;
  }
  if (!info[0].IsNumber() || !info[1].IsBoolean() || !info[2].IsFunction()) {
    Napi::TypeError::New(env, "arguments must be a number, a boolean and a function")
        .ThrowAsJavaScriptException();
    return nullptr;
  }
  const std::chrono::milliseconds gather(info[0].As<Napi::Number>().Uint32Value());
  auto session = std::make_shared<WatchSession>(std::move(watch));
  Status status = session->Start(env, info[2].As<Napi::Function>(), gather, info[1].ToBoolean());
  if (status.ok()) return session;
  ToError(env, status).ThrowAsJavaScriptException();
  return nullptr;
}

Napi::Value EndWatch(Napi::Env env, WatchSession* session) {
  return session == nullptr ? Napi::Value() : session->Close(env);
}

Napi::Value TakeNotifications(Napi::Env env, netlink::Watch* watch) {
  netlink::Notifications taken = watch != nullptr ? watch->Take() : netlink::Notifications{};
  Napi::Object object = Napi::Object::New(env);
  object.Set("records", ToValue(env, std::move(taken.records)));
  object.Set("lost", Napi::Boolean::New(env, taken.lost));
  object.Set("dropped", static_cast<double>(taken.dropped));
  return object;
}

}  // namespace knp::binding
