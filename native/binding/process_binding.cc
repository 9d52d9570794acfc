// Programs that the addon starts: single runs, readings, and sessions.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "binding/classes.h"
#include "binding/thread_job.h"
#include "process/reading.h"
#include "process/run.h"
#include "process/session.h"

namespace knp::binding {
namespace {

using netlink::Status;

// Types of this namespace, in which ThreadJob then looks for ToValue().
struct ProgramEnd : process::End {};
struct SessionAnswer : process::Answer {};
struct OutputPiece : process::Piece {};

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

// What all have: how a program ended, and its standard error.
template <typename End>
Napi::Object EndToValue(Napi::Env env, const End& end) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("status", WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 0);
  object.Set("signal", WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0);
  object.Set("killed", NameOf(end.killed));
  object.Set("errors", end.errors);
  return object;
}

// Output as a Buffer, which takes the bytes over: decoding them would block the event loop.
Napi::Value ToBuffer(Napi::Env env, std::string bytes) {
  auto* kept = new std::string(std::move(bytes));
  // Copies after all where V8 takes no external memory, and calls the finalizer then too.
  return Napi::Buffer<char>::NewOrCopy(
      env, kept->data(), kept->size(),
      [](Napi::Env /*env*/, char* /*bytes*/, std::string* held) { delete held; }, kept);
}

Napi::Value ToValue(Napi::Env env, ProgramEnd end) {
  Napi::Object object = EndToValue(env, end);
  object.Set("output", ToBuffer(env, std::move(end.output)));
  return object;
}

Napi::Value ToValue(Napi::Env env, const OutputPiece& piece) {
  Napi::Object object = EndToValue(env, piece);
  object.Set("bytes", Napi::Buffer<char>::Copy(env, piece.bytes.data(), piece.bytes.size()));
  object.Set("last", piece.last);
  return object;
}

Napi::Value ToValue(Napi::Env env, SessionAnswer answer) {
  Napi::Object object = EndToValue(env, answer);
  object.Set("output", ToBuffer(env, std::move(answer.output)));
  object.Set("acknowledged", answer.acknowledged);
  object.Set("written", static_cast<double>(answer.written));
  return object;
}

// Reads a time limit in ms and a limit of output in bytes, the arguments from this one on.
bool ReadLimits(const Napi::CallbackInfo& info, size_t argument, process::Limits* limits) {
  uint32_t output = 0;
  if (!ReadMilliseconds(info, argument, &limits->time) || !ReadNumber(info, argument + 1, &output)) {
    return false;
  }
  limits->output = output;
  return true;
}

// The bytes of arrays of JavaScript, which are not copied: they stay where they are as long as this refers to
// the list. Made and dropped on JavaScript's thread.
struct InputOfArrays {
  Napi::ObjectReference list;
  process::Input pieces;
};

// Reads an argument that must be an array of Uint8Array, which nobody changes until the work has ended. Null
// after having thrown a TypeError.
std::shared_ptr<const InputOfArrays> ReadInput(const Napi::CallbackInfo& info, size_t argument) {
  const auto input = std::make_shared<InputOfArrays>();
  bool valid = info[argument].IsArray();
  if (valid) {
    const auto list = info[argument].As<Napi::Array>();
    const uint32_t length = list.Length();
    input->list = Napi::Persistent(list.As<Napi::Object>());
    input->pieces.reserve(length);
    for (uint32_t i = 0; valid && i < length; i++) {
      Napi::HandleScope scope(info.Env());
      const Napi::Value piece = list.Get(i);
      valid = piece.IsTypedArray() && piece.As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array;
      if (!valid) break;
      const auto bytes = piece.As<Napi::Uint8Array>();
      input->pieces.push_back({bytes.Data(), bytes.ByteLength()});
    }
  }
  if (valid) return input;
  Napi::TypeError::New(info.Env(),
                       "argument " + std::to_string(argument + 1) + " must be an array of Uint8Array")
      .ThrowAsJavaScriptException();
  return nullptr;
}

// A program with its arguments and its input.
struct Task {
  process::Command command;
  process::Environment environment;
  std::shared_ptr<const InputOfArrays> input;
  process::Limits limits;
  process::Run run;
};

// runProgram(words, environment, input, timeout, maxOutput)
Napi::Value RunProgram(const Napi::CallbackInfo& info) {
  std::vector<std::string> words;
  std::vector<std::string> variables;
  process::Limits limits;
  if (!ReadTexts(info, 0, &words) || !ReadTexts(info, 1, &variables)) return {};
  auto input = ReadInput(info, 2);
  if (!input || !ReadLimits(info, 3, &limits)) return {};
  const auto task = std::make_shared<Task>(
      Task{{}, process::Environment(std::move(variables)), std::move(input), limits, {}});
  const Status status = task->command.Prepare(std::move(words), task->environment);
  if (!status.ok()) return ThreadJob<ProgramEnd>::Reject(info.Env(), status);
  return ThreadJob<ProgramEnd>::Start(
      info.Env(),
      [task](ProgramEnd* end) {
        return task->run.Execute(task->command, task->environment, task->input->pieces, task->limits, end);
      },
      [task] { task->run.Cancel(); });
}

// Reads the arguments `words` and `environment`, which a constructor has. Throws in JavaScript, and returns
// false, if they are wrong or the program cannot run.
bool ReadCommand(const Napi::CallbackInfo& info, process::Command* command,
                 std::optional<process::Environment>* environment) {
  std::vector<std::string> words;
  std::vector<std::string> variables;
  if (!ReadTexts(info, 0, &words) || !ReadTexts(info, 1, &variables)) return false;
  environment->emplace(std::move(variables));
  const Status status = command->Prepare(std::move(words), **environment);
  if (!status.ok()) ToError(info.Env(), status).ThrowAsJavaScriptException();
  return status.ok();
}

// new ProgramReading(words, environment), with `read` and `close`. The program ends at the latest with the
// JavaScript object.
class ReadingBinding : public Napi::ObjectWrap<ReadingBinding> {
 public:
  explicit ReadingBinding(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ReadingBinding>(info) {
    process::Command command;
    std::optional<process::Environment> environment;
    if (!ReadCommand(info, &command, &environment)) return;
    reading_ = std::make_shared<process::Reading>(std::move(command), std::move(*environment));
  }

  static void Export(Napi::Object exports) {
    exports.Set("ProgramReading", DefineClass(exports.Env(), "ProgramReading",
                                              {InstanceMethod("read", &ReadingBinding::Read),
                                               InstanceMethod("close", &ReadingBinding::Close)}));
  }

 private:
  // read(size, timeout, maxErrors)
  Napi::Value Read(const Napi::CallbackInfo& info) {
    uint32_t size = 0;
    process::Limits limits;
    if (!ReadNumber(info, 0, &size) || !ReadLimits(info, 1, &limits)) return {};
    if (!reading_) return ThreadJob<Nothing>::Reject(info.Env(), Status::Of(netlink::FailureKind::kClosed));
    return ThreadJob<OutputPiece>::Start(
        info.Env(),
        [reading = reading_, size, limits](OutputPiece* piece) { return reading->Read(size, limits, piece); },
        [reading = reading_] { reading->Cancel(); });
  }

  // close(). It frees the descriptors, which otherwise stay open until the object is collected.
  Napi::Value Close(const Napi::CallbackInfo& info) {
    if (!reading_) return ThreadJob<Nothing>::Reject(info.Env(), Status::Of(netlink::FailureKind::kClosed));
    reading_->Cancel();
    return ThreadJob<Nothing>::Start(
        info.Env(),
        [reading = std::move(reading_)](Nothing* /*none*/) {
          reading->Close();
          return Status{};
        },
        [] {});
  }

  std::shared_ptr<process::Reading> reading_;
};

// new ProgramSession(words, environment), with `exchange` and `close`. The program ends at the latest with
// the JavaScript object.
class SessionBinding : public Napi::ObjectWrap<SessionBinding> {
 public:
  explicit SessionBinding(const Napi::CallbackInfo& info) : Napi::ObjectWrap<SessionBinding>(info) {
    process::Command command;
    std::optional<process::Environment> environment;
    if (!ReadCommand(info, &command, &environment)) return;
    session_ = std::make_shared<process::Session>(std::move(command), std::move(*environment));
  }

