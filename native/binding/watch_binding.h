// The classes of the addon that watch: each wraps a watch of C++, calls JavaScript when there are
// notifications, and hands them over when JavaScript takes them.
#pragma once

#include <napi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "binding/client_binding.h"
#include "netlink/watch.h"

namespace knp::binding {

class WatchSession;

// Starts a watch: start(milliseconds to gather, whether to keep the event loop alive, callback). Null after
// having thrown.
std::shared_ptr<WatchSession> StartWatch(const Napi::CallbackInfo& info,
                                         std::shared_ptr<netlink::Watch> watch);
// Ends it. A promise of its end; undefined if it has ended. Null is not a session.
Napi::Value EndWatch(Napi::Env env, WatchSession* session);
// {records, lost, dropped}: the notifications since the last call.
Napi::Value TakeNotifications(Napi::Env env, netlink::Watch* watch);

// A class of the addon with `setReceiveBuffer`, `open`, `receiveBuffer`, `start`, `take` and `close`, to
// which `Binding`, the derived class, may add methods. FamilyWatch is derived from netlink::Watch, and has
// the `Open` that ClientBinding needs.
template <typename Binding, typename FamilyWatch>
class WatchBinding : public ClientBinding<Binding, FamilyWatch> {
 public:
  using ClientBinding<Binding, FamilyWatch>::ClientBinding;

 protected:
  using Base = ClientBinding<Binding, FamilyWatch>;

  static void Export(Napi::Object exports, const char* name, typename Base::Methods methods = {}) {
    methods.push_back(Base::Wrap::InstanceMethod("setReceiveBuffer", &WatchBinding::SetReceiveBuffer));
    methods.push_back(Base::Wrap::InstanceMethod("receiveBuffer", &WatchBinding::GetReceiveBuffer));
    methods.push_back(Base::Wrap::InstanceMethod("start", &WatchBinding::StartSession));
    methods.push_back(Base::Wrap::InstanceMethod("take", &WatchBinding::Take));
    Base::Export(exports, name, std::move(methods));
  }

 private:
  // setReceiveBuffer(bytes), before open()
  Napi::Value SetReceiveBuffer(const Napi::CallbackInfo& info) {
    uint32_t size = 0;
    if (ReadNumber(info, 0, &size) && this->client()) {
      this->client()->SetReceiveBuffer(static_cast<int>(std::min<uint32_t>(size, INT32_MAX)));
    }
    return {};
  }

  Napi::Value GetReceiveBuffer(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), this->client() ? this->client()->receive_buffer() : 0);
  }

  Napi::Value StartSession(const Napi::CallbackInfo& info) {
    if (session_) {
      Napi::TypeError::New(info.Env(), "started already").ThrowAsJavaScriptException();
    } else {
      session_ = StartWatch(info, this->client());
    }
    return {};
  }

  Napi::Value Take(const Napi::CallbackInfo& info) {
    return TakeNotifications(info.Env(), this->client().get());
  }

  Napi::Value BeforeClose(Napi::Env env) override {
    const auto session = std::move(session_);
    return EndWatch(env, session.get());
  }

  std::shared_ptr<WatchSession> session_;
};

}  // namespace knp::binding
