// One call from JavaScript: work on libuv's pool, then a promise settled on the JavaScript thread.
#pragma once

#include <napi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "binding/deferred.h"
#include "netlink/batch.h"
#include "netlink/status.h"

namespace knp::binding {

// The value that a promise resolves to. Records become a Uint8Array; long ones are moved into it and not
// copied.
Napi::Value ToValue(Napi::Env env, std::vector<uint8_t> records);
// Failures become an array of {index, errno, code, message}: `code` is empty where there is an errno.
Napi::Value ToValue(Napi::Env env, const std::vector<netlink::Failure>& failures);
// An Error with `errno`, `code` and `kernelMessage`, for a call that failed as a whole.
Napi::Error ToError(Napi::Env env, const netlink::Status& status);

// `work` runs on the pool: it touches no JavaScript and owns, or shares, all that it uses, so that an
// environment may end (process.exit, Worker.terminate) while it runs. Node.js waits for it then, and the promise
// is never settled.
template <typename Result>
class Job : public Napi::AsyncWorker {
 public:
  using Work = std::function<netlink::Status(Result*)>;

  static Napi::Value Start(Napi::Env env, Work work) {
    auto* job = new Job(env, std::move(work));
    const Napi::Value promise = job->deferred_.promise();
    job->Queue();  // deletes itself when it is done
    return promise;
  }

  void Execute() override { status_ = work_(&result_); }

  void OnOK() override {
    if (status_.ok()) {
      deferred_.Resolve(ToValue(Env(), std::move(result_)));
    } else {
      deferred_.Reject(ToError(Env(), status_).Value());
    }
  }

 private:
  Job(Napi::Env env, Work work) : Napi::AsyncWorker(env, "knp"), deferred_(env), work_(std::move(work)) {}

  Deferred deferred_;
  Work work_;
  Result result_{};
  netlink::Status status_;
};

// Reads an argument that must be a Uint8Array of whole records (`exactly` one of them, if asked for). False
// after having thrown a TypeError. The bytes are copied: JavaScript may change, transfer or free its array
// while the work runs.
bool ReadRecords(const Napi::CallbackInfo& info, size_t argument, size_t record_size, bool exactly_one,
                 std::vector<uint8_t>* out);
// Reads a string argument. False after having thrown a TypeError.
bool ReadText(const Napi::CallbackInfo& info, size_t argument, std::string* out);
// Reads an argument that must be an array of strings. False after having thrown a TypeError.
bool ReadTexts(const Napi::CallbackInfo& info, size_t argument, std::vector<std::string>* out);
// Appends the strings of an array. False if the value is something else.
bool ToTexts(const Napi::Value& value, std::vector<std::string>* out);
// Reads an integer from 0 to 2^32 - 1. False after having thrown a TypeError.
bool ReadNumber(const Napi::CallbackInfo& info, size_t argument, uint32_t* out);
// Reads a number of milliseconds, 1 to 2^31 - 1. False after having thrown a TypeError.
bool ReadMilliseconds(const Napi::CallbackInfo& info, size_t argument, std::chrono::milliseconds* out);

}  // namespace knp::binding
