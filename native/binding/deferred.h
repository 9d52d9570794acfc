// A promise, and its settlement.
#pragma once

#include <napi.h>

namespace knp::binding {

// As Napi::Promise::Deferred, whose fields have no value when the promise cannot be made: a worker thread may
// be terminated at any time, in the middle of a call, and has no promises then. Here the promise is empty (to
// JavaScript, undefined), and is not settled.
class Deferred {
 public:
  explicit Deferred(napi_env env) : env_(env) {
    if (napi_create_promise(env, &deferred_, &promise_) == napi_ok) return;
    deferred_ = nullptr;
    promise_ = nullptr;
  }

  // In the handle scope in which it was made.
  Napi::Value promise() const { return {env_, promise_}; }

  // Once, one of the two.
  void Resolve(napi_value value) {
    if (deferred_ != nullptr) static_cast<void>(napi_resolve_deferred(env_, deferred_, value));
  }
  void Reject(napi_value value) {
    if (deferred_ != nullptr) static_cast<void>(napi_reject_deferred(env_, deferred_, value));
  }

 private:
  napi_env env_;
  napi_deferred deferred_ = nullptr;
  napi_value promise_ = nullptr;
};

}  // namespace knp::binding
