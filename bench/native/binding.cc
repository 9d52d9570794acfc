// The raw limits of the benchmark. Unlike the clients they run on the JavaScript thread, in whose network
// namespace they work, so that nothing but the kernel is measured.
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "bench/native/commands.h"
#include "bench/native/cost.h"
#include "bench/native/entries.h"
#include "bench/native/messages.h"
#include "bench/native/transactions.h"
#include "binding/job.h"

namespace knp::bench {
namespace {

using binding::ReadNumber;
using binding::ReadRecords;
using binding::ReadText;
using binding::ToError;
using binding::ToTexts;
using netlink::Status;

constexpr size_t kMessageAlignment = 4;

Napi::Value ToValue(Napi::Env env, const Cost& cost) {
  Napi::Object object = Napi::Object::New(env);
  const auto set = [&](const char* name, uint64_t value) { object.Set(name, static_cast<double>(value)); };
  set("wall", cost.wall);
  set("user", cost.user);
  set("system", cost.system);
  set("children", cost.children);
  set("systemCalls", cost.system_calls);
  set("messages", cost.messages);
  set("processes", cost.processes);
  return object;
}

// Throws the status if it is a failure.
Napi::Value Checked(Napi::Env env, const Status& status, Napi::Value value) {
  if (status.ok()) return value;
  ToError(env, status).ThrowAsJavaScriptException();
  return {};
}

template <typename Work>
Napi::Value Measured(Napi::Env env, Work work) {
  Cost cost;
  const Status status = work(&cost);
  return Checked(env, status, ToValue(env, cost));
}

// The class PreparedMessages of the addon.
class MessagesClass : public Napi::ObjectWrap<MessagesClass> {
 public:
  // new PreparedMessages(protocol, messages, load, datagramSize)
  explicit MessagesClass(const Napi::CallbackInfo& info) : Napi::ObjectWrap<MessagesClass>(info) {
    uint32_t protocol = 0;
    uint32_t load = 0;
    uint32_t datagram_size = 0;
    std::vector<uint8_t> messages;
    if (!ReadNumber(info, 0, &protocol) || !ReadRecords(info, 1, kMessageAlignment, false, &messages) ||
        !ReadNumber(info, 2, &load) || !ReadNumber(info, 3, &datagram_size)) {
      return;
    }
    Checked(info.Env(),
            messages_.Prepare(static_cast<int>(protocol), std::move(messages), load, datagram_size),
            info.Env().Undefined());
  }

  static void Init(Napi::Object exports) {
    exports.Set("PreparedMessages", DefineClass(exports.Env(), "PreparedMessages",
                                                {InstanceMethod<&MessagesClass::Send>("send")}));
  }

 private:
  Napi::Value Send(const Napi::CallbackInfo& info) {
    return Measured(info.Env(), [this](Cost* cost) { return messages_.Send(cost); });
  }

  PreparedMessages messages_;
};

// The class PreparedTransactions of the addon.
class TransactionsClass : public Napi::ObjectWrap<TransactionsClass> {
 public:
  // new PreparedTransactions(messages)
  explicit TransactionsClass(const Napi::CallbackInfo& info) : Napi::ObjectWrap<TransactionsClass>(info) {
    std::vector<uint8_t> messages;
    if (!ReadRecords(info, 0, kMessageAlignment, false, &messages)) return;
    Checked(info.Env(), transactions_.Prepare(std::move(messages)), info.Env().Undefined());
  }

  static void Init(Napi::Object exports) {
    exports.Set("PreparedTransactions", DefineClass(exports.Env(), "PreparedTransactions",
                                                    {InstanceMethod<&TransactionsClass::Send>("send")}));
  }

 private:
  Napi::Value Send(const Napi::CallbackInfo& info) {
    return Measured(info.Env(), [this](Cost* cost) { return transactions_.Send(cost); });
  }

  PreparedTransactions transactions_;
};

// False after having thrown a TypeError.
bool ReadCommands(const Napi::CallbackInfo& info, std::vector<std::vector<std::string>>* out) {
  bool valid = info[0].IsArray();
  if (valid) {
    const auto commands = info[0].As<Napi::Array>();
    for (uint32_t i = 0; valid && i < commands.Length(); i++) {
      Napi::HandleScope scope(info.Env());
      valid = ToTexts(commands.Get(i), &out->emplace_back());
    }
  }
  if (!valid) {
    Napi::TypeError::New(info.Env(), "argument 1 must be an array of arrays of strings")
        .ThrowAsJavaScriptException();
  }
  return valid;
}

// The class PreparedCommands of the addon.
class CommandsClass : public Napi::ObjectWrap<CommandsClass> {
 public:
  // new PreparedCommands(commands, input)
  explicit CommandsClass(const Napi::CallbackInfo& info) : Napi::ObjectWrap<CommandsClass>(info) {
    std::vector<std::vector<std::string>> commands;
    std::vector<uint8_t> input;
    if (!ReadCommands(info, &commands) || !ReadRecords(info, 1, 1, false, &input)) return;
    Checked(info.Env(), commands_.Prepare(std::move(commands), input), info.Env().Undefined());
  }

  static void Init(Napi::Object exports) {
    exports.Set("PreparedCommands",
                DefineClass(exports.Env(), "PreparedCommands", {InstanceMethod<&CommandsClass::Run>("run")}));
  }

 private:
  Napi::Value Run(const Napi::CallbackInfo& info) {
    return Measured(info.Env(), [this](Cost* cost) { return commands_.Run(cost); });
  }

  PreparedCommands commands_;
};

// addEntriesWithLibipset(set, entries)
Napi::Value AddEntriesWithLibipset(const Napi::CallbackInfo& info) {
  std::string set;
  std::vector<uint8_t> records;
  if (!ReadText(info, 0, &set) || !ReadRecords(info, 1, sizeof(PreparedEntry), false, &records)) {
    return {};
  }
  std::vector<PreparedEntry> entries(records.size() / sizeof(PreparedEntry));
  if (!entries.empty()) std::memcpy(entries.data(), records.data(), records.size());
  return Measured(info.Env(), [&](Cost* cost) { return AddEntries(set, entries, cost); });
}

// enterNewNetworkNamespace()
Napi::Value EnterNewNetworkNamespace(const Napi::CallbackInfo& info) {
  const Status status =
      unshare(CLONE_NEWNET) == 0 ? Status{} : Status::Errno(errno, "cannot make a network namespace");
  return Checked(info.Env(), status, info.Env().Undefined());
}

Napi::Object Init(Napi::Env /*env*/, Napi::Object exports) {
  MessagesClass::Init(exports);
  TransactionsClass::Init(exports);
  CommandsClass::Init(exports);
  exports.Set("addEntriesWithLibipset",
              Napi::Function::New<AddEntriesWithLibipset>(exports.Env(), "addEntriesWithLibipset"));
  exports.Set("enterNewNetworkNamespace",
              Napi::Function::New<EnterNewNetworkNamespace>(exports.Env(), "enterNewNetworkNamespace"));
  return exports;
}

}  // namespace
}  // namespace knp::bench

using knp::bench::Init;

NODE_API_MODULE(NODE_GYP_MODULE_NAME, Init)
