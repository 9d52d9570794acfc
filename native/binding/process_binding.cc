// Programs that the addon starts. Each has a thread of its own, started by JavaScript's: it has the network
// namespace of that one, and a program that takes long holds none of libuv's threads.
#include <pthread.h>
#include <sys/wait.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "binding/classes.h"
#include "binding/job.h"
#include "process/run.h"

namespace knp::binding {
namespace {

using netlink::Status;

const char* NameOf(process::Killed killed) {
  switch (killed) {
    case process::Killed::kNot:
      return "";
    case process::Killed::kLate:
      return "late";
    case process::Killed::kTooLong:
      return "long";
    case process::Killed::kCancelled:
      return "cancelled";
  }
  return "";
}

Napi::Value ToValue(Napi::Env env, const process::End& end) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("status", WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 0);
  object.Set("signal", WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0);
  object.Set("killed", NameOf(end.killed));
  object.Set("output", end.output);
  object.Set("errors", end.errors);
  return object;
}

// A program with its arguments.
struct Task {
  process::Command command;
  process::Environment environment;
  std::vector<uint8_t> input;
  process::Limits limits;
};

// A program that runs, until its promise is settled or its environment ends: then it is killed. Everything
// but Execute() runs on the JavaScript thread.
class ProgramCall : public std::enable_shared_from_this<ProgramCall> {
 public:
  ProgramCall(Napi::Env env, Task task)
      : deferred_(Napi::Promise::Deferred::New(env)), task_(std::move(task)) {}

  Napi::Value Start(Napi::Env env) {
    auto* held = new std::shared_ptr<ProgramCall>(shared_from_this());  // as long as calls_ exists
    if (napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "knp"), 0, 1, held,
                                        Finalize, this, CallBack, &calls_) != napi_ok) {
      delete held;
      return Reject(env, Status::Errno(ENOMEM, "cannot make a thread-safe function"));
    }
    // Hooks run in reverse order: this one, and with it the thread, ends before the function, whose own hook
    // was added when it was made.
    static_cast<void>(napi_add_env_cleanup_hook(env, End, this));
    // Not std::thread: it reports failure by an exception.
    const int error = pthread_create(&thread_, nullptr, Execute, this);
    if (error == 0) return deferred_.Promise();
    Release(env);
    return Reject(env, Status::Errno(error, "cannot start a thread to run a program"));
  }

  Napi::Value Reject(Napi::Env env, const Status& status) {
    deferred_.Reject(ToError(env, status).Value());
    return deferred_.Promise();
  }

 private:
  static void* Execute(void* data) {
    auto* call = static_cast<ProgramCall*>(data);
    const Task& task = call->task_;
    call->status_ = call->run_.Execute(task.command, task.environment, task.input, task.limits, &call->end_);
    static_cast<void>(napi_call_threadsafe_function(call->calls_, nullptr, napi_tsfn_nonblocking));
    return nullptr;
  }

  // `env` is null for a call that was still queued when the environment ended.
  static void CallBack(napi_env env, napi_value /*none*/, void* data, void* /*none*/) {
    auto* call = static_cast<ProgramCall*>(data);
    if (env != nullptr && !call->ended_) call->Settle(env);
  }

  void Settle(Napi::Env env) {
    pthread_join(thread_, nullptr);
    if (status_.ok()) {
      deferred_.Resolve(ToValue(env, end_));
    } else {
      Reject(env, status_);
    }
    Release(env);
  }

  void Release(Napi::Env env) {
    static_cast<void>(napi_remove_env_cleanup_hook(env, End, this));
    static_cast<void>(napi_release_threadsafe_function(calls_, napi_tsfn_release));
  }

  static void End(void* data) {
    auto* call = static_cast<ProgramCall*>(data);
    call->ended_ = true;
    call->run_.Cancel();
    pthread_join(call->thread_, nullptr);
    static_cast<void>(napi_release_threadsafe_function(call->calls_, napi_tsfn_release));
  }

  static void Finalize(napi_env /*env*/, void* held, void* /*call*/) {
    delete static_cast<std::shared_ptr<ProgramCall>*>(held);
  }

  Napi::Promise::Deferred deferred_;
  Task task_;
  process::Run run_;
  process::End end_;
  Status status_;
  pthread_t thread_{};
  napi_threadsafe_function calls_ = nullptr;
  bool ended_ = false;
};

// runProgram(words, environment, input, timeout, maxOutput)
Napi::Value RunProgram(const Napi::CallbackInfo& info) {
  std::vector<std::string> words;
  std::vector<std::string> variables;
  std::vector<uint8_t> input;
  process::Limits limits;
  uint32_t output = 0;
  if (!ReadTexts(info, 0, &words) || !ReadTexts(info, 1, &variables) ||
      !ReadRecords(info, 2, 1, false, &input) || !ReadMilliseconds(info, 3, &limits.time) ||
      !ReadNumber(info, 4, &output)) {
    return {};
  }
  limits.output = output;
  Task task{{}, process::Environment(std::move(variables)), std::move(input), limits};
  const Status status = task.command.Prepare(std::move(words), task.environment);
  auto call = std::make_shared<ProgramCall>(info.Env(), std::move(task));
  return status.ok() ? call->Start(info.Env()) : call->Reject(info.Env(), status);
}

}  // namespace

void InitProcess(Napi::Object exports) {
  exports.Set("runProgram", Napi::Function::New<RunProgram>(exports.Env(), "runProgram"));
}

}  // namespace knp::binding
