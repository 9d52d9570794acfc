#include <cerrno>
#include <memory>
#include <mutex>

#include "binding/classes.h"
#include "binding/client_binding.h"
#include "rtnetlink/records.h"
#include "rtnetlink/watch.h"

namespace knp::binding {
namespace {

using netlink::Status;

// A watch that was started, until it is closed or its environment ends: dropping the JavaScript object does
// not end it. Everything but Report() runs on the JavaScript thread.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(std::shared_ptr<rtnetlink::Watch> watch) : watch_(std::move(watch)) {}

  Status Start(Napi::Env env, const Napi::Function& callback, std::chrono::milliseconds gather,
               bool keep_alive) {
    auto* held = new std::shared_ptr<Session>(shared_from_this());  // as long as calls_ exists
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
    Status status = watch_->Start(gather, [this](rtnetlink::Changes changes) { Report(std::move(changes)); });
    if (!status.ok()) Close(env);
    return status;
  }

  void Close(Napi::Env env) {
    if (!open_) return;
    static_cast<void>(napi_remove_env_cleanup_hook(env, End, this));
    End(this);
  }

 private:
  static void End(void* data) {
    auto* session = static_cast<Session*>(data);
    session->open_ = false;
    session->watch_->Stop();
    static_cast<void>(napi_release_threadsafe_function(session->calls_, napi_tsfn_release));
  }

  static void Finalize(napi_env /*env*/, void* held, void* /*session*/) {
    delete static_cast<std::shared_ptr<Session>*>(held);
  }

  // `env` is null for a call that was still queued when the environment ended.
  static void CallBack(napi_env env, napi_value callback, void* data, void* /*none*/) {
    auto* session = static_cast<Session*>(data);
    rtnetlink::Changes changes;
    {
      const std::lock_guard<std::mutex> lock(session->mutex_);
      std::swap(changes, session->pending_);
    }
    if (env == nullptr || !session->open_) return;
    Napi::Function(env, callback)
        .Call({Napi::Number::New(env, changes.kinds), ToValue(env, rtnetlink::StoreEvents(changes.events))});
  }

  // On the watch's thread. At most one call is queued at any time: it also delivers later reports, until it
  // runs.
  void Report(rtnetlink::Changes changes) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const bool queued = pending_.kinds != 0;
      rtnetlink::Append(&pending_, std::move(changes));
      if (queued) return;
    }
    static_cast<void>(napi_call_threadsafe_function(calls_, nullptr, napi_tsfn_nonblocking));
  }

  std::shared_ptr<rtnetlink::Watch> watch_;
  napi_threadsafe_function calls_ = nullptr;
  std::mutex mutex_;
  rtnetlink::Changes pending_;
  bool open_ = false;
};

// The class RtnetlinkWatch of the addon; src/kernel/addon.ts declares its methods.
class RtnetlinkWatch : public ClientBinding<RtnetlinkWatch, rtnetlink::Watch> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "RtnetlinkWatch", {InstanceMethod<&RtnetlinkWatch::Start>("start")});
  }

 private:
  // start(milliseconds to gather, whether to keep the event loop alive, callback)
  void Start(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (session_) return Refuse(env, "started already");
    if (!client()) return ToError(env, Status::Of(netlink::Fault::kClosed)).ThrowAsJavaScriptException();
    if (!info[0].IsNumber() || !info[1].IsBoolean() || !info[2].IsFunction()) {
      return Refuse(env, "arguments must be a number, a boolean and a function");
    }
    const std::chrono::milliseconds gather(info[0].As<Napi::Number>().Uint32Value());
    auto session = std::make_shared<Session>(client());
    Status status = session->Start(env, info[2].As<Napi::Function>(), gather, info[1].ToBoolean());
    if (status.ok()) {
      session_ = std::move(session);
    } else {
      ToError(env, status).ThrowAsJavaScriptException();
    }
  }

  void BeforeClose(Napi::Env env) override {
    if (session_) session_->Close(env);
    session_.reset();
  }

  static void Refuse(Napi::Env env, const char* reason) {
    Napi::TypeError::New(env, reason).ThrowAsJavaScriptException();
  }

  std::shared_ptr<Session> session_;
};

}  // namespace

void InitRtnetlinkWatch(Napi::Object exports) {
  RtnetlinkWatch::Init(exports);
}

}  // namespace knp::binding
