#include "binding/job.h"

#include <cmath>
#include <memory>

namespace knp::binding {
namespace {

// The codes of src/kernel/errors.ts; empty for an errno, whose name JavaScript knows.
const char* CodeOf(netlink::FailureKind kind) {
  switch (kind) {
    case netlink::FailureKind::kNone:
    case netlink::FailureKind::kErrno:
      return "";
    case netlink::FailureKind::kTimeout:
      return "ERR_TIMEOUT";
    case netlink::FailureKind::kUnknownOutcome:
      return "ERR_UNKNOWN_OUTCOME";
    case netlink::FailureKind::kMalformedReply:
    case netlink::FailureKind::kTruncated:
      return "ERR_MALFORMED_REPLY";
    case netlink::FailureKind::kInterrupted:
      return "ERR_INTERRUPTED";
    case netlink::FailureKind::kClosed:
      return "ERR_CLOSED";
    case netlink::FailureKind::kLibrary:
      return "ERR_LIBRARY";
    case netlink::FailureKind::kIpset:
      return "ERR_IPSET";
  }
  return "";
}

// `NativeStep` of src/kernel/shared/addon.ts. Null for any other step, which is left out.
const char* NameOf(netlink::Step step) {
  switch (step) {
    case netlink::Step::kOther:
      return nullptr;
    case netlink::Step::kOpenNamespace:
      return "openNamespace";
    case netlink::Step::kEnterNamespace:
      return "enterNamespace";
    case netlink::Step::kReply:
      return "reply";
  }
  return nullptr;
}

void SetStep(Napi::Object object, const netlink::Status& status) {
  const char* step = NameOf(status.step);
  if (step == nullptr) return;
  object.Set("step", step);
  if (!status.path.empty()) object.Set("path", status.path);
}

// Bytes. Memory that V8 does not own costs more than a copy of a page.
constexpr size_t kLongestCopied = 16384;

// {errno, code, message, step, path}
Napi::Object FieldsOf(Napi::Env env, const netlink::Status& status) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("errno", status.error);
  object.Set("code", CodeOf(status.kind));
  object.Set("message", status.message);
  SetStep(object, status);
  return object;
}

bool Refuse(Napi::Env env, size_t argument, const std::string& expected) {
  Napi::TypeError::New(env, "argument " + std::to_string(argument + 1) + " must be " + expected)
      .ThrowAsJavaScriptException();
  return false;
}

}  // namespace

Napi::Value ToValue(Napi::Env env, std::vector<uint8_t> records) {
  if (records.size() < kLongestCopied) {
    return Napi::Buffer<uint8_t>::Copy(env, records.data(), records.size());
  }
  auto owned = std::make_unique<std::vector<uint8_t>>(std::move(records));
  // Copies after all where V8 takes no external memory, and calls the finalizer then too.
  const auto buffer = Napi::Buffer<uint8_t>::NewOrCopy(
      env, owned->data(), owned->size(),
      [](Napi::Env /*env*/, uint8_t* /*bytes*/, std::vector<uint8_t>* held) { delete held; }, owned.get());
  // Empty, and without the finalizer, in a worker thread that was terminated.
  if (!buffer.IsEmpty()) static_cast<void>(owned.release());
  return buffer;
}

Napi::Value ToValue(Napi::Env env, const std::vector<netlink::Failure>& failures) {
  Napi::Array array = Napi::Array::New(env, failures.size());
  for (uint32_t i = 0; i < failures.size(); i++) {
    Napi::HandleScope scope(env);
    const netlink::Failure& failure = failures[i];
    Napi::Object object = FieldsOf(env, failure.status);
    object.Set("index", failure.index);
    if (!failure.rest.ok()) object.Set("rest", FieldsOf(env, failure.rest));
    array.Set(i, object);
  }
  return array;
}

Napi::Error ToError(Napi::Env env, const netlink::Status& status) {
  Napi::Error error = Napi::Error::New(env, status.message);
  error.Set("errno", Napi::Number::New(env, status.error));
  error.Set("code", Napi::String::New(env, CodeOf(status.kind)));
  error.Set("kernelMessage", Napi::String::New(env, status.message));
  SetStep(error.Value(), status);
  return error;
}

bool ReadRecords(const Napi::CallbackInfo& info, size_t argument, size_t record_size, bool exactly_one,
                 std::vector<uint8_t>* out) {
  const std::string expected = std::string("a Uint8Array of ") +
                               (exactly_one ? "exactly " : "a multiple of ") + std::to_string(record_size) +
                               " bytes";
  const Napi::Value value = info[argument];
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    return Refuse(info.Env(), argument, expected);
  }
  const auto array = value.As<Napi::Uint8Array>();
  const size_t size = array.ByteLength();
  if (exactly_one ? size != record_size : size % record_size != 0) {
    return Refuse(info.Env(), argument, expected);
  }
  if (size > 0) out->assign(array.Data(), array.Data() + size);
  return true;
}

bool ReadText(const Napi::CallbackInfo& info, size_t argument, std::string* out) {
  const Napi::Value value = info[argument];
  if (!value.IsString()) return Refuse(info.Env(), argument, "a string");
  *out = value.As<Napi::String>().Utf8Value();
  return true;
}

bool ReadTexts(const Napi::CallbackInfo& info, size_t argument, std::vector<std::string>* out) {
  return ToTexts(info[argument], out) || Refuse(info.Env(), argument, "an array of strings");
}

bool ToTexts(const Napi::Value& value, std::vector<std::string>* out) {
  if (!value.IsArray()) return false;
  const auto texts = value.As<Napi::Array>();
  for (uint32_t i = 0; i < texts.Length(); i++) {
    Napi::HandleScope scope(value.Env());
    const Napi::Value text = texts.Get(i);
    if (!text.IsString()) return false;
    out->push_back(text.As<Napi::String>().Utf8Value());
  }
  return true;
}

bool ReadNumber(const Napi::CallbackInfo& info, size_t argument, uint32_t* out) {
  const Napi::Value value = info[argument];
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= 0 && number <= UINT32_MAX && number == std::floor(number))) {
    return Refuse(info.Env(), argument, "an integer from 0 to 4294967295");
  }
  *out = static_cast<uint32_t>(number);
  return true;
}

bool ReadMilliseconds(const Napi::CallbackInfo& info, size_t argument, std::chrono::milliseconds* out) {
  const Napi::Value value = info[argument];
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0;
  if (!(number >= 1 && number <= INT32_MAX)) {
    return Refuse(info.Env(), argument, "a number of milliseconds from 1 to 2147483647");
  }
  *out = std::chrono::milliseconds(static_cast<int64_t>(number));
  return true;
}

}  // namespace knp::binding