  static void Export(Napi::Object exports) {
    exports.Set("ProgramSession", DefineClass(exports.Env(), "ProgramSession",
                                              {InstanceMethod("exchange", &SessionBinding::Exchange),
                                               InstanceMethod("close", &SessionBinding::Close)}));
  }

 private:
  // exchange(input, acknowledgement, timeout, maxOutput)
  Napi::Value Exchange(const Napi::CallbackInfo& info) {
    std::string acknowledgement;
    process::Limits limits;
    auto input = ReadInput(info, 0);
    if (!input || !ReadText(info, 1, &acknowledgement) || !ReadLimits(info, 2, &limits)) return {};
    return ThreadJob<SessionAnswer>::Start(
        info.Env(),
        [session = session_, input = std::move(input), acknowledgement, limits](SessionAnswer* answer) {
          return session->Exchange(input->pieces, acknowledgement, limits, answer);
        },
        [session = session_] { session->Cancel(); });
  }

  // close(timeout)
  Napi::Value Close(const Napi::CallbackInfo& info) {
    std::chrono::milliseconds time{};
    if (!ReadMilliseconds(info, 0, &time)) return {};
    return ThreadJob<Nothing>::Start(
        info.Env(),
        [session = session_, time](Nothing* /*none*/) {
          session->Close(time);
          return Status{};
        },
        [session = session_] { session->Cancel(); });
  }

  std::shared_ptr<process::Session> session_;
};

// startedPrograms()
Napi::Value StartedPrograms(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(process::StartedPrograms()));
}

}  // namespace

void InitProcess(Napi::Object exports) {
  exports.Set("runProgram", Napi::Function::New<RunProgram>(exports.Env(), "runProgram"));
  ReadingBinding::Export(exports);
  SessionBinding::Export(exports);
  exports.Set("startedPrograms", Napi::Function::New<StartedPrograms>(exports.Env(), "startedPrograms"));
  exports.Set("pageSize", static_cast<double>(sysconf(_SC_PAGESIZE)));
}

}  // namespace knp::binding
